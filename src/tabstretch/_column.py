"""Fit one column: the five steps of the method, in order."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tabstretch._bins import bin_edges, bin_weights, quartiles
from tabstretch._cells import Cells, Column, cut_into_cells
from tabstretch._conditional import Curves
from tabstretch._folds import Dealer, Folds
from tabstretch._magnitude import distinct_unscaled, power_of_two_scale
from tabstretch._target import Target
from tabstretch._variation import SmoothedColumn, Variation, pooled_variation, variation_within_folds
from tabstretch._widths import NEGLIGIBLE_VARIATION, remove_noise, stretch_widths


@dataclass(frozen=True)
class ColumnFit:
    """What fitting found out about one column.

    `variation` (noise removed) and `shrinkage` are empty and zero for a column fitted without a
    target; `bin_weight` is the share of the rows in each bin. `curves` are those of the teachers, and
    `marginal` is the variation without them, if there were teachers. `quartiles` are the column's own.
    """

    edges: Column
    widths: Column
    bin_weight: Column
    variation: Column
    shrinkage: float = 0.0
    fallback: str | None = None
    curves: Curves | None = None
    marginal: Column | None = None
    interaction: float = np.nan
    quartiles: Column = field(default_factory=lambda: np.empty(0))


@dataclass(frozen=True)
class TargetFit:
    """Everything about the target and its marginal estimation that all columns share."""

    target: Target
    folds: Folds | Dealer
    n_neighbors: float | None
    variation: str
    shrinkage: float | None


class Evidence(NamedTuple):
    """What the target says of one column: variation in each bin, shrinkage, and why there is none, if so.

    `weight` is that of the target beside the column's rank and value.
    """

    variation: Column
    shrinkage: float
    reason: str | None
    weight: float = 1.0


def fit_column(
    x: NDArray[Any],
    n_bins: int,
    *,
    rank_weight: float,
    value_weight: float,
    weight: Column | None = None,
    supervision: TargetFit | None = None,
) -> ColumnFit:
    """Fit one column of whatever magnitude, with a target or without."""
    x = np.ascontiguousarray(x, dtype=np.float64)
    scale = power_of_two_scale(x)
    scaled = x if scale == 1.0 else x * scale
    cells = cut_into_cells(scaled, weight)
    edges = distinct_unscaled(bin_edges(scaled, n_bins, weight=weight, cells=cells), scale)
    ends = (float(np.fmin.reduce(x)), float(np.fmax.reduce(x)))
    fit = fit_bins(cells, edges, scale, ends, rank_weight=rank_weight, value_weight=value_weight)
    if len(edges) < 2:
        return fit
    fit = replace(fit, fallback=why_fewer_bins(cells, edges, n_bins))
    if supervision is None:
        return fit
    evidence = _marginal_evidence(scaled, cells, edges, weight, supervision)
    return supervise(fit, evidence, rank_weight=rank_weight, value_weight=value_weight)


def fit_bins(
    cells: Cells,
    edges: Column,
    scale: float,
    ends: tuple[float, float],
    *,
    rank_weight: float,
    value_weight: float,
) -> ColumnFit:
    """Return the fit of a column without a target.

    Cells and edges are in units of `scale`, the ends of the column in its own.
    """
    if len(edges) < 2:
        reason = "no values" if len(edges) == 0 else "one distinct value"
        return ColumnFit(_unscale(edges, scale, ends), np.empty(0), np.empty(0), np.empty(0), fallback=reason)
    widths = stretch_widths(
        np.zeros(len(edges) - 1), edges, rank_weight=rank_weight, value_weight=value_weight
    )
    return ColumnFit(
        _unscale(edges, scale, ends),
        widths,
        bin_weights(cells, edges),
        np.empty(0),
        quartiles=quartiles(cells) / scale,
    )


def supervise(fit: ColumnFit, evidence: Evidence, *, rank_weight: float, value_weight: float) -> ColumnFit:
    """Return a column's fit with the widths that the target asks for."""
    widths = stretch_widths(
        evidence.variation,
        fit.edges,
        shrinkage=evidence.shrinkage,
        target_weight=evidence.weight,
        rank_weight=rank_weight,
        value_weight=value_weight,
    )
    return replace(
        fit,
        widths=widths,
        variation=evidence.variation,
        shrinkage=evidence.shrinkage,
        fallback="; ".join(filter(None, [evidence.reason, fit.fallback])) or None,
    )


def marginal_evidence(
    x: NDArray[Any], edges: Column, weight: Column | None, supervision: TargetFit
) -> Evidence:
    """Return what the target says of a column by itself, in bins that are given."""
    x = np.ascontiguousarray(x, dtype=np.float64)
    scale = power_of_two_scale(edges)
    x, edges = (x, edges) if scale == 1.0 else (x * scale, edges * scale)
    cells = cut_into_cells(x, weight)
    if cells.n_cells == 0:
        return Evidence(np.zeros(len(edges) - 1), 1.0, "no values")
    return _marginal_evidence(x, cells, edges, weight, supervision)


def why_fewer_bins(cells: Cells, edges: Column, n_bins: int) -> str | None:
    if len(edges) - 1 >= n_bins:
        return None
    if cells.exact and len(edges) == cells.n_cells:
        return f"{cells.n_cells} distinct values allow only {len(edges) - 1} of {n_bins} bins"
    return f"ties allow only {len(edges) - 1} of {n_bins} bins"


def _marginal_evidence(
    x: Column, cells: Cells, edges: Column, weight: Column | None, supervision: TargetFit
) -> Evidence:
    nothing = np.zeros(len(edges) - 1)
    if supervision.target.constant:
        return Evidence(nothing, 1.0, "constant target")
    folds = supervision.folds.along(x)
    column = SmoothedColumn(cells, supervision.target, folds, weight, supervision.n_neighbors)
    if supervision.variation == "within_fold":
        return evidence_within_folds(column, edges, supervision.shrinkage)
    variation = pooled_variation(column, x, edges, with_noise=supervision.shrinkage is None)
    if variation.observed.sum() <= NEGLIGIBLE_VARIATION:
        return Evidence(nothing, 1.0, "negligible variation of the target")
    return _marginal_weight(column, variation, supervision.shrinkage)


def evidence_within_folds(column: SmoothedColumn, edges: Column, shrinkage: float | None) -> Evidence:
    """Return what the variation within folds says of a column; no `shrinkage` has noise decide it."""
    variation = variation_within_folds(column, edges, with_noise=shrinkage is None)
    if variation.observed.sum() <= NEGLIGIBLE_VARIATION:
        single = not column.holds_out_two_values
        reason = "no fold holds out two values" if single else "negligible variation of the target"
        return Evidence(np.zeros(len(edges) - 1), 1.0, reason)
    return _marginal_weight(column, variation, shrinkage)


def _marginal_weight(column: SmoothedColumn, variation: Variation, shrinkage: float | None) -> Evidence:
    if shrinkage is not None:
        return Evidence(variation.observed, shrinkage, None)
    # The variation of pure noise strays by about 0.55 / sqrt(n_bandwidths) of it: twice that is allowed for.
    return weigh(variation, margin=1.0 + 1.1 / np.sqrt(column.n_bandwidths))


def weigh(variation: Variation, *, margin: float) -> Evidence:
    """Return what is left of a variation when noise is taken out (see `remove_noise`)."""
    left, shrinkage = remove_noise(variation.observed, variation.noise, margin)
    return Evidence(left, shrinkage, "variation no larger than noise" if shrinkage == 1.0 else None)


def _unscale(edges: Column, scale: float, ends: tuple[float, float]) -> Column:
    """Return edges in the column's own units, with exactly its ends."""
    edges = edges / scale
    if len(edges):
        edges[0], edges[-1] = ends
    return edges
