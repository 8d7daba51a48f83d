"""Cells of one column that can be merged: what is kept of a column whose rows pass by only once.

Parts of a column that are cut at the same boundaries simply add up. Where one part has finer cells than
another, what a coarse cell holds goes whole into the fine cell at its mean: it moves by less than a cell,
whose share of the rows is about one in `limit`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabstretch._bins import bin_edges
from tabstretch._cells import (
    CELL_LIMIT,
    Cells,
    Column,
    cut_into_cells,
    no_cells,
    spread_boundaries,
)
from tabstretch._kernels import add_cells, place_cells, unite
from tabstretch._magnitude import interpolate, power_of_two_scale


@dataclass(frozen=True)
class ColumnPart:
    """Cells of a part of a column's rows, with sums over these rows.

    Attributes
    ----------
    left, weight, mean, low, high : arrays of shape (n_cells,)
        As in `Cells`, in units of `scale`; no cell is empty.
    sums : array of shape (n_cells, n_folds, n_sums)
        Whatever is summed over the rows that each fold holds out.
    gram : array of shape (n_outputs, n_outputs)
        Weighted sum of products of every two outputs of the target, over the rows that have a value.
    ends : tuple of two floats
        Smallest and largest value, in the column's own units; NaN if there is none.
    scale : float
        A power of two, by which extreme values are multiplied.
    """

    left: Column
    weight: Column
    mean: Column
    low: Column
    high: Column
    sums: Column
    gram: Column
    ends: tuple[float, float]
    scale: float

    @property
    def exact(self) -> bool:
        """Whether every cell is one distinct value."""
        return bool(np.all(self.low == self.high))

    def rescaled(self, scale: float) -> ColumnPart:
        """Return the same in other units."""
        if scale == self.scale:
            return self
        by = scale / self.scale
        places = {name: getattr(self, name) * by for name in ("left", "mean", "low", "high")}
        part = replace(self, scale=scale, **places)
        if by >= 1.0 or len(part.left) == 0:
            return part
        # The smallest of all numbers may have become equal, and their cells one.
        cell = _places(part.left, part.mean)
        return _joined(part, np.flatnonzero(np.diff(cell, prepend=-1)), part.left[np.unique(cell)])

    def cells(self) -> Cells:
        """Return the cells, in order and without overlap."""
        if len(self.weight) == 0:
            return no_cells(0)
        last = max(self.high[-1], self.ends[1] * self.scale)
        # What was moved into a cell from beside it is taken to lie at the cell's border.
        low = np.clip(self.low, self.left, None)
        high = np.clip(self.high, None, np.append(self.left[1:], last))
        low[0], high[-1] = self.ends[0] * self.scale, self.ends[1] * self.scale
        mean = np.clip(self.mean, low, high)
        return Cells(np.empty(0, dtype=np.uint16), self.left, self.weight, mean, low, high, self.exact)


def cut_by_itself(x: Column, weight: Column | None, sample_size: int, limit: int) -> Cells:
    """Cut a part of a column as suits it best."""
    return cut_into_cells(x, weight, partial(_spread_with_ties, limit=limit), sample_size)


def _spread_with_ties(sample: Column, low: float, high: float, limit: int) -> Column:
    """Choose boundaries that also part frequent values from those that follow."""
    boundaries = spread_boundaries(sample, low, high, limit)
    picked = sample[np.linspace(0, len(sample) - 1, limit * 3 // 4).astype(np.intp)]
    frequent = np.unique(picked[1:][picked[1:] == picked[:-1]])
    return np.union1d(boundaries, np.nextafter(frequent, np.inf))


def keep_cells(
    cells: Cells, sums: Column, gram: Column, ends: tuple[float, float], scale: float
) -> ColumnPart:
    """Return what is kept of a part of a column."""
    kept: Any = cells.weight > 0
    if np.all(kept):
        kept = slice(None)  # copies nothing
    places = (column[kept] for column in (cells.left, cells.weight, cells.mean, cells.low, cells.high))
    left, weight, mean, low, high = places
    return ColumnPart(left, weight, mean, low, high, sums[kept], gram, ends, scale)


def merge_parts(a: ColumnPart, b: ColumnPart, limit: int = CELL_LIMIT) -> ColumnPart:
    """Return the cells of two parts of a column together."""
    ends = float(np.fmin(a.ends[0], b.ends[0])), float(np.fmax(a.ends[1], b.ends[1]))
    scale = power_of_two_scale(np.array(ends))
    a, b = a.rescaled(scale), b.rescaled(scale)
    left = np.empty(len(a.left) + len(b.left))
    left = left[: unite(a.left, b.left, left)]
    n_cells, shape = len(left), a.sums.shape[1:]
    weight, mean, sums = np.zeros(n_cells), np.empty(n_cells), np.zeros((n_cells, math.prod(shape)))
    low, high = np.full(n_cells, np.inf), np.full(n_cells, -np.inf)
    for part in (a, b):
        place, flat = _places(left, part.mean), part.sums.reshape(len(part.left), sums.shape[1])
        add_cells(place, part.weight, part.mean, part.low, part.high, flat, weight, mean, low, high, sums)
    cells = Cells(np.empty(0, dtype=np.uint16), left, weight, mean, low, high, exact=False)
    merged = keep_cells(cells, sums.reshape(n_cells, *shape), a.gram + b.gram, ends, scale)
    return _compact(merged, limit) if len(merged.weight) > 2 * limit else merged


def _places(left: Column, mean: Column) -> NDArray[np.intp]:
    """Return which cells hold the means of others."""
    place = np.empty(len(mean), dtype=np.intp)
    place_cells(left, mean, place)
    return place


def _compact(part: ColumnPart, limit: int) -> ColumnPart:
    """Join neighbouring cells until about `limit` are left, spread as those of one whole column are."""
    total = float(part.weight.sum())
    before = np.cumsum(part.weight) - part.weight
    by_count = np.floor(before * (limit * 3 // 4 / total))
    from_end = np.log1p(np.minimum(before, total - before)) * (limit // 16 / np.log1p(total))
    span = part.left[-1] - part.left[0]
    by_value = np.floor((part.left - part.left[0]) * (limit // 16 / span))
    first = np.zeros(len(part.weight), dtype=bool)
    first[0] = True
    for bucket in (by_count, np.floor(from_end), by_value):
        first[1:] |= bucket[1:] != bucket[:-1]
    # A frequent value stays by itself.
    frequent = (part.low == part.high) & (part.weight > total / limit)
    first |= frequent
    first[1:] |= frequent[:-1]
    start = np.flatnonzero(first)
    return _joined(part, start, part.left[start])


def _joined(part: ColumnPart, start: NDArray[np.intp], left: Column) -> ColumnPart:
    """Return a part whose cells from each start to the next are one, which begins at `left`."""
    if len(start) == len(part.weight):
        return replace(part, left=left)
    weight = np.add.reduceat(part.weight, start)
    origin = part.left[start]
    distance = part.mean - np.repeat(origin, np.diff(np.append(start, len(part.weight))))
    return replace(
        part,
        left=left,
        weight=weight,
        mean=origin + np.add.reduceat(part.weight * distance, start) / weight,
        low=np.minimum.reduceat(part.low, start),
        high=np.maximum.reduceat(part.high, start),
        sums=np.add.reduceat(part.sums, start, axis=0),
    )


def edges_of_cells(cells: Cells, n_bins: int) -> Column:
    """Return the edges of quantile bins of a column of which only the cells are known.

    Values are taken to be spread evenly over their cell. There are no more bins than cells.
    """
    if cells.exact:
        return bin_edges(np.empty(0), n_bins, cells=cells)
    last = np.cumsum(cells.weight)
    first = last - cells.weight
    rank = np.stack([first, np.maximum(first, last - 1.0)], axis=1).ravel()
    value = np.stack([cells.low, cells.high], axis=1).ravel()
    wanted = (last[-1] - 1.0) * np.linspace(0.0, 1.0, min(n_bins, cells.n_cells) + 1)
    edges = interpolate(wanted, rank, value)
    edges[0], edges[-1] = cells.low[0], cells.high[-1]
    return np.unique(np.maximum.accumulate(edges))
