"""A weight of 2 is the row twice, 0 is no row."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from samples import COLUMNS, TARGETS, column, every_kth, half_l1, noisy_target, repeat_splits

from tabstretch import StretchTransformer, SupervisedStretchTransformer


def whole_weights(n: int, seed: int = 5) -> Any:
    return np.random.default_rng(seed).integers(0, 4, size=n).astype(float)


@pytest.mark.parametrize("n_bins", [1, 7, 64, 100_000])
@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("n", [50, 6000, 100_000])
def test_unsupervised_weights_are_repeated_rows(n: int, name: str, n_bins: int) -> None:
    x, weight = column(name, n)[:, None], whole_weights(n)
    weighted = StretchTransformer(n_bins).fit(x, sample_weight=weight)
    repeated = StretchTransformer(n_bins).fit(np.repeat(x, weight.astype(int), axis=0))
    assert_array_equal(weighted.bin_edges_[0], repeated.bin_edges_[0])
    assert_array_equal(weighted.transform(x), repeated.transform(x))


@pytest.mark.parametrize("variation", ["within_fold", "pooled"])
@pytest.mark.parametrize("shrinkage", ["auto", 0.0])
@pytest.mark.parametrize("kind", TARGETS)
@pytest.mark.parametrize("name", COLUMNS)
def test_supervised_weights_are_repeated_rows(name: str, kind: str, shrinkage: Any, variation: str) -> None:
    x, weight = column(name, 150), whole_weights(150)
    y = noisy_target(x, kind)
    splits, copies = every_kth(150, 3), np.repeat(np.arange(150), weight.astype(int))
    options: dict[str, Any] = {
        "n_bins": 8,
        "shrinkage": shrinkage,
        "variation": variation,
        "value_weight": 0.1,
    }
    weighted = SupervisedStretchTransformer(cv=splits, **options).fit(x[:, None], y, sample_weight=weight)
    repeated = SupervisedStretchTransformer(cv=repeat_splits(splits, copies), **options)
    repeated.fit(x[copies, None], y[copies])
    assert_array_equal(weighted.bin_edges_[0], repeated.bin_edges_[0])
    assert_allclose(weighted.output_widths_[0], repeated.output_widths_[0], rtol=1e-7)


@pytest.mark.parametrize("variation", ["within_fold", "pooled"])
def test_overlapping_splits_weigh_rows_too(variation: str) -> None:
    x, weight = column("normal", 120), whole_weights(120)
    y = noisy_target(x)
    splits = [*every_kth(120, 3), *every_kth(120, 4)]
    copies = np.repeat(np.arange(120), weight.astype(int))
    options: dict[str, Any] = {"n_bins": 8, "variation": variation, "shrinkage": 0}
    weighted = SupervisedStretchTransformer(cv=splits, **options).fit(x[:, None], y, sample_weight=weight)
    repeated = SupervisedStretchTransformer(cv=repeat_splits(splits, copies), **options)
    repeated.fit(x[copies, None], y[copies])
    assert_allclose(weighted.output_widths_[0], repeated.output_widths_[0], rtol=1e-7)


def test_long_supervised_columns_weigh_rows_but_for_the_cells() -> None:
    n = 20_000
    x, weight = column("normal", n), whole_weights(n)
    y = noisy_target(x)
    splits, copies = every_kth(n, 3), np.repeat(np.arange(n), weight.astype(int))
    weighted = SupervisedStretchTransformer(16, variation="within_fold", cv=splits).fit(
        x[:, None], y, sample_weight=weight
    )
    repeated = SupervisedStretchTransformer(
        16, variation="within_fold", cv=repeat_splits(splits, copies)
    ).fit(x[copies, None], y[copies])
    assert_array_equal(weighted.bin_edges_[0], repeated.bin_edges_[0])
    assert half_l1(weighted.output_widths_[0], repeated.output_widths_[0]) < 0.005


def test_rows_without_weight_change_nothing_at_all() -> None:
    x = column("normal", 120)
    y = noisy_target(x)
    weight = np.r_[np.ones(100), np.zeros(20)]
    x[100:], y[100:] = 1e6, -1e6
    for estimator in (StretchTransformer(8), SupervisedStretchTransformer(8, variation="within_fold")):
        weighted = estimator.fit(x[:, None], y, sample_weight=weight).transform(x[:, None])
        alone = estimator.fit(x[:100, None], y[:100]).transform(x[:, None])
        assert_array_equal(weighted, alone)


def test_a_class_without_weight_is_no_class() -> None:
    x = column("normal", 120)
    y = noisy_target(x, "3 classes")
    fitted = SupervisedStretchTransformer(8, variation="within_fold").fit(
        x[:, None], y, sample_weight=y != "middle"
    )
    assert list(fitted.classes_) == ["low", "up"]


@pytest.mark.parametrize(
    "estimator", [StretchTransformer(8), SupervisedStretchTransformer(8, variation="within_fold", cv=3)]
)
def test_small_weights_are_relative(estimator: Any) -> None:
    x = column("normal", 120)
    X, y = x[:, None], noisy_target(x)
    plain = estimator.fit(X, y).transform(X)
    for same in (np.ones(120), np.full(120, 0.25), 1e-9 * np.ones(120), 1.0, 0.5):
        assert_allclose(estimator.fit(X, y, sample_weight=same).transform(X), plain, atol=1e-9)
    weight = np.random.default_rng(0).uniform(size=120)
    uneven = estimator.fit(X, y, sample_weight=weight).transform(X)
    assert_allclose(estimator.fit(X, y, sample_weight=weight / 1000).transform(X), uneven, atol=1e-9)
    assert not np.allclose(uneven, plain, atol=1e-3)


def test_weight_moves_the_edges_to_where_it_lies() -> None:
    x = np.arange(101.0)[:, None]
    weight = np.where(x.ravel() < 50, 9.0, 1.0)
    fitted = StretchTransformer(2).fit(x, sample_weight=weight)
    assert fitted.bin_edges_[0][1] < 30


def test_a_row_of_tiny_weight_is_a_row() -> None:
    x = np.arange(5.0)[:, None]
    fitted = StretchTransformer(8).fit(x, sample_weight=[1e-300, 1e300, 1.0, 1e300, 1e-300])
    assert_array_equal(fitted.bin_edges_[0], x.ravel())


def test_weights_of_all_sizes_leave_widths_finite() -> None:
    x, y = np.arange(8.0)[:, None], np.sin(np.arange(8.0))
    weight = 10.0 ** np.array([-186, -149, 134, -169, 0, 3, -300, 100])
    for variation in ("within_fold", "pooled"):
        fitted = SupervisedStretchTransformer(4, variation=variation, cv=2).fit(x, y, sample_weight=weight)
        assert np.all(np.isfinite(fitted.variation_[0]))


def test_huge_and_tiny_weights_are_relative() -> None:
    x = np.arange(50.0)[:, None]
    weight = np.random.default_rng(0).random(50)
    plain = StretchTransformer(4).fit(x, sample_weight=weight).bin_edges_[0]
    for scale in (2.0**900, 2.0**-900):
        assert_array_equal(StretchTransformer(4).fit(x, sample_weight=scale * weight).bin_edges_[0], plain)


def uneven_weights(n: int, seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    return {"exponential": rng.exponential(size=n), "two": np.where(rng.random(n) < 0.1, 9.5, 1.0)}


@pytest.mark.parametrize("kind", ["exponential", "two"])
def test_noise_is_seen_through_weights_that_are_no_counts(kind: str) -> None:
    """A row of weight 9.5 has one noise, not nine: columns of noise would look like signal."""
    left = []
    for seed in range(5):
        rng = np.random.default_rng(100 + seed)
        X, noise = rng.normal(size=(1000, 2)), rng.normal(size=1000)
        y = np.tanh(3 * X[:, 1]) + 0.3 * noise
        stretch = SupervisedStretchTransformer(8, variation="within_fold")
        stretch.fit(X, y, sample_weight=uneven_weights(1000, seed)[kind])
        left.append(stretch.shrinkage_)
    assert np.mean(left, axis=0)[0] > 0.9
    assert np.mean(left, axis=0)[1] < 0.1


def test_weights_of_batches_have_the_noise_of_all() -> None:
    rng = np.random.default_rng(0)
    X, y, weight = rng.normal(size=(900, 1)), rng.normal(size=900), uneven_weights(900, 0)["two"]
    weight[:300] = 2.0  # a batch that could be counts
    stretch = SupervisedStretchTransformer(8, variation="within_fold", value_weight=0)
    whole = stretch.fit(X, y, sample_weight=weight).output_widths_[0]
    batches = [(X[rows], y[rows], weight[rows]) for rows in np.split(np.arange(900), 3)]
    assert_allclose(stretch.fit_batches(batches).output_widths_[0], whole, rtol=1e-9)
    small = [(X, y, weight / 1000) for X, y, weight in batches]
    alone = stretch.fit(X, y, sample_weight=weight / 1000).output_widths_[0]
    assert_allclose(stretch.fit_batches(small).output_widths_[0], alone, rtol=1e-9)
