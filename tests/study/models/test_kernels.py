"""The waves of `mlp_plr`."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose

from tabstretch.study.models.kernels import add_wave_slopes, make_waves


def made(numbers: np.ndarray, frequencies: np.ndarray) -> np.ndarray:
    waves = np.empty((*numbers.shape, 2 * frequencies.shape[1]), np.float32)
    make_waves(numbers, frequencies, waves)
    return waves


def test_waves_are_cosines_and_sines() -> None:
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(500, 3)).astype(np.float32)
    numbers[:4, 0] = 0.0, 0.25, -0.5, 1000.0
    frequencies = np.array([[1.0, 0.01, -3.7], [100.0, 0.0, 0.3], [0.5, 2.0, 17.0]], np.float32)
    turns = numbers[:, :, None].astype(float) * frequencies
    expected = np.concatenate([np.cos(2 * np.pi * turns), np.sin(2 * np.pi * turns)], axis=2)
    assert_allclose(made(numbers, frequencies), expected, atol=1e-6)


def test_waves_of_huge_numbers_are_waves_and_nan_stays() -> None:
    numbers = np.array([[3e9, -1e30, np.nan]], np.float32)
    waves = made(numbers, np.full((3, 2), 1.37, np.float32))
    assert np.all(np.abs(waves[:, :2]) <= 1)
    assert np.isnan(waves[:, 2]).all()


def test_slopes_are_the_change_of_waves_with_frequencies() -> None:
    rng = np.random.default_rng(1)
    numbers, frequencies = rng.normal(size=(40, 2)), rng.normal(size=(2, 3))
    gradient = rng.normal(size=(40, 2, 6)).astype(np.float32)

    def total(frequencies: np.ndarray) -> np.ndarray:
        angles = 2 * np.pi * numbers[:, :, None] * frequencies
        cosine, sine = np.cos(angles), np.sin(angles)
        return (cosine * gradient[..., :3] + sine * gradient[..., 3:]).sum(axis=0)

    expected = (total(frequencies + 1e-5) - total(frequencies - 1e-5)) / 2e-5
    small = numbers.astype(np.float32), frequencies.astype(np.float32)
    slopes = np.zeros((2, 3), np.float32)
    add_wave_slopes(gradient, made(*small), small[0], slopes)
    assert_allclose(2 * np.pi * slopes, expected, rtol=1e-3, atol=1e-2)
