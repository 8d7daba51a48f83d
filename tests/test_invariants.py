"""What must hold for every column, whatever it is and whatever the target."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracle import Array
from samples import COLUMNS, TARGETS, column, every_kth, noisy_target
from sklearn.preprocessing import MinMaxScaler

from tabstretch import StretchTransformer, SupervisedStretchTransformer

N = 120
seeds = st.integers(0, 10_000)
bins = st.sampled_from([1, 2, 7, 64, 100_000])
names = st.sampled_from(COLUMNS)
kinds = st.sampled_from(TARGETS)
variations = st.sampled_from(["within_fold", "pooled"])
shrinkages = st.sampled_from(["auto", 0.0, 0.3, 1.0])
anchors = st.sampled_from([0.0, 0.5, 1.0])


def supervised(n_bins: int, **params: Any) -> SupervisedStretchTransformer:
    return SupervisedStretchTransformer(
        n_bins, **({"variation": "within_fold", "cv": every_kth(N, 4)} | params)
    )


@given(names, kinds, seeds, bins, variations, shrinkages, anchors, anchors)
def test_strictly_increasing_onto_the_range_and_back(
    name: str, kind: str, seed: int, n_bins: int, variation: str, shrinkage: Any, rank: float, value: float
) -> None:
    x = column(name, N, seed)
    params: dict[str, Any] = {"variation": variation, "shrinkage": shrinkage}
    fitted = supervised(n_bins, rank_weight=rank, value_weight=value, **params).fit(
        x[:, None], noisy_target(x, kind)
    )
    distinct = np.unique(x[~np.isnan(x)])
    output = fitted.transform(distinct[:, None]).ravel()
    assert output[0] == 0
    assert output[-1] == 1
    # One huge outlier leaves the others closer than floats can tell apart, if value counts as well.
    assert np.all(np.diff(output) > 0) or name == "outlier"
    assert np.all(np.diff(fitted.output_edges_[0]) > 0)
    assert_allclose(fitted.output_widths_[0].sum(), 1)
    if rank > 0:
        assert_allclose(
            fitted.inverse_transform(output[:, None]).ravel(), distinct, atol=1e-12 * np.ptp(distinct)
        )


@given(names, seeds, bins, anchors, st.sampled_from([(0, 1), (-1, 1), (5, 5.5), (-1e9, 3)]))
def test_unsupervised_onto_any_range_and_back(
    name: str, seed: int, n_bins: int, value: float, ends: Any
) -> None:
    x = column(name, N, seed)[:, None]
    fitted = StretchTransformer(n_bins, value_weight=value, feature_range=ends).fit(x)
    output = fitted.transform(x)
    assert np.nanmin(output) == ends[0]
    assert np.nanmax(output) == ends[1]
    assert_allclose(fitted.inverse_transform(output), x, atol=1e-10 * np.nanmax(np.abs(x)))


slopes = st.floats(0.01, 100).flatmap(lambda slope: st.sampled_from([slope, -slope]))


@given(names, kinds, seeds, st.sampled_from([1, 5, 16]), variations, slopes, st.floats(-10, 10))
def test_units_of_the_column_do_not_matter(
    name: str, kind: str, seed: int, n_bins: int, variation: str, slope: float, shift: float
) -> None:
    x = column(name, N, seed)
    y = noisy_target(x, kind)
    for transformer in (StretchTransformer(n_bins), supervised(n_bins, variation=variation, shrinkage=0)):
        plain = transformer.fit_transform(x[:, None], y)
        other = transformer.fit_transform(slope * x[:, None] + shift, y)
        assert_allclose(other if slope > 0 else 1 - other, plain, atol=1e-6)


@given(names, kinds, seeds, slopes)
def test_units_do_not_matter_to_the_noise(name: str, kind: str, seed: int, slope: float) -> None:
    x = column(name, N, seed)
    y = noisy_target(x, kind)
    plain = supervised(8).fit_transform(x[:, None], y)
    other = supervised(8).fit_transform(slope * x[:, None], y)
    assert_allclose(other if slope > 0 else 1 - other, plain, atol=1e-6)


@given(names, seeds, variations, slopes, st.floats(-10, 10))
def test_units_of_the_target_do_not_matter(
    name: str, seed: int, variation: str, slope: float, shift: float
) -> None:
    x = column(name, N, seed)
    y = noisy_target(x)
    plain = supervised(8, variation=variation).fit(x[:, None], y)
    other = supervised(8, variation=variation).fit(x[:, None], slope * y + shift)
    assert_allclose(other.output_widths_[0], plain.output_widths_[0], atol=1e-8)


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize(
    "transformer", [StretchTransformer(1), SupervisedStretchTransformer(1, variation="within_fold")]
)
def test_one_bin_is_min_max_scaling(name: str, transformer: Any) -> None:
    x = column(name, N)
    output = transformer.fit_transform(x[:, None], noisy_target(x))
    assert_allclose(output, MinMaxScaler().fit_transform(x[:, None]), atol=1e-15)


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("n_bins", [1, 3, 64, 100_000])
def test_value_only_is_min_max_scaling(name: str, n_bins: int) -> None:
    x = column(name, N)
    expected = MinMaxScaler().fit_transform(x[:, None])
    for transformer in (
        StretchTransformer(n_bins),
        SupervisedStretchTransformer(n_bins, variation="within_fold"),
    ):
        output = transformer.set_params(value_weight=1e9).fit_transform(x[:, None], noisy_target(x))
        assert_allclose(output, expected, atol=1e-6)


def piecewise_linear_encoding(x: Array, edges: Array) -> Array:
    return np.clip((x[:, None] - edges[:-1]) / np.diff(edges), 0, 1)


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("n_bins", [1, 3, 64])
def test_rank_only_is_the_arc_length_of_piecewise_linear_encoding(name: str, n_bins: int) -> None:
    x = column(name, N)
    fitted = StretchTransformer(n_bins, value_weight=0).fit(x[:, None])
    encoded = piecewise_linear_encoding(x, fitted.bin_edges_[0])
    assert_allclose(fitted.transform(x[:, None]).ravel(), encoded.mean(axis=1), atol=1e-12)
    large = supervised(n_bins, rank_weight=1e9, value_weight=0).fit(x[:, None], noisy_target(x))
    assert_allclose(large.transform(x[:, None]).ravel(), encoded.mean(axis=1), atol=1e-6)


@pytest.mark.parametrize("name", COLUMNS)
def test_many_bins_are_the_dense_rank(name: str) -> None:
    x = column(name, N)
    distinct, rank = np.unique(x, return_inverse=True)
    rank = np.where(np.isnan(x), np.nan, rank)
    n_distinct = np.count_nonzero(~np.isnan(distinct))
    output = StretchTransformer(100_000, value_weight=0).fit_transform(x[:, None]).ravel()
    assert_allclose(output, rank / (n_distinct - 1), atol=1e-12)


@pytest.mark.parametrize(
    "params", [{}, {"rank_weight": 0, "value_weight": 0}, {"variation": "pooled", "shrinkage": 0}]
)
def test_a_straight_line_stays_straight(params: dict[str, Any]) -> None:
    x = np.random.default_rng(0).uniform(size=3000)
    params = {"variation": "within_fold", "n_neighbors": 30} | params
    fitted = SupervisedStretchTransformer(10, **params).fit(x[:, None], 3 - 2 * x)
    assert_allclose(fitted.output_widths_[0], 0.1, atol=0.02)


def test_outside_the_training_range() -> None:
    x = column("normal", N)[:, None]
    beyond = np.array([[x.min() - 1], [x.max() + 1]])
    for make in (StretchTransformer, SupervisedStretchTransformer):
        clip = make(8).fit(x, x.ravel())
        assert_array_equal(clip.transform(beyond).ravel(), [0, 1])
        more = make(8, out_of_range="extrapolate").fit(x, x.ravel())
        slopes = more.maps_[0].slopes
        assert_allclose(more.transform(beyond).ravel(), [-slopes[0], 1 + slopes[-1]])
        assert_allclose(more.inverse_transform(more.transform(beyond)), beyond)
        assert_array_equal(more.transform(x), clip.transform(x))
