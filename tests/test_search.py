"""The guide table finds the interval that a binary search finds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from oracle import Array

from tabstretch._kernels import SLOT_REACH, find_interval, find_slots
from tabstretch._search import guide_table


def assert_finds_every_interval(edges: Array) -> None:
    """At the edges, next to them on both sides, between them and beyond them."""
    guide = guide_table(edges)
    n_slots = len(guide.first) - SLOT_REACH
    n_intervals = len(edges) - 1
    beside = [np.nextafter(edges, -np.inf), np.nextafter(edges, np.inf)]
    between = [edges[:-1] + share * np.diff(edges) for share in (0.1, 0.5, 0.9)]
    values = np.concatenate([edges, *beside, *between, edges[:1] - 1, edges[-1:] + 1])
    slots = np.empty(len(values), dtype=np.uint32)
    find_slots(values, *guide[:-1], n_slots, slots)
    found = [
        find_interval(value, slot, edges, n_intervals, guide.first)
        for value, slot in zip(values, slots, strict=True)
    ]
    expected = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, n_intervals - 1)
    assert_array_equal(found, expected)


@given(st.lists(st.floats(-1e307, 1e307), min_size=2, max_size=60, unique=True))
def test_any_edges(values: list[float]) -> None:
    edges = np.unique(values)
    if len(edges) > 1:  # 0.0 and -0.0 are one edge
        assert_finds_every_interval(edges)


@given(st.lists(st.integers(-(2**60), 2**60), min_size=2, max_size=60, unique=True), st.floats(0.1, 300))
def test_edges_spread_over_many_magnitudes(numbers: list[int], power: float) -> None:
    spread = np.unique(np.sign(numbers) * np.exp(np.abs(np.array(numbers)) / 2.0**60 * power))
    if len(spread) > 1:
        assert_finds_every_interval(spread)


EDGES = {
    "even": np.linspace(-1, 1, 65),
    "two": np.array([0.0, 1.0]),
    "adjacent floats": 1 + np.arange(65) * np.finfo(float).eps,
    "smallest floats": np.arange(65) * 5e-324,
    "normal": np.sort(np.random.default_rng(0).normal(size=1000)),
    "cauchy": np.sort(np.random.default_rng(0).standard_cauchy(size=1000)),
    "lognormal": np.sort(np.random.default_rng(0).lognormal(0, 20, size=1000)),
    "two clumps": np.concatenate([np.linspace(0, 1e-9, 100), np.linspace(1, 1 + 1e-9, 100)]),
    "three clumps": np.concatenate([np.linspace(c, c + 1e-9, 99) for c in (-1e6, 0, 1e6)]),
    "powers": np.concatenate([-(2.0 ** np.arange(300)[::-1]), [0], 2.0 ** np.arange(300)]),
    "more than the slots": np.sort(np.random.default_rng(0).lognormal(0, 5, size=70_000)),
    "a far end": np.append(np.linspace(0, 1, 500), 1e300),
}


@pytest.mark.parametrize("name", EDGES)
def test_edges_of_many_shapes(name: str) -> None:
    assert_finds_every_interval(EDGES[name])
