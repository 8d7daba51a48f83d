"""Views: the value, the rank and the target of a column side by side."""

import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from oracle import Array
from samples import COLUMNS, column, noisy_target
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeRegressor

from tabstretch import StretchTransformer, SupervisedStretchTransformer

N, BINS = 240, 32
X = np.column_stack([column(name, N, seed) for seed, name in enumerate(COLUMNS)])
Y = noisy_target(X[:, 0])
NAMES = list(COLUMNS)
FRAMES: dict[str, Any] = {
    "pandas": pd.DataFrame(X, columns=NAMES),
    "polars": pl.DataFrame(X, schema=NAMES),
}


def unsupervised(n_bins: Any = BINS, **params: Any) -> StretchTransformer:
    return StretchTransformer(n_bins, **{"output": "views", "value_weight": 1.0, **params})


def marginal(n_bins: Any = BINS, **params: Any) -> SupervisedStretchTransformer:
    options: dict[str, Any] = {"variation": "within_fold", "rank_weight": 1.0, "value_weight": 1.0}
    return SupervisedStretchTransformer(n_bins, **{**options, "output": "views", "cv": 3, **params})


def conditional(n_bins: Any = BINS, **params: Any) -> SupervisedStretchTransformer:
    teacher = DecisionTreeRegressor(max_depth=3)
    return marginal(n_bins, **{"variation": "conditional", "teacher": teacher, "n_curves": 20, **params})


MAKERS: dict[str, Any] = {"unsupervised": unsupervised, "marginal": marginal, "conditional": conditional}
every = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS.keys())
frames = pytest.mark.parametrize("library", FRAMES)


def view_of(fitted: Any, output: Any, view: str) -> Array:
    """The columns of one view, by their names."""
    names = fitted.get_feature_names_out()
    return np.asarray(output)[:, [name.endswith(f"_{view}") for name in names]]


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
@pytest.mark.parametrize("shrinkage", ["auto", 0.0, 0.4])
def test_the_target_view_is_the_target_alone(make: Any, shrinkage: Any) -> None:
    fitted = make(shrinkage=shrinkage).fit(X, Y)
    alone = make(shrinkage=shrinkage, output="blend", rank_weight=0, value_weight=0).fit(X, Y)
    assert_array_equal(view_of(fitted, fitted.transform(X), "target"), alone.transform(X))


@every
def test_views_do_not_depend_on_the_weights_of_the_blend(make: Any) -> None:
    plain = make().fit_transform(X, Y)
    weights = [name for name in ("rank_weight", "value_weight") if name in make().get_params()]
    for weight in (0.0, 7.0):
        assert_array_equal(make(**dict.fromkeys(weights, weight)).fit_transform(X, Y), plain)


@every
def test_fitted_widths_are_those_of_the_last_view(make: Any) -> None:
    fitted = make().fit(X, Y)
    last = fitted.maps_[len(fitted.views_) - 1 :: len(fitted.views_)]
    for widths, edges, map_ in zip(fitted.output_widths_, fitted.output_edges_, last, strict=True):
        assert_array_equal(edges, map_.values)
        assert_allclose(widths, np.diff(map_.values) / np.ptp(map_.values), atol=1e-12)
    other = make(value_weight=20.0).fit(X, Y)
    assert fitted.summary().equals(other.summary())


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


# Back again


@every
def test_back_from_all_views(make: Any) -> None:
    fitted = make().fit(X, Y)
    output = fitted.transform(X)
    assert_allclose(fitted.inverse_transform(output)[:, :4], X[:, :4], rtol=1e-6, atol=1e-9)
    assert_array_equal(fitted.inverse_transform(output), fitted.inverse_transform(output, view="value"))
    for view in fitted.views_:
        back = fitted.inverse_transform(output, view=view)
        assert_allclose(back[:, :4], X[:, :4], rtol=1e-5, atol=1e-7)


@every
def test_back_from_one_view_alone(make: Any) -> None:
    fitted = make().fit(X, Y)
    output = fitted.transform(X)
    for view in fitted.views_:
        alone = view_of(fitted, output, view)
        assert_array_equal(
            fitted.inverse_transform(alone, view=view), fitted.inverse_transform(output, view=view)
        )


@every
@frames
def test_back_from_frames(make: Any, library: str) -> None:
    fitted = make().set_output(transform=library).fit(FRAMES[library], Y)
    output = fitted.transform(FRAMES[library])
    back = np.asarray(fitted.inverse_transform(output))
    assert_allclose(back[:, :4], X[:, :4], rtol=1e-6, atol=1e-9)
    ranks = output[[f"{name}_rank" for name in NAMES]]
    assert_allclose(fitted.inverse_transform(ranks, view="rank")[:, :4], X[:, :4], rtol=1e-5, atol=1e-9)


@every
def test_each_view_goes_back_by_its_own_map(make: Any) -> None:
    """Where the views of a row contradict each other, the one asked for decides."""
    fitted = make().fit(X, Y)
    n_views = len(fitted.views_)
    output = fitted.transform(X[:20])
    for position, view in enumerate(fitted.views_):
        mixed = np.full_like(output, 0.5)
        mixed[:, position::n_views] = output[:, position::n_views]
        assert_array_equal(
            fitted.inverse_transform(mixed, view=view), fitted.inverse_transform(output, view=view)
        )


@every
def test_unknown_views_and_wrong_widths(make: Any) -> None:
    fitted = make().fit(X, Y)
    output = fitted.transform(X)
    with pytest.raises(ValueError, match=r"view must be one of \('value', 'rank'.*got 'blend'"):
        fitted.inverse_transform(output, view="blend")
    n_outputs = 5 * len(fitted.views_)
    with pytest.raises(ValueError, match=f"X has 5 features, but .* is expecting {n_outputs} features"):
        fitted.inverse_transform(X)
    with pytest.raises(ValueError, match=f"X has 4 features, but .* is expecting {n_outputs} features"):
        fitted.inverse_transform(X[:, :4], view="rank")
    with pytest.raises(ValueError, match="Expected 2D array"):
        fitted.inverse_transform(output[0])
    blend = make(output="blend").fit(X, Y)
    with pytest.raises(ValueError, match="view must be None, unless output='views', got 'rank'"):
        blend.inverse_transform(X, view="rank")


def test_an_unsupervised_stretch_has_no_target_view() -> None:
    fitted = unsupervised().fit(X)
    with pytest.raises(ValueError, match=r"view must be one of \('value', 'rank'\), got 'target'"):
        fitted.inverse_transform(fitted.transform(X), view="target")


@pytest.mark.parametrize("output", ["view", "both", None, True, ("blend",)])
@every
def test_unknown_outputs_are_refused(make: Any, output: Any) -> None:
    with pytest.raises(ValueError, match=r"output must be one of \('blend', 'views'\), got "):
        make(output=output).fit(X, Y)


# The limits


@every
def test_columns_without_two_values(make: Any) -> None:
    table = np.column_stack([np.full(60, 4.0), X[:60, 0]])
    table[3, 0] = np.nan
    fitted = make(8, feature_range=(2, 3)).fit(table, Y[:60])
    output = fitted.transform(table)
    for view in fitted.views_:
        constant = view_of(fitted, output, view)[:, 0]
        assert_array_equal(constant, np.where(np.isnan(table[:, 0]), np.nan, 2.0))
        assert_array_equal(fitted.inverse_transform(output, view=view)[:, 0], table[:, 0])


@pytest.mark.parametrize("make", [unsupervised, marginal])
def test_a_column_without_values(make: Any) -> None:
    table = np.column_stack([np.full(60, np.nan), X[:60, 0]])
    fitted = make(8).fit(table, Y[:60])
    assert np.isnan(view_of(fitted, fitted.transform(table), "value")[:, 0]).all()
    assert_array_equal(view_of(fitted, fitted.transform(X[:5, :2]), "value")[:, 0], 0)


@every
@pytest.mark.parametrize(
    "values",
    [
        [0.0, 1.0],
        [0.0, 1.0, 1e300],
        [-1e300, 0.0, 1e-300, 1e300],
        [1e307, 5e307, 1e308],
        [1e-310, 2e-310, 5e-310],
        [0.0, 5e-324],
        [1.0, np.nextafter(1, 2), np.nextafter(np.nextafter(1, 2), 2)],
        [0.0] * 200 + [1.0],
        [0.0] * 100 + [1.0] + [1e9] * 100,
    ],
    ids=["two", "far", "magnitudes", "huge", "subnormal", "smallest", "adjacent", "ties", "two heaps"],
)
def test_extreme_columns_in_every_view(make: Any, values: list[float]) -> None:
    distinct = np.unique(values)
    x = np.resize(np.array(values), 600 if len(values) > 50 else 12 * len(values))[:, None]
    y = np.sin(np.arange(len(x))) + np.searchsorted(distinct, x.ravel())
    # The trees of scikit-learn see single precision, the boosted ones double.
    boosted = {"teacher": HistGradientBoostingRegressor(max_iter=5)} if make is conditional else {}
    fitted = make(8, **boosted).fit(x, y)
    output = fitted.transform(distinct[:, None])
    assert np.all(np.isfinite(output))
    assert_array_equal(output[[0, -1]], [[0] * output.shape[1], [1] * output.shape[1]])
    assert np.all(np.diff(output, axis=0) >= 0)
    for view in ("rank", "target"):
        assert np.all(np.diff(view_of(fitted, output, view), axis=0) > 0)


@every
def test_values_out_of_range_are_clipped_or_extrapolated(make: Any) -> None:
    x = X[:, :2]
    beyond = np.array([x.min(axis=0) - 5, x.max(axis=0) + 5])
    clipped = make(out_of_range="clip").fit(x, Y)
    output = clipped.transform(beyond)
    assert_array_equal(output[0], 0)
    assert_array_equal(output[1], 1)
    further = make(out_of_range="extrapolate").fit(x, Y)
    output = further.transform(beyond)
    assert np.all(output[0] < 0)
    assert np.all(output[1] > 1)
    for view in further.views_:
        assert_allclose(further.inverse_transform(output, view=view), beyond, rtol=1e-6)
        assert_allclose(clipped.inverse_transform(output, view=view), [x.min(axis=0), x.max(axis=0)])
    assert_array_equal(further.transform(x), clipped.transform(x))


# As an estimator


@every
def test_clone_and_pickle(make: Any) -> None:
    fitted = make().fit(X, Y)
    assert clone(fitted).output == "views"
    assert_array_equal(clone(fitted).fit(X, Y).transform(X), fitted.transform(X))
    thawed = pickle.loads(pickle.dumps(fitted))
    assert_array_equal(thawed.transform(X), fitted.transform(X))
    assert_array_equal(thawed.get_feature_names_out(), fitted.get_feature_names_out())
    assert_array_equal(
        thawed.inverse_transform(fitted.transform(X), view="rank"),
        fitted.inverse_transform(fitted.transform(X), view="rank"),
    )


@every
def test_a_parameter_set_after_fit_waits_for_the_next_fit(make: Any) -> None:
    fitted = make().fit(X, Y)
    names, output = fitted.get_feature_names_out(), fitted.transform(X)
    fitted.set_params(output="blend")
    assert_array_equal(fitted.transform(X), output)
    assert_array_equal(fitted.get_feature_names_out(), names)
    assert fitted.fit(X, Y).transform(X).shape == X.shape


@every
def test_as_a_step_of_a_pipeline_and_a_search(make: Any) -> None:
    present = X[:, [0, 2]]
    pipe = make_pipeline(make(8), Ridge())
    step = pipe.steps[0][0]
    grid = {f"{step}__output": ["blend", "views"], f"{step}__n_bins": [2, 8]}
    search = GridSearchCV(pipe, grid, cv=2).fit(present, Y)
    assert np.all(np.isfinite(search.cv_results_["mean_test_score"]))
    best = search.best_estimator_
    n_views = len(best[0].views_)
    assert best[-1].n_features_in_ == 2 * n_views
    expected = clone(best[0]).fit_transform(present, Y)
    assert_array_equal(best[:-1].transform(present), expected)


@every
def test_threads_and_layouts_do_not_change_a_bit(make: Any) -> None:
    expected = make().fit_transform(X, Y)
    assert_array_equal(make(n_jobs=2).fit_transform(X, Y), expected)
    assert_array_equal(make().fit(np.asfortranarray(X), Y).transform(np.asfortranarray(X)), expected)
    frozen = X.copy()
    frozen.setflags(write=False)
    assert_array_equal(make().fit_transform(frozen, Y), expected)
