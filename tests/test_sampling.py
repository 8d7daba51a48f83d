"""Random samples of rows: the same whatever the parts, and not by the column's own values."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from tabstretch._sampling import keys_of_values, random_keys, smallest_keys


@pytest.mark.parametrize("seed", [0, 1, 12345])
def test_keys_depend_on_the_place_alone(seed: int) -> None:
    whole = random_keys(seed, 0, 100)
    assert_array_equal(np.concatenate([random_keys(seed, 0, 37), random_keys(seed, 37, 63)]), whole)
    assert not np.array_equal(whole, random_keys(seed + 1, 0, 100))


@pytest.mark.parametrize("seed", [0, 1, 12345])
def test_a_column_made_with_the_same_seed_is_sampled_evenly(seed: int) -> None:
    x = np.random.default_rng(seed).random(10_000)
    sample = x[smallest_keys(random_keys(seed, 0, len(x)), 2000)]
    assert abs(sample.mean() - 0.5) < 0.04


X = np.random.default_rng(3).normal(size=(1000, 2)).astype(np.float32).astype(np.float64)
X[::5, 1] = np.nan


def test_keys_of_values_do_not_depend_on_the_place() -> None:
    order = np.random.default_rng(0).permutation(len(X))
    expected = keys_of_values(0, X)
    assert len(np.unique(expected)) == len(X)
    assert_array_equal(keys_of_values(0, X[order], first_row=77), expected[order])
    assert_array_equal(keys_of_values(0, np.asfortranarray(X.astype(np.float32))), expected)
    assert not np.any(keys_of_values(1, X) == expected)


def test_equal_numbers_have_equal_keys() -> None:
    other_nan = np.array([0x7FF8000000000123], dtype=np.uint64).view(np.float64)[0]
    keys = [keys_of_values(0, np.array([[value, 1.0]])) for value in (0.0, -0.0, np.nan, other_nan, -np.nan)]
    assert keys[0] == keys[1] != keys[2] == keys[3] == keys[4]


@pytest.mark.parametrize("seed", [0, 1, 12345])
def test_keys_of_values_are_uniform_and_tell_nothing_of_the_values(seed: int) -> None:
    x = np.linspace(0, 1, 20_000)
    keys = keys_of_values(seed, x[:, np.newaxis])
    assert np.abs(np.histogram(keys, bins=20, range=(0, 1))[0] - 1000).max() < 150
    assert abs(np.corrcoef(x, keys)[0, 1]) < 0.03
    assert abs(x[smallest_keys(keys, 2000)].mean() - 0.5) < 0.03


def test_a_value_that_is_most_of_a_table_is_most_of_its_sample() -> None:
    x = np.random.default_rng(0).normal(size=(20_000, 1))
    x[np.random.default_rng(1).random(20_000) < 0.7] = 5.0
    for seed in range(5):
        sample = x[smallest_keys(keys_of_values(seed, x), 2000)]
        assert abs(np.mean(sample == 5.0) - 0.7) < 0.05
