"""What noise shows, by shadows: their means, their profile, and which columns cast them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from tabstretch._shadows import Shadow, choose_shadows, shadow_noise


def bins(*n_bins: int) -> np.ndarray:
    return np.array(n_bins, dtype=np.intp)


def noise_of(variations: list[np.ndarray], shadow_bins: np.ndarray, n_bins: np.ndarray) -> list[np.ndarray]:
    """What noise shows in every bin, for shadows of which only the variation matters."""
    # Columns that cast these shadows stand behind those that are asked about.
    shadows = [Shadow(len(n_bins) + j, each, each[:1]) for j, each in enumerate(variations)]
    found = shadow_noise(shadows, np.concatenate([n_bins, shadow_bins]), pooled=True)
    return [noise for noise, _ in found[: len(n_bins)]]


def test_shadows_of_like_columns_share_their_mean_the_same_from_both_ends() -> None:
    shadows = [np.arange(32.0), np.full(32, 7.0), np.array([1.0, 3.0])]
    first, second, short = noise_of(shadows, bins(32, 32, 2), bins(32, 32, 2))
    assert_allclose(first, second)
    assert_allclose(first.sum(), (np.arange(32.0).sum() + 7 * 32) / 2)
    assert_allclose(first, first[::-1])
    assert_allclose(short, [2, 2])


def test_about_as_many_bins_are_alike() -> None:
    shadows = [np.full(30, 1.0), np.full(35, 2.0), np.full(4, 0.5)]
    first, second, short = noise_of(shadows, bins(30, 35, 4), bins(30, 35, 4))
    assert_allclose([first.sum(), second.sum(), short.sum()], [50, 50, 2])
    assert [len(first), len(second), len(short)] == [30, 35, 4]


def test_a_profile_of_the_ends_stays_at_the_ends() -> None:
    shadow = np.zeros(64)
    shadow[:4] = 1.0  # overfitted at one end by chance
    (noise,) = noise_of([shadow], bins(64), bins(64))
    assert_allclose(noise[[0, -1]], 0.5)
    assert_allclose(noise[4:-4], 0)
    assert_allclose(noise.sum(), 4)


def test_columns_that_cast_none_use_the_likest() -> None:
    noise = noise_of([np.full(8, 1.0), np.full(64, 3.0)], bins(8, 64), bins(2, 10, 100, 5000))
    assert_allclose([each.sum() for each in noise], [8, 8, 192, 192])
    assert [len(each) for each in noise] == [2, 10, 100, 5000]
    assert all(np.all(each >= 0) for each in noise)


def test_columns_without_bins_cast_no_shadow_and_have_no_noise() -> None:
    assert_array_equal(choose_shadows(bins(1, 0, 5, 0)), [0] * 7 + [2] * 7)
    assert len(choose_shadows(bins(0, 0))) == 0
    noise = noise_of([np.array([2.0])], bins(1), bins(1, 0, 0))
    assert [len(each) for each in noise] == [1, 0, 0]
    assert_allclose(noise[0], [2.0])


def test_noise_may_stray_as_far_as_alike_shadows_do() -> None:
    """1.75 standard deviations of a shadow in one fold, relative to the mean, where eight others had 0.4."""
    totals = [np.array([1.0, 3.0]), np.array([3.0, 1.0]), np.array([5.0, 5.0])]
    shadows = [Shadow(j, np.full(n, 1.0), totals[j]) for j, n in enumerate((8, 8, 64))]
    margins = [margin for _, margin in shadow_noise(shadows, bins(8, 8, 64), pooled=True)]
    seen, usual = np.array([4 * 0.5**2, 4 * 0.5**2, 0]), 8 * 0.4**2
    assert_allclose(margins, 1 + 1.75 * np.sqrt((seen + usual) / (np.array([4, 4, 2]) + 8)))
    silent = [Shadow(0, np.zeros(8), np.zeros(2))]
    assert_allclose([margin for _, margin in shadow_noise(silent, bins(8), pooled=True)], 1)


def test_not_pooled_every_column_has_the_noise_of_its_own_shadow() -> None:
    """A linear teacher makes more of a column with a wide range; its shadow shows that, others' do not."""
    shadows = [Shadow(0, np.arange(32.0), np.ones(2)), Shadow(2, np.full(32, 9.0), np.ones(2))]
    first, none, last = shadow_noise(shadows, bins(32, 32, 32), pooled=False)
    assert_allclose(first[0].sum(), np.arange(32.0).sum())
    assert first[0][0] < first[0][-1]
    assert_allclose(last[0], 9.0)
    assert_allclose(none[0].sum(), (first[0].sum() + last[0].sum()) / 2)


def test_several_shadows_of_a_column_count_alike() -> None:
    shadows = [Shadow(0, np.full(32, height), np.ones(2)) for height in (1.0, 3.0)]
    (noise,) = shadow_noise(shadows, bins(32), pooled=False)
    assert_allclose(noise[0], 2.0)


def test_no_shadows_no_noise() -> None:
    noise = noise_of([], bins(), bins(3, 0))
    assert_array_equal(noise[0], np.zeros(3))
    assert len(noise[1]) == 0


@pytest.mark.parametrize("n_columns", [8, 9, 50])
def test_every_column_casts_a_shadow_where_they_are_few(n_columns: int) -> None:
    assert_array_equal(choose_shadows(np.arange(n_columns) + 1), np.arange(n_columns))


@pytest.mark.parametrize("n_columns", [1, 2, 3, 7])
def test_of_very_few_columns_each_casts_several(n_columns: int) -> None:
    """Columns and shadows are sixteen, so that no column gets half of the splits that trees make of noise."""
    chosen = choose_shadows(np.arange(n_columns) + 1)
    assert len(chosen) == 16 - n_columns
    times = np.bincount(chosen, minlength=n_columns)
    assert times.max() - times.min() <= 1
    assert times.min() >= 1


def test_of_many_columns_some_of_all_sizes_do() -> None:
    n_bins = np.random.default_rng(0).permutation(np.repeat([1, 8, 64, 256], [20, 300, 150, 30]))
    chosen = choose_shadows(n_bins)
    assert len(chosen) == len(np.unique(chosen)) == 50
    assert np.all(np.diff(chosen) > 0)
    shares = [np.mean(n_bins[chosen] == size) for size in (1, 8, 64, 256)]
    assert_allclose(shares, [0.04, 0.6, 0.3, 0.06], atol=0.03)
