"""Widths: how much of the output range each bin gets."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from tabstretch._cells import Column

# Every bin keeps this part of an even share, or the map would not be strictly increasing.
WIDTH_FLOOR = 1e-6
# Below this total variation (targets have unit variance) there is nothing to stretch for.
NEGLIGIBLE_VARIATION = 1e-9


def remove_noise(variation: Column, noise: Column, margin: float) -> tuple[Column, float]:
    """Subtract what noise alone would show from the variation, and say how far to distrust the rest.

    Returns the corrected variation and the shrinkage, one for a column whose variation is all noise.

    NOTE[DIFF] The paper takes the variation as it is; a column of pure noise then gets a stretch of
    its own. The variation of pure noise strays from its expectation; up to `margin` times as much counts
    as noise, and from there the shrinkage falls fast (`docs/signal.md` has the measurements).
    """
    total = float(variation.sum())
    if total <= NEGLIGIBLE_VARIATION:
        return np.zeros_like(variation), 1.0
    largest_noise = margin * float(noise.sum())
    shrinkage = min(1.0, (largest_noise / total) ** 4)
    return np.sqrt(np.maximum(variation**2 - noise**2, 0.0)), shrinkage


def stretch_widths(
    variation: Column,
    edges: Column,
    *,
    shrinkage: float = 0.0,
    target_weight: float = 1.0,
    rank_weight: float = 0.0,
    value_weight: float = 0.0,
) -> Column:
    """Return the widths, summing to one, that make target, rank and value jointly smoothest.

    They minimise the Dirichlet energy of the vector (target_weight * target, rank_weight * rank,
    value_weight * value) along the stretched axis; what shrinkage takes from the target goes to the rank.

    NOTE[DIFF] The paper's widths are the target's alone: shrinkage, rank_weight and value_weight zero.

    >>> stretch_widths(np.array([1.0, 3.0]), np.array([0.0, 1.0, 2.0]))
    array([0.25, 0.75])
    """
    n_bins = len(edges) - 1
    total = float(variation.sum())
    if total <= NEGLIGIBLE_VARIATION:
        target_share, shrinkage = np.zeros(n_bins), 1.0
    else:
        target_share = variation / total
    largest = max(1.0, rank_weight, value_weight)  # dividing by it keeps the squares of huge weights finite
    target = target_weight * (1.0 - shrinkage) / largest * target_share
    rank = (rank_weight + shrinkage) / largest / n_bins
    value = value_weight / largest * range_shares(edges)
    widths = np.sqrt(target**2 + rank**2 + value**2)
    widths /= widths.sum()
    widths = np.maximum(widths, WIDTH_FLOOR / n_bins)
    return widths / widths.sum()


def range_shares(edges: Column) -> Column:
    """Return each bin's share of the range, also where the range itself overflows."""
    largest = max(abs(edges[0]), abs(edges[-1]))
    # Powers of two bring sums of the largest and digits of the smallest numbers back into range.
    scale = 2.0**-4 if largest > 1e300 else 2.0**200 if largest < 1e-200 else 1.0
    lengths = np.diff(edges * scale)
    return lengths / lengths.sum()


def dirichlet_energy(f: ArrayLike, y: ArrayLike) -> float:
    """Return the discrete Dirichlet energy of a function, which is low where it is smooth.

    It is the sum of ``|f[i+1] - f[i]|^2 / (y[i+1] - y[i])``.
    The smoother f is along y, the lower its energy. A straight line has the lowest of all functions
    with the same ends.

    Parameters
    ----------
    f : array-like of shape (n_points,) or (n_points, n_outputs)
        Values of the function; several outputs are taken as one vector.
    y : array-like of shape (n_points,)
        Strictly increasing positions.

    Examples
    --------
    >>> from tabstretch import dirichlet_energy
    >>> dirichlet_energy([0, 1, 2], [0, 0.5, 1])
    4.0
    >>> dirichlet_energy([0, 1, 2], [0, 0.1, 1])
    11.11111111111111
    """
    f = np.asarray(f, dtype=np.float64)
    y = np.asarray(y, dtype=np.float64)
    if y.ndim != 1 or f.ndim not in (1, 2) or len(f) != len(y):
        raise ValueError(f"f and y must have as many points each, got shapes {f.shape} and {y.shape}")
    steps = np.diff(y)
    if np.any(~(steps > 0)):
        first = int(np.argmax(~(steps > 0)))
        raise ValueError(
            f"y must be strictly increasing, got {y[first]} before {y[first + 1]} at position {first}"
        )
    rises = np.diff(f.reshape(len(f), -1) if len(f) else f.reshape(0, 1), axis=0)
    return float(np.sum(np.sum(rises**2, axis=1) / steps))
