"""Widths solve the minimisation they are meant to solve."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from oracle import Array
from oracle import stretch_widths as naive_widths
from scipy.optimize import minimize

from tabstretch import StretchTransformer, dirichlet_energy
from tabstretch._widths import WIDTH_FLOOR, range_shares, remove_noise, stretch_widths

weights = st.floats(0, 5)
shares = st.floats(0, 1)
seeds = st.integers(0, 2**32 - 1)


def random_bins(seed: int) -> tuple[Array, Array]:
    """Variation, with some bins that have none, and edges."""
    rng = np.random.default_rng(seed)
    n_bins = int(rng.integers(1, 20))
    edges = np.cumsum(rng.lognormal(0, 2, size=n_bins + 1)) - 5
    variation = rng.lognormal(0, 2, size=n_bins) * (rng.random(n_bins) < 0.8)
    return variation, edges


def objective(variation: Array, edges: Array, shrinkage: float, rank: float, value: float) -> Array:
    """The squared rise in every bin of the vector (target, rank, value)."""
    target = (1 - shrinkage) * variation / variation.sum()
    rank = (rank + shrinkage) / len(variation)
    return target**2 + rank**2 + (value * np.diff(edges) / np.ptp(edges)) ** 2


@given(seeds, shares, weights, weights)
def test_widths_equal_the_oracle(seed: int, shrinkage: float, rank: float, value: float) -> None:
    variation, edges = random_bins(seed)
    fast = stretch_widths(variation, edges, shrinkage=shrinkage, rank_weight=rank, value_weight=value)
    assert_allclose(fast, naive_widths(variation, None, edges, shrinkage, rank, value), rtol=1e-9)


@given(seeds, shares, weights, weights)
def test_widths_sum_to_one_and_none_vanishes(seed: int, shrinkage: float, rank: float, value: float) -> None:
    variation, edges = random_bins(seed)
    widths = stretch_widths(variation, edges, shrinkage=shrinkage, rank_weight=rank, value_weight=value)
    assert_allclose(widths.sum(), 1)
    assert widths.min() >= 0.99 * WIDTH_FLOOR / len(widths)


@given(seeds, shares, st.floats(0.1, 5), weights)
def test_no_other_widths_have_a_lower_energy(seed: int, shrinkage: float, rank: float, value: float) -> None:
    variation, edges = random_bins(seed)
    if variation.sum() == 0:
        return
    rises = objective(variation, edges, shrinkage, rank, value)
    widths = stretch_widths(variation, edges, shrinkage=shrinkage, rank_weight=rank, value_weight=value)
    lowest = np.sum(rises / widths)
    rng = np.random.default_rng(seed)
    for other in rng.dirichlet(np.full(len(widths), 5.0), size=20) + 1e-12:
        mixture = 0.9 * widths + 0.1 * other / other.sum()
        assert np.sum(rises / mixture) >= lowest * (1 - 1e-9)
        assert np.sum(rises / other) >= lowest * (1 - 1e-9)


@pytest.mark.parametrize("options", [(0.0, 0.7, 1.3), (0.4, 0.0, 0.5), (0.0, 1.0, 0.0), (0.2, 0.3, 2.0)])
def test_a_numerical_optimiser_finds_the_same_widths(options: tuple[float, float, float]) -> None:
    shrinkage, rank, value = options
    variation, edges = np.array([1.0, 2.0, 5.0, 0.5]), np.array([0.0, 1.0, 2.0, 10.0, 11.0])
    rises = objective(variation, edges, *options)
    optimum = minimize(
        lambda w: np.sum(rises / w),
        np.full(4, 0.25),
        bounds=[(1e-3, 1)] * 4,
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
        options={"ftol": 1e-14},
    )
    widths = stretch_widths(variation, edges, shrinkage=shrinkage, rank_weight=rank, value_weight=value)
    assert_allclose(widths, optimum.x, atol=1e-5)


@given(seeds, shares, weights)
def test_the_energy_of_the_target_never_rises_against_even_widths(
    seed: int, shrinkage: float, rank: float
) -> None:
    variation, edges = random_bins(seed)
    f = np.concatenate([[0.0], np.cumsum(variation)])
    widths = stretch_widths(variation, edges, shrinkage=shrinkage, rank_weight=rank)
    stretched = np.concatenate([[0.0], np.cumsum(widths)])
    even = np.linspace(0, 1, len(f))
    assert dirichlet_energy(f, stretched) <= dirichlet_energy(f, even) * (1 + 1e-5)


def test_the_three_pure_methods() -> None:
    variation, edges = np.array([1.0, 2.0, 5.0]), np.array([0.0, 1.0, 2.0, 10.0])
    pure: dict[str, Any] = {"variation": variation, "edges": edges}
    assert_allclose(stretch_widths(**pure), [1 / 8, 2 / 8, 5 / 8])
    assert_allclose(stretch_widths(**pure, rank_weight=1e9), 1 / 3)
    assert_allclose(stretch_widths(**pure, shrinkage=1), 1 / 3)
    assert_allclose(stretch_widths(**pure, value_weight=1e9), [0.1, 0.1, 0.8])
    nothing = stretch_widths(1e-12 * variation, edges, rank_weight=1, value_weight=1)
    blend = np.hypot(2 / 3, [0.1, 0.1, 0.8])
    assert_allclose(nothing, blend / blend.sum())


def test_noise_is_taken_out_in_squares() -> None:
    variation, noise = np.array([5.0, 3.0, 2.0]), np.array([3.0, 0.0, 2.0])
    corrected, shrinkage = remove_noise(variation, noise, 1.1)
    assert_allclose(corrected, [4, 3, 0])
    assert_allclose(shrinkage, (1.1 * 0.5) ** 4)
    assert remove_noise(variation, 2 * variation, 1.1)[1] == 1
    assert remove_noise(variation, 0 * variation, 2.1)[1] == 0
    silent, shrinkage = remove_noise(1e-12 * variation, 0 * variation, 1.1)
    assert shrinkage == 1
    assert_allclose(silent, 0)


@pytest.mark.parametrize("scale", [1.0, 1e300, 1.7e308 / 4, 1e-300, 5e-324])
def test_shares_of_any_range(scale: float) -> None:
    edges = np.array([-3.0, -2.0, 2.0, 3.0]) * scale
    assert_allclose(range_shares(edges), [1 / 6, 4 / 6, 1 / 6])


def test_shares_of_a_range_that_overflows() -> None:
    assert_allclose(range_shares(np.array([-1.7e308, 0.0, 1.7e308])), [0.5, 0.5])


def test_energy() -> None:
    assert dirichlet_energy([0, 1, 2], [0, 0.5, 1]) == 4
    assert dirichlet_energy([[0, 0], [3, 4]], [0, 0.5]) == 50
    assert dirichlet_energy([7], [0]) == 0
    x = np.sort(np.random.default_rng(0).uniform(size=30))
    f = np.tanh(x)
    assert_allclose(
        dirichlet_energy(f, x), sum((f[i + 1] - f[i]) ** 2 / (x[i + 1] - x[i]) for i in range(29))
    )


@pytest.mark.parametrize(
    ("f", "y", "message"),
    [
        ([0, 1], [0, 1, 2], r"as many points each, got shapes \(2,\) and \(3,\)"),
        ([0, 1], [[0, 1]], "as many points each"),
        ([0, 1, 2], [0, 1, 1], "strictly increasing, got 1.0 before 1.0 at position 1"),
        ([0, 1, 2], [0, np.nan, 1], "strictly increasing, got 0.0 before nan at position 0"),
    ],
)
def test_energy_of_nonsense(f: Any, y: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        dirichlet_energy(f, y)


@pytest.mark.parametrize("value_weight", [0, 0.5, 1, 3])
def test_unsupervised_widths_are_the_blend_of_rank_and_value(value_weight: float) -> None:
    x = np.array([0.0, 1, 2, 10, 100])
    fitted = StretchTransformer(4, value_weight=value_weight).fit(x[:, None])
    expected = np.hypot(1 / 4, value_weight * np.diff(x) / 100)
    assert_allclose(fitted.output_widths_[0], expected / expected.sum())
