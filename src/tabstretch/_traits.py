"""What a column is like: its shape, its ties, and what it alone says about the target."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabstretch._bins import bin_edges
from tabstretch._cells import Column, describe, spread_boundaries
from tabstretch._column import evidence_within_folds
from tabstretch._folds import Folds
from tabstretch._magnitude import power_of_two_scale
from tabstretch._target import Target
from tabstretch._variation import SmoothedColumn, split_at_edges

# Enough for the measures here, and many times faster than the cells of a fit: a bandwidth of 20000 rows
# still spans more than a dozen of them.
_CELLS = 512
# Bins between which the variation of the target is compared; of more, each would be mostly noise.
_BINS = 16
_TAIL = 0.05
# Straight lines under noise that tell how uneven a line looks by chance, and for how many outputs.
_DRAWS, _MOST_OUTPUTS = 2, 64


@dataclass(frozen=True)
class Traits:
    """What was measured of one column; see `tabstretch.suggest` for what each number means.

    `noise` is the share of the target's influence that a fit would give to the rank because of noise.
    """

    n_values: int
    n_distinct: int
    top_share: float
    skewness: float
    middle: float
    r2: float = np.nan
    unevenness: float = np.nan
    noise: float = np.nan


def measure_column(x: NDArray[Any], target: Target | None, folds: Folds | None) -> Traits:
    """Measure one column of whatever magnitude, NaN allowed, with a target or without."""
    x = np.ascontiguousarray(x, dtype=np.float64)
    present = np.sort(x[~np.isnan(x)])
    if len(present) == 0:
        return Traits(0, 0, 0.0, np.nan, np.nan)
    scale = power_of_two_scale(present)
    present, x = present * scale, x * scale
    values, counts = np.unique(present, return_counts=True)
    skewness, middle = shape_of(present)
    shape = (len(present), len(values), float(counts.max()) / len(present), skewness, middle)
    if target is None or folds is None or len(values) < 2:
        return Traits(*shape)
    return Traits(*shape, *signal_of(x, present, values, target, folds))


def shape_of(values: Column) -> tuple[float, float]:
    """Return the skewness of sorted values, and the share of the range that the middle nine tenths fill.

    The skewness is how much farther from the median the 95th percentile is than the 5th, from -1 to 1, so
    that no single value counts for much. Where nine tenths are one value the ends take the places of both.

    >>> shape_of(np.arange(101.0))
    (0.0, 0.9)
    >>> shape_of(np.array([0.0] * 99 + [7.0]))
    (1.0, 0.0)
    """
    low, high = values[0], values[-1]
    if low == high:
        return 0.0, 1.0
    first, median, last = np.quantile(values, [_TAIL, 0.5, 1.0 - _TAIL])
    middle = float((last - first) / (high - low))
    if first == last:
        first, last = low, high
    return float(((last - median) - (median - first)) / (last - first)), middle


def signal_of(
    x: Column, present: Column, values: Column, target: Target, folds: Folds
) -> tuple[float, float, float]:
    """Return what the column alone explains of the target, how unevenly, and how much of that is noise.

    Unevenness is beyond what a straight line under the same noise shows, or every noisy line had some.
    """
    if target.constant:
        return 0.0, 0.0, 1.0
    few = len(values) <= _CELLS
    boundaries = values if few else spread_boundaries(present, present[0], present[-1], _CELLS)
    cells = describe(x, None, boundaries)
    column = SmoothedColumn(cells, target, folds, None, None)
    edges = bin_edges(x, _BINS, cells=cells)
    if len(edges) < 2:  # values that differ by less than their scale can hold
        return 0.0, 0.0, 1.0
    evidence = evidence_within_folds(column, edges, None)
    variation, noise = evidence.variation, evidence.shrinkage
    r2 = out_of_fold_r2(column)
    line = straight_line(column, edges)
    if noise >= 1.0 or line.sum() <= 0:
        return r2, 0.0, float(noise)
    uneven = unevenness_of(variation, line)
    by_chance = [
        unevenness_of(evidence_within_folds(drawn, edges, None).variation, line)
        for drawn in noisy_lines(column, float(variation.sum() / line.sum()))
    ]
    excess = max(0.0, uneven - float(np.mean(by_chance))) if by_chance else uneven
    return r2, (1.0 - float(noise)) * excess, float(noise)


def noisy_lines(column: SmoothedColumn, slope: float) -> Iterator[SmoothedColumn]:
    """Yield the column with straight lines for targets, under the noise of its own target.

    The lines vary as much as the target does along the column, and the noise is what is left of the target
    around its estimate, with random signs. Not for very many outputs: their table would not fit into memory.
    """
    target, cells = column.target, column.cells
    if target.n_outputs > _MOST_OUTPUTS:
        return
    sums = column.sums(column.blocks[0])
    estimate = column.smooth(sums.weight, sums.total).estimate
    values = target.values if target.codes is None else np.eye(target.n_outputs)[target.codes]
    # Rows without a value belong to no cell; what stands there is never read.
    cell = np.minimum(cells.index, cells.n_cells - 1)
    line = np.zeros_like(values)
    line[:, 0] = slope * column.position[cell]
    residual = values - estimate[cell]
    rng = np.random.default_rng([0, _DRAWS])
    for _ in range(_DRAWS):
        sign = rng.choice([-1.0, 1.0], (len(values), 1))
        drawn = Target.of_values("continuous-multioutput", None, line + sign * residual)
        yield SmoothedColumn(cells, drawn, column.folds, None, None)


def straight_line(column: SmoothedColumn, edges: Column) -> Column:
    """Return the variation in each bin that a target shows which is the column itself.

    It is smoothed as any target is: a smoothed line is flat at its ends and in long tails, and compared with
    the range itself every target would look uneven there.
    """
    weight = column.cells.weight
    estimate = column.smooth(weight, (weight * column.position)[:, None]).estimate[:, 0]
    return split_at_edges(column.cells.mean, np.abs(np.diff(estimate)), edges)


def unevenness_of(variation: Column, reference: Column) -> float:
    """Return how far the variation of the target is from that of a straight line, from 0 to 1.

    It is half the l1 distance between each bin's shares of the two: the part of the target's change that
    lies where the column, as it is, has no room for it.

    >>> unevenness_of(np.array([1.0, 1.0]), np.array([1.0, 3.0]))
    0.25
    """
    total, of_line = float(variation.sum()), float(reference.sum())
    if total <= 0 or of_line <= 0:
        return 0.0
    return float(np.abs(variation / total - reference / of_line).sum()) / 2.0


def out_of_fold_r2(column: SmoothedColumn) -> float:
    """Return the share of the target's variance that estimates from the other folds explain.

    All outputs count together; classes are one-hot.
    """
    error = spread = 0.0
    for block in column.blocks:
        sums = column.sums(block)
        held = sums.held_weight.sum()
        first = block.start == 0
        for fold in range(column.folds.n_folds):
            query, smooth = column.smooth_fold(sums, fold)
            weight, total = sums.held_weight[fold, query], sums.held_total[fold, query]
            estimate = smooth.estimate
            # Squares are summed over all outputs at once, in the first block.
            square = float(sums.held_square[fold, query].sum()) if first else 0.0
            error += square + float(np.sum(weight * np.einsum("ij,ij->i", estimate, estimate)))
            error -= 2.0 * float(np.sum(total * estimate))
            spread += square
        mean = sums.held_total.sum(axis=(0, 1)) / held if held > 0 else np.zeros(sums.held_total.shape[2])
        spread -= float(held * np.sum(mean**2))
    return 1.0 - error / spread if spread > 1e-9 * max(1.0, error) else 0.0
