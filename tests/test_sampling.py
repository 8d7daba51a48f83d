"""Random samples of rows: the same whatever the parts, and not by the column's own values."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from tabstretch._sampling import random_keys, smallest_keys


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
