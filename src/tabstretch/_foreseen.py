"""Cells that are foreseen: chosen from the first rows of a column, for all parts of it.

Parts that are cut at the same boundaries add up without loss, and the boundaries are prepared for the search
only once. Values beyond them become cells of their own, if they are few.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tabstretch._cells import Cells, Column, Grid, describe
from tabstretch._kernels import find_rows, shift_numbers
from tabstretch._magnitude import power_of_two_scale

# Values beyond the boundaries that were foreseen become cells of their own, up to this many.
_OUTER_CELLS = 256
# More of the rows beyond the boundaries than this, and the boundaries do not suit.
_OUTER_SHARE = 1 / 16
# Cells may hold this many times their share of the rows, and this many standard deviations more.
_OVERLOAD = 2.0
_CHANCE = 5.0
_FEW_ROWS = 8.0


@dataclass(frozen=True)
class ForeseenCells:
    """Cells that a column is expected to have, between two that take whatever lies beyond.

    `exact` tells that the cells are all distinct values, as far as the first rows tell.
    """

    grid: Grid
    exact: bool

    @classmethod
    def of(cls, cells: Cells) -> ForeseenCells:
        """Foresee the cells of the first rows."""
        beyond = np.nextafter(cells.left[0], -np.inf), np.nextafter(cells.left[-1], np.inf)
        return cls(Grid(np.concatenate([beyond[:1], cells.left, beyond[1:]])), cells.exact)

    def describe(self, x: Column, weight: Column | None, limit: int) -> Cells | None:
        """Return the cells of a part of the column, or None if they do not suit it."""
        cells = self.grid.describe(x, weight)
        if power_of_two_scale(np.array([cells.low[0], cells.high[-1]])) != 1.0:
            return None
        beyond = np.empty(int(max(_FEW_ROWS, _OUTER_SHARE * len(x))) + 1, dtype=np.intp)
        n_beyond = find_rows(cells.index, np.uint16(0), np.uint16(cells.n_cells - 1), beyond)
        if n_beyond == len(beyond):
            return None
        beyond = beyond[:n_beyond]
        if len(beyond) > 0:
            cells = _with_outer(cells, beyond, x[beyond], None if weight is None else weight[beyond])
        # A value that the first rows did not have stays by itself where there are few.
        joined = self.exact and np.any(cells.high > cells.left)
        return None if joined or _overloaded(cells, weight, limit) else cells


def _with_outer(cells: Cells, beyond: NDArray[np.intp], x: Column, weight: Column | None) -> Cells:
    """Give the rows in the first and the last cell cells of their own; writes into the cells' index."""
    boundaries = np.unique(x)
    if len(boundaries) > _OUTER_CELLS:
        boundaries = boundaries[np.linspace(0, len(boundaries) - 1, _OUTER_CELLS).astype(np.intp)]
    outer = describe(x, weight, boundaries)
    n_inner, n_below = cells.n_cells - 2, int(np.searchsorted(boundaries, cells.left[1]))

    def joined(name: str) -> Column:
        below, above = np.split(getattr(outer, name), [n_below])
        return np.concatenate([below, getattr(cells, name)[1:-1], above])

    index = cells.index
    # Missing values stay behind all cells; the two that took what lies beyond are written anew below.
    shift_numbers(index, n_below - 1, cells.n_cells, n_inner + outer.n_cells)
    index[beyond] = np.where(outer.index < n_below, outer.index, outer.index + n_inner)
    return Cells(
        index, joined("left"), joined("weight"), joined("mean"), joined("low"), joined("high"), exact=False
    )


def _overloaded(cells: Cells, weight: Column | None, limit: int) -> bool:
    """Tell whether a cell but those of one distinct value has far more than its share of the rows."""
    total = cells.weight.sum()
    if total == 0.0:  # nothing but missing values
        return False
    share = total / (limit * 3 // 4)
    # Cells that suit well are judged by chance in short parts, the more where weights differ.
    size = 1.0 if weight is None else float(weight @ weight / total)
    most = max(_OVERLOAD * share + _CHANCE * np.sqrt(share * size), _FEW_ROWS * total / len(cells.index))
    return bool(np.any(cells.weight[cells.low < cells.high] > most))
