"""Context: columns of any type that teachers see as numbers."""

from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from samples import half_l1
from sklearn import config_context
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeRegressor

from tabstretch import SupervisedStretchTransformer
from tabstretch._context import encode_context

NAN = np.nan


def encode(*values: Any, dtype: Any = None) -> list[float]:
    """One column of a pandas frame, encoded."""
    frame = pd.DataFrame({"c": pd.Series(values, dtype=dtype)})
    encoded = encode_context(frame, len(values))
    assert encoded.dtype == np.float64
    assert encoded.shape == (len(values), 1)
    return encoded[:, 0]


@pytest.mark.parametrize("dtype", ["float64", "float32", "int8", "uint64", "Int64", "Float32"])
def test_numbers_stay_numbers(dtype: str) -> None:
    assert_array_equal(encode(3, 1, 2, dtype=dtype), [3, 1, 2])


@pytest.mark.parametrize("missing", [None, NAN, pd.NA])
def test_missing_numbers_are_nan(missing: Any) -> None:
    assert_array_equal(encode(1, missing, 3, dtype=object), [1, NAN, 3])
    assert_array_equal(encode(1, missing, 3, dtype="Int64"), [1, NAN, 3])
    assert_array_equal(encode(1.5, missing, 3, dtype=object), [1.5, NAN, 3])


def test_infinities_are_missing() -> None:
    assert_array_equal(encode(np.inf, 1.0, -np.inf, NAN), [NAN, 1, NAN, NAN])
    assert_array_equal(encode(np.inf, None, 2, dtype=object), [NAN, NAN, 2])
    assert_array_equal(encode_context(np.array([[np.inf], [0.0]], dtype=np.float32), 2), [[NAN], [0]])


@pytest.mark.parametrize("dtype", [object, "str", "string"])
def test_text_becomes_codes(dtype: Any) -> None:
    assert_array_equal(encode("b", "c", "a", "b", dtype=dtype), [1, 2, 0, 1])


@pytest.mark.parametrize("missing", [None, NAN, pd.NA])
def test_missing_text_is_nan_and_no_category(missing: Any) -> None:
    codes = encode("b", missing, "a", "b", dtype=object)
    assert_array_equal(np.isnan(codes), [False, True, False, False])
    assert codes[0] == codes[3] > codes[2]


def test_text_that_says_nan_is_text() -> None:
    codes = encode("nan", None, "None", "x", dtype=object)
    assert_array_equal(np.isnan(codes), [False, True, False, False])
    assert len(np.unique(codes[[0, 2, 3]])) == 3


def test_text_that_looks_like_numbers_stays_text() -> None:
    assert_array_equal(encode("10", "9", "9", dtype=object), [0, 1, 1])


@pytest.mark.parametrize("dtype", ["bool", "boolean", object])
def test_truth_values_are_zero_and_one(dtype: Any) -> None:
    assert_array_equal(encode(True, False, True, dtype=dtype), [1, 0, 1])
    if dtype != "bool":
        assert_array_equal(encode(True, None, False, dtype=dtype), [1, NAN, 0])


def test_categories_keep_their_order_and_missing_ones_are_nan() -> None:
    sizes = pd.CategoricalDtype(["small", "large", "huge"], ordered=True)
    assert_array_equal(encode("huge", "small", None, "large", dtype=sizes), [2, 0, NAN, 1])
    numbers = pd.CategoricalDtype([30, 10, 20])
    assert_array_equal(encode(10, 20, 30, dtype=numbers), [1, 2, 0])


def test_dates_keep_their_order() -> None:
    days = ["2021-03-01", "2020-12-31", None, "2021-02-28"]
    codes = encode(*pd.to_datetime(days))
    assert_array_equal(np.argsort(codes), [1, 3, 0, 2])
    assert np.isnan(codes[2])
    assert codes[3] - codes[1] == 59 * (codes[0] - codes[3])


def test_spans_of_time_and_dates_of_other_kinds_keep_their_order() -> None:
    spans = encode(timedelta(days=3), timedelta(hours=1), None, timedelta(days=20), dtype="timedelta64[ns]")
    assert_array_equal(np.argsort(spans), [1, 0, 3, 2])
    plain = encode(date(2021, 3, 1), date(2020, 12, 31), None, date(2021, 2, 28), dtype=object)
    assert_array_equal(np.argsort(plain), [1, 3, 0, 2])
    zone = timezone(timedelta(hours=2))
    aware = encode(*(datetime(2021, month, 1, tzinfo=zone) for month in (12, 2, 10)))
    assert_array_equal(np.argsort(aware), [1, 2, 0])
    periods = encode(*pd.PeriodIndex(["2021-03", "2020-12", "2021-02"], freq="M"))
    assert_array_equal(np.argsort(periods), [1, 2, 0])


def test_mixtures_become_codes() -> None:
    codes = encode("a", 1, None, 2.5, "a", (1, 2), dtype=object)
    assert codes[0] == codes[4]
    assert np.isnan(codes[2])
    assert len(np.unique(codes[[0, 1, 3, 5]])) == 4


def test_numbers_of_other_kinds_have_codes() -> None:
    codes = encode(Decimal("1.5"), Decimal("1.5"), Decimal("2"), None, dtype=object)
    assert codes[0] == codes[1] != codes[2]
    assert np.isnan(codes[3])
    codes = encode(1 + 2j, 1 - 2j, 1 + 2j)
    assert codes[0] == codes[2] != codes[1]


def test_a_polars_frame() -> None:
    frame = pl.DataFrame(
        {
            "number": [3, None, 1],
            "text": ["b", None, "a"],
            "truth": [True, None, False],
            "category": pl.Series(["x", None, "w"], dtype=pl.Categorical),
            "day": [date(2021, 1, 2), None, date(2021, 1, 1)],
            "moment": [datetime(2021, 1, 2), None, datetime(2021, 1, 1)],
            "span": [timedelta(days=2), None, timedelta(days=1)],
            "infinite": [np.inf, 1.0, -np.inf],
        }
    )
    encoded = encode_context(frame, 3)
    assert encoded.shape == (3, 8)
    assert_array_equal(np.isnan(encoded[1]), [True] * 7 + [False])
    assert np.all(encoded[0, :7] > encoded[2, :7])
    assert_array_equal(encoded[:, 7], [NAN, 1, NAN])
    assert_array_equal(encoded[:, 0], [3, NAN, 1])


@pytest.mark.parametrize("kind", ["array", "list", "pandas", "polars"])
def test_one_column_may_have_one_dimension(kind: str) -> None:
    column: Any = {
        "array": np.array([2.0, 1.0]),
        "list": [2.0, 1.0],
        "pandas": pd.Series([2.0, 1.0]),
        "polars": pl.Series([2.0, 1.0]),
    }[kind]
    assert_array_equal(encode_context(column, 2), [[2], [1]])


def test_a_series_of_categories_is_as_its_frame() -> None:
    sizes = pd.Series(["huge", "small", None, "large"], dtype=pd.CategoricalDtype(["small", "large", "huge"]))
    assert_array_equal(encode_context(sizes, 4), encode_context(sizes.to_frame(), 4))


@pytest.mark.parametrize(
    "table",
    [
        [["a", 1.0], ["b", 2.0], ["a", None]],
        np.array([["a", 1.0], ["b", 2.0], ["a", None]], dtype=object),
        (("a", 1.0), ("b", 2.0), ("a", None)),
    ],
)
def test_arrays_and_lists_of_mixed_columns(table: Any) -> None:
    assert_array_equal(encode_context(table, 3), [[0, 1], [1, 2], [0, NAN]])


def test_arrays_of_one_type() -> None:
    assert_array_equal(encode_context(np.array([["b", "x"], ["a", "x"]]), 2), [[1, 0], [0, 0]])
    assert_array_equal(encode_context(np.array([[True], [False]]), 2), [[1], [0]])
    days = np.array([["2020-01-02"], ["2020-01-01"], ["NaT"]], dtype="datetime64[D]")
    assert_array_equal(encode_context(days, 3)[:, 0] - encode_context(days, 3)[1, 0], [1, 0, NAN])
    assert_array_equal(encode_context(np.array([[b"b"], [b"a"]]), 2), [[1], [0]])


def test_no_columns_are_no_context() -> None:
    assert encode_context(np.empty((4, 0)), 4).shape == (4, 0)
    assert encode_context(pd.DataFrame(index=range(4)), 4).shape == (4, 0)


def test_names_may_be_double_or_no_strings() -> None:
    frame = pd.DataFrame([[1, "a"], [2, "b"]], columns=["same", "same"])
    assert_array_equal(encode_context(frame, 2), [[1, 0], [2, 1]])
    assert_array_equal(encode_context(pd.DataFrame({0: [1, 2], (1, 2): [3, 4]}), 2), [[1, 3], [2, 4]])


@pytest.mark.parametrize("context", [np.ones((3, 1)), [1, 2, 3], pd.DataFrame({"a": [1, 2, 3]})])
def test_as_many_rows_as_the_columns(context: Any) -> None:
    with pytest.raises(ValueError, match="context must have one row for each of 5 rows of X, got 3"):
        encode_context(context, 5)


@pytest.mark.parametrize("context", [np.ones((5, 1, 1)), 3.0, "text"])
def test_two_dimensions(context: Any) -> None:
    with pytest.raises(ValueError, match="context must be a table of two dimensions, got shape"):
        encode_context(context, 5)


# In a fit


N = 400
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 2))
CITY = np.array(["Bern", "Oslo", "Rome"])[RNG.integers(0, 3, size=N)]
SIGN = np.where(CITY == "Oslo", 1.0, np.where(CITY == "Rome", -1.0, 0.0))
Y = SIGN * np.tanh(4 * X[:, 0])  # a step up in Oslo, down in Rome, none in Bern


def conditional(**params: Any) -> SupervisedStretchTransformer:
    teacher = HistGradientBoostingRegressor(max_iter=30, early_stopping=False)
    options: dict[str, Any] = {"teacher": teacher, "rank_weight": 0.0, "value_weight": 0.0, "n_curves": 100}
    return SupervisedStretchTransformer(8, **{**options, "variation": "conditional", **params})


@pytest.mark.parametrize(
    "context",
    [CITY, CITY[:, None], CITY.tolist(), pd.DataFrame({"city": CITY}), pl.DataFrame({"city": CITY})],
    ids=["array", "column", "list", "pandas", "polars"],
)
def test_what_depends_on_a_category_is_found_with_it(context: Any) -> None:
    blind, seeing = conditional().fit(X, Y), conditional().fit(X, Y, context=context)
    assert blind.shrinkage_[0] > 0.5
    assert seeing.shrinkage_[0] < 0.3
    assert half_l1(seeing.output_widths_[0], np.full(8, 1 / 8)) > 0.2
    assert np.argmax(seeing.output_widths_[0]) in (3, 4)
    assert seeing.variation_[0].sum() > 2 * blind.variation_[0].sum()
    assert seeing.variation_[1].sum() < 0.5 * seeing.variation_[0].sum()


def test_context_is_not_transformed() -> None:
    fitted = conditional().fit(X, Y, context=CITY)
    assert fitted.n_features_in_ == 2
    assert fitted.transform(X).shape == (N, 2)
    assert len(fitted.maps_) == len(fitted.summary()) == 2
    assert_array_equal(conditional().fit_transform(X, Y, context=CITY), fitted.transform(X))


def test_empty_context_is_no_context() -> None:
    for nothing in (np.empty((N, 0)), pd.DataFrame(index=range(N))):
        assert_array_equal(
            conditional().fit_transform(X, Y, context=nothing), conditional().fit_transform(X, Y)
        )


@pytest.mark.parametrize("teacher", [None, DecisionTreeRegressor(max_depth=3)])
@pytest.mark.parametrize("context", [np.full((N, 1), NAN), np.full(N, None), np.zeros(N)])
def test_context_that_says_nothing_does_no_harm(teacher: Any, context: Any) -> None:
    fitted = conditional(teacher=teacher).fit(X, X[:, 0], context=context)
    assert fitted.shrinkage_[0] < 0.1


@pytest.mark.parametrize("scale", [1e308, 1e-310])
def test_context_of_extreme_numbers(scale: float) -> None:
    """Half of the largest floats is more than the rest of them can be added to."""
    fitted = conditional().fit(X, Y, context=(2.0 + SIGN) / 3 * scale)
    assert fitted.shrinkage_[0] < 0.3


def test_wrong_rows_are_refused_by_fit() -> None:
    with pytest.raises(ValueError, match=f"context must have one row for each of {N} rows of X, got 7"):
        conditional().fit(X, Y, context=np.ones((7, 1)))


@pytest.mark.usefixtures("routing")
def test_context_is_routed_in_a_pipeline() -> None:
    stretch = conditional().set_fit_request(context=True)
    pipe = make_pipeline(stretch, Ridge()).fit(X, Y, context=CITY)
    with config_context(enable_metadata_routing=False):
        expected = conditional().fit(X, Y, context=CITY).transform(X)
    assert_array_equal(pipe[:-1].transform(X), expected)
    renamed = conditional().set_fit_request(context="city")
    assert_array_equal(make_pipeline(renamed, Ridge()).fit(X, Y, city=CITY)[:-1].transform(X), expected)


@pytest.mark.usefixtures("routing")
def test_context_alone_and_not_requested() -> None:
    fitted = conditional().fit(X, Y, context=CITY)
    assert fitted.shrinkage_[0] < 0.3
    with pytest.raises(UnsetMetadataPassedError, match="context"):
        make_pipeline(conditional(), Ridge()).fit(X, Y, context=CITY)
    requests = conditional().set_fit_request(context=True).get_metadata_routing()
    assert requests.consumes("fit", ["context", "colour"]) == {"context"}
