"""Tables from hell that are too large or too odd to be generated."""

import tracemalloc
from typing import Any

import numpy as np
import pandas as pd
import pytest
from fuzz import FACTOR
from numpy.testing import assert_array_equal
from promises import assert_sound

from tabstretch import StretchTransformer, SupervisedStretchTransformer

MAKERS: dict[str, Any] = {
    "unsupervised": lambda: StretchTransformer(8),
    "within fold": lambda: SupervisedStretchTransformer(8, variation="within_fold"),
    "pooled": lambda: SupervisedStretchTransformer(8, variation="pooled"),
    "conditional": lambda: SupervisedStretchTransformer(8, cv=2, n_curves=4, teacher_rows=200),
}
every = pytest.mark.parametrize("name", MAKERS)
supervised = pytest.mark.parametrize("name", [name for name in MAKERS if name != "unsupervised"])


@every
@pytest.mark.parametrize(
    "dates",
    [
        np.array([["2024-01-01"], ["2024-02-01"]], dtype="datetime64[D]"),
        np.array([[1], [2]], dtype="timedelta64[s]"),
        pd.DataFrame({"when": pd.to_datetime(["2024-01-01", "2024-02-01"], utc=True)}),
        pd.DataFrame({"when": pd.to_timedelta([1, 2], unit="h")}),
    ],
)
def test_dates_are_refused_in_words(name: str, dates: Any) -> None:
    with pytest.raises(ValueError, match=r"Column ('when'|0) holds dates or times .* Convert them first"):
        MAKERS[name]().fit(dates, [1.0, 2.0])


@pytest.mark.parametrize("name", ["unsupervised", "within fold"][: 1 if FACTOR == 1 else 2])
def test_ten_thousand_columns(name: str) -> None:
    X = np.random.default_rng(0).normal(size=(40, 10_000))
    fitted = MAKERS[name]().fit(X, X[:, 0])
    output = fitted.transform(X)
    assert output.shape == X.shape
    assert_array_equal(output.min(axis=0), 0)
    assert_array_equal(output.max(axis=0), 1)


@every
def test_one_row_of_many_columns(name: str) -> None:
    X = np.linspace(-1, 1, 2000)[None] * 1e308
    fitted = MAKERS[name]().fit(X, [1.0])
    assert_array_equal(fitted.transform(X), 0)
    assert_array_equal(fitted.inverse_transform(fitted.transform(X)), X)
    assert set(fitted.fallback_) == {"one distinct value"}


@every
def test_an_outlier_among_a_million_ties(name: str) -> None:
    X = np.full((1_000_001, 1), 3.0)
    X[500_000] = 1e300
    y = np.zeros(len(X))
    y[500_000] = 1.5
    fitted = MAKERS[name]().fit(X, y)
    assert_array_equal(fitted.bin_edges_[0], [3, 1e300])
    assert_array_equal(fitted.transform([[3.0], [1e300]]), [[0], [1]])
    assert_sound(fitted, X[499_990:500_010])


@supervised
@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_a_target_that_is_no_number_is_named_with_its_row(name: str, wrong: float) -> None:
    X, y = np.arange(20.0)[:, None], np.arange(20.0) + 0.5
    y[13] = wrong
    for target in (y, np.column_stack([y, y]), pd.Series(y), y.astype(object)):
        with pytest.raises(ValueError, match=r"Input y contains (NaN|infinity).* First at row 13"):
            MAKERS[name]().fit(X, target)


@every
@pytest.mark.parametrize("wrong", [-1e-300, -1.0, np.nan, np.inf])
def test_a_weight_that_is_no_weight_is_named_with_its_row(name: str, wrong: float) -> None:
    weight = np.ones(20)
    weight[13] = wrong
    with pytest.raises(ValueError, match=rf"sample_weight must be finite .*, got {wrong} at row 13"):
        MAKERS[name]().fit(np.arange(20.0)[:, None], np.arange(20.0), sample_weight=weight)


@pytest.mark.parametrize("variation", ["within_fold", "pooled"])
def test_five_thousand_classes_in_little_memory(variation: str) -> None:
    n_classes = 5000
    X = np.random.default_rng(0).integers(0, 200, size=(n_classes, 1))
    y = np.arange(n_classes)
    stretch = SupervisedStretchTransformer(16, variation=variation, cv=2, target_type="multiclass")
    tracemalloc.start()
    try:
        stretch.fit(X, y)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 20e6  # one number for each row and class would be ten times as much
    assert_sound(stretch, X[:100])
