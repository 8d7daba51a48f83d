"""The noise in a teacher's curves, measured on shadows: columns whose rows are shuffled.

Whatever a teacher makes of a shadow it has made of nothing, and it makes as much of any column of noise.
Trees see nothing of a column but its order, so that shadows of columns with about as many bins are alike, and
their mean strays less than each of them.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tabstretch._cells import Column

# How many standard deviations of a shadow's variation in one fold count as noise: but for about one in
# fifty, columns of noise show less (docs/conditional.md has the measurements).
_DEVIATIONS = 1.75
# What this standard deviation usually is, relative to the mean, and how many shadows that knowledge is worth.
_USUAL_DEVIATION, _USUAL_WORTH = 0.4, 8.0
# Enough shadows for a mean. They cost as much as columns do.
_MAX_SHADOWS = 50
# Columns and shadows are this many at least. Trees go on splitting when the signal is spent, and share these
# splits among all they see: beside a single shadow, one column would seem to be half noise.
_FEWEST_IN_ALL = 16
# The profile of noise along a column has this many pieces.
_PROFILE_PIECES = 16


class Shadow(NamedTuple):
    """What the teachers made of the shadow of a column: variation between places, and in total by fold."""

    column: int
    variation: Column
    by_lecture: Column


def choose_shadows(n_bins: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return which columns cast shadows: all that vary, a few of them several times, of many some."""
    by_size = np.argsort(n_bins, kind="stable")
    by_size = by_size[n_bins[by_size] > 0]
    if len(by_size) > _MAX_SHADOWS:
        by_size = by_size[np.linspace(0, len(by_size) - 1, _MAX_SHADOWS).round().astype(np.intp)]
    n_shadows = max(len(by_size), _FEWEST_IN_ALL - len(by_size)) if len(by_size) else 0
    return np.sort(np.resize(by_size, n_shadows))


def shadow_noise(
    shadows: list[Shadow], n_bins: NDArray[np.intp], *, pooled: bool
) -> list[tuple[Column, float]]:
    """Return, for every column, the variation that noise shows in every bin and how far it may stray.

    It is that of alike shadows: of all with about as many bins if `pooled`, else of the column's own, if it
    casts one. It is spread over the bins by their mean profile, for pooled ones taken from both ends, where
    trees overfit most. It may stray as shadows do among themselves.
    """
    if not shadows:
        return [(np.zeros(n), 1.0) for n in n_bins]
    columns = np.array([shadow.column for shadow in shadows])
    totals = np.array([shadow.variation.sum() for shadow in shadows])
    by_lecture = np.array([shadow.by_lecture for shadow in shadows])
    profiles = np.array([_profile(shadow.variation) for shadow in shadows])
    sizes = np.round(np.log2(n_bins[columns]))
    noise = []
    for column, n in enumerate(n_bins):
        unlike = np.abs(sizes - np.round(np.log2(max(n, 1))))
        alike, own = unlike == unlike.min(), columns == column
        profile = (profiles + profiles[:, ::-1])[alike].sum(axis=0)
        if not pooled and own.any():
            alike, profile = own, profiles[own].sum(axis=0)
        height = np.concatenate([[0.0], np.cumsum(profile)])
        reached = np.interp(np.linspace(0.0, 1.0, n + 1), np.linspace(0.0, 1.0, len(height)), height)
        share = np.diff(reached) / height[-1] if height[-1] > 0 else np.zeros(n)
        noise.append((totals[alike].mean() * share, _margin(by_lecture[alike])))
    return noise


def _margin(by_lecture: Column) -> float:
    """Return how many times the mean of alike shadows a column of noise may show.

    The teachers of all folds see much the same rows, so that what one makes of a column of noise the others
    make of it too: its mean over folds strays almost as much as a shadow's variation in one fold.
    """
    mean = float(by_lecture.mean())
    if mean == 0.0:
        return 1.0
    seen = by_lecture.size * float(by_lecture.var()) / mean**2
    usual = _USUAL_WORTH * _USUAL_DEVIATION**2
    return 1.0 + _DEVIATIONS * math.sqrt((seen + usual) / (by_lecture.size + _USUAL_WORTH))


def _profile(variation: Column) -> Column:
    """Return how variation is spread along a column by rank: shape (_PROFILE_PIECES,)."""
    cumulative = np.concatenate([[0.0], np.cumsum(variation)])
    ranks = np.linspace(0.0, 1.0, len(cumulative))
    return np.diff(np.interp(np.linspace(0.0, 1.0, _PROFILE_PIECES + 1), ranks, cumulative))
