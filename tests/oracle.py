"""The whole method for one column, slow and obvious, written from the formulas alone.

Column, target -> bins -> out-of-fold smoother -> variation, and what noise alone would show -> widths -> map.
Every prediction is a dense matrix times the targets, so signal and noise go through the same lines.
Targets T are matrices with a row per sample. A weight of 2 is the row twice.
"""

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Rows = NDArray[np.intp]
Folds = Sequence[tuple[Rows, Rows]]
Path = tuple[Array, Array]  # increasing points, and the matrix that predicts there: matrix @ T

NEGLIGIBLE = 1e-9  # total variation of an encoded target that is only rounding
WIDTH_FLOOR = 1e-6  # of a uniform width


def encode_target(
    y: NDArray[Any], kind: Literal["regression", "classes"], weight: Array | None = None
) -> Array:
    """Standardised columns for regression, one column of 0 and 1 per class otherwise."""
    if kind == "classes":
        return (y[:, None] == np.unique(y)).astype(float)
    values = np.asarray(y, dtype=float).reshape(len(y), -1)
    centred = values - np.average(values, axis=0, weights=weight)
    scale = np.sqrt(np.average(centred**2, axis=0, weights=weight))
    return centred / np.where(scale > 0, scale, 1.0)


def frequency_weights(weight: Array) -> Array:
    """Weights that count rows: raised to mean 1 where they sum to less than the rows they keep."""
    n_kept = np.count_nonzero(weight)
    return weight * n_kept / weight.sum() if weight.sum() < n_kept else weight


def noise_of_weights(weight: Array) -> float:
    """1 for whole weights, which are copies of rows; else their sum over Kish's effective number of rows."""
    return 1.0 if np.all(weight % 1 == 0) else float(np.sum(weight**2) / np.sum(weight))


def drop_rows(keep: NDArray[np.bool_], splits: Folds) -> Folds:
    """The same folds after `x[keep]`."""
    position = np.cumsum(keep) - 1
    return [(position[train[keep[train]]], position[test[keep[test]]]) for train, test in splits]


def quantile_edges(x: Array, n_bins: int, weight: Array | None = None) -> Array:
    """Distinct quantiles from min to max; the distinct values themselves when there are enough bins."""
    distinct = np.unique(x)
    if n_bins >= len(distinct) - 1:
        return distinct
    if weight is not None:
        assert np.all(weight == np.round(weight)), "the formulas define quantiles of whole weights only"
        x = np.repeat(x, weight.astype(int))
    return np.unique(np.maximum.accumulate(np.quantile(x, np.linspace(0, 1, n_bins + 1))))


def kth_distance(x0: float, x_train: Array, k: float, w_train: Array) -> float:
    """The smallest distance around x0 that holds a training weight of k, or all there is."""
    distance = np.abs(x_train - x0)
    order = np.argsort(distance)
    mass = np.cumsum(w_train[order])
    reached = np.argmax(mass >= min(k, mass[-1]) * (1 - 1e-12))  # 10 rows of weight 0.1 reach k = 1
    return float(distance[order][reached])


def kernel_shares(x0: float, x_train: Array, k: float, w_train: Array) -> Array:
    """The share of each training row in the estimate at x0; the k-th neighbour's keeps the sum above 0."""
    distance = np.abs(x_train - x0)
    bandwidth = kth_distance(x0, x_train, k, w_train)
    if bandwidth == 0:
        shares = w_train * (distance == 0)
    else:
        with np.errstate(over="ignore"):
            shares = w_train * np.exp(-((distance / bandwidth) ** 2) / 2)
    return shares / shares.sum()


def nadaraya_watson(x0: float, x_train: Array, t_train: Array, k: float, w_train: Array) -> Array:
    return kernel_shares(x0, x_train, k, w_train) @ t_train


def fold_smoothers(x: Array, splits: Folds, k: float, weight: Array) -> list[tuple[Rows, Array]]:
    """Every fold's held-out rows and the matrix that predicts them, 0 outside the fold's training rows."""
    smoothers = []
    for train, test in splits:
        if len(train) and len(test):
            matrix = np.zeros((len(test), len(x)))
            matrix[:, train] = [kernel_shares(x0, x[train], k, weight[train]) for x0 in x[test]]
            smoothers.append((test, matrix))
    return smoothers


def out_of_fold(x: Array, T: Array, splits: Folds, k: float, weight: Array) -> Array:
    """Prediction of every row by the fold that held it out (NaN if none did)."""
    predictions = np.full(T.shape, np.nan)
    for test, matrix in fold_smoothers(x, splits, k, weight):
        predictions[test] = matrix @ T
    return predictions


def leave_one_out_residuals(x: Array, T: Array, k: float, weight: Array) -> Array:
    """Each target minus the estimate there without it (of a row of weight 2, without one of the two)."""
    residuals = np.empty(T.shape)
    for j in range(len(x)):
        others = weight - np.minimum(weight, np.arange(len(x)) == j)
        residuals[j] = T[j] - nadaraya_watson(x[j], x, T, k, others)
    return residuals


def merge_ties(points: Array, matrix: Array, weight: Array) -> Path:
    """Distinct points, increasing; tied ones share the weighted mean of their predictions."""
    distinct = np.unique(points)
    means = [np.average(matrix[points == p], axis=0, weights=weight[points == p]) for p in distinct]
    return distinct, np.array(means)


def paths_within_folds(x: Array, splits: Folds, k: float, weight: Array) -> list[Path]:
    """One path per fold, along its own held-out points."""
    return [merge_ties(x[rows], M, weight[rows]) for rows, M in fold_smoothers(x, splits, k, weight)]


def paths_pooled(x: Array, splits: Folds, k: float, weight: Array) -> list[Path]:
    """A single path, along all rows, each predicted by the fold that held it out (the paper's)."""
    tests, matrices = zip(*fold_smoothers(x, splits, k, weight), strict=True)
    rows = np.concatenate(tests)
    return [merge_ties(x[rows], np.concatenate(matrices), weight[rows])]


def split_at_edges(points: Array, increments: Array, edges: Array) -> Array:
    """Sum of the increments in each bin; one that crosses an edge is split pro rata."""
    cumulative = np.concatenate([[0.0], np.cumsum(increments)])
    return np.diff(np.interp(edges, points, cumulative))


def variation_along(paths: list[Path], T: Array, edges: Array) -> Array:
    """S_t: per bin the l2 variation of the predictions, mean over the paths."""
    total = np.zeros(len(edges) - 1)
    for points, matrix in paths:
        total += split_at_edges(points, np.linalg.norm(np.diff(matrix @ T, axis=0), axis=1), edges)
    return total / len(paths)


def variation_within_folds(x: Array, T: Array, splits: Folds, edges: Array, k: float, weight: Array) -> Array:
    return variation_along(paths_within_folds(x, splits, k, weight), T, edges)


def variation_pooled(x: Array, T: Array, splits: Folds, edges: Array, k: float, weight: Array) -> Array:
    return variation_along(paths_pooled(x, splits, k, weight), T, edges)


def effective_dimension(residuals: Array, weight: Array) -> float:
    """tr(C)^2 / tr(C^2) of the residuals' covariance C; 1 for a scalar or two classes."""
    C = (residuals.T * weight) @ residuals / weight.sum()
    return float(np.trace(C) ** 2 / np.trace(C @ C)) if np.any(C) else 1.0


def chi_mean(dimension: float) -> float:
    """E||z|| of a Normal vector with E||z||^2 = 1; sqrt(2/pi) in one dimension."""
    return math.sqrt(2 / dimension) * math.exp(math.lgamma((dimension + 1) / 2) - math.lgamma(dimension / 2))


def noise_along(paths: list[Path], residuals: Array, edges: Array, weight: Array) -> Array:
    """Expected variation of the residuals with random signs.

    Every copy of a row has a sign of its own; where weights are no counts, a row has one, as if all weights
    were equal and that many fewer.
    """
    factor = chi_mean(effective_dimension(residuals, weight))
    squared = np.sum(residuals**2, axis=1)
    total = np.zeros(len(edges) - 1)
    for points, matrix in paths:
        variance = np.diff(matrix, axis=0) ** 2 @ (squared / weight) * noise_of_weights(weight)
        total += split_at_edges(points, factor * np.sqrt(variance), edges)
    return total / len(paths)


def noise_variation_within_folds(
    x: Array, T: Array, splits: Folds, edges: Array, k: float, weight: Array
) -> Array:
    residuals = leave_one_out_residuals(x, T, k, weight)
    return noise_along(paths_within_folds(x, splits, k, weight), residuals, edges, weight)


def noise_variation_by_random_signs(
    paths: list[Path], residuals: Array, edges: Array, draws: int, rng: np.random.Generator
) -> Array:
    """The same by brute force, for rows of weight 1: flip the residuals' signs, smooth, measure, average."""
    signs = rng.choice([-1.0, 1.0], size=(draws, len(residuals), 1))
    return np.mean([variation_along(paths, sign * residuals, edges) for sign in signs], axis=0)


def stretch_widths(
    variation: Array,
    noise: Array | None,
    edges: Array,
    shrinkage: float,
    rank_weight: float,
    value_weight: float,
    n_bandwidths: float = np.inf,
) -> Array:
    """Widths that sum to 1; where `noise` is given it decides the shrinkage."""
    n_bins = len(variation)
    if variation.sum() <= NEGLIGIBLE:
        variation, noise, shrinkage = np.zeros(n_bins), None, 1.0
    if noise is not None:
        two_deviations = 2 * 0.55 / math.sqrt(n_bandwidths)
        shrinkage = min(1.0, ((1 + two_deviations) * noise.sum() / variation.sum()) ** 4)
        variation = np.sqrt(np.maximum(variation**2 - noise**2, 0))
    target = (1 - shrinkage) * variation / (variation.sum() or 1.0)
    rank = (rank_weight + shrinkage) / n_bins
    value = value_weight * np.diff(edges) / (edges[-1] - edges[0])
    widths = np.sqrt(target**2 + rank**2 + value**2)
    widths = np.maximum(widths / widths.sum(), WIDTH_FLOOR / n_bins)
    return widths / widths.sum()


def stretch(x: Array, edges: Array, widths: Array) -> Array:
    """The map onto [0, 1], clipped outside the edges; NaN stays."""
    if len(edges) < 2:
        return np.where(np.isnan(x), np.nan, 0.0)
    return np.interp(x, edges, np.concatenate([[0.0], np.cumsum(widths)]))


def supervised_widths(
    x: Array,
    y: NDArray[Any],
    splits: Folds,
    *,
    kind: Literal["regression", "classes"],
    n_bins: int,
    n_neighbors: int | Literal["auto"] = "auto",
    variation: Literal["within_fold", "pooled"] = "within_fold",
    shrinkage: float | Literal["auto"] = "auto",
    rank_weight: float = 0.0,
    value_weight: float = 2.0,
    weight: Array | None = None,
) -> tuple[Array, Array]:
    """Edges and widths of one column; rows with NaN or without weight are dropped first."""
    weight = frequency_weights(np.ones(len(x)) if weight is None else weight)
    keep = ~np.isnan(x) & (weight > 0)
    x, y, weight, splits = x[keep], y[keep], weight[keep], drop_rows(keep, splits)
    edges = quantile_edges(x, n_bins, weight)
    if len(edges) < 2:
        return edges, np.empty(0)
    T = encode_target(y, kind, weight)
    k = max(5, round(weight.sum() ** (2 / 3))) if n_neighbors == "auto" else n_neighbors
    paths = (paths_pooled if variation == "pooled" else paths_within_folds)(x, splits, k, weight)
    S = variation_along(paths, T, edges)
    if shrinkage != "auto":
        return edges, stretch_widths(S, None, edges, shrinkage, rank_weight, value_weight)
    noise = noise_along(paths, leave_one_out_residuals(x, T, k, weight), edges, weight)
    n_bandwidths = max(1.0, weight.sum() / k)
    return edges, stretch_widths(S, noise, edges, 0.0, rank_weight, value_weight, n_bandwidths)
