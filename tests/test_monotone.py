"""The map: exact at its edges, strictly increasing, and back again."""

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from tabstretch import MonotoneMap
from tabstretch._monotone import MapTable

seeds = st.integers(0, 2**32 - 1)


def random_map(seed: int, out_of_range: str = "clip") -> MonotoneMap:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 200))
    edges = np.unique(rng.normal(size=n) * 10.0 ** rng.uniform(-5, 5) + rng.normal())
    values = np.cumsum(rng.lognormal(0, 2, size=len(edges)))
    return MonotoneMap(edges, (values - values[0]) / np.ptp(values), out_of_range)


@given(seeds)
def test_inside_it_is_linear_interpolation(seed: int) -> None:
    map_ = random_map(seed)
    rng = np.random.default_rng(seed)
    low, high = map_.edges[0], map_.edges[-1]
    x = rng.uniform(low - 0.1 * (high - low), high + 0.1 * (high - low), size=500)
    assert_allclose(map_(x), np.interp(x, map_.edges, map_.values), atol=1e-12)


@given(seeds)
def test_edges_map_to_values_and_back_to_the_bit(seed: int) -> None:
    map_ = random_map(seed)
    assert_array_equal(map_(map_.edges), map_.values)
    assert_array_equal(map_.inverse(map_.values), map_.edges)


@given(seeds, st.sampled_from(["clip", "extrapolate"]))
def test_it_never_falls_and_round_trips(seed: int, out_of_range: str) -> None:
    map_ = random_map(seed, out_of_range)
    low, high = map_.edges[0], map_.edges[-1]
    x = np.sort(np.random.default_rng(seed).uniform(low, high, size=500))
    y = map_(x)
    assert np.all(np.diff(y) >= 0)
    assert y[0] >= map_.values[0]
    assert y[-1] <= map_.values[-1]
    steepest_back = 1 / map_.slopes.min()
    assert_allclose(map_.inverse(y), x, atol=1e-15 * steepest_back + 1e-12 * max(abs(low), abs(high)))


def test_beyond_the_ends() -> None:
    clipped = MonotoneMap([0, 1, 3], [10, 20, 24])
    assert_allclose(clipped([-5, 0, 3, 99]), [10, 10, 24, 24])
    assert_allclose(clipped.inverse([-5, 10, 24, 99]), [0, 0, 3, 3])
    continued = MonotoneMap([0, 1, 3], [10, 20, 24], "extrapolate")
    assert_allclose(continued([-5, 0, 3, 99]), [-40, 10, 24, 24 + 96 * 2])
    assert_allclose(continued.inverse(continued([-5, 0, 3, 99])), [-5, 0, 3, 99])


@pytest.mark.parametrize("out_of_range", ["clip", "extrapolate"])
def test_infinite_inputs_get_finite_outputs(out_of_range: str) -> None:
    map_ = MonotoneMap([0, 1, 3], [10, 20, 24], out_of_range)
    low, high = map_([-np.inf, np.inf])
    assert np.isfinite([low, high]).all()
    assert low <= 10
    assert high >= 24


def test_missing_values_and_shapes_stay() -> None:
    map_ = MonotoneMap([0, 1], [0, 1])
    assert np.isnan(map_(np.nan))
    assert np.isnan(map_.inverse(np.nan))
    assert map_(0.5) == 0.5
    assert map_(0.5).shape == ()
    assert map_(np.zeros((2, 3, 4))).shape == (2, 3, 4)
    assert map_(np.zeros((0, 3))).shape == (0, 3)
    assert_array_equal(map_([0, 1]), [0, 1])


def test_slopes() -> None:
    assert_allclose(MonotoneMap([0, 1, 10], [0, 0.5, 1]).slopes, [0.5, 0.5 / 9])
    assert len(MonotoneMap([3], [0]).slopes) == 0


def test_constant_and_empty_maps() -> None:
    constant = MonotoneMap([5.0], [0.0])
    assert_array_equal(constant([4, 5, np.nan]), [0, 0, np.nan])
    assert_array_equal(constant.inverse([0, 0.7, np.nan]), [5, 5, np.nan])
    empty = MonotoneMap([], [0.0])
    assert_array_equal(empty([4, np.nan]), [0, np.nan])
    assert np.isnan(empty.inverse([0.0, 1.0])).all()


@given(seeds, st.sampled_from(["clip", "extrapolate"]))
def test_json_keeps_the_map_to_the_bit(seed: int, out_of_range: str) -> None:
    map_ = random_map(seed, out_of_range)
    document = json.loads(json.dumps(map_.to_dict()))
    assert MonotoneMap.from_dict(document) == map_
    assert MonotoneMap.from_dict(document) != MonotoneMap([0, 1], [0, 1])


def test_equality_and_repr() -> None:
    map_ = MonotoneMap([0, 1, 10], [0, 0.5, 1])
    assert map_ == MonotoneMap([0, 1, 10], [0, 0.5, 1])
    assert map_ != MonotoneMap([0, 1, 10], [0, 0.5, 1], "extrapolate")
    assert map_ != "a map"
    assert repr(map_) == "MonotoneMap(2 bins, [0, 10] -> [0, 1])"
    assert repr(MonotoneMap([3], [0])) == "MonotoneMap(constant 0)"
    with pytest.raises(TypeError, match="unhashable"):
        hash(map_)


def test_a_map_cannot_be_changed_from_outside() -> None:
    edges = np.array([0.0, 1.0])
    map_ = MonotoneMap(edges, [0, 1])
    edges[1] = 5
    assert map_(1.0) == 1
    with pytest.raises(ValueError, match="read-only"):
        map_.edges[0] = -1


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"edges": [0, 1]}, r"missing \['values'\]"),
        ({"edges": [0, 1], "values": [0, 1], "colour": 1}, r"unknown \['colour'\]"),
        ({"edges": [0, 1], "values": [0, 1, 2]}, "values must be as many as edges, got 3 values for 2 edges"),
        ({"edges": [], "values": []}, "got 0 values for 0 edges"),
        ({"edges": [0, 0], "values": [0, 1]}, "edges must be strictly increasing, got 0.0 before 0.0"),
        ({"edges": [0, 1], "values": [1, 0]}, "values must be strictly increasing, got 1.0 before 0.0"),
        ({"edges": [0, np.inf], "values": [0, 1]}, "edges must be finite, got inf"),
        ({"edges": [0, np.nan], "values": [0, 1]}, "edges must be finite, got nan"),
        ({"edges": [[0, 1]], "values": [0, 1]}, r"edges must be one-dimensional, got shape \(1, 2\)"),
        ({"edges": [0, 1], "values": [0, 1], "out_of_range": "wrap"}, "got 'wrap'"),
    ],
)
def test_maps_that_are_none(document: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        MonotoneMap.from_dict(document)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_table_is_its_maps_one_by_one(dtype: Any) -> None:
    maps = [random_map(seed, ["clip", "extrapolate"][seed % 2]) for seed in range(7)]
    maps += [MonotoneMap([3.0], [0.25]), MonotoneMap([], [0.5])]
    X = np.random.default_rng(0).normal(size=(5000, 9)).astype(dtype) * 3
    X[::7] = np.nan
    output = MapTable(maps)(X)
    for j, map_ in enumerate(maps):
        assert_array_equal(output[:, j], map_(X[:, j].astype(float)).astype(dtype))
    assert_array_equal(MapTable(maps)(np.asfortranarray(X)), output)


@pytest.mark.parametrize("edge", [1e-300, 0.0, 1e300])
def test_a_constant_stays_constant_however_far_away(edge: float) -> None:
    largest = np.finfo(float).max
    map_ = MonotoneMap([edge], [0.5], "extrapolate")
    assert_array_equal(map_([-largest, edge, largest]), 0.5)


def test_the_largest_number_is_extrapolated_like_any_other() -> None:
    map_ = MonotoneMap([-1e305, 0.0], [0.0, 1.0], "extrapolate")
    assert_allclose(map_([1e308]), [1001.0])


def test_values_of_a_bin_far_longer_than_the_others_come_back() -> None:
    map_ = MonotoneMap([0.0, 1.0, 1.4e306], [0.0, 1.0 - 1e-9, 1.0])
    x = np.array([0.5, 1e305, 7e305, 1.4e306])
    assert_allclose(map_.inverse(map_(x)), x, rtol=1e-6)
    wide = MonotoneMap([-1e308, -1e-310, 0.0, 1e308], [-1e9, -5e8, -1e8, 3.0])
    x = np.array([-1e308, -3e307, -1e300, 2e307, 9e307])
    assert_allclose(wide.inverse(wide(x)), x, rtol=1e-6)


def test_extrapolation_onto_the_smallest_of_ranges() -> None:
    edges = 1e-200 * (1 + 2.0**-50 * np.arange(1, 3))
    map_ = MonotoneMap(edges, [0.0, 1e-300], "extrapolate")
    below = np.nextafter(edges[:1], 0)
    assert map_(below) < 0


def test_float32_outputs_are_finite_whatever_the_range() -> None:
    table = MapTable([MonotoneMap([0, 1], [-8e307, 8e307])])
    output = table(np.array([[0.0], [0.5], [1.0]], dtype=np.float32))
    assert_array_equal(output.ravel(), [-np.finfo(np.float32).max, 0, np.finfo(np.float32).max])
