"""Cells foreseen from the first rows describe later ones as cells cut for these would."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from oracle import Array

from tabstretch._cells import describe
from tabstretch._foreseen import ForeseenCells
from tabstretch._merging import cut_by_itself

LIMIT = 256


def foreseen(x: Array) -> ForeseenCells:
    return ForeseenCells.of(cut_by_itself(x, None, len(x), LIMIT))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("beyond", [[], [-9.0], [9.0, 10.0], [-9.0, -8.0, -9.0, 9.0]])
def test_values_beyond_become_cells_in_order(beyond: list[float], weighted: bool) -> None:
    rng = np.random.default_rng(0)
    first = np.r_[-4.0, 4.0, rng.normal(size=20_000).clip(-4, 4)]
    x = np.r_[rng.normal(size=20_000).clip(-3, 3), beyond, np.nan]
    rng.shuffle(x)
    weight = rng.uniform(0.5, 1.5, size=len(x)) if weighted else None
    cells = foreseen(first).describe(x, weight, LIMIT)
    assert cells is not None
    assert np.all(np.diff(cells.left) > 0)
    assert cells.ends == (np.nanmin(x), np.nanmax(x))
    plain = describe(x, weight, np.union1d(cut_by_itself(first, None, len(first), LIMIT).left, beyond))
    for name in ("left", "weight", "mean", "low", "high"):
        kept, expected = (getattr(each, name)[each.weight > 0] for each in (cells, plain))
        assert_allclose(kept, expected, rtol=1e-12, atol=1e-12, err_msg=name)
    missing = np.isnan(x)
    assert_array_equal(cells.index[missing], cells.n_cells)
    assert np.all(cells.low[cells.index[~missing]] <= x[~missing])
    assert np.all(cells.high[cells.index[~missing]] >= x[~missing])


def test_many_values_beyond_share_some_cells() -> None:
    rng = np.random.default_rng(0)
    cells = foreseen(rng.uniform(size=20_000)).describe(rng.uniform(-0.02, 1.02, 20_000), None, LIMIT)
    assert cells is not None
    assert np.count_nonzero((cells.left < 0) | (cells.left > 1)) <= 256
    assert cells.weight.sum() == 20_000


@pytest.mark.parametrize(
    "x",
    [
        np.arange(20_000) / 10_000,  # half of it beyond
        0.5 + np.arange(20_000) * 1e-9,  # all in one cell
        np.r_[np.linspace(0, 1, 20_000), 1e306],  # of another scale
        np.linspace(0, 1e-201, 20_000),
    ],
)
def test_cells_that_do_not_suit_are_refused(x: Array) -> None:
    assert foreseen(np.random.default_rng(0).uniform(size=20_000)).describe(x, None, LIMIT) is None


def test_a_new_value_of_a_column_with_few_is_not_joined_to_another() -> None:
    few = foreseen(np.arange(10.0))
    assert few.describe(np.array([3.0, 3.5]), None, LIMIT) is None
    later = few.describe(np.array([3.0, 12.0, 3.0]), None, LIMIT)
    assert later is not None
    assert later.left[later.weight > 0].tolist() == [3.0, 12.0]
    nothing = few.describe(np.array([np.nan]), None, LIMIT)
    assert nothing is not None
    assert np.isnan(nothing.ends).all()


def test_a_part_of_missing_values_suits_whatever_its_weights() -> None:
    nothing = foreseen(np.random.default_rng(0).normal(size=20_000)).describe(
        np.array([np.nan]), np.array([0.5]), LIMIT
    )
    assert nothing is not None
    assert nothing.weight.sum() == 0.0


@pytest.mark.parametrize("seed", range(5))
def test_a_short_part_of_the_same_column_suits_whatever_its_weights(seed: int) -> None:
    # Cells of few rows stray by chance, the more where weights differ: cells of its own would cost precision.
    rng = np.random.default_rng(seed)
    first, x = rng.normal(size=20_000), rng.normal(size=2500)
    assert foreseen(first).describe(x, rng.exponential(size=len(x)), LIMIT) is not None
