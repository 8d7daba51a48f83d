"""How much the smoothed target varies inside each bin, and how much of that noise alone would show."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tabstretch._cells import Cells, Column
from tabstretch._compress import FoldSums, sum_by_fold
from tabstretch._folds import Folds
from tabstretch._magnitude import interpolate
from tabstretch._smoothing import EXACT_REACH, ROUGH_REACH, Smooth, default_neighbors, smooth
from tabstretch._target import Target
from tabstretch._validation import are_copies, noise_of_weights

# Outputs are smoothed this many at a time, so that thousands of classes fit into memory.
_OUTPUTS_AT_ONCE = 64
# Random-sign draws behind the noise of the pooled variation, which has no closed form.
_POOLED_DRAWS = 32


class Variation(NamedTuple):
    """Total variation of the smoothed target in each bin, raw, and the part noise alone would show."""

    observed: Column
    noise: Column


class SmoothedColumn:
    """Out-of-fold estimates of the target along one column, held as one model per fold.

    Positions are scaled to order one, so that no distance over- or underflows.
    """

    def __init__(
        self,
        cells: Cells,
        target: Target,
        folds: Folds,
        weight: Column | None,
        n_neighbors: float | None,
    ) -> None:
        self.cells, self.target, self.folds, self.weight = cells, target, folds, weight
        self.noise_of_weights = 1.0 if weight is None else _noise_of_weights(weight)
        n_rows = float(cells.weight.sum())
        self.n_neighbors = default_neighbors(n_rows) if n_neighbors is None else float(n_neighbors)
        self.position = self._scaled(cells.mean)
        self._extent = None if cells.exact else (self._scaled(cells.low), self._scaled(cells.high))
        n_outputs = target.n_outputs
        self.blocks = [
            slice(start, min(start + _OUTPUTS_AT_ONCE, n_outputs))
            for start in range(0, n_outputs, _OUTPUTS_AT_ONCE)
        ]
        self._sums: FoldSums | None = None

    def _scaled(self, place: Column) -> Column:
        first, last = self.cells.mean[0], self.cells.mean[-1]
        return (place - first) / (last - first) if last > first else np.zeros(len(place))

    @property
    def n_bandwidths(self) -> float:
        """How many bandwidths the column's rows fill."""
        return max(1.0, float(self.cells.weight.sum()) / self.n_neighbors)

    @property
    def holds_out_two_values(self) -> bool:
        """Whether any fold has two values to measure a step between."""
        held = self.sums(self.blocks[0]).held_weight > 0
        return bool(np.any(np.count_nonzero(held, axis=1) >= 2))

    def sums(self, block: slice) -> FoldSums:
        """Return the sums of some outputs; a single block is summed only once."""
        if self._sums is None or len(self.blocks) > 1:
            self._sums = sum_by_fold(self.cells, self.target, self.folds, self.weight, block)
        return self._sums

    def target_gram(self, sums: FoldSums, block: slice) -> Column:
        """Return the weighted sum of products of every two outputs of the target, over present rows."""
        if self.target.codes is not None:
            return np.diag(sums.total.sum(axis=0))
        present = self.cells.index < self.cells.n_cells
        values = self.target.values[:, block]
        if not np.all(present):
            values = values[present]
        if self.weight is None:
            return values.T @ values
        return values.T @ (self.weight[present, None] * values)

    def smooth_fold(
        self, sums: FoldSums, fold: int, noise: Column | None = None
    ) -> tuple[NDArray[np.intp], Smooth]:
        """Estimate one fold's held-out cells from its training rows; nothing if it has none of either."""
        query = np.flatnonzero(sums.held_weight[fold] > 0)
        if not np.any(sums.train_weight[fold] > 0):
            query = query[:0]
        return query, self.smooth(sums.train_weight[fold], sums.train_total[fold], query, noise=noise)

    def smooth(
        self,
        weight: Column,
        total: Column,
        query: NDArray[np.intp] | None = None,
        *,
        more_neighbors: float = 0.0,
        noise: Column | None = None,
    ) -> Smooth:
        """Estimate some cells, or all, from training sums."""
        query = np.arange(self.cells.n_cells) if query is None else query
        reach = EXACT_REACH if self.cells.exact else ROUGH_REACH
        n_neighbors = self.n_neighbors + more_neighbors
        return smooth(
            self.position, weight, total, query, n_neighbors, noise, extent=self._extent, reach=reach
        )


def variation_within_folds(column: SmoothedColumn, edges: Column, *, with_noise: bool) -> Variation:
    """Return the variation along each fold's own held-out values, all predicted by one model; folds averaged.

    NOTE[DIFF] The paper sorts the predictions of all folds together (`pooled_variation`), and the
    disagreement between the folds' models swamps the signal. Here no two models are ever compared.

    NOTE[DIFF] The noise is what the same computation gives on residuals with random signs. Its
    expectation over the signs has a closed form, so nothing is drawn: the difference of two
    neighbouring estimates is a weighted sum of residuals, whose variance is known.
    """
    residual_square, noise_factor = _residuals(column) if with_noise else (np.empty(0), 0.0)
    n_folds = column.folds.n_folds
    square_steps: list[Column] = []
    noise_steps: list[Column] = []
    queries: list[NDArray[np.intp]] = []
    for block in column.blocks:
        sums = column.sums(block)
        for fold in range(n_folds):
            first_block = block.start == 0
            noise = residual_square[fold] if with_noise and first_block else None
            query, result = column.smooth_fold(sums, fold, noise)
            steps = np.diff(result.estimate, axis=0)
            square = np.einsum("ij,ij->i", steps, steps)
            if first_block:
                queries.append(query)
                square_steps.append(square)
                noise_steps.append(result.step_noise[1:])
            else:
                square_steps[fold] += square
    observed = np.zeros(len(edges) - 1)
    noise_total = np.zeros(len(edges) - 1)
    for query, square, noise_square in zip(queries, square_steps, noise_steps, strict=True):
        place = column.cells.mean[query]
        observed += split_at_edges(place, np.sqrt(square), edges)
        noise_total += split_at_edges(place, noise_factor * np.sqrt(noise_square), edges)
    return Variation(observed / n_folds, noise_total / n_folds)


def pooled_variation(column: SmoothedColumn, x: Column, edges: Column, *, with_noise: bool) -> Variation:
    """Return the paper's variation: out-of-fold predictions of all rows, sorted together.

    Tied rows share the mean of their predictions. The noise is measured on residuals with random
    signs.
    """
    rows, fold = _held_out_rows(column)
    trained = column.sums(column.blocks[0]).train_weight.sum(axis=1) > 0
    rows, fold = rows[trained[fold]], fold[trained[fold]]
    if len(rows) == 0:
        return Variation(np.zeros(len(edges) - 1), np.zeros(len(edges) - 1))
    order = np.argsort(x[rows], kind="stable")
    rows, fold = rows[order], fold[order]
    values, start = np.unique(x[rows], return_index=True)
    weight = np.ones(len(rows)) if column.weight is None else column.weight[rows]
    share = weight / np.repeat(np.add.reduceat(weight, start), np.diff(np.append(start, len(rows))))

    def square_steps(curves: Column) -> Column:
        predicted = _predict_rows(column, curves, x[rows], fold)
        return np.diff(np.add.reduceat(share * predicted, start)) ** 2

    square = np.zeros(len(values) - 1)
    for block in column.blocks:
        curves = _fold_curves(column, column.sums(block))
        for output in range(curves.shape[2]):
            square += square_steps(curves[:, :, output])
    observed = split_at_edges(values, np.sqrt(square), edges)
    if not with_noise:
        return Variation(observed, np.zeros(len(edges) - 1))
    curves, norm_factor = _noise_curves(column)
    steps = np.mean([np.sqrt(square_steps(curves[:, :, draw])) for draw in range(_POOLED_DRAWS)], axis=0)
    return Variation(observed, norm_factor * split_at_edges(values, steps, edges))


def split_at_edges(place: Column, steps: Column, edges: Column) -> Column:
    """Share out steps between neighbouring places among the bins they cross, in proportion to length.

    >>> split_at_edges(np.array([0.0, 4.0]), np.array([1.0]), np.array([0.0, 1.0, 4.0]))
    array([0.25, 0.75])
    """
    if len(place) < 2:
        return np.zeros(len(edges) - 1)
    cumulative = np.concatenate([[0.0], np.cumsum(steps)])
    # Between places of very different sizes, interpolation may round to less than at the edge before.
    return np.diff(np.maximum.accumulate(interpolate(edges, place, cumulative)))


def mean_curve(column: SmoothedColumn) -> Column:
    """Return the mean over folds of the estimates at all cells, for showing: shape (n_cells, n_outputs)."""
    trained = column.sums(column.blocks[0]).train_weight.sum(axis=1) > 0
    curves = [_fold_curves(column, column.sums(block))[trained].mean(axis=0) for block in column.blocks]
    return np.concatenate(curves, axis=1)


def _share(part: Column, whole: Column) -> Column:
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)


def _residuals(column: SmoothedColumn) -> tuple[Column, float]:
    """Return the sums of squared leave-one-out residuals, and the mean norm of unit noise.

    The sums are over each fold's training rows, and last over all rows: shape (n_folds + 1, n_cells).
    One more neighbour for the pilot estimate, then the row itself taken out: exactly the
    estimate without that row, for every row of a cell at once.
    """
    cells = column.cells
    square = np.zeros((column.folds.n_folds + 1, cells.n_cells))
    trace = square_trace = 0.0
    for block in column.blocks:
        sums = column.sums(block)
        pilot = column.smooth(sums.weight, sums.total, more_neighbors=1.0)
        if block.start == 0:
            square += np.vstack([sums.train_square, sums.square])
        weight = np.vstack([sums.train_weight, sums.weight[None]])
        total = np.concatenate([sums.train_total, sums.total[None]])
        square += weight * np.einsum("ij,ij->i", pilot.estimate, pilot.estimate)
        square -= 2.0 * np.einsum("kij,ij->ki", total, pilot.estimate)
        if column.target.n_outputs == 1:
            continue
        explained = sums.total.T @ pilot.estimate
        fitted = pilot.estimate.T @ (sums.weight[:, None] * pilot.estimate)
        covariance = column.target_gram(sums, block) - explained - explained.T + fitted
        trace += float(np.trace(covariance))
        square_trace += float(np.sum(covariance**2))
    left_out = np.where(pilot.mass > 1.0 + 1e-9, pilot.mass / np.maximum(pilot.mass - 1.0, 1e-9), 1.0)
    # How many dimensions the residuals fill: one for a scalar, fewer than outputs for classes. Beyond one
    # block of outputs, what blocks share is left out, and the factor, by then nearly one, is a little larger.
    dimension = trace**2 / square_trace if square_trace > 0 else 1.0
    return np.maximum(square, 0.0) * left_out**2 * column.noise_of_weights, _chi_mean(dimension)


def _noise_of_weights(weight: Column) -> float:
    return noise_of_weights(float(weight.sum()), float(weight @ weight), copies=are_copies(weight))


def _chi_mean(dimension: float) -> float:
    """Return the mean norm of Gaussian noise of unit variance, spread evenly over some dimensions.

    >>> round(_chi_mean(1.0), 6) == round(math.sqrt(2 / math.pi), 6)
    True
    """
    dimension = max(dimension, 1.0)
    log_ratio = math.lgamma((dimension + 1.0) / 2.0) - math.lgamma(dimension / 2.0)
    return math.sqrt(2.0 / dimension) * math.exp(log_ratio)


def _held_out_rows(column: SmoothedColumn) -> tuple[NDArray[np.intp], NDArray[np.int32]]:
    """Return every present row that is held out, with the fold it is held out in."""
    present = column.cells.index < column.cells.n_cells
    if column.folds.assignment is not None:
        rows = np.flatnonzero(present & (column.folds.assignment >= 0))
        return rows, column.folds.assignment[rows]
    tests = [test[present[test]] for _, test in column.folds.splits]
    return np.concatenate(tests), np.repeat(np.arange(len(tests), dtype=np.int32), [len(t) for t in tests])


def _fold_curves(column: SmoothedColumn, sums: FoldSums) -> Column:
    """Return each fold model's estimates at all cells: shape (n_folds, n_cells, n_outputs)."""
    pairs = zip(sums.train_weight, sums.train_total, strict=True)
    return np.stack([_estimate_or_zero(column, weight, total) for weight, total in pairs])


def _estimate_or_zero(column: SmoothedColumn, weight: Column, total: Column) -> Column:
    return column.smooth(weight, total).estimate if np.any(weight > 0) else np.zeros_like(total)


def _predict_rows(column: SmoothedColumn, curves: Column, x: Column, fold: NDArray[np.int32]) -> Column:
    predicted = np.empty(len(x))
    for k in range(len(curves)):
        chosen = fold == k
        predicted[chosen] = interpolate(x[chosen], column.cells.mean, curves[k])
    return predicted


def _noise_curves(column: SmoothedColumn) -> tuple[Column, float]:
    """Return the fold models' estimates of residuals with random signs, draws as outputs.

    The signed sum of a cell's residuals is close to normal, so rows that train the same folds are drawn
    together. Only the norms of the residuals are drawn; the factor makes up for the outputs they have.
    """
    cells = column.cells
    residual_square, noise_factor = _residuals(column)
    pattern, trains = _training_patterns(column.folds, len(cells.index))
    present = np.flatnonzero(cells.index < cells.n_cells)
    place = pattern[present] * cells.n_cells + cells.index[present]
    groups, group = np.unique(place, return_inverse=True)
    row_weight = None if column.weight is None else column.weight[present]
    weight = np.bincount(group, weights=row_weight).astype(np.float64)
    of_pattern, of_cell = np.divmod(groups, cells.n_cells)
    spread = np.sqrt(weight * _share(residual_square[-1], cells.weight)[of_cell])
    noise = spread * np.random.default_rng(0).normal(size=(_POOLED_DRAWS, len(groups)))
    curves = []
    for trained in trains[:, of_pattern]:
        total = [np.bincount(of_cell, weights=draw * trained, minlength=cells.n_cells) for draw in noise]
        in_cell = np.bincount(of_cell, weights=weight * trained, minlength=cells.n_cells).astype(np.float64)
        curves.append(_estimate_or_zero(column, in_cell, np.column_stack(total)))
    return np.stack(curves), noise_factor / _chi_mean(1.0)


def _training_patterns(folds: Folds, n_rows: int) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Return, for each row, a number that says which folds it trains, and which folds each number trains."""
    if folds.assignment is not None:
        return folds.assignment.astype(np.intp) + 1, ~np.eye(
            folds.n_folds, folds.n_folds + 1, k=1, dtype=bool
        )
    trains = np.zeros((n_rows, folds.n_folds), dtype=bool)
    for fold, (train, _) in enumerate(folds.splits):
        trains[train, fold] = True
    patterns, pattern = np.unique(trains, axis=0, return_inverse=True)
    return pattern.ravel(), patterns.T
