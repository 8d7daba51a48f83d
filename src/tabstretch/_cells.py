"""Cut a column into cells: value intervals, in order, that never split a tie.

A column with at most `CELL_LIMIT` distinct values gets one cell per distinct value, and nothing that
is computed from the cells is approximate. A longer column gets about `CELL_LIMIT` cells with about
equally many rows, and finer ones where its range is wide and its data thin.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tabstretch._kernels import describe_cells, locate_rows
from tabstretch._search import Guide, guide_table

CELL_LIMIT = 4096
# Columns up to this length choose their cells from all rows, longer ones from a sample of this size.
SAMPLE_SIZE = 1 << 16

Column = NDArray[np.float64]


@dataclass(frozen=True)
class Cells:
    """A column's cells and the cell of every row.

    Attributes
    ----------
    index : array of shape (n_rows,)
        Cell of each row; `n_cells` for a missing value.
    left : array of shape (n_cells,)
        Left boundary of each cell, which reaches up to the next one's.
    weight, mean, low, high : arrays of shape (n_cells,)
        Total weight, mean position, smallest and largest value of each cell. A cell without rows
        has weight zero and stands at its left boundary.
    exact : bool
        Whether every cell is one distinct value.
    """

    index: NDArray[np.uint16]
    left: Column
    weight: Column
    mean: Column
    low: Column
    high: Column
    exact: bool

    @property
    def n_cells(self) -> int:
        return len(self.weight)

    @property
    def ends(self) -> tuple[float, float]:
        """Smallest and largest value; NaN if there is none."""
        occupied = np.flatnonzero(self.weight)
        if len(occupied) == 0:
            return np.nan, np.nan
        return float(self.low[occupied[0]]), float(self.high[occupied[-1]])


def cut_into_cells(
    x: Column,
    weight: Column | None = None,
    spread: Callable[[Column, float, float], Column] | None = None,
    sample_size: int = SAMPLE_SIZE,
) -> Cells:
    """Cut a column, NaN allowed, into cells.

    `spread` chooses the boundaries of a long column from a sorted sample, its smallest and largest value.
    """
    spread = spread_boundaries if spread is None else spread
    present = x[~np.isnan(x)] if len(x) and np.isnan(x.min()) else x
    if len(present) == 0:
        return no_cells(len(x))
    sample = present
    if len(present) > sample_size:
        sample = present[np.random.default_rng(0).integers(len(present), size=sample_size)]
    candidates = np.unique(sample)
    if len(candidates) <= CELL_LIMIT:
        cells = describe(x, weight, candidates)
        if cells.exact:
            return cells
        # The sample missed some values of a column that seems to have few: find these, if still few.
        mixed = np.append(cells.low < cells.high, False)
        candidates = np.union1d(candidates, x[mixed[cells.index]])
        if len(candidates) <= CELL_LIMIT:
            return describe(x, weight, candidates)
    boundaries = spread(np.sort(sample), float(present.min()), float(present.max()))
    return describe(x, weight, boundaries)


def no_cells(n_rows: int) -> Cells:
    """Return the cells of a column without values."""
    empty = np.empty(0)
    return Cells(np.zeros(n_rows, dtype=np.uint16), empty, empty, empty, empty, empty, exact=True)


def spread_boundaries(sample: Column, low: float, high: float, limit: int = CELL_LIMIT) -> Column:
    """Choose left boundaries of about `limit` cells from a sorted sample of a column's values."""
    n = len(sample)
    # Equal counts; single rows at both ends, in geometric progression; an even grid over the range.
    by_count = np.linspace(0, n - 1, limit * 3 // 4)
    from_end = np.geomspace(1, n / 2, limit // 32) - 1
    places = np.concatenate([by_count, from_end, n - 1 - from_end]).astype(np.intp)
    by_value = np.linspace(low, high, limit // 16, endpoint=False)
    return np.unique(np.concatenate([sample[places], by_value]))


@dataclass(frozen=True)
class Grid:
    """Left boundaries of cells, ready to describe one part of a column after the other."""

    left: Column

    @cached_property
    def edges(self) -> Column:
        """The boundaries and a closing edge, which makes the last cell an interval like the others."""
        first, last = self.left[0], self.left[-1]
        return np.append(self.left, last + ((last - first) or 1.0))

    @cached_property
    def guide(self) -> Guide:
        """The guide table of the edges."""
        return guide_table(self.edges)

    def describe(self, x: Column, weight: Column | None) -> Cells:
        """Return the cells of a column; what lies before the first boundary goes into the first cell."""
        left = self.left
        index = np.empty(len(x), dtype=np.uint16)
        locate_rows(x, self.edges, *self.guide, index)
        # Missing values make up one more cell.
        sums = np.tile([0.0, 0.0, np.inf, -np.inf], (len(left) + 1, 1))
        describe_cells(x, np.empty(0) if weight is None else weight, index, self.edges, sums)
        total, shift, low, high = (np.ascontiguousarray(column) for column in sums[:-1].T)
        occupied = total > 0
        low = np.where(occupied, low, left)
        high = np.where(occupied, high, left)
        mean = np.clip(left + shift / np.where(occupied, total, 1.0), low, high)
        exact = bool(np.all(low == high) and np.all(occupied))
        return Cells(index, left, total, mean, low, high, exact)


def describe(x: Column, weight: Column | None, boundaries: Column) -> Cells:
    """Return the cells of a column that start at given boundaries."""
    return Grid(boundaries).describe(x, weight)
