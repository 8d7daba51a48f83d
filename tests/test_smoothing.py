"""The smoother on cells against dense matrices of kernel weights."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracle import Array, kernel_shares, kth_distance

from tabstretch._smoothing import default_neighbors, smooth
from tabstretch._smoothing_kernels import find_bandwidths, find_spread_bandwidths


def positions(name: str, n: int) -> Array:
    rng = np.random.default_rng(0)
    x = {"uniform": rng.uniform(size=n), "lattice": np.arange(n) / n, "outlier": rng.lognormal(0, 3, size=n)}[
        name
    ]
    x = np.sort(x)
    return (x - x[0]) / (x[-1] - x[0])


@pytest.mark.parametrize("name", ["uniform", "lattice", "outlier"])
@pytest.mark.parametrize("n_neighbors", [1, 5, 20.5, 1e9])
def test_estimates_and_noise_equal_dense_matrices(name: str, n_neighbors: float) -> None:
    rng = np.random.default_rng(1)
    x = positions(name, 80)
    weight = rng.integers(0, 4, size=80).astype(float)
    target = rng.normal(size=(80, 3))
    noise = weight * rng.uniform(size=80)
    query = np.flatnonzero(rng.random(80) < 0.6)
    result = smooth(x, weight, weight[:, None] * target, query, n_neighbors, noise)
    used = weight > 0
    matrix = np.zeros((len(query), 80))
    matrix[:, used] = [kernel_shares(x[q], x[used], n_neighbors, weight[used]) for q in query]
    assert_allclose(result.estimate, matrix @ target, atol=1e-8)
    per_row = np.divide(matrix, weight, out=np.zeros_like(matrix), where=used)
    assert_allclose(result.step_noise[1:], np.diff(per_row, axis=0) ** 2 @ noise, atol=1e-8)


@given(
    st.lists(
        st.tuples(st.integers(0, 60), st.integers(0, 3)),
        min_size=2,
        max_size=30,
        unique_by=lambda row: row[0],
    ),
    st.floats(0.5, 40),
)
def test_bandwidths_equal_sorted_distances(rows: list[tuple[int, int]], wanted: float) -> None:
    x, weight = (np.array(part, dtype=float) for part in zip(*sorted(rows), strict=True))
    if weight.sum() == 0:
        return
    wanted = min(wanted, weight.sum())
    bandwidth = np.empty(len(x))
    cumulative = np.concatenate([[0.0], np.cumsum(weight)])
    find_bandwidths(x, cumulative, np.arange(len(x)), wanted * (1 - 1e-12), bandwidth)
    used = weight > 0
    assert_allclose(bandwidth, [kth_distance(x0, x[used], wanted, weight[used]) for x0 in x])
    points = np.empty(len(x))
    find_spread_bandwidths(x, x, x, cumulative, np.arange(len(x)), wanted * (1 - 1e-12), points)
    assert_array_equal(points, bandwidth)


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4), st.integers(0, 3)), min_size=2, max_size=30),
    st.floats(0.5, 40),
)
def test_bandwidths_of_cells_that_are_ranges(rows: list[tuple[int, int, int]], wanted: float) -> None:
    gap, length, weight = (np.array(part, dtype=float) for part in zip(*rows, strict=True))
    high = np.cumsum(gap + length + 0.5)
    low = high - length
    if weight.sum() == 0:
        return
    wanted = min(wanted, weight.sum())
    x, cumulative = (low + high) / 2, np.concatenate([[0.0], np.cumsum(weight)])
    bandwidth = np.empty(len(x))
    find_spread_bandwidths(x, low, high, cumulative, np.arange(len(x)), wanted * (1 - 1e-12), bandwidth)

    def inside(center: float, radius: float) -> float:
        overlap = np.minimum(high, center + radius) - np.maximum(low, center - radius)
        return float(
            weight @ np.where(length > 0, np.clip(overlap / np.maximum(length, 1), 0, 1), overlap >= 0)
        )

    for center, radius in zip(x, bandwidth, strict=True):
        assert inside(center, radius + 1e-6) >= wanted * (1 - 1e-9)
        assert radius < 1e-6 or inside(center, radius - 1e-6) <= wanted


def test_ties_give_their_mean_and_absent_values_the_nearest() -> None:
    x, weight = np.array([0.0, 0.4, 0.5, 1.0]), np.array([5.0, 0.0, 5.0, 5.0])
    total = weight[:, None] * np.array([[1.0], [99.0], [2.0], [3.0]])
    estimate = smooth(x, weight, total, np.arange(4), 5).estimate.ravel()
    assert_allclose(estimate[[0, 2, 3]], [1, 2, 3])
    near, far = np.exp(-0.5), np.exp(-(4**2) / 2)
    far_end = np.exp(-(6**2) / 2)
    assert_allclose(estimate[1], (2 * near + far + 3 * far_end) / (near + far + far_end), rtol=1e-7)


def test_the_default_number_of_neighbours() -> None:
    assert [default_neighbors(n) for n in (1, 11, 12, 1000, 10**6)] == [5, 5, 5, 100, 10_000]
