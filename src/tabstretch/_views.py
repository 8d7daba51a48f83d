"""Coordinates of one column side by side: its value, its rank and its stretch for the target."""

from __future__ import annotations

import numpy as np

from tabstretch._cells import Column
from tabstretch._column import ColumnFit
from tabstretch._magnitude import power_of_two_scale
from tabstretch._widths import stretch_widths

OUTPUTS = ("blend", "views")
VIEWS = ("value", "rank", "target")  # without a target, the first two
# The squashed value, a smooth function, is followed by this many straight pieces.
_VALUE_PIECES = 128
# Where the squashed value levels off, in interquartile ranges from the median.
_SQUASH = 3.0


def view_widths(column: ColumnFit) -> dict[str, tuple[Column, Column]]:
    """Return edges and widths of each view of a column.

    NOTE[DIFF] The stretch for the target is the blend, not that of the target alone: beside value and rank,
    networks did better with it (`docs/defaults.md`).
    """
    if len(column.edges) < 2:
        alone = column.edges, column.widths
        return {"value": alone, "rank": alone, "target": alone}
    return {
        "value": squashed_value(column),
        "rank": (column.edges, stretch_widths(np.zeros(len(column.edges) - 1), column.edges)),
        "target": (column.edges, column.widths),
    }


def squashed_value(column: ColumnFit) -> tuple[Column, Column]:
    """Return edges and widths of a map that keeps the column's shape but squashes its tails.

    It is centred by the median and scaled by the interquartile range, and levels off smoothly three such
    ranges away: however far out a value lies, it cannot rule the others. Where ties leave no interquartile
    range, half the range without the first and the last bin takes its place.
    """
    scale = power_of_two_scale(column.edges)
    edges = column.edges * scale
    low, center, high = column.quartiles * scale
    spread = high - low if high > low else _half_range(edges)
    with np.errstate(over="ignore"):  # infinitely far away is squashed as well
        bottom, top = _squash((edges[[0, -1]] - center) / spread)
    heights = np.linspace(bottom, top, _VALUE_PIECES + 1)
    inner = np.clip(center + spread * _unsquash(heights[1:-1]), edges[0], edges[-1]) / scale
    places = np.unique(np.concatenate([column.edges[[0, -1]], inner]))
    with np.errstate(over="ignore"):
        heights = _squash((places * scale - center) / spread)
    return places, stretch_widths(np.diff(heights), places)


def _half_range(edges: Column) -> float:
    inner = edges[1:-1] if len(edges) > 3 else edges
    return float(inner[-1] - inner[0]) / 2.0


def _squash(z: Column) -> Column:
    return _SQUASH * np.sin(np.arctan(z / _SQUASH))


def _unsquash(height: Column) -> Column:
    return _SQUASH * np.tan(np.arcsin(np.clip(height / _SQUASH, -1.0, 1.0)))
