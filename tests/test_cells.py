"""Cells partition a column in order, never split a tie, and are exact up to their limit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracle import Array
from test_bins import NAMES, draw

from tabstretch._cells import CELL_LIMIT, SAMPLE_SIZE, Cells, cut_into_cells


def assert_cells_describe(cells: Cells, x: Array, weight: Array | None = None) -> None:
    """Everything the cells say about the column, checked row by row."""
    weight = np.ones(len(x)) if weight is None else weight
    present = ~np.isnan(x)
    index = cells.index[present].astype(int)
    assert np.all(cells.index[~present] == cells.n_cells)
    assert np.all(index < cells.n_cells)
    assert np.all(cells.low[index] <= x[present])
    assert np.all(x[present] <= cells.high[index])
    assert np.all(cells.high[:-1] < cells.low[1:])  # in order, and no tie in two cells
    assert_allclose(cells.weight, np.bincount(index, weights=weight[present], minlength=cells.n_cells))
    occupied = cells.weight > 0
    sums = np.bincount(index, weights=(weight * x)[present], minlength=cells.n_cells)
    span = np.ptp(x[present])
    assert_allclose(
        cells.mean[occupied], (sums[occupied] / cells.weight[occupied]), atol=1e-12 * span, rtol=1e-9
    )
    assert np.all(np.diff(cells.mean) > 0)
    assert cells.exact == (len(np.unique(x[present])) == cells.n_cells)


@pytest.mark.parametrize("n", [1, 2, 100, CELL_LIMIT, CELL_LIMIT + 1, 20_000, SAMPLE_SIZE + 1, 150_000])
@pytest.mark.parametrize("name", NAMES)
def test_cells_of_many_columns(name: str, n: int) -> None:
    x = draw(name, n)
    cells = cut_into_cells(x)
    assert_cells_describe(cells, x)
    assert cells.n_cells <= 1.3 * CELL_LIMIT
    assert cells.exact or len(np.unique(x)) > CELL_LIMIT


@pytest.mark.parametrize("n", [300, 20_000, 100_000])
@pytest.mark.parametrize("name", ["normal", "integer", "half zero"])
def test_cells_with_weights_and_missing_values(name: str, n: int) -> None:
    rng = np.random.default_rng(0)
    x = np.where(rng.random(n) < 0.2, np.nan, draw(name, n))
    weight = rng.uniform(0.1, 3, size=n)
    assert_cells_describe(cut_into_cells(x, weight), x, weight)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False, width=32), min_size=1, max_size=60))
def test_short_columns_have_one_cell_per_distinct_value(values: list[float]) -> None:
    x = np.array(values) + 0.0
    cells = cut_into_cells(x)
    assert cells.exact
    assert_array_equal(cells.mean, np.unique(x))
    assert_array_equal(cells.mean[cells.index], x)


def test_a_limit_of_distinct_values_is_exact_and_one_more_is_not() -> None:
    for n_distinct, exact in ((CELL_LIMIT, True), (CELL_LIMIT + 1, False)):
        x = np.tile(np.arange(float(n_distinct)), 3)
        assert cut_into_cells(x).exact is exact


@pytest.mark.parametrize("rare", [[0.5, 7.25, 99.5], [-1e6], [1e6], [-3.0, 1e3]])
def test_rare_values_that_the_sample_misses(rare: list[float]) -> None:
    """A long column of 100 integers and a few single values that a sample is likely not to see."""
    x = np.arange(200_000) % 100 * 1.0
    x[np.linspace(1000, 199_000, len(rare)).astype(int)] = rare
    cells = cut_into_cells(x)
    assert_cells_describe(cells, x)
    assert cells.exact
    assert_array_equal(cells.mean, np.unique(x))


def test_a_long_tail_of_rare_values_is_cut_but_loses_nothing() -> None:
    """Few values in the sample, but more distinct ones than cells in the column."""
    rng = np.random.default_rng(0)
    x = np.round(rng.standard_cauchy(size=400_000), 0) * 1.0
    assert_cells_describe(cut_into_cells(x), x)
    x[: 3 * CELL_LIMIT] = rng.uniform(-0.5, 0.5, size=3 * CELL_LIMIT)
    assert_cells_describe(cut_into_cells(x), x)


def test_thin_tails_keep_cells_of_their_own() -> None:
    x = draw("cauchy", 50_000)
    cells = cut_into_cells(x)
    widest = np.max((cells.high - cells.low) / np.ptp(x))
    assert widest < 0.01
    assert cells.weight[:3].max() < 5
    assert cells.weight[-3:].max() < 5


def test_no_values() -> None:
    cells = cut_into_cells(np.full(5, np.nan))
    assert cells.n_cells == 0
    assert_array_equal(cells.index, 0)
