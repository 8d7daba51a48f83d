"""Views at their limits: back again, extreme columns, pipelines and pickles."""

import pickle
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from viewed import FRAMES, NAMES, X, Y, conditional, every, frames, marginal, unsupervised, view_of

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
