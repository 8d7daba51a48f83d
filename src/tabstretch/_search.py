"""Find the interval of a sorted array that holds a value, in constant time for most values.

A guide table is an even grid that tells, for each of its slots, the few intervals a value can be in; a
short search among these settles it. The grid is even in d / (scale + |d|), where d is the distance from
where the edges are densest, so that heavy tails do not crowd all edges into a few slots. Where they crowd
all the same, the search is a bisection: the worst case is that of a plain binary search.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tabstretch._kernels import SLOT_REACH

# At 64 slots per interval most slots hold no edge, and the search takes no step at all.
_SLOTS_PER_INTERVAL = 64
_MAX_SLOTS = 1 << 16


class Guide(NamedTuple):
    """Guide table of increasing edges: slot -> first interval that overlaps it."""

    center: float
    scale: float
    origin: float
    slots_per_unit: float
    first: NDArray[np.uint32]


def guide_table(edges: NDArray[np.float64]) -> Guide:
    """Build the guide table of at least two strictly increasing edges with a finite range."""
    n_intervals = len(edges) - 1
    n_slots = min(_SLOTS_PER_INTERVAL * n_intervals, _MAX_SLOTS)
    center, scale = _densest_half(edges)
    squashed = _squash(edges, center, scale)
    origin = float(squashed[0])
    span = float(squashed[-1] - origin)
    slots_per_unit = n_slots / span if span > 0 else 0.0
    slot = np.clip((squashed - origin) * slots_per_unit, 0, n_slots - 1).astype(np.intp)
    # first[s] is the last edge more than one slot before s: rounding moves a value by far less than a
    # slot, so its interval is never before first[s], nor after first[s + SLOT_REACH].
    edges_up_to = np.cumsum(np.bincount(slot, minlength=n_slots + SLOT_REACH))
    first = np.concatenate([[0, 0], edges_up_to[:-2]]) - 1
    return Guide(center, scale, origin, slots_per_unit, np.clip(first, 0, n_intervals - 1).astype(np.uint32))


def _densest_half(edges: NDArray[np.float64]) -> tuple[float, float]:
    """Return the middle and the width of the shortest stretch that holds half of the edges."""
    n_half = max(len(edges) // 2, 1)
    spans = edges[n_half:] - edges[:-n_half]
    start = int(np.argmin(spans))
    # Processes that flush the smallest numbers to zero would divide by zero without a floor.
    return float(edges[start + n_half // 2]), max(float(spans[start]), float(np.finfo(np.float64).tiny))


def _squash(edges: NDArray[np.float64], center: float, scale: float) -> NDArray[np.float64]:
    distance = edges - center
    return distance / (scale + np.abs(distance))
