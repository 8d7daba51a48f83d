"""What every fitted stretch promises, whatever it was fitted on."""

from typing import Any

import numpy as np
from fitted import probes
from numpy.testing import assert_array_equal
from numpy.typing import NDArray

from tabstretch._monotone import MonotoneMap

TOLERANCE = 1e-12
LARGEST = np.finfo(float).max


def as_numbers(X: Any) -> NDArray[np.float64]:
    """A table of any type in float64."""
    return np.asarray(X, dtype=np.float64)


def assert_sound(stretch: Any, X: Any) -> None:
    """Check all promises on the training rows, all with weight, and on inputs that probe the maps."""
    low, high = stretch.feature_range
    n_views = len(stretch.views_)
    seen = as_numbers(X)
    output = stretch.transform(X)
    assert output.shape == (len(seen), n_views * seen.shape[1])
    assert len(stretch.summary()) == seen.shape[1]
    limits = np.finfo(output.dtype)
    ends = np.clip([low, high], limits.min, limits.max).astype(output.dtype)
    assert_array_equal(np.isnan(output[:, ::n_views]), np.isnan(seen))
    present = output[~np.isnan(output)]
    assert np.all((present >= ends[0]) & (present <= ends[1]))
    asked = np.vstack([probes(stretch, 60), *([end] * seen.shape[1] for end in (-LARGEST, LARGEST))])
    for number, map_ in enumerate(stretch.maps_):
        assert_sound_map(map_, np.concatenate([seen[:, number // n_views], asked[:, number // n_views]]))
        if len(map_.edges) > 1:
            assert (map_.values[0], map_.values[-1]) == (low, high)
    _assert_round_trip(stretch, X, output)


def assert_sound_map(map_: MonotoneMap, x: NDArray[np.float64]) -> None:
    """Check that a map never falls, is finite for finite input and keeps NaN, and its inverse too."""
    assert_array_equal(np.isnan(map_(x)), np.isnan(x))
    x = np.sort(x[~np.isnan(x)])
    y = map_(x)
    assert np.all(np.isfinite(y))
    assert np.all(y[1:] >= y[:-1])
    if map_.out_of_range == "clip":
        assert np.all((y >= map_.values[0]) & (y <= map_.values[-1]))
    if len(map_.edges) == 0:
        return
    at_ends = map_(map_.edges)
    assert (at_ends[0], at_ends[-1]) == (map_.values[0], map_.values[-1])
    back = map_.inverse(y)
    assert np.all(np.isfinite(back))
    assert np.all(back[1:] >= back[:-1])
    inside = (x >= map_.edges[0]) & (x <= map_.edges[-1])
    assert np.all((back[inside] >= map_.edges[0]) & (back[inside] <= map_.edges[-1]))
    assert_comes_back(map_, x[inside], back[inside])


def assert_comes_back(map_: MonotoneMap, x: NDArray[np.float64], back: NDArray[np.float64]) -> None:
    """Check that x comes back but for rounding: its own where the map is steep, its output's elsewhere."""
    if len(map_.edges) < 2:
        return
    bin_ = np.clip(np.searchsorted(map_.edges, x, side="right") - 1, 0, len(map_.edges) - 2)
    magnitude = np.maximum(np.abs(map_.edges[bin_]), np.abs(map_.edges[bin_ + 1]))
    largest = max(abs(map_.values[0]), abs(map_.values[-1]))
    # No number holds both 1e300 and 1e-300 of it.
    vanishing = 1e-290 * max(abs(map_.edges[0]), abs(map_.edges[-1])) + 5e-324
    near_x = np.abs(x / 2 - back / 2) <= TOLERANCE * magnitude + vanishing
    near_y = np.abs(map_(x) / 2 - map_(back) / 2) <= TOLERANCE * largest + 5e-324
    assert np.all(near_x | near_y), (x[~(near_x | near_y)], back[~(near_x | near_y)])


def _assert_round_trip(stretch: Any, X: Any, output: Any) -> None:
    back = stretch.inverse_transform(output)
    seen = as_numbers(X)
    assert_array_equal(np.isnan(back), np.isnan(seen))
    if back.dtype == np.float64:
        for j, map_ in enumerate(stretch.maps_[:: len(stretch.views_)]):
            x = seen[:, j]
            assert_comes_back(map_, x[~np.isnan(x)], back[~np.isnan(x), j])
