"""What is refused, and that the message names the column, the row or the value."""

import re
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from tabstretch import StretchTransformer, SupervisedStretchTransformer, TableStretch, suggest

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 3))
Y = X[:, 0] + RNG.normal(size=30)
both = pytest.mark.parametrize(
    "transformer", [StretchTransformer(8), SupervisedStretchTransformer(8, variation="within_fold", cv=3)]
)
SUPERVISED = SupervisedStretchTransformer(8, variation="within_fold", cv=3)


def refuses(message: str, error: type[Exception] = ValueError) -> Any:
    return pytest.raises(error, match=re.escape(message))


def with_value(value: Any, dtype: Any = float) -> Any:
    changed = X.astype(dtype)
    changed[7, 1] = value
    return changed


@both
@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csc_array])
def test_sparse(transformer: Any, kind: Any) -> None:
    with refuses("Sparse data was passed", TypeError):
        clone(transformer).fit(kind(X), Y)
    with refuses("Sparse data was passed", TypeError):
        clone(transformer).fit(X, Y).transform(kind(X))


@both
@pytest.mark.parametrize("dtype", [np.float64, np.float32, object])
@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinity(transformer: Any, value: float, dtype: Any) -> None:
    message = f"First in column 1, row 7: {value}"
    for wrong in (with_value(value, dtype), np.asfortranarray(with_value(value, dtype))):
        with refuses(message):
            clone(transformer).fit(wrong, Y)
    with refuses(message):
        clone(transformer).fit(X, Y).transform(with_value(value, dtype))
    with pytest.raises(ValueError, match="infinity"):
        clone(transformer).fit(X, Y).inverse_transform(with_value(value, dtype))


@both
@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_infinity_in_a_named_column(transformer: Any, library: Any) -> None:
    frame = library(dict(zip("abc", with_value(np.inf).T, strict=True)))
    with pytest.raises(ValueError, match=r"Input X contains infinity.* First in column 'b', row 7: inf"):
        clone(transformer).fit(frame, Y)


@both
def test_text(transformer: Any) -> None:
    frame = pd.DataFrame({"a": np.arange(30.0), "colour": ["red"] * 30})
    with pytest.raises(ValueError, match=r"could not convert.*column 'colour', row 0: 'red'"):
        clone(transformer).fit(frame, Y)
    with pytest.raises(ValueError, match=r"column 'colour', row 0: 'red'"):
        clone(transformer).fit(pl.from_pandas(frame), Y)
    with pytest.raises(ValueError, match=r"column 1, row 7: 'seven'"):
        clone(transformer).fit(with_value("seven", object), Y)
    with pytest.raises(ValueError, match=r"column 0, row 0: .*'a'"):
        clone(transformer).fit(np.full((30, 2), "a"), Y)


@both
def test_complex(transformer: Any) -> None:
    with pytest.raises(ValueError, match=r"Complex data not supported[\s\S]*Column 0 is complex"):
        clone(transformer).fit(X + 1j, Y)
    frame = pd.DataFrame({"real": X[:, 0], "wave": X[:, 1] + 1j})
    with pytest.raises(ValueError, match=r"Complex data not supported[\s\S]*Column 'wave' is complex"):
        clone(transformer).fit(frame, Y)


@both
def test_dates_and_durations(transformer: Any) -> None:
    days = np.datetime64("2024-01-01") + np.arange(30)
    frame = pd.DataFrame({"a": X[:, 0], "sold": days})
    for wrong in (frame, pl.from_pandas(frame)):
        with pytest.raises(ValueError, match=r"Column 'sold' holds dates or times \(.*[Dd]atetime.*\)"):
            clone(transformer).fit(wrong, Y)
    with refuses("Column 0 holds dates or times"):
        clone(transformer).fit(days[:, None], Y)
    with refuses("Column 0 holds dates or times"):
        clone(transformer).fit((days - days[0])[:, None], Y)
    with refuses("Column 'sold' holds dates or times"):
        clone(transformer).fit(frame.assign(sold=0.0), Y).transform(frame)


@both
def test_shapes(transformer: Any) -> None:
    fitted = clone(transformer).fit(X, Y)
    name = type(transformer).__name__
    for method in (fitted.transform, fitted.inverse_transform):
        with refuses(f"X has 2 features, but {name} is expecting 3 features as input."):
            method(X[:, :2])
    with refuses("Expected 2D array, got 1D array instead"):
        clone(transformer).fit(X[:, 0], Y)
    with refuses("0 sample(s)"):
        clone(transformer).fit(X[:0], Y[:0])
    with refuses("0 feature(s)"):
        clone(transformer).fit(X[:, :0], Y)


@pytest.mark.parametrize(("value", "kind"), [(np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")])
def test_target_with_a_hole(value: float, kind: str) -> None:
    for n_outputs in (1, 2):
        y = np.tile(Y[:, None], n_outputs)
        y[11, -1] = value
        with pytest.raises(ValueError, match=rf"Input y contains {kind}.* First at row 11\."):
            clone(SUPERVISED).fit(X, y if n_outputs > 1 else y.ravel())
    with refuses("Input y contains NaN. First at row 11."):
        clone(SUPERVISED).fit(X, np.array(["a"] * 11 + [None] + ["b"] * 18, dtype=object))
    with refuses("Input y contains NaN. First at row 11."):
        clone(SUPERVISED).fit(X, pd.Series([1] * 11 + [None] + [0] * 18, dtype="Int64"))


def test_target_missing_or_of_another_length() -> None:
    with refuses("requires y to be passed, but the target y is None"):
        clone(SUPERVISED).fit(X, None)
    with refuses("Found input variables with inconsistent numbers of samples: [30, 29]"):
        clone(SUPERVISED).fit(X, Y[:-1])


@both
@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (np.ones(29), "one value for each of 30 rows, got shape (29,)"),
        (np.ones((30, 1)), "one value for each of 30 rows, got shape (30, 1)"),
        (np.where(np.arange(30) == 4, -0.5, 1), "finite and not negative, got -0.5 at row 4"),
        (np.where(np.arange(30) == 4, np.nan, 1), "finite and not negative, got nan at row 4"),
        (np.where(np.arange(30) == 4, np.inf, 1), "finite and not negative, got inf at row 4"),
        (np.zeros(30), "sample_weight is zero for all rows"),
    ],
)
def test_weights(transformer: Any, weight: Any, message: str) -> None:
    with refuses(message):
        clone(transformer).fit(X, Y, sample_weight=weight)


@both
@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_bins": 0}, "n_bins must be at least 1, got 0"),
        ({"n_bins": -3}, "n_bins must be at least 1, got -3"),
        ({"n_bins": 2.5}, "got 2.5"),
        ({"n_bins": True}, "got True"),
        ({"n_bins": "many"}, "got 'many'"),
        ({"n_bins": None}, "got None"),
        ({"n_bins": [3, 4]}, "one integer for each of 3 columns, got 2"),
        ({"n_bins": [3, 4, 0]}, "n_bins must be at least 1, got 0"),
        ({"n_bins": [3, 4, 1.5]}, "got 1.5 for column 2"),
        ({"value_weight": -1}, "value_weight must be a finite number, at least 0, got -1"),
        ({"value_weight": np.nan}, "value_weight must be a finite number, at least 0, got nan"),
        ({"value_weight": np.inf}, "value_weight must be a finite number, at least 0, got inf"),
        ({"value_weight": "1"}, "value_weight must be a finite number, at least 0, got '1'"),
        ({"feature_range": (1, 0)}, "got (1, 0)"),
        ({"feature_range": (1, 1)}, "got (1, 1)"),
        ({"feature_range": (0, np.inf)}, "feature_range must go from a smaller to a larger finite number"),
        ({"feature_range": 1}, "feature_range must be a pair of numbers, got 1"),
        ({"feature_range": (0, 1, 2)}, "got (0, 1, 2)"),
        ({"out_of_range": "wrap"}, "out_of_range must be one of ('clip', 'extrapolate'), got 'wrap'"),
    ],
)
def test_parameters_of_both(transformer: Any, params: dict[str, Any], message: str) -> None:
    with refuses(message):
        clone(transformer).set_params(**params).fit(X, Y)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"rank_weight": -0.1}, "rank_weight must be a finite number, at least 0, got -0.1"),
        ({"shrinkage": 1.1}, "shrinkage must be a finite number, from 0 to 1, got 1.1"),
        ({"shrinkage": -0.1}, "shrinkage must be a finite number, from 0 to 1, got -0.1"),
        ({"shrinkage": "some"}, "got 'some'"),
        ({"shrinkage": None}, "got None"),
        ({"n_neighbors": 0}, "n_neighbors must be a finite number, at least 1, got 0"),
        ({"n_neighbors": "all"}, "got 'all'"),
        (
            {"variation": "total"},
            "variation must be one of ('conditional', 'within_fold', 'pooled'), got 'total'",
        ),
        ({"cv": 1}, "cv must be an integer of at least 2"),
        ({"cv": "five"}, "got 'five'"),
        ({"cv": True}, "got True"),
        ({"cv": 2.5}, "got 2.5"),
        ({"cv": []}, "cv must give at least one split"),
        ({"target_type": "ordinal"}, "got 'ordinal'"),
    ],
)
def test_parameters_of_the_supervised_one(params: dict[str, Any], message: str) -> None:
    with refuses(message):
        clone(SUPERVISED).set_params(**params).fit(X, Y)


@both
@pytest.mark.parametrize("n_bins", [[3, 1, 5], (3, 1, 5), np.array([3, 1, 5])])
def test_bins_for_each_column(transformer: Any, n_bins: Any) -> None:
    fitted = clone(transformer).set_params(n_bins=n_bins).fit(X, Y)
    assert list(fitted.n_bins_) == [3, 1, 5]
    for j, number in enumerate([3, 1, 5]):
        alone = clone(transformer).set_params(n_bins=number).fit(X[:, [j]], Y)
        np.testing.assert_array_equal(fitted.output_edges_[j], alone.output_edges_[0])


def test_numpy_numbers_are_numbers() -> None:
    fitted = SupervisedStretchTransformer(
        np.int64(4),
        variation="within_fold",
        n_neighbors=np.int32(9),
        cv=np.int64(3),
        shrinkage=np.float32(0.5),
    ).fit(X, Y)
    plain = SupervisedStretchTransformer(4, variation="within_fold", n_neighbors=9, cv=3, shrinkage=0.5).fit(
        X, Y
    )
    np.testing.assert_array_equal(fitted.transform(X), plain.transform(X))


@pytest.mark.parametrize(
    ("X", "where"),
    [
        (pd.DataFrame({"a": [pd.NA, "x", 1.0]}), "column 'a', row 1: 'x'"),
        ([[1.0, 2.0], [3.0, float("inf")]], "column 1, row 1: inf"),
        ([[1.0, 2.0], ["red", 3.0]], "column 0, row 1: 'red'"),
    ],
)
def test_the_culprit_is_named_among_missing_values_and_in_lists(X: Any, where: str) -> None:
    with pytest.raises((ValueError, TypeError), match=re.escape(where)):
        StretchTransformer().fit(X)


def test_the_culprit_is_named_on_the_way_back() -> None:
    fitted = StretchTransformer().fit([[0.0, 1.0], [1.0, 2.0]])
    with pytest.raises(ValueError, match="column 1, row 0: -inf"):
        fitted.inverse_transform([[0.0, -np.inf]])


def test_a_fit_that_failed_is_no_fit() -> None:
    model = SupervisedStretchTransformer(variation="within_fold")
    with pytest.raises(ValueError, match="y contains NaN"):
        model.fit([[0.0], [1.0]], [0.0, np.nan])
    with pytest.raises(NotFittedError):
        model.transform([[0.0]])


def test_sums_of_huge_numbers_are_no_warning() -> None:
    largest = np.finfo(float).max
    X = np.tile([[largest], [-largest], [0.0]], (2000, 1))
    fitted = StretchTransformer().fit(X)
    assert_array_equal(fitted.transform(X[:3]).ravel(), [1, 0, 0.5])
    assert_array_equal(fitted.inverse_transform([[1.0], [0.0]]).ravel(), [largest, -largest])


@both
def test_text_points_to_tables_when_fitting_only(transformer: Any) -> None:
    table = pd.DataFrame({"a": np.linspace(0, 1, 30), "b": "x"})
    with pytest.raises(
        ValueError, match=r"'x'\. First in column 'b', row 0: 'x'\. TableStretch takes tables"
    ):
        clone(transformer).fit(table, table["a"])
    table["b"] = table["a"]
    fitted = clone(transformer).fit(table, table["a"])
    with pytest.raises(ValueError, match=r"First in column 'b', row 0: 'x'\.$"):
        fitted.transform(table.assign(b="x"))


@both
def test_dates_point_to_tables_when_fitting_only(transformer: Any) -> None:
    table = pd.DataFrame({"a": np.linspace(0, 1, 30)})
    dated = table.assign(a=pd.date_range("2020", periods=30))
    with pytest.raises(ValueError, match=r"a fixed date\. TableStretch takes tables of mixed columns\.$"):
        clone(transformer).fit(dated, table["a"])
    fitted = clone(transformer).fit(table, table["a"])
    with pytest.raises(ValueError, match=r"a fixed date\.$"):
        fitted.transform(dated)


def test_a_target_with_holes_says_what_to_do() -> None:
    table = np.linspace(0, 1, 12)[:, None]
    labels = np.array(["a", "b"] * 6, dtype=object)
    labels[3] = None
    for y in (np.where(table.ravel() > 0.5, np.nan, 1.5), labels):
        with pytest.raises(ValueError, match=r"Leave out the rows whose target is not known\."):
            SupervisedStretchTransformer().fit(table, y)


def test_the_name_of_a_target_is_no_target() -> None:
    with pytest.raises(TypeError, match=r"got the text 'price': of a column of X, pass X\['price'\] as y"):
        SupervisedStretchTransformer().fit(np.ones((5, 1)), "price")


def test_no_target_names_what_needs_none() -> None:
    with pytest.raises(ValueError, match=r"target y is None\. StretchTransformer needs no target"):
        SupervisedStretchTransformer().fit(np.ones((5, 1)), None)


@both
def test_a_frame_without_columns(transformer: Any) -> None:
    table = pd.DataFrame(index=range(5))
    with pytest.raises(ValueError, match=r"Found array with 0 feature\(s\) \(shape=\(5, 0\)\)"):
        clone(transformer).fit(table, np.arange(5.0))


@both
def test_lazy_frames_say_how_to_fetch_them(transformer: Any) -> None:
    table = pl.DataFrame({"a": np.linspace(0, 1, 12)})
    for fit in (transformer.fit, TableStretch(StretchTransformer()).fit, suggest):
        with pytest.raises(TypeError, match=r"LazyFrame of polars.*X\.collect\(\) fetches them"):
            fit(table.lazy(), table["a"])


@both
def test_columns_in_another_order_say_how_to_mend_it(transformer: Any) -> None:
    table = pd.DataFrame({"b": np.linspace(0, 1, 30), "a": np.linspace(1, 3, 30)})
    for fitted in (clone(transformer).fit(table, table["a"]), TableStretch(StretchTransformer()).fit(table)):
        with pytest.raises(ValueError, match=r"(?s)same order.*X\[list\(fitted.feature_names_in_\)\] puts"):
            fitted.transform(table[["a", "b"]])
        assert fitted.transform(table[["a", "b"]][list(fitted.feature_names_in_)]).shape == (30, 2)
