"""pandas and polars, in and out."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from samples import column, noisy_target
from sklearn.base import clone
from sklearn.compose import make_column_transformer

from tabstretch import StretchTransformer, SupervisedStretchTransformer

NAMES = ["age", "price", "rooms"]
X = np.column_stack([column("missing", 90), column("lognormal", 90), column("ties", 90)])
Y = noisy_target(X[:, 1])
FRAMES: dict[str, Any] = {
    "pandas": pd.DataFrame(X, columns=NAMES),
    "polars": pl.DataFrame(X, schema=NAMES),
}
frames = pytest.mark.parametrize("library", FRAMES)
both = pytest.mark.parametrize(
    "transformer",
    [StretchTransformer(n_bins=8), SupervisedStretchTransformer(variation="within_fold", n_bins=8, cv=3)],
)


@frames
@both
def test_frames_in_give_the_numbers_of_arrays(transformer: Any, library: str) -> None:
    frame = FRAMES[library]
    fitted = clone(transformer).fit(frame, Y)
    expected = clone(transformer).fit(X, Y).transform(X)
    assert isinstance(fitted.transform(frame), np.ndarray)
    assert_array_equal(fitted.transform(frame), expected)
    assert_array_equal(fitted.feature_names_in_, NAMES)
    assert_array_equal(fitted.get_feature_names_out(), NAMES)
    assert list(fitted.summary().index) == NAMES


@frames
@both
def test_frames_out(transformer: Any, library: str) -> None:
    frame = FRAMES[library]
    fitted = clone(transformer).set_output(transform=library).fit(frame, Y)
    output = fitted.transform(frame)
    assert type(output) is type(frame)
    assert list(output.columns) == NAMES
    assert_array_equal(output.to_numpy(), clone(transformer).fit_transform(X, Y))
    assert list(clone(transformer).set_output(transform=library).fit_transform(frame, Y).columns) == NAMES


@both
def test_the_index_survives(transformer: Any) -> None:
    frame = FRAMES["pandas"].set_axis(np.arange(90)[::-1] + 1000)
    output = clone(transformer).set_output(transform="pandas").fit_transform(frame, Y)
    assert output.index.equals(frame.index)


@frames
@both
def test_stretched_frames_go_back(transformer: Any, library: str) -> None:
    fitted = clone(transformer).set_output(transform=library).fit(FRAMES[library], Y)
    stretched = fitted.transform(FRAMES[library])
    back = fitted.inverse_transform(stretched)
    np.testing.assert_allclose(np.asarray(back), X, rtol=1e-9, atol=1e-12)


@both
def test_mixed_numeric_types_and_missing_values(transformer: Any) -> None:
    frame = pd.DataFrame(
        {
            "int": np.arange(90) % 11,
            "bool": np.arange(90) % 2 == 0,
            "Int64": pd.array([None, *range(1, 90)], dtype="Int64"),
            "Float32": pd.array(np.linspace(0, 1, 90), dtype="Float32"),
        }
    )
    output = clone(transformer).fit_transform(frame, Y)
    numbers = frame.astype({"Int64": "Float64"}).to_numpy(dtype=float, na_value=np.nan)
    assert_array_equal(output, clone(transformer).fit_transform(numbers, Y))
    assert np.isnan(output[0, 2])
    assert np.isnan(output).sum() == 1


@both
def test_polars_nulls_are_missing(transformer: Any) -> None:
    frame = pl.DataFrame({"a": [None, *range(1, 90)], "b": list(range(90))})
    output = clone(transformer).fit_transform(frame, Y)
    assert np.isnan(output[0, 0])
    assert np.isnan(output).sum() == 1


@frames
@both
def test_columns_by_name(transformer: Any, library: str) -> None:
    some = make_column_transformer((clone(transformer), ["price"]), verbose_feature_names_out=False)
    output = some.set_output(transform=library).fit_transform(FRAMES[library], Y)
    assert list(output.columns) == ["price"]
    alone = clone(transformer).fit_transform(X[:, 1:2], Y)
    assert_array_equal(output.to_numpy(), alone)


@frames
@both
def test_other_names_or_another_order_are_refused(transformer: Any, library: str) -> None:
    frame = FRAMES[library]
    fitted = clone(transformer).fit(frame, Y)
    with pytest.raises(ValueError, match="Feature names must be in the same order"):
        fitted.transform(frame[["age", "rooms", "price"]])
    renamed = (
        frame.rename(columns={"age": "years"}) if library == "pandas" else frame.rename({"age": "years"})
    )
    with pytest.raises(ValueError, match=r"(?s)unseen at fit time.*years.*now missing.*age"):
        fitted.transform(renamed)
