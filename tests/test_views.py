"""Views: the value, the rank and the target of a column side by side."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from oracle import Array
from samples import column
from viewed import FRAMES, NAMES, N, X, Y, conditional, every, frames, marginal, unsupervised, view_of

from tabstretch import StretchTransformer

# Names and shapes


@every
def test_names_and_their_order(make: Any) -> None:
    fitted = make().fit(FRAMES["pandas"], Y)
    views = ("value", "rank") if make is unsupervised else ("value", "rank", "target")
    assert fitted.views_ == views
    expected = [f"{name}_{view}" for name in NAMES for view in views]
    assert list(fitted.get_feature_names_out()) == expected
    assert fitted.transform(FRAMES["pandas"]).shape == (N, len(expected))
    assert len(fitted.maps_) == len(expected)
    assert (
        list(make().fit(X, Y).get_feature_names_out()[:3]) == [f"x{j}_{v}" for j in (0, 1) for v in views][:3]
    )
    assert list(fitted.get_feature_names_out(NAMES)) == expected
    assert list(fitted.summary().index) == NAMES


@every
def test_a_blend_has_one_view(make: Any) -> None:
    fitted = make(output="blend").fit(X, Y)
    assert fitted.views_ == ("blend",)
    assert len(fitted.maps_) == X.shape[1]


@every
def test_maps_are_in_the_order_of_the_names(make: Any) -> None:
    fitted = make().fit(X, Y)
    output = fitted.transform(X)
    n_views = len(fitted.views_)
    for j, map_ in enumerate(fitted.maps_):
        assert_array_equal(map_(X[:, j // n_views]), output[:, j])


@every
@frames
def test_frames_out(make: Any, library: str) -> None:
    frame = FRAMES[library]
    fitted = make().set_output(transform=library).fit(frame, Y)
    output = fitted.transform(frame)
    assert type(output) is type(frame)
    assert list(output.columns) == list(fitted.get_feature_names_out())
    assert_array_equal(output.to_numpy(), make().fit_transform(X, Y))
    assert list(make().set_output(transform=library).fit_transform(frame, Y).columns) == list(output.columns)


@every
def test_single_precision_stays(make: Any) -> None:
    present = X[:, [0, 1, 2]]
    narrow = present.astype(np.float32)
    fitted = make().fit(narrow, Y)
    output = fitted.transform(narrow)
    assert output.dtype == np.float32
    assert fitted.inverse_transform(output).dtype == np.float32
    wide = make().fit(narrow.astype(float), Y).transform(narrow.astype(float))
    assert_allclose(output, wide, atol=1e-6)


@every
def test_missing_values_stay_missing_in_every_view(make: Any) -> None:
    fitted = make().fit(X, Y)
    for view in fitted.views_:
        assert_array_equal(np.isnan(view_of(fitted, fitted.transform(X), view)), np.isnan(X))


# The maps


@every
@pytest.mark.parametrize("feature_range", [(0, 1), (-3, 5)])
def test_every_view_is_increasing_and_onto_the_range(make: Any, feature_range: Any) -> None:
    fitted = make(feature_range=feature_range).fit(X, Y)
    output = fitted.transform(X)
    for map_ in fitted.maps_:
        assert np.all(np.diff(map_.edges) > 0)
        assert np.all(np.diff(map_.values) > 0)
        assert (map_.values[0], map_.values[-1]) == feature_range
    assert_array_equal(np.nanmin(output, axis=0), feature_range[0])
    assert_array_equal(np.nanmax(output, axis=0), feature_range[1])
    for view in fitted.views_:
        stretched = view_of(fitted, output, view)
        for j in range(4):  # the last has an outlier, beside which the others may round to the same
            values, first = np.unique(X[~np.isnan(X[:, j]), j], return_index=True)
            assert np.all(np.diff(stretched[~np.isnan(X[:, j]), j][first]) > 0)
            assert len(values) > 5


@every
@pytest.mark.parametrize("n_bins", [1, 7, 64, 10_000])
def test_the_rank_view_is_the_unsupervised_stretch(make: Any, n_bins: int) -> None:
    fitted = make(n_bins).fit(X, Y)
    rank = StretchTransformer(n_bins, value_weight=0).fit_transform(X)
    assert_array_equal(view_of(fitted, fitted.transform(X), "rank"), rank)


@pytest.mark.parametrize("make", [marginal, conditional])
@pytest.mark.parametrize("settings", [{}, {"shrinkage": 0.4}, {"rank_weight": 1.0, "value_weight": 0.0}])
def test_the_target_view_is_the_blend(make: Any, settings: dict[str, float]) -> None:
    fitted = make(**settings).fit(X, Y)
    alone = make(**settings, output="blend").fit(X, Y)
    assert_array_equal(view_of(fitted, fitted.transform(X), "target"), alone.transform(X))


@every
def test_value_and_rank_do_not_depend_on_the_weights_of_the_blend(make: Any) -> None:
    plain = make().fit(X, Y)
    weights = [name for name in ("rank_weight", "value_weight") if name in make().get_params()]
    for weight in (0.0, 7.0):
        other = make(**dict.fromkeys(weights, weight)).fit(X, Y)
        for view in ("value", "rank"):
            expected = view_of(plain, plain.transform(X), view)
            assert_array_equal(view_of(other, other.transform(X), view), expected)


@every
def test_fitted_widths_are_those_of_the_last_view(make: Any) -> None:
    fitted = make().fit(X, Y)
    last = fitted.maps_[len(fitted.views_) - 1 :: len(fitted.views_)]
    for widths, edges, map_ in zip(fitted.output_widths_, fitted.output_edges_, last, strict=True):
        assert_array_equal(edges, map_.values)
        assert_allclose(widths, np.diff(map_.values) / np.ptp(map_.values), atol=1e-12)


def squashed(x: Array) -> Array:
    """Robust scaling and smooth clipping, onto [0, 1]."""
    low, middle, high = np.nanquantile(x, [0.25, 0.5, 0.75])
    z = (x - middle) / (high - low)
    z = z / np.sqrt(1 + (z / 3) ** 2)
    return (z - np.nanmin(z)) / (np.nanmax(z) - np.nanmin(z))


@pytest.mark.parametrize("n_bins", [32, 50, 256])
@pytest.mark.parametrize("name", ["normal", "lognormal", "missing"])
def test_the_value_view_squashes_robustly_and_smoothly(name: str, n_bins: int) -> None:
    x = column(name, 1500)
    output = unsupervised(n_bins).fit_transform(x[:, None])[:, 0]
    assert_allclose(output, squashed(x), atol=1e-2)


@every
@pytest.mark.parametrize("n_bins", [1, 2, 100])
def test_the_value_view_does_not_depend_on_the_bins(make: Any, n_bins: int) -> None:
    few, many = make(n_bins).fit(X, Y), make().fit(X, Y)
    assert_allclose(
        view_of(few, few.transform(X), "value"), view_of(many, many.transform(X), "value"), atol=1e-12
    )


@pytest.mark.parametrize("top", [3.1, 1e9])
def test_where_ties_leave_no_quartiles_half_the_range_without_its_ends_serves(top: float) -> None:
    x = np.r_[np.zeros(900), np.linspace(-1, 3, 99), top]
    fitted = unsupervised().fit(x[:, None])
    inner = fitted.bin_edges_[0][1:-1]
    z = x / (np.ptp(inner) / 2)  # the median is 0
    z = z / np.sqrt(1 + (z / 3) ** 2)
    assert_allclose(fitted.transform(x[:, None])[:, 0], (z - z.min()) / np.ptp(z), atol=1e-2)
    assert fitted.transform([[3.0]])[0, 0] - fitted.transform([[-1.0]])[0, 0] > 0.4


@every
def test_an_outlier_cannot_rule_the_value_view(make: Any) -> None:
    """The squash levels off at 3 interquartile ranges: an outlier takes no more than from there to the end.

    The bulk keeps its shape but for an affine change: its room shrinks by the share of the squashed range
    that the outlier adds, at most from (squashed maximum) to 3.
    """
    x = column("normal", 1000)
    wild = x.copy()
    wild[0] = 1e9
    calm, ruled = (make().fit_transform(each[:, None], np.tanh(x))[1:, 0] for each in (x, wild))
    slope, shift = np.polyfit(calm, ruled, 1)
    assert_allclose(ruled, slope * calm + shift, atol=0.02)
    assert 0.65 < slope <= 1
    assert np.ptp(ruled) > 0.65
    blunt = (wild - wild.min()) / np.ptp(wild)
    assert np.ptp(blunt[1:]) < 1e-8  # what scaling to the range would leave


def test_more_outliers_change_the_bulk_no_further() -> None:
    x = column("normal", 1000)
    outputs = []
    for size in (1e3, 1e9, 1e300):
        wild = x.copy()
        wild[0] = size
        outputs.append(unsupervised().fit_transform(wild[:, None])[1:, 0])
    assert_allclose(outputs[1], outputs[0], atol=0.02)
    assert_allclose(outputs[2], outputs[1], atol=1e-3)


def test_weights_move_the_value_view() -> None:
    x = column("lognormal", 300)
    weight = np.where(x > np.median(x), 9.0, 1.0)
    plain = unsupervised().fit(x[:, None]).transform(x[:, None])
    heavy = unsupervised().fit(x[:, None], sample_weight=weight).transform(x[:, None])
    repeated = unsupervised().fit(np.repeat(x, weight.astype(int))[:, None]).transform(x[:, None])
    assert_allclose(heavy, repeated, atol=1e-9)
    assert np.abs(heavy - plain).max() > 0.1
