"""The guards: safe ranges, Yeo-Johnson's powers, piecewise linear bins and their encoding."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numeric_tables import BEYOND, ordinary
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray
from scipy.stats import yeojohnson
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from tabstretch.study.columns import PiecewiseLinear, SafeRange, YeoJohnson


def test_ordinary_columns_stay_as_they_are() -> None:
    X = ordinary()
    assert_array_equal(SafeRange.of(X).transform(X), X)


@pytest.mark.parametrize("unit", [5e-324, 1e-300, 1e-20, 1e60, 1e300])
def test_extreme_columns_keep_their_shape(unit: float) -> None:
    X = np.array([[-3.0], [0.0], [1.0], [7.0]]) * unit
    scaled = SafeRange.of(X).transform(X)
    assert 2.0**-11 <= np.abs(scaled).max() <= 2.0**100
    assert_allclose(scaled / scaled[-1], [[-3 / 7], [0], [1 / 7], [1]], rtol=1e-14)


def test_far_beyond_the_training_part_is_clipped() -> None:
    X = np.array([[-1e-300], [1e-300]])
    assert_array_equal(
        SafeRange.of(X).transform(np.array([[1.7e308], [-1.7e308]])), [[2.0**200], [-(2.0**200)]]
    )


def test_a_constant_column_is_zero_for_all_rows() -> None:
    X = np.array([[0.1, 1.0], [0.1, 2.0], [0.1, 3.0]])
    safe = SafeRange.of(X)
    assert_array_equal(safe.transform(np.array([[0.1, 5.0], [7.0, 5.0]])), [[0, 5], [0, 5]])


def test_powers_are_those_of_scipy() -> None:
    X = ordinary()[:, :2]
    power = YeoJohnson.of(X)
    assert power.broken == ()
    new = ordinary(20, seed=1)[:, :2]
    expected = [yeojohnson(new[:, j], yeojohnson(X[:, j])[1]) for j in range(2)]
    assert_allclose(power.transform(new), np.column_stack(expected), rtol=1e-6)


@pytest.mark.parametrize(
    "column",
    [
        37.5 + 1e-3 * ordinary()[:, 1],  # latitudes of one city: powers hardly change their shape
        1e9 + 0.1 * ordinary()[:, 0],
        1e-300 * ordinary()[:, 0],
        np.where(ordinary()[:, 0] > 0, 1.7e308, -1.7e308),
    ],
    ids=["latitude", "far from zero", "tiny", "huge"],
)
def test_a_column_without_a_power_is_left_alone_and_its_neighbour_is_not(column: NDArray[np.float64]) -> None:
    neighbour = ordinary()[:, [1]]
    X = np.column_stack([column, neighbour])
    power = YeoJohnson.of(X)
    assert power.broken == (0,)
    assert_array_equal(power.transform(X)[:, 0], SafeRange.of(X).transform(X)[:, 0])
    assert_array_equal(power.transform(X)[:, [1]], YeoJohnson.of(neighbour).transform(neighbour))


def test_constant_columns_are_not_called_broken() -> None:
    X = np.column_stack([np.full(50, 3.3), ordinary(50)[:, 0]])
    power = YeoJohnson.of(X)
    assert power.broken == ()
    assert_array_equal(power.transform(X)[:, 0], 0)


def test_powers_beyond_the_training_part_are_finite() -> None:
    X = 5 - ordinary()[:, [1]] ** 0.2  # skewed to the left: a power far above 1
    power = YeoJohnson.of(X)
    assert power.broken == ()
    assert power.powers[0].lambdas_[0] > 1.5
    transformed = power.transform(BEYOND[:, np.newaxis])[:, 0]
    assert np.isfinite(transformed).all()
    order = np.argsort(BEYOND)
    assert (np.diff(transformed[order]) >= 0).all()
    assert transformed.max() == 1e100


def encoded_by_hand(value: float, edges: NDArray[np.float64]) -> list[float]:
    """Return the encoding of one number, from the paper's formula; end bins go on beyond the edges."""
    n_bins = len(edges) - 1
    out = []
    for t in range(n_bins):
        share = (value - edges[t]) / (edges[t + 1] - edges[t])
        if t > 0:
            share = max(share, 0.0)
        if t < n_bins - 1:
            share = min(share, 1.0)
        out.append(share)
    return out


def expected_encoding(X: NDArray[np.float64], edges: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    return np.array([np.concatenate(list(map(encoded_by_hand, row, edges))) for row in X])


@pytest.mark.parametrize("n_bins", [2, 5, 48])
def test_quantile_encoding_by_hand(n_bins: int) -> None:
    X = ordinary()
    encoding = PiecewiseLinear.of(X, n_bins)
    edges = [np.unique(np.quantile(column, np.linspace(0, 1, n_bins + 1))) for column in X.T]
    assert encoding.widths.tolist() == [len(e) - 1 for e in edges]
    new = np.vstack([ordinary(30, seed=1), X.min(axis=0) - 1, X.max(axis=0) + 1, X[:3]])
    assert_allclose(encoding.transform(new), expected_encoding(new, edges), rtol=2e-4, atol=2e-4)


@pytest.mark.parametrize("is_regression", [True, False])
def test_tree_encoding_by_hand(is_regression: bool) -> None:
    X = ordinary(600)[:, [0, 3]]
    quantity = np.sin(2 * X[:, 0]) + 0.1 * X[:, 1]
    target = quantity if is_regression else np.digitize(quantity, np.quantile(quantity, [0.3, 0.6]))
    encoding = PiecewiseLinear.of(X, 6, target)
    tree = DecisionTreeRegressor if is_regression else DecisionTreeClassifier
    edges = []
    for j in range(2):
        fitted = tree(max_leaf_nodes=6, min_samples_leaf=64, min_impurity_decrease=1e-4, random_state=0)
        nodes = fitted.fit(X[:, [j]], target).tree_
        splits = nodes.threshold[nodes.feature >= 0]
        assert len(splits) > 1
        edges.append(np.unique([X[:, j].min(), *splits, X[:, j].max()]))
    new = ordinary(30, seed=1)[:, [0, 3]]
    assert_allclose(encoding.transform(new), expected_encoding(new, edges), atol=2e-4)


def test_trees_of_small_tables_still_split() -> None:
    """With leaves of 64 rows, as in large tables, 80 rows could not be split at all."""
    x = np.linspace(0, 1, 80)
    assert PiecewiseLinear.of(x[:, np.newaxis], 4, (x > 0.5) + 0.0).widths.tolist() == [2]
    assert PiecewiseLinear.of(x[:, np.newaxis], 4, np.floor(x * 3.99)).widths.tolist() == [4]


@pytest.mark.parametrize("n_bins", [2, 256])
@pytest.mark.parametrize("by_trees", [True, False])
def test_columns_far_from_zero_are_encoded_with_all_their_digits(n_bins: int, by_trees: bool) -> None:
    """A column's origin and unit do not matter, although 1e9 + 1 is 1e9 in float32."""
    X = ordinary(400)[:, [0]]
    X = np.round(X * 2**20) / 2**20  # digits to spare
    target = X[:, 0] ** 2 if by_trees else None
    near, far = PiecewiseLinear.of(X, n_bins, target), PiecewiseLinear.of(X * 8 + 2.0**30, n_bins, target)
    assert_allclose(far.transform(X * 8 + 2.0**30), near.transform(X), rtol=1e-5, atol=1e-5)


def test_a_constant_column_is_one_zero_between_the_others() -> None:
    a, b = ordinary().T[:2]
    X = np.column_stack([a, np.full(150, 7.0), b])
    encoding, without = PiecewiseLinear.of(X, 5), PiecewiseLinear.of(X[:, [0, 2]], 5)
    assert encoding.widths.tolist() == [5, 1, 5]
    encoded = encoding.transform(X)
    assert_array_equal(encoded[:, 5], 0)
    assert_array_equal(np.delete(encoded, 5, axis=1), without.transform(X[:, [0, 2]]))
    assert_array_equal(PiecewiseLinear.of(X[:, [1]], 5).transform(np.array([[7.0], [8.0]])), [[0], [0]])


@pytest.mark.parametrize("n_rows", [2, 3, 4])
def test_more_bins_than_rows(n_rows: int) -> None:
    X = np.arange(float(n_rows))[:, np.newaxis]
    assert PiecewiseLinear.of(X, 256).widths.tolist() == [n_rows - 1]


def test_a_column_of_two_values_is_scaled_to_the_unit_interval() -> None:
    X = np.array([3.0] * 60 + [5.0] * 40)[:, np.newaxis]
    encoding = PiecewiseLinear.of(X, 2)
    assert encoding.widths.tolist() == [1]
    assert_allclose(encoding.transform(np.array([[3.0], [4], [5], [9]]))[:, 0], [0, 0.5, 1, 3])


@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=3, max_size=40),
    st.integers(2, 256),
    st.booleans(),
)
def test_edges_and_encodings_are_finite_and_increase(
    values: list[float], n_bins: int, by_trees: bool
) -> None:
    X = np.array([values, np.arange(len(values))]).T
    X = SafeRange.of(X).transform(X)
    encoding = PiecewiseLinear.of(X, n_bins, X[:, 1] % 3 if by_trees else None)
    assert all((np.diff(edges) > 0).all() and len(edges) >= 2 for edges in encoding.edges)
    rows = np.sort(np.append(X[:, 0], [-(2.0**200), 2.0**200]))
    encoded = encoding.transform(np.column_stack([rows, rows]))
    assert np.isfinite(encoded).all()
    assert (np.diff(encoded, axis=0) >= 0).all()
