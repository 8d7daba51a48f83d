"""TableStretch as an estimator: targets, weights, groups, pipelines, and what it refuses."""

import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from mixed_tables import (
    DATA,
    FRAMES,
    GROUPS,
    NUMBERS,
    OTHERS,
    WEIGHT,
    N,
    Y,
    conditional,
    context_of,
    every,
    library,
    marginal,
    matrix,
    unsupervised,
)
from numpy.testing import assert_allclose, assert_array_equal
from samples import every_kth
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from tabstretch import SupervisedStretchTransformer, TableStretch

# Targets, weights and groups


def test_an_unsupervised_stretch_needs_no_target() -> None:
    frame = FRAMES["pandas"]
    without, with_target = TableStretch(unsupervised()).fit(frame), TableStretch(unsupervised()).fit(frame, Y)
    pd.testing.assert_frame_equal(without.transform(frame), with_target.transform(frame))
    assert not without.__sklearn_tags__().target_tags.required


def test_a_supervised_stretch_needs_a_target() -> None:
    for transformer in (TableStretch(), TableStretch(marginal())):
        assert transformer.__sklearn_tags__().target_tags.required
        with pytest.raises(ValueError, match="requires y to be passed"):
            transformer.fit(FRAMES["pandas"])


def test_the_default_is_the_supervised_stretch() -> None:
    frame = FRAMES["pandas"]
    fitted = TableStretch().fit(frame, Y)
    assert fitted.stretch is None
    assert type(fitted.stretch_) is SupervisedStretchTransformer
    assert fitted.stretch_.get_params() == SupervisedStretchTransformer().get_params()


@every
def test_weights(make: Any) -> None:
    frame = FRAMES["pandas"]
    weighted = TableStretch(make()).fit(frame, Y, sample_weight=WEIGHT)
    more = context_of(frame) if make is conditional else {}
    alone = make().fit(matrix(frame, NUMBERS), Y, sample_weight=WEIGHT, **more)
    expected = alone.transform(matrix(frame, NUMBERS))
    assert_array_equal(matrix(weighted.transform(frame), NUMBERS), expected)
    plain = TableStretch(make()).fit_transform(frame, Y)
    assert not np.allclose(matrix(plain, NUMBERS), expected, equal_nan=True)


@pytest.mark.parametrize("make", [marginal, conditional])
def test_groups(make: Any) -> None:
    frame = FRAMES["pandas"]
    splits = list(GroupKFold(3).split(frame, Y, GROUPS))
    grouped = TableStretch(make(cv=GroupKFold(3))).fit(frame, Y, groups=GROUPS)
    by_hand = TableStretch(make(cv=splits)).fit(frame, Y)
    pd.testing.assert_frame_equal(grouped.transform(frame), by_hand.transform(frame))
    other = TableStretch(make(cv=every_kth(N, 3))).fit_transform(frame, Y)
    assert not grouped.transform(frame).equals(other)


@pytest.mark.parametrize("y", [Y > 0, np.where(Y > 0, "up", "down"), np.column_stack([Y, -Y])])
def test_targets_of_other_kinds(y: Any) -> None:
    frame = FRAMES["pandas"]
    output = TableStretch(conditional(teacher=None, n_curves=10, cv=2)).fit_transform(frame, y)
    assert list(output.columns) == list(frame.columns)
    assert output["price"].between(0, 1).all()


@pytest.mark.usefixtures("routing")
def test_weights_and_groups_are_routed() -> None:
    frame = FRAMES["pandas"][NUMBERS].fillna(0.0)
    table = TableStretch(marginal(cv=GroupKFold(3))).set_fit_request(sample_weight=True, groups=True)
    pipe = make_pipeline(table, Ridge().set_fit_request(sample_weight=False))
    pipe.fit(frame, Y, sample_weight=WEIGHT, groups=GROUPS)
    with config_context(enable_metadata_routing=False):
        expected = TableStretch(marginal(cv=GroupKFold(3)))
        expected.fit(frame, Y, sample_weight=WEIGHT, groups=GROUPS)
    pd.testing.assert_frame_equal(pipe[:-1].transform(frame), expected.transform(frame))


# As an estimator


@every
def test_in_a_pipeline(make: Any) -> None:
    frame = FRAMES["pandas"][["city", "price", "rooms"]]
    encode = make_column_transformer(
        (OneHotEncoder(), make_column_selector(dtype_exclude="number")), remainder="passthrough"
    )
    pipe = make_pipeline(TableStretch(make()), encode, Ridge()).fit(frame, Y)
    stretched = TableStretch(make()).fit_transform(frame, Y)
    dummies = (DATA["city"][:, None] == np.unique(DATA["city"])).astype(float)
    by_hand = np.column_stack([dummies, stretched[["price", "rooms"]]])
    assert_allclose(pipe.predict(frame), Ridge().fit(by_hand, Y).predict(by_hand))
    assert list(pipe[:-1].get_feature_names_out())[-2:] == ["remainder__price", "remainder__rooms"]


def test_in_a_search() -> None:
    frame = FRAMES["pandas"][["price", "rooms"]]
    pipe = make_pipeline(TableStretch(marginal()), Ridge())
    grid = {"tablestretch__stretch__n_bins": [2, 8], "tablestretch__stretch__output": ["blend", "views"]}
    search = GridSearchCV(pipe, grid, cv=2).fit(frame, Y)
    assert np.all(np.isfinite(search.cv_results_["mean_test_score"]))


def test_parameters_clone_and_pickle() -> None:
    frame = FRAMES["pandas"]
    stretch = marginal()
    transformer = TableStretch(stretch)
    transformer.set_params(stretch__n_bins=3)
    assert stretch.n_bins == 3
    fitted = clone(transformer).fit(frame, Y)
    assert list(fitted.stretch_.n_bins_) == [3, 3, 3]
    assert fitted.stretch_ is not fitted.stretch
    assert not hasattr(fitted.stretch, "maps_")
    thawed = pickle.loads(pickle.dumps(fitted))
    pd.testing.assert_frame_equal(thawed.transform(frame), fitted.transform(frame))
    pd.testing.assert_frame_equal(clone(fitted).fit(frame, Y).transform(frame), fitted.transform(frame))
    assert "TableStretch" in fitted._repr_html_()


@pytest.mark.parametrize("wanted", ["pandas", "polars", "default"])
@library
def test_output_containers(library: str, wanted: str) -> None:
    frame = FRAMES[library]
    fitted = TableStretch(unsupervised(output="views")).set_output(transform=wanted).fit(frame)
    output = fitted.transform(frame)
    assert type(output) is type(FRAMES[library if wanted == "default" else wanted])
    assert list(output.columns) == list(fitted.get_feature_names_out())
    expected = TableStretch(unsupervised(output="views")).fit_transform(frame)
    names = [name for name in output.columns if name not in OTHERS]
    assert_array_equal(matrix(output, names), matrix(expected, names))


def test_a_stretch_with_containers_of_its_own_does_no_harm() -> None:
    frame = FRAMES["pandas"]
    own = TableStretch(unsupervised().set_output(transform="polars")).fit_transform(frame)
    pd.testing.assert_frame_equal(own, TableStretch(unsupervised()).fit_transform(frame))
    with config_context(transform_output="pandas"):
        everywhere = TableStretch(unsupervised()).fit(frame).transform(frame)
    pd.testing.assert_frame_equal(everywhere, own)


def test_names_seen() -> None:
    fitted = TableStretch(unsupervised()).fit(FRAMES["polars"])
    assert fitted.n_features_in_ == 7
    assert list(fitted.feature_names_in_) == list(FRAMES["polars"].columns)


# Refusals


@pytest.mark.parametrize("table", [np.ones((5, 2)), [[1.0, 2.0]], pd.Series([1.0, 2.0])])
def test_only_frames(table: Any) -> None:
    with pytest.raises(
        TypeError,
        match=r"TableStretch takes a DataFrame of pandas or polars, got \w+. For an array of numbers",
    ):
        TableStretch(unsupervised()).fit(table)
    fitted = TableStretch(unsupervised()).fit(FRAMES["pandas"])
    with pytest.raises(TypeError, match="TableStretch takes a DataFrame"):
        fitted.transform(table)


def test_going_back_takes_frames_only() -> None:
    fitted = TableStretch(unsupervised()).fit(FRAMES["pandas"])
    with pytest.raises(TypeError, match="TableStretch takes a DataFrame of pandas or polars, got ndarray"):
        fitted.inverse_transform(np.ones((5, 7)))


def test_names_differ_and_are_strings() -> None:
    twice = pd.DataFrame([[1.0, 2.0], [3.0, 4.0]], columns=["a", "a"])
    with pytest.raises(ValueError, match=r"column names must differ, got \['a'\] more than once"):
        TableStretch(unsupervised()).fit(twice)
    for names in ([0, 1], ["a", 1], [("a", 1), ("a", 2)]):
        frame = pd.DataFrame([[1.0, 2.0], [3.0, 4.0]])
        frame.columns = pd.Index(names)
        with pytest.raises(TypeError, match="column names must be strings, got "):
            TableStretch(unsupervised()).fit(frame)


@library
def test_no_numbers_at_all(library: str) -> None:
    with pytest.raises(ValueError, match=r"X has no numeric columns to stretch, only \['city', 'sold'\]"):
        TableStretch(unsupervised()).fit(FRAMES[library][["city", "sold"]])


@library
def test_columns_missing_added_or_reordered(library: str) -> None:
    frame = FRAMES[library]
    fitted = TableStretch(unsupervised()).fit(frame)
    with pytest.raises(ValueError, match="Feature names must be in the same order"):
        fitted.transform(frame[list(frame.columns)[::-1]])
    with pytest.raises(ValueError, match=r"(?s)now missing.*city"):
        fitted.transform(frame[[name for name in frame.columns if name != "city"]])
    more = frame.assign(more=1.0) if library == "pandas" else frame.with_columns(pl.lit(1.0).alias("more"))
    with pytest.raises(ValueError, match=r"(?s)unseen at fit time.*more"):
        fitted.transform(more)


def test_numbers_that_became_text() -> None:
    fitted = TableStretch(unsupervised()).fit(FRAMES["pandas"])
    changed = FRAMES["pandas"].astype({"rooms": str}).replace({"rooms": {"1": "one"}})
    with pytest.raises(ValueError, match="'rooms'"):
        fitted.transform(changed)


def test_infinities_are_refused_by_name() -> None:
    frame = FRAMES["pandas"].assign(price=np.inf)
    with pytest.raises(ValueError, match=r"First in column 'price', row 0: inf"):
        TableStretch(unsupervised()).fit(frame)


def test_nothing_before_fit() -> None:
    for method in ("transform", "inverse_transform"):
        with pytest.raises(NotFittedError):
            getattr(TableStretch(), method)(FRAMES["pandas"])
    with pytest.raises(NotFittedError):
        TableStretch().get_feature_names_out()
