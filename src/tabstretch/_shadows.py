"""The noise in a teacher's curves, measured on shadows: columns whose rows are shuffled.

Whatever a teacher makes of a shadow it has made of nothing, and it makes as much of any column of noise.
Trees see nothing of a column but its order, so that shadows of columns with about as many bins are alike, and
their mean strays less than each of them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tabstretch._cells import Column

# But for about one column in fifty, pure noise shows at most this many times what its shadows show
# (docs/signal.md has the measurements).
NOISE_MARGIN = 1.6
# Enough shadows for a mean. They cost as much as columns do.
_MAX_SHADOWS = 50
# The profile of noise along a column has this many pieces.
_PROFILE_PIECES = 16


def choose_shadows(n_bins: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return which columns cast shadows: all, or some of all sizes."""
    if len(n_bins) <= _MAX_SHADOWS:
        return np.arange(len(n_bins))
    by_size = np.argsort(n_bins, kind="stable")
    return np.sort(by_size[np.linspace(0, len(n_bins) - 1, _MAX_SHADOWS).round().astype(np.intp)])


def shadow_noise(
    shadows: list[Column], shadow_bins: NDArray[np.intp], n_bins: NDArray[np.intp]
) -> list[Column]:
    """Return the variation that noise shows in every bin of every column.

    It is spread over the bins by the mean profile of alike shadows, taken from both ends: trees overfit
    most at the ends of a column.
    """
    if not shadows:
        return [np.zeros(n) for n in n_bins]
    totals = np.array([variation.sum() for variation in shadows])
    profiles = np.array([_profile(variation) for variation in shadows])
    profiles = (profiles + profiles[:, ::-1]) / 2.0
    sizes = np.round(np.log2(np.maximum(shadow_bins, 1)))
    noise = []
    for n in n_bins:
        unlike = np.abs(sizes - np.round(np.log2(max(n, 1))))
        alike = unlike == unlike.min()
        height = np.concatenate([[0.0], np.cumsum(profiles[alike].sum(axis=0))])
        reached = np.interp(np.linspace(0.0, 1.0, n + 1), np.linspace(0.0, 1.0, len(height)), height)
        share = np.diff(reached) / height[-1] if height[-1] > 0 else np.zeros(n)
        noise.append(totals[alike].mean() * share)
    return noise


def _profile(variation: Column) -> Column:
    """Return how variation is spread along a column by rank: shape (_PROFILE_PIECES,)."""
    cumulative = np.concatenate([[0.0], np.cumsum(variation)])
    ranks = np.linspace(0.0, 1.0, len(cumulative))
    return np.diff(np.interp(np.linspace(0.0, 1.0, _PROFILE_PIECES + 1), ranks, cumulative))
