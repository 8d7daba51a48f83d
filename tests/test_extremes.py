"""Columns at the limits: of floats, of rows, of distinct values."""

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from tabstretch import StretchTransformer, SupervisedStretchTransformer

MAKERS: dict[str, Any] = {
    "unsupervised": lambda **params: StretchTransformer(**params),
    "rank only": lambda **params: StretchTransformer(value_weight=0, **params),
    "supervised": lambda **params: SupervisedStretchTransformer(variation="within_fold", cv=3, **params),
    "pooled": lambda **params: SupervisedStretchTransformer(cv=3, variation="pooled", **params),
    "paper": lambda **params: SupervisedStretchTransformer(
        cv=3, variation="pooled", shrinkage=0, rank_weight=0, value_weight=0, **params
    ),
}
every = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS.keys())

LARGEST = np.finfo(float).max
EXTREMES = {
    "huge": [1e307, 5e307, 1e308],
    "the whole range of floats": [-LARGEST, 0.0, LARGEST],
    "the largest floats": [LARGEST, np.nextafter(LARGEST, 0), LARGEST / 2],
    "the smallest floats": [0.0, 5e-324, 1e-323, 1.5e-323],
    "around zero": [-5e-324, 0.0, 5e-324],
    "subnormal": [1e-310, 2e-310, 5e-310],
    "tiny": [1e-200, 2e-200, 1e-199],
    "adjacent floats": [1.0, np.nextafter(1, 2), np.nextafter(np.nextafter(1, 2), 2)],
    "adjacent large floats": [2.0**53, 2.0**53 + 2, 2.0**53 + 4],
    "many magnitudes": [-1e300, -1.0, -1e-300, 0.0, 1e-300, 1.0, 1e300],
}


@every
@pytest.mark.parametrize("out_of_range", ["clip", "extrapolate"])
@pytest.mark.parametrize("name", EXTREMES)
def test_extreme_numbers_stay_apart_and_come_back(name: str, out_of_range: str, make: Any) -> None:
    distinct = np.sort(EXTREMES[name])
    x = np.tile(distinct, 12)[:, None]
    y = np.sin(np.arange(len(x))) + np.tile(np.arange(len(distinct)), 12)
    fitted = make(out_of_range=out_of_range).fit(x, y)
    output = fitted.transform(distinct[:, None]).ravel()
    assert output[0] == 0
    assert output[-1] == 1
    assert np.all(np.diff(output) > 0)
    assert_array_equal(fitted.inverse_transform(output[:, None]).ravel(), distinct)
    assert len(fitted.summary()) == 1


@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=30), st.integers(1, 40)
)
@example([1e301, 1e-307, 0.5], 2)
def test_any_floats_get_a_map(values: list[float], n_bins: int) -> None:
    x = np.array(values)[:, None]
    y = np.arange(len(x)) * 0.5 + 0.25
    for transformer in (
        StretchTransformer(n_bins),
        SupervisedStretchTransformer(n_bins, variation="within_fold", cv=3),
    ):
        output = transformer.fit_transform(x, y).ravel()
        assert np.all((output >= 0) & (output <= 1))
        order = np.argsort(x.ravel())
        assert np.all(np.diff(output[order]) >= 0)
        edges = transformer.bin_edges_[0]
        assert edges[0] == x.min()
        assert edges[-1] == x.max()
        back = transformer.inverse_transform(output[:, None])
        assert np.all((back >= x.min()) & (back <= x.max()))


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False, width=32), min_size=2, max_size=30))
def test_any_single_precision_floats_stay_in_range(values: list[float]) -> None:
    x = np.array(values, dtype=np.float32)[:, None]
    fitted = StretchTransformer(5).fit(x)
    output = fitted.transform(x)
    assert output.dtype == np.float32
    assert np.all((output >= 0) & (output <= 1))
    assert np.all(np.isfinite(fitted.inverse_transform(output)))


@every
def test_one_row(make: Any) -> None:
    fitted = make().fit([[3.0, np.nan]], [1.0])
    assert_array_equal(fitted.transform([[3.0, np.nan], [9.0, 5.0]]), [[0, np.nan], [0, 0]])
    assert_array_equal(fitted.inverse_transform([[0.3, 0.3]]), [[3, np.nan]])
    assert fitted.fallback_ == ["one distinct value", "no values"]


@every
@pytest.mark.parametrize("n", [2, 3, 5])
def test_a_few_rows(n: int, make: Any) -> None:
    x = np.arange(float(n))[:, None]
    for y in (x.ravel() + 0.5, np.arange(n) % 2, np.array(["a", "b", "c", "d", "e"])[:n]):
        output = make().fit_transform(x, y).ravel()
        assert output[0] == 0
        assert output[-1] == 1
        assert np.all(np.diff(output) > 0)


@every
@pytest.mark.parametrize("value", [0.0, -7.5, LARGEST, 5e-324])
def test_a_constant_column_becomes_the_lower_end(value: float, make: Any) -> None:
    x = np.where(np.arange(20) % 5 == 0, np.nan, value)[:, None]
    fitted = make(feature_range=(2, 3)).fit(x, np.arange(20) * 0.5 + 0.25)
    assert_array_equal(fitted.transform(x), np.where(np.isnan(x), np.nan, 2.0))
    assert_array_equal(fitted.inverse_transform(fitted.transform(x)), x)
    assert fitted.fallback_ == ["one distinct value"]
    assert list(fitted.n_bins_) == [0]


@every
def test_a_column_without_values(make: Any) -> None:
    x = np.full((20, 1), np.nan)
    fitted = make().fit(x, np.arange(20) * 0.5 + 0.25)
    assert_array_equal(fitted.transform([[np.nan], [1.0]]), [[np.nan], [0.0]])
    assert np.isnan(fitted.inverse_transform([[0.5]]))
    assert fitted.fallback_ == ["no values"]


@every
def test_two_values(make: Any) -> None:
    x = np.repeat([4.0, 6.0], 10)[:, None]
    fitted = make().fit(x, np.repeat([0.5, 1.5], 10))
    assert_allclose(fitted.transform([[4.0], [4.5], [6.0]]), [[0], [0.25], [1]])
    assert list(fitted.n_bins_) == [1]


@every
def test_a_column_with_values_in_few_rows(make: Any) -> None:
    x = np.full((60, 1), np.nan)
    x[[3, 17, 40], 0] = [1.0, 2.0, 4.0]
    fitted = make().fit(x, np.arange(60) * 0.5 + 0.25)
    output = fitted.transform(x)
    assert_array_equal(np.isnan(output), np.isnan(x))
    assert 0 == output[3, 0] < output[17, 0] < output[40, 0] == 1


def test_a_single_huge_outlier_leaves_the_rest_its_room() -> None:
    x = np.append(np.random.default_rng(0).normal(size=999), 1e300)[:, None]
    output = SupervisedStretchTransformer(64, variation="within_fold").fit_transform(x, np.tanh(x.ravel()))
    assert np.ptp(output[:999]) > 0.3  # at worst the value takes two parts of three
    assert len(np.unique(output)) > 950


@every
def test_the_smallest_floats_beside_the_largest_may_merge_but_keep_their_order(make: Any) -> None:
    distinct = np.array([-1e308, 0.0, 5e-324, 1.0, 1e308])
    x = np.tile(distinct, 12)[:, None]
    fitted = make().fit(x, np.sin(np.arange(60.0)) + np.tile(np.arange(5), 12))
    output = fitted.transform(distinct[:, None]).ravel()
    assert output[0] == 0
    assert output[-1] == 1
    assert np.all(np.diff(output[[0, 1, 3, 4]]) > 0)
    assert np.all(np.diff(output) >= 0)


def test_columns_of_the_smallest_numbers_are_stretched_like_any_other() -> None:
    x = np.linspace(0, 3e-310, 1000)[:, None]
    fitted = StretchTransformer(4, value_weight=0).fit(x)
    stretched = fitted.transform(x)
    assert_allclose(stretched.ravel(), np.linspace(0, 1, 1000), atol=1e-9)
    assert_allclose(fitted.inverse_transform(stretched), x, atol=3e-322)


def test_a_range_with_few_numbers_is_used_to_the_last_or_refused() -> None:
    x = np.random.default_rng(0).lognormal(0, 6, (20000, 1))
    offset = 1e10
    fitted = StretchTransformer(64, value_weight=1e6, feature_range=(offset, offset + 1)).fit(x)
    edges = fitted.output_edges_[0]
    assert np.all(np.diff(edges) > 0)
    assert (edges[0], edges[-1]) == (offset, offset + 1)
    with pytest.raises(ValueError, match="too few numbers for 64 bins"):
        StretchTransformer(64, feature_range=(1.0, 1.0 + 1e-15)).fit(x)


def test_huge_weights_of_the_blend_and_of_rows() -> None:
    x = np.arange(50.0)[:, None] ** 2
    y = np.sin(x.ravel())
    blend = SupervisedStretchTransformer(
        4, variation="within_fold", rank_weight=1e200, value_weight=1e200
    ).fit(x, y)
    assert np.all(np.isfinite(blend.output_widths_[0]))
    for weight in (1e308, 1e-320):
        heavy = StretchTransformer(4).fit(x, sample_weight=np.full(50, weight))
        assert_allclose(heavy.bin_edges_[0], StretchTransformer(4).fit(x).bin_edges_[0])


def test_float32_stays_finite_when_extrapolated() -> None:
    x = np.linspace(0, 1e38, 50, dtype=np.float32)[:, None]
    fitted = StretchTransformer(4, out_of_range="extrapolate").fit(x)
    back = fitted.inverse_transform(np.array([[1e6], [-1e6], [np.nan]], dtype=np.float32))
    assert back.dtype == np.float32
    assert np.all(np.isfinite(back[:2]))
    assert np.isnan(back[2])


@every
def test_quantiles_between_the_smallest_floats(make: Any) -> None:
    x = np.random.default_rng(0).integers(-50, 50, 136)[:, None] * 5e-324
    fitted = make(n_bins=64).fit(x, np.arange(136.0))
    edges = fitted.bin_edges_[0]
    assert (edges[0], edges[-1]) == (x.min(), x.max())
    assert np.all(np.diff(edges) > 0)
    assert len(fitted.output_widths_[0]) == len(edges) - 1
