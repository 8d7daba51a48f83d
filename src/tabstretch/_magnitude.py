"""Numbers so large or small that their differences over- or underflow."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

# Boosted trees see no thresholds beyond 1e300, and other trees and forests work in float32.
_LARGEST_FOR_MODELS, _SMALLEST_FOR_MODELS = 1e30, 1e-30


def scale_for_models(columns: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a power of two for each column that brings it to order one, where it is far from it."""
    if len(columns) == 0:
        return np.ones(columns.shape[1])
    largest = np.fmax.reduce(np.abs(columns), axis=0, initial=0.0)
    exponent = np.clip(-np.frexp(largest)[1], -1000, 1000)
    usual = (largest == 0.0) | ((largest > _SMALLEST_FOR_MODELS) & (largest < _LARGEST_FOR_MODELS))
    return np.where(usual, 1.0, np.ldexp(1.0, exponent))


def power_of_two_scale(x: NDArray[Any]) -> float:
    """Return a power of two that brings extreme values to where no difference over- or underflows."""
    largest = max(abs(float(np.fmin.reduce(x))), abs(float(np.fmax.reduce(x))))
    if largest > 1e305:
        return 2.0**-10
    if 0.0 < largest < 1e-200:
        return 2.0**400
    return 1.0


def interpolate(
    x: NDArray[np.float64], place: NDArray[np.float64], value: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return `np.interp`, also where a slope is no float: between the smallest numbers, or to the largest.

    >>> interpolate(np.array([1e-323]), np.array([0.0, 2e-323, 1.0]), np.array([0.0, 1.0, 2.0]))
    array([0.5])
    """
    found = np.asarray(np.interp(x, place, value))
    lost = ~np.isfinite(found)
    if np.any(lost):
        left = np.searchsorted(place, x[lost], side="right") - 1
        part = (x[lost] - place[left]) / (place[left + 1] - place[left])
        found[lost] = (1.0 - part) * value[left] + part * value[left + 1]
    return found


def distinct_unscaled(edges: NDArray[np.float64], scale: float) -> NDArray[np.float64]:
    """Return the scaled edges that differ in their own units, where the smallest floats lie apart."""
    return np.unique(edges / scale) * scale if scale > 1.0 else edges
