"""Fit the columns of a table of which only a compressed form is left."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from tabstretch._cells import Cells, Column
from tabstretch._column import (
    ColumnFit,
    Evidence,
    TargetFit,
    evidence_within_folds,
    fit_bins,
    marginal_evidence,
    supervise,
    why_fewer_bins,
)
from tabstretch._compress import FoldSums, sums_of_partition
from tabstretch._folds import Folds, allowed_folds, make_column_folds
from tabstretch._interactions import TeacherFit, supervise_by_teachers
from tabstretch._magnitude import distinct_unscaled
from tabstretch._merging import ColumnPart, edges_of_cells
from tabstretch._parts import Plan, TablePart
from tabstretch._sampling import RowSample
from tabstretch._target import Target
from tabstretch._target_parts import WholeTarget, whole_target
from tabstretch._threads import map_in_threads
from tabstretch._validation import noise_of_weights, weight_factor
from tabstretch._variation import SmoothedColumn


class WholeTable:
    """All rows of a table, compressed, as the estimators need them."""

    def __init__(self, part: TablePart, plan: Plan) -> None:
        self.part, self.plan = part, plan
        self._factor = weight_factor(part.weight, part.n_rows)
        self._noise_of_weights = noise_of_weights(
            part.weight,
            part.weight_square * self._factor,
            copies=part.weights_are_copies and self._factor == 1.0,
        )

    @cached_property
    def target(self) -> WholeTarget:
        """The target of all rows."""
        assert self.part.target is not None
        assert self.plan.target is not None
        return whole_target(self.part.target, self.plan.target, self.part.weight)

    def fit(self, n_bins: NDArray[np.int64], n_jobs: int | None, **weights: float) -> list[ColumnFit]:
        """Fit all columns without a target."""
        jobs = zip(self.part.columns, n_bins, strict=True)
        return map_in_threads(partial(self._fit_column, weights=weights), jobs, n_jobs)

    def _cells(self, column: ColumnPart) -> Cells:
        cells = column.cells()
        return replace(cells, weight=cells.weight * self._factor)

    def _fit_column(self, column: ColumnPart, n_bins: int, weights: dict[str, float]) -> ColumnFit:
        cells = self._cells(column)
        edges = distinct_unscaled(edges_of_cells(cells, int(n_bins)), column.scale)
        fit = fit_bins(cells, edges, column.scale, column.ends, **weights)
        if len(edges) < 2:
            return fit
        reason = why_fewer_bins(cells, edges, int(n_bins))
        if not cells.exact and n_bins > cells.n_cells:
            reason = f"batches allow only {len(edges) - 1} of {n_bins} bins"
        return replace(fit, fallback=reason)

    def supervise(
        self, columns: list[ColumnFit], variation: str, n_folds: int, how: TeacherFit, **weights: float
    ) -> list[ColumnFit]:
        """Return the fits with the widths that the target asks for."""
        if variation == "within_fold":
            finish = partial(self._supervise_within_folds, how=how, weights=weights)
            return map_in_threads(finish, zip(columns, self.part.columns, strict=True), how.n_jobs)
        sample, target = self._sample()
        if variation == "conditional":
            return supervise_by_teachers(
                columns, sample.X, None, target, n_folds, sample.weight, how, **weights
            )
        folds = make_column_folds(n_folds, sample.X, target, sample.weight, how.random_state)
        pooled = TargetFit(target, folds, how.n_neighbors, "pooled", how.shrinkage)

        def finish_pooled(column: ColumnFit, x: Column) -> ColumnFit:
            if len(column.edges) < 2:
                return column
            return supervise(column, marginal_evidence(x, column.edges, sample.weight, pooled), **weights)

        return map_in_threads(finish_pooled, zip(columns, sample.X.T, strict=True), how.n_jobs)

    def _supervise_within_folds(
        self, fit: ColumnFit, part: ColumnPart, how: TeacherFit, weights: dict[str, float]
    ) -> ColumnFit:
        if len(fit.edges) < 2:
            return fit
        if self.target.constant:
            evidence = Evidence(np.zeros(len(fit.edges) - 1), 1.0, "constant target")
        else:
            column = self._smoothed(part, how.n_neighbors)
            evidence = evidence_within_folds(column, fit.edges * part.scale, how.shrinkage)
        return supervise(fit, evidence, **weights)

    def _smoothed(self, part: ColumnPart, n_neighbors: float | None) -> SmoothedColumn:
        target = self.target
        n_folds = allowed_folds(self.part.n_folds, self.part.n_rows, target.class_counts)
        sums = part.sums * self._factor
        if n_folds < sums.shape[1]:
            dealt = [sums[:, fold::n_folds].sum(axis=1) for fold in range(n_folds)]
            sums = np.stack(dealt, axis=1)
        gram = target.whole_gram(part.gram * self._factor, sums.sum(axis=(0, 1)))
        held = target.whole_sums(sums).transpose(1, 0, 2)
        column = CompressedColumn(self._cells(part), held, gram, target, n_neighbors)
        column.noise_of_weights = self._noise_of_weights
        return column

    def _sample(self) -> tuple[RowSample, Target]:
        """Return the sample of rows, and its target encoded as that of all rows."""
        sample = self.part.sample
        assert sample is not None
        if sample.weight is not None:
            sample = replace(sample, weight=sample.weight * self._factor)
        return sample, self.target.encode(sample.y)


class CompressedColumn(SmoothedColumn):
    """Out-of-fold estimates along a column, from sums by fold that are there already."""

    def __init__(
        self, cells: Cells, held: Column, gram: Column, target: WholeTarget, n_neighbors: float | None
    ) -> None:
        codes = None if gram.size or target.n_outputs == 1 else np.empty(0, dtype=np.int32)
        nothing = np.empty((0, target.n_outputs))
        rows = Target(target.kind, target.classes, codes, nothing, np.empty(0), target.n_outputs, False)
        super().__init__(cells, rows, Folds(len(held), np.empty(0, dtype=np.int32)), None, n_neighbors)
        self._held, self._gram = held, gram

    def sums(self, block: slice) -> FoldSums:
        """Return the sums of some outputs."""
        if self._sums is None or len(self.blocks) > 1:
            some = np.concatenate([self._held[..., :2], self._held[..., 2:][..., block]], axis=-1)
            self._sums = sums_of_partition(some, len(some))
        return self._sums

    def target_gram(self, sums: FoldSums, block: slice) -> Column:
        """Return the weighted sum of products of every two outputs of the target."""
        return self._gram[block, block] if self._gram.size else np.diag(sums.total.sum(axis=0))
