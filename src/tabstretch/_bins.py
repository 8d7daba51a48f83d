"""Quantile bins: the edges between which a stretch is linear."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tabstretch._cells import Cells, Column, cut_into_cells
from tabstretch._magnitude import interpolate

# Above this share of the rows, sorting the whole column beats picking out single cells.
_SORT_ALL_SHARE = 0.25


def bin_edges(
    x: Column, n_bins: int, *, weight: Column | None = None, cells: Cells | None = None
) -> NDArray[np.float64]:
    """Return the edges of `n_bins` quantile bins of a column, duplicates merged.

    The edges are those of `np.quantile`; with weights, those of the column in which each row stands
    as often as its weight says. Where `n_bins` is at least the number of distinct values minus one,
    every distinct value is an edge. NaN is ignored; a column without values has no edges.

    >>> bin_edges(np.array([0.0, 1.0, 2.0, 4.0, 10.0]), 2)
    array([ 0.,  2., 10.])
    >>> bin_edges(np.array([0.0, 0.0, 0.0, 1.0, 7.0]), 100)
    array([0., 1., 7.])
    """
    if cells is None:
        cells = cut_into_cells(x, weight)
    values, counts = cells.low, cells.weight
    if not cells.exact and n_bins >= cells.n_cells:
        values, counts = _distinct(x, weight)
    elif not cells.exact:
        return _edges_of_long_column(x, n_bins, weight, cells)
    if n_bins >= len(values) - 1:
        return values.copy()
    below, above, share = _quantile_ranks(float(counts.sum()), n_bins)
    cumulative = np.cumsum(counts)
    inner = _interpolate(_at_rank(values, cumulative, below), _at_rank(values, cumulative, above), share)
    return _increasing(inner, values[0], values[-1])


def bin_weights(cells: Cells, edges: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the share of the column's weight in every bin (the last one closed on the right).

    Where cells are ranges of values, their weight is spread evenly over them.
    """
    if cells.exact:
        bins = np.clip(np.searchsorted(edges, cells.mean, side="right") - 1, 0, len(edges) - 2)
        counts = np.zeros(len(edges) - 1)
        np.add.at(counts, bins, cells.weight)
    else:
        place, below = np.append(cells.low[:1], cells.high), np.append(0.0, np.cumsum(cells.weight))
        counts = np.diff(interpolate(edges, place, below))
    return counts / counts.sum()


def quartiles(cells: Cells) -> NDArray[np.float64]:
    """Return the three quartiles of a column, to within a cell where cells are ranges of values."""
    cumulative = np.cumsum(cells.weight)
    below, above, share = _quantile_ranks(float(cumulative[-1]), 4)
    low, high = _at_rank(cells.mean, cumulative, below), _at_rank(cells.mean, cumulative, above)
    return _interpolate(low, high, share)[1:-1]


def _edges_of_long_column(x: Column, n_bins: int, weight: Column | None, cells: Cells) -> NDArray[np.float64]:
    """Sort only the cells that hold a wanted quantile: exact, and linear in the number of rows."""
    cumulative = np.cumsum(cells.weight)
    below, above, share = _quantile_ranks(float(cumulative[-1]), n_bins)
    ranks = np.concatenate([below, above])
    wanted = _cell_at_rank(cumulative, ranks)
    chosen = np.zeros(cells.n_cells + 1, dtype=bool)
    chosen[wanted] = True
    if cells.weight[chosen[:-1]].sum() > _SORT_ALL_SHARE * cumulative[-1]:
        chosen[:-1] = True
    skipped = np.cumsum(np.where(chosen[:-1], 0.0, cells.weight))
    rows = chosen[cells.index]
    if weight is None:
        values = np.sort(x[rows])
        picked = values[np.minimum(ranks - skipped[wanted], len(values) - 1).astype(np.intp)]
    else:
        order = np.argsort(x[rows], kind="stable")
        values = x[rows][order]
        picked = _at_rank(values, np.cumsum(weight[rows][order]), ranks - skipped[wanted])
    inner = _interpolate(picked[: len(below)], picked[len(below) :], share)
    return _increasing(inner, cells.low[0], cells.high[-1])


def _distinct(x: Column, weight: Column | None) -> tuple[Column, Column]:
    present = ~np.isnan(x)
    if weight is None:
        values, counts = np.unique(x[present], return_counts=True)
        return values, counts.astype(np.float64)
    values, inverse = np.unique(x[present], return_inverse=True)
    return values, np.bincount(inverse, weights=weight[present]).astype(np.float64)


def _quantile_ranks(total: float, n_bins: int) -> tuple[Column, Column, Column]:
    """Return the ranks on both sides of every quantile and how far it lies from the lower one."""
    place = (total - 1.0) * np.linspace(0.0, 1.0, n_bins + 1)
    below = np.floor(place)
    return below, below + 1.0, place - below


def _cell_at_rank(cumulative: Column, rank: Column) -> NDArray[np.intp]:
    return np.minimum(np.searchsorted(cumulative, rank, side="right"), len(cumulative) - 1)


def _at_rank(values: Column, cumulative: Column, rank: Column) -> Column:
    """Return the values that stand at 0-based ranks when each is repeated as often as it weighs."""
    return values[_cell_at_rank(cumulative, rank)]


def _interpolate(below: Column, above: Column, share: Column) -> Column:
    """Interpolate as `np.quantile` does, from the nearer side, so that results are equal to the bit."""
    gap = above - below
    return np.where(share < 0.5, below + gap * share, above - gap * (1.0 - share))


def _increasing(edges: Column, low: float, high: float) -> NDArray[np.float64]:
    """Make edges strictly increasing from the smallest to the largest value."""
    # With fractional weights the last rank may fall short of the last row.
    edges[0], edges[-1] = low, high
    # Rounding can unsort neighbouring quantiles by one unit in the last place.
    return np.unique(np.maximum.accumulate(edges))
