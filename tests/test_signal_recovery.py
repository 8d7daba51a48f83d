"""It finds the signal, and only the signal."""

from collections.abc import Callable

import numpy as np
import pytest
from oracle import Array
from samples import half_l1

from tabstretch import SupervisedStretchTransformer

N, N_BINS, DRAWS = 5000, 16, 10
Function = Callable[[Array], Array]


def tanh_and_sine(x: Array) -> Array:
    return np.tanh(8 * (x - 0.5)) + 0.15 * np.sin(4 * x)


def true_widths(f: Function, edges: Array) -> Array:
    """Shares of the variation of f itself, on a grid of 4000 points in every bin."""
    grid = np.linspace(edges[:-1], edges[1:], 4000)
    variation = np.abs(np.diff(f(grid), axis=0)).sum(axis=0)
    return np.asarray(variation / variation.sum())


def draw(seed: int, f: Function, noise: float, uneven: bool) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    x = rng.normal(0.5, 0.8, size=N)
    scale = noise * np.where(uneven & (x > 1), 3, 1)
    return x, f(x) + scale * rng.normal(size=N)


def fit(x: Array, y: Array, **params: object) -> SupervisedStretchTransformer:
    params = {"variation": "within_fold", "rank_weight": 0, "value_weight": 0} | params
    return SupervisedStretchTransformer(N_BINS, **params).fit(x[:, None], y)


def mean_distance(f: Function, noise: float, uneven: bool, **params: object) -> float:
    distances = []
    for seed in range(DRAWS):
        fitted = fit(*draw(seed, f, noise, uneven), **params)
        distances.append(half_l1(fitted.output_widths_[0], true_widths(f, fitted.bin_edges_[0])))
    return float(np.mean(distances))


@pytest.mark.parametrize(
    ("noise", "uneven", "bar"),
    [
        (0.1, False, 0.16),
        (0.5, False, 0.17),
        (2, False, 0.24),
        (0.1, True, 0.17),
        (0.5, True, 0.18),
        (2, True, 0.26),
    ],
)
def test_the_tanh_table(noise: float, uneven: bool, bar: float) -> None:
    assert mean_distance(tanh_and_sine, noise, uneven) <= bar


def test_even_widths_are_far_from_the_tanh() -> None:
    """The bars mean something: widths that ignore the target miss them all."""
    x, y = draw(0, tanh_and_sine, 0.5, False)
    edges = fit(x, y).bin_edges_[0]
    assert half_l1(np.full(N_BINS, 1 / N_BINS), true_widths(tanh_and_sine, edges)) > 0.4


def test_within_folds_beats_pooled() -> None:
    pooled = mean_distance(tanh_and_sine, 0.5, False, variation="pooled", shrinkage=0)
    assert mean_distance(tanh_and_sine, 0.5, False) < pooled - 0.05


@pytest.mark.parametrize("uneven", [False, True])
def test_pure_noise_gives_even_widths(uneven: bool) -> None:
    for seed in range(DRAWS):
        widths = fit(*draw(seed, np.zeros_like, 1.0, uneven)).output_widths_[0]
        assert half_l1(widths, np.full(N_BINS, 1 / N_BINS)) <= 0.1


def test_random_classes_give_even_widths() -> None:
    for seed in range(DRAWS):
        x, _ = draw(seed, np.zeros_like, 1.0, False)
        y = np.random.default_rng(seed + 100).integers(0, 5, size=N)
        assert half_l1(fit(x, y).output_widths_[0], np.full(N_BINS, 1 / N_BINS)) <= 0.1


def test_a_step_gets_almost_all_the_room() -> None:
    x, y = draw(0, lambda x: 1.0 * (x > 0.5), 0.1, False)
    fitted = fit(x, y)
    at_step = np.argmax(fitted.output_widths_[0])
    assert fitted.bin_edges_[0][at_step - 1] < 0.5 < fitted.bin_edges_[0][at_step + 2]
    assert fitted.output_widths_[0][at_step - 2 : at_step + 3].sum() > 0.7
