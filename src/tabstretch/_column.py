"""Fit one column: the five steps of the method, in order."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabstretch._bins import bin_edges, bin_weights
from tabstretch._cells import Cells, Column, cut_into_cells
from tabstretch._folds import Folds
from tabstretch._target import Target
from tabstretch._variation import SmoothedColumn, Variation, pooled_variation, variation_within_folds
from tabstretch._widths import NEGLIGIBLE_VARIATION, remove_noise, stretch_widths


@dataclass(frozen=True)
class ColumnFit:
    """What fitting found out about one column.

    `variation` (noise removed) and `shrinkage` are empty and zero for a column fitted without a
    target; `bin_weight` is the share of the rows in each bin.
    """

    edges: Column
    widths: Column
    bin_weight: Column
    variation: Column
    shrinkage: float = 0.0
    fallback: str | None = None


@dataclass(frozen=True)
class TargetFit:
    """Everything about the target and its estimation that all columns share."""

    target: Target
    folds: Folds
    n_neighbors: float | None
    variation: str
    shrinkage: float | None


def fit_column(x: NDArray[Any], n_bins: int, **options: Any) -> ColumnFit:
    """Fit one column, of whatever magnitude; the options are those of `_fit_in_range`."""
    x = np.ascontiguousarray(x, dtype=np.float64)
    scale = _power_of_two_scale(x)
    if scale == 1.0:
        return _fit_in_range(x, n_bins, **options)
    fit = _fit_in_range(x * scale, n_bins, **options)
    return replace(fit, edges=_unscale(fit.edges, scale, x))


def _fit_in_range(
    x: Column,
    n_bins: int,
    *,
    rank_weight: float,
    value_weight: float,
    weight: Column | None = None,
    supervision: TargetFit | None = None,
) -> ColumnFit:
    """Fit one column, with a target or without, whose differences neither over- nor underflow."""
    cells = cut_into_cells(x, weight)
    edges = bin_edges(x, n_bins, weight=weight, cells=cells)
    if len(edges) < 2:
        reason = "no values" if len(edges) == 0 else "one distinct value"
        return ColumnFit(edges, np.empty(0), np.empty(0), np.empty(0), fallback=reason)
    fallback = _why_fewer_bins(cells, edges, n_bins)
    in_bins = bin_weights(cells, edges)
    if supervision is None:
        widths = stretch_widths(
            np.zeros(len(edges) - 1), edges, rank_weight=rank_weight, value_weight=value_weight
        )
        return ColumnFit(edges, widths, in_bins, np.empty(0), fallback=fallback)
    variation, shrinkage, no_variation = _target_variation(x, cells, edges, weight, supervision)
    widths = stretch_widths(
        variation, edges, shrinkage=shrinkage, rank_weight=rank_weight, value_weight=value_weight
    )
    return ColumnFit(
        edges,
        widths,
        in_bins,
        variation,
        shrinkage,
        "; ".join(filter(None, [no_variation, fallback])) or None,
    )


def _why_fewer_bins(cells: Cells, edges: Column, n_bins: int) -> str | None:
    if len(edges) - 1 >= n_bins:
        return None
    if cells.exact and len(edges) == cells.n_cells:
        return f"{cells.n_cells} distinct values allow only {len(edges) - 1} of {n_bins} bins"
    return f"ties allow only {len(edges) - 1} of {n_bins} bins"


def _target_variation(
    x: Column, cells: Cells, edges: Column, weight: Column | None, supervision: TargetFit
) -> tuple[Column, float, str | None]:
    """Return the target's variation in each bin, the shrinkage and why there is no variation, if so."""
    if supervision.target.constant:
        return np.zeros(len(edges) - 1), 1.0, "constant target"
    column = SmoothedColumn(cells, supervision.target, supervision.folds, weight, supervision.n_neighbors)
    with_noise = supervision.shrinkage is None
    if supervision.variation == "pooled":
        observed: Variation = pooled_variation(column, x, edges, with_noise=with_noise)
    else:
        observed = variation_within_folds(column, edges, with_noise=with_noise)
    if observed.observed.sum() <= NEGLIGIBLE_VARIATION:
        single = supervision.variation == "within_fold" and not column.holds_out_two_values
        reason = "no fold holds out two values" if single else "negligible variation of the target"
        return np.zeros(len(edges) - 1), 1.0, reason
    if supervision.shrinkage is not None:
        return observed.observed, supervision.shrinkage, None
    variation, shrinkage = remove_noise(observed.observed, observed.noise, column.n_bandwidths)
    return variation, shrinkage, "variation no larger than noise" if shrinkage == 1.0 else None


def _unscale(edges: Column, scale: float, x: Column) -> Column:
    """Return edges in the column's own units, with exactly its ends."""
    edges = edges / scale
    if len(edges):
        edges[0], edges[-1] = np.fmin.reduce(x), np.fmax.reduce(x)
    return edges


def _power_of_two_scale(x: Column) -> float:
    """Return a power of two that brings extreme values to where no difference over- or underflows."""
    largest = max(abs(float(np.fmin.reduce(x))), abs(float(np.fmax.reduce(x))))
    if largest > 1e305:
        return 2.0**-10
    if 0.0 < largest < 1e-200:
        return 2.0**400
    return 1.0
