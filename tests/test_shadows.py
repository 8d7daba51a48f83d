"""What noise shows, by shadows: their means, their profile, and which columns cast them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from tabstretch._shadows import choose_shadows, shadow_noise


def bins(*n_bins: int) -> np.ndarray:
    return np.array(n_bins, dtype=np.intp)


def test_shadows_of_like_columns_share_their_mean_the_same_from_both_ends() -> None:
    shadows = [np.arange(32.0), np.full(32, 7.0), np.array([1.0, 3.0])]
    first, second, short = shadow_noise(shadows, bins(32, 32, 2), bins(32, 32, 2))
    assert_allclose(first, second)
    assert_allclose(first.sum(), (np.arange(32.0).sum() + 7 * 32) / 2)
    assert_allclose(first, first[::-1])
    assert_allclose(short, [2, 2])


def test_about_as_many_bins_are_alike() -> None:
    shadows = [np.full(30, 1.0), np.full(35, 2.0), np.full(4, 0.5)]
    first, second, short = shadow_noise(shadows, bins(30, 35, 4), bins(30, 35, 4))
    assert_allclose([first.sum(), second.sum(), short.sum()], [50, 50, 2])
    assert [len(first), len(second), len(short)] == [30, 35, 4]


def test_a_profile_of_the_ends_stays_at_the_ends() -> None:
    shadow = np.zeros(64)
    shadow[:4] = 1.0  # overfitted at one end by chance
    (noise,) = shadow_noise([shadow], bins(64), bins(64))
    assert_allclose(noise[[0, -1]], 0.5)
    assert_allclose(noise[4:-4], 0)
    assert_allclose(noise.sum(), 4)


def test_columns_that_cast_none_use_the_likest() -> None:
    noise = shadow_noise([np.full(8, 1.0), np.full(64, 3.0)], bins(8, 64), bins(2, 10, 100, 5000))
    assert_allclose([each.sum() for each in noise], [8, 8, 192, 192])
    assert [len(each) for each in noise] == [2, 10, 100, 5000]
    assert all(np.all(each >= 0) for each in noise)


def test_columns_without_bins_do_not_dilute_the_noise() -> None:
    """A constant column's shadow varies by nothing; that of the column of two values is all there is."""
    shadows = [np.array([2.0]), np.empty(0), np.empty(0)]
    noise = shadow_noise(shadows, bins(1, 0, 0), bins(1, 0, 0))
    assert [len(each) for each in noise] == [1, 0, 0]
    assert_allclose(noise[0], [2.0])


def test_no_shadows_no_noise() -> None:
    noise = shadow_noise([], bins(), bins(3, 0))
    assert_array_equal(noise[0], np.zeros(3))
    assert len(noise[1]) == 0


@pytest.mark.parametrize("n_columns", [1, 2, 50])
def test_every_column_casts_a_shadow_where_they_are_few(n_columns: int) -> None:
    assert_array_equal(choose_shadows(np.arange(n_columns)), np.arange(n_columns))


def test_of_many_columns_some_of_all_sizes_do() -> None:
    n_bins = np.random.default_rng(0).permutation(np.repeat([1, 8, 64, 256], [20, 300, 150, 30]))
    chosen = choose_shadows(n_bins)
    assert len(chosen) == len(np.unique(chosen)) == 50
    assert np.all(np.diff(chosen) > 0)
    shares = [np.mean(n_bins[chosen] == size) for size in (1, 8, 64, 256)]
    assert_allclose(shares, [0.04, 0.6, 0.3, 0.06], atol=0.03)
