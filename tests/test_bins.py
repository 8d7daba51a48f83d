"""Edges are those of np.quantile, however the column was cut into cells."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracle import Array, quantile_edges

from tabstretch._bins import bin_edges, bin_weights
from tabstretch._cells import CELL_LIMIT, SAMPLE_SIZE, cut_into_cells

SIZES = (
    1,
    2,
    3,
    100,
    CELL_LIMIT - 1,
    CELL_LIMIT,
    CELL_LIMIT + 1,
    20_000,
    SAMPLE_SIZE,
    SAMPLE_SIZE + 1,
    150_000,
)


def draw(name: str, n: int) -> Array:
    rng = np.random.default_rng(n)
    match name:
        case "normal":
            return rng.normal(size=n)
        case "lognormal":
            return rng.lognormal(0, 3, size=n)
        case "cauchy":
            return rng.standard_cauchy(size=n)
        case "integer":
            return rng.poisson(30, size=n).astype(float)
        case "half zero":
            return np.where(rng.random(n) < 0.5, 0.0, rng.normal(size=n))
        case "many integers":
            return rng.integers(0, 10_000, size=n).astype(float)
        case "two clumps":
            return np.where(rng.random(n) < 0.5, 1e-9, 1e9) * rng.uniform(0.5, 1, size=n)
        case "sorted":
            return np.sort(rng.normal(size=n))[::-1].copy()
    return rng.uniform(1, 1 + 1e-12, size=n)  # "narrow": few floats between the ends


NAMES = (
    "normal",
    "lognormal",
    "cauchy",
    "integer",
    "half zero",
    "many integers",
    "two clumps",
    "sorted",
    "narrow",
)


@pytest.mark.parametrize("n_bins", [1, 2, 16, 64, 1000, 200_000])
@pytest.mark.parametrize("name", NAMES)
def test_edges_equal_quantiles(name: str, n_bins: int) -> None:
    for n in SIZES:
        x = draw(name, n)
        assert_array_equal(bin_edges(x, n_bins), quantile_edges(x, n_bins), err_msg=f"{n} rows")


@pytest.mark.parametrize("n", [300, 10_000, 100_000])
@pytest.mark.parametrize("name", NAMES)
def test_weighted_edges_equal_quantiles_of_repeated_rows(name: str, n: int) -> None:
    x = draw(name, n)
    weight = np.random.default_rng(0).integers(1, 4, size=n).astype(float)
    for n_bins in (1, 10, 64, 500):
        assert_array_equal(bin_edges(x, n_bins, weight=weight), quantile_edges(x, n_bins, weight))


@pytest.mark.parametrize("n", [200, 10_000, 100_000])
def test_missing_values_are_no_rows(n: int) -> None:
    x = draw("normal", n)
    missing = np.random.default_rng(1).random(n) < 0.3
    with_missing = np.where(missing, np.nan, x)
    assert_array_equal(bin_edges(with_missing, 32), quantile_edges(x[~missing], 32))
    assert len(bin_edges(np.full(n, np.nan), 32)) == 0


@given(
    st.lists(st.floats(-1e6, 1e6) | st.integers(-3, 3).map(float), min_size=1, max_size=80),
    st.integers(1, 100),
)
def test_edges_of_anything(values: list[float], n_bins: int) -> None:
    x = np.array(values) + 0.0  # no negative zero
    edges = bin_edges(x, n_bins)
    assert_array_equal(edges, quantile_edges(x, n_bins))
    assert np.all(np.diff(edges) > 0)
    assert edges[0] == x.min()
    assert edges[-1] == x.max()


@given(
    st.lists(st.tuples(st.integers(-5, 5), st.integers(1, 5)), min_size=1, max_size=40),
    st.integers(1, 12),
)
def test_weighted_edges_of_anything(rows: list[tuple[int, int]], n_bins: int) -> None:
    x, weight = (np.array(part, dtype=float) for part in zip(*rows, strict=True))
    assert_array_equal(bin_edges(x, n_bins, weight=weight), quantile_edges(x, n_bins, weight))


@given(
    st.lists(st.tuples(st.integers(-9, 9), st.integers(1, 99)), min_size=1, max_size=40), st.integers(1, 4)
)
def test_fractional_weights_keep_the_ends(rows: list[tuple[int, int]], n_bins: int) -> None:
    x, weight = (np.array(part, dtype=float) for part in zip(*rows, strict=True))
    edges = bin_edges(x, n_bins, weight=weight / weight.mean())
    assert np.all(np.diff(edges) > 0)
    assert edges[0] == x.min()
    assert edges[-1] == x.max()


def test_fractional_weights_lie_between_whole_ones() -> None:
    x = np.arange(11.0)
    weight = np.where(x < 5, 1.5, 1.0)
    low, high = (bin_edges(x, 4, weight=np.where(x < 5, w, 1.0)) for w in (2.0, 1.0))
    middle = bin_edges(x, 4, weight=weight)
    assert np.all(low <= middle)
    assert np.all(middle <= high)


@pytest.mark.parametrize("n", [500, 20_000])
def test_bins_hold_even_shares_of_the_rows(n: int) -> None:
    x = draw("lognormal", n)
    edges = bin_edges(x, 10)
    shares = bin_weights(cut_into_cells(x), edges)
    assert_allclose(shares, 0.1, atol=0.005)
    assert_allclose(shares.sum(), 1)
