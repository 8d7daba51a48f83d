"""Cut a column into cells: value intervals, in order, that never split a tie.

A column with at most `CELL_LIMIT` distinct values gets one cell per distinct value, and nothing that
is computed from the cells is approximate. A longer column gets about `CELL_LIMIT` cells with about
equally many rows, and finer ones where its range is wide and its data thin.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tabstretch._kernels import describe_cells, locate_rows
from tabstretch._search import guide_table

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


def describe(x: Column, weight: Column | None, boundaries: Column) -> Cells:
    """Return the cells of a column that start at given boundaries."""
    index = np.empty(len(x), dtype=np.uint16)
    # A closing edge makes the last cell an interval like the others; missing values make up one more cell.
    edges = np.append(boundaries, boundaries[-1] + ((boundaries[-1] - boundaries[0]) or 1.0))
    locate_rows(x, edges, *guide_table(edges), index)
    sums = np.tile([0.0, 0.0, np.inf, -np.inf], (len(boundaries) + 1, 1))
    describe_cells(x, np.empty(0) if weight is None else weight, index, edges, sums)
    total, shift, low, high = (np.ascontiguousarray(column) for column in sums[:-1].T)
    occupied = total > 0
    low = np.where(occupied, low, boundaries)
    high = np.where(occupied, high, boundaries)
    mean = np.clip(boundaries + shift / np.where(occupied, total, 1.0), low, high)
    return Cells(
        index, boundaries, total, mean, low, high, exact=bool(np.all(low == high) and np.all(occupied))
    )
