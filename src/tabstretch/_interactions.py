"""Supervise all columns at once, by teachers that see them together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from tabstretch._cells import Column
from tabstretch._column import ColumnFit, Evidence, TargetFit, marginal_evidence, supervise, weigh
from tabstretch._conditional import Curves, Teaching, conditional_variation, interaction_share
from tabstretch._folds import Splits, keep_rows, make_folds
from tabstretch._order import key_of_rows, rows_in_order
from tabstretch._sampling import keys_of_values, seed_of, smallest_keys
from tabstretch._target import Target
from tabstretch._teacher import check_teacher
from tabstretch._threads import map_in_threads
from tabstretch._validation import are_copies
from tabstretch._variation import Variation
from tabstretch._widths import NEGLIGIBLE_VARIATION

# With more classes or outputs than this the marginal variation, which is only for comparison, takes too long.
_OUTPUTS_COMPARED = 64
# Finer parts than these do not matter to a variation that is smoothed.
_PARTS_SMOOTHED = 512
# Of many classes or outputs, the curves of those that vary most are kept for showing.
CURVES_SHOWN = 8


@dataclass(frozen=True)
class TeacherFit:
    """How to supervise columns by teachers."""

    teacher: Any
    n_curves: int
    teacher_rows: int
    n_neighbors: float | None
    shrinkage: float | None
    random_state: Any
    n_jobs: int | None


def supervise_by_teachers(
    columns: list[ColumnFit],
    X: NDArray[Any],
    context: NDArray[np.float64] | None,
    target: Target,
    splits: int | Splits,
    weight: Column | None,
    how: TeacherFit,
    **weights: float,
) -> list[ColumnFit]:
    """Return the fits of all columns with the widths that the conditional variation asks for.

    Teachers learn from a random sample of at most `teacher_rows` rows.
    """
    random = check_random_state(how.random_state)
    if len(X) > how.teacher_rows:
        # The rows that data in batches would give: see `_sampling`.
        rows = smallest_keys(keys_of_values(seed_of(how.random_state), X), how.teacher_rows)
        kept = np.zeros(len(X), dtype=bool)
        kept[rows] = True
        X, target, splits = X[kept], target.take(rows), keep_rows(splits, kept)
        context = None if context is None else context[kept]
        weight = None if weight is None else weight[kept]
    # Chance deals with rows in an order of their own, so that theirs in the data does not matter.
    key = key_of_rows(X if context is None else np.hstack([X, context]))
    folds = make_folds(splits, target, random, order=rows_in_order(key, []))
    n_rows = len(X)
    if weight is not None and are_copies(weight) and weight.sum() <= how.teacher_rows:
        # Weights count rows, and teachers that count them too, in leaves say, must see as many.
        counts = weight.astype(np.intp)
        copies = np.repeat(np.arange(len(X)), counts)
        X, target, folds, weight = X[copies], target.take(copies), folds.repeat(counts), None
        key = key[copies]
        context = None if context is None else context[copies]
    check_teacher(how.teacher, classes=target.classes is not None, weighted=weight is not None)
    teaching = Teaching(how.teacher, how.n_curves, target, folds, weight, key, n_rows, random, how.n_jobs)
    edges = [column.edges for column in columns]
    if target.constant:
        return [_supervise(column, _no_evidence(column, "constant target"), **weights) for column in columns]
    found = conditional_variation(X, context, edges, teaching, with_noise=how.shrinkage is None)
    marginal = TargetFit(target, folds, how.n_neighbors, "within_fold", how.shrinkage)
    jobs = [
        (column, X[:, j], weight, variation, margin, curves, marginal)
        for j, (column, (variation, margin, curves)) in enumerate(zip(columns, found, strict=True))
    ]
    return map_in_threads(partial(_finish, weights), jobs, how.n_jobs)


def _finish(
    weights: dict[str, float],
    column: ColumnFit,
    x: NDArray[Any],
    weight: Column | None,
    variation: Variation,
    margin: float,
    curves: Curves,
    marginal: TargetFit,
) -> ColumnFit:
    """Return one column's fit, with its curves and, for comparison, its marginal variation."""
    if len(column.edges) < 2:
        return column
    if variation.observed.sum() <= NEGLIGIBLE_VARIATION:
        evidence = _no_evidence(column, "negligible variation of the teachers' predictions")
    elif marginal.shrinkage is not None:
        evidence = Evidence(variation.observed, marginal.shrinkage, None)
    else:
        evidence = weigh(variation, margin=margin)
    smooth = smoothed(evidence.variation, marginal.target.n_rows)
    evidence = evidence._replace(variation=smooth, weight=_weight_of_target(smooth))
    alone = None
    if marginal.target.n_outputs <= _OUTPUTS_COMPARED:
        alone = marginal_evidence(x, column.edges, weight, marginal).variation
    return replace(
        _supervise(column, evidence, **weights),
        curves=_most_varied(curves),
        interaction=interaction_share(curves) if evidence.shrinkage < 1.0 else np.nan,
        marginal=alone,
    )


def smoothed(variation: Column, n_rows: int) -> Column:
    """Return the variation spread over neighbouring bins, as much in all.

    It is spread by a Gaussian whose standard deviation is a third of the bandwidth along one column, which
    spans n^(2/3) of n rows.

    NOTE[DIFF] Where a tree splits is chance to a few bins; a map that follows it has kinks that the function
    left to learn inherits, and with few rows networks lose by them (`docs/defaults.md`). The paper's
    estimate along one column is smooth already.
    """
    n_bins = len(variation)
    n_parts = min(n_bins, _PARTS_SMOOTHED)
    ends = np.linspace(0.0, n_bins, n_parts + 1)
    cumulative = np.concatenate([[0.0], np.cumsum(variation)])
    parts = np.diff(np.interp(ends, np.arange(n_bins + 1), cumulative))
    shares = _shares_of_neighbours(n_parts, n_rows ** (-1 / 3) / 3.0)
    below = np.concatenate([[0.0], np.cumsum(shares @ parts)])
    return np.diff(np.interp(np.arange(n_bins + 1), ends, below))


@lru_cache(maxsize=8)
def _shares_of_neighbours(n_parts: int, deviation: float) -> NDArray[np.float64]:
    """Return how much of each part (columns) goes to which (rows)."""
    place = np.arange(n_parts) / n_parts
    share = np.exp(-0.5 * ((place[:, np.newaxis] - place) / deviation) ** 2)
    return share / share.sum(axis=0)


def _weight_of_target(variation: Column) -> float:
    """Return how much a column's target counts beside its rank and value: as much as it moves the prediction.

    NOTE[DIFF] Along one column the target always counts fully. Given the others, a column that moves the
    prediction by less than one (standard deviation of the target, or probability of classes) counts by that
    much: where many columns each say a little, a full stretch for the target bends all of them, and networks
    lose more by it than they gain (`docs/defaults.md`).
    """
    return min(1.0, float(variation.sum()))


def _supervise(column: ColumnFit, evidence: Evidence, **weights: float) -> ColumnFit:
    return column if len(column.edges) < 2 else supervise(column, evidence, **weights)


def _most_varied(curves: Curves) -> Curves:
    if curves.mean.shape[1] <= CURVES_SHOWN:
        return curves
    size = np.var(curves.mean, axis=0) + np.mean(curves.spread**2, axis=0)
    kept = np.sort(np.argsort(-size, kind="stable")[:CURVES_SHOWN])
    return curves._replace(
        mean=curves.mean[:, kept], spread=curves.spread[:, kept], outputs=curves.outputs[kept]
    )


def _no_evidence(column: ColumnFit, reason: str) -> Evidence:
    """Return that the target says nothing of a column, and why."""
    return Evidence(np.zeros(max(len(column.edges) - 1, 0)), 1.0, reason)
