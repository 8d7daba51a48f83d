"""Boosted trees swept in one walk: the same curves as a prediction for every value."""

from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from oracle import Array
from sklearn.ensemble import (
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeRegressor

from tabstretch._teacher import sweep_by_prediction
from tabstretch._trees import BoostedTrees

N, N_COLUMNS = 300, 4


def make_table(seed: int = 0) -> tuple[Array, Array]:
    """Columns with and without missing values, ties and outliers, and a target of most of them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, N_COLUMNS))
    X[rng.random(N) < 0.2, 1] = np.nan
    X[:, 2] = rng.poisson(3, size=N)
    X[7, 3] = 1e9
    f = np.sin(2 * X[:, 0]) * np.nan_to_num(X[:, 1], nan=2.0) + 0.3 * X[:, 2]
    return X, f + 0.1 * rng.normal(size=N)


X, Y = make_table()
SMALL: dict[str, Any] = {"max_iter": 15, "min_samples_leaf": 5, "early_stopping": False, "random_state": 0}
BOOSTERS: dict[str, tuple[Any, Any]] = {
    "squared error": (HistGradientBoostingRegressor(**SMALL), Y),
    "absolute error": (HistGradientBoostingRegressor(loss="absolute_error", **SMALL), Y),
    "quantile": (HistGradientBoostingRegressor(loss="quantile", quantile=0.7, **SMALL), Y),
    "poisson": (HistGradientBoostingRegressor(loss="poisson", **SMALL), np.exp(Y / 2)),
    "gamma": (HistGradientBoostingRegressor(loss="gamma", **SMALL), np.exp(Y / 2)),
    "two classes": (HistGradientBoostingClassifier(**SMALL), Y > 0),
    "three classes": (HistGradientBoostingClassifier(**SMALL), np.digitize(Y, [-0.5, 1.0])),
    "three names": (
        HistGradientBoostingClassifier(**SMALL),
        np.array(["a", "b", "c"])[np.digitize(Y, [0, 1])],
    ),
    "one step": (HistGradientBoostingRegressor(max_iter=1, min_samples_leaf=5), Y),
    "stumps": (HistGradientBoostingRegressor(max_iter=10, max_depth=1), Y),
    "one stump": (HistGradientBoostingClassifier(max_iter=1, max_depth=1), np.digitize(Y, [-0.5, 1.0])),
    "nothing but a root": (HistGradientBoostingRegressor(max_iter=2, min_samples_leaf=N), Y),
    "deep": (HistGradientBoostingRegressor(max_iter=3, max_leaf_nodes=None, min_samples_leaf=1), Y),
    "few thresholds": (HistGradientBoostingRegressor(max_bins=3, **SMALL), Y),
    "stops early": (HistGradientBoostingRegressor(early_stopping=True, max_iter=60, random_state=0), Y),
}
every = pytest.mark.parametrize("name", BOOSTERS)


@cache
def fit(name: str) -> Any:
    booster, y = BOOSTERS[name]
    return booster.fit(X, y)


def compare(booster: Any, rows: Array, column: int, values: Array) -> Array:
    """Sweep both ways, demand the same, and return the curves."""
    trees = BoostedTrees.of(booster)
    assert trees is not None
    swept = trees.sweep(rows, column, values)
    expected = sweep_by_prediction(booster, rows, column, values)
    assert swept.shape == expected.shape
    assert_allclose(swept, expected, rtol=1e-12, atol=1e-12)
    return swept


@every
@pytest.mark.parametrize("column", range(N_COLUMNS))
def test_one_walk_equals_a_prediction_for_every_value(name: str, column: int) -> None:
    fitted = fit(name)
    present = X[~np.isnan(X[:, column]), column]
    curves = compare(fitted, X[:40], column, np.unique(np.quantile(present, np.linspace(0, 1, 33))))
    assert len(curves) == 40
    assert np.all(np.isfinite(curves))
    if hasattr(fitted, "classes_"):
        assert curves.shape[2] == len(fitted.classes_)
        assert_allclose(curves.sum(axis=2), 1)


@every
def test_values_at_the_thresholds_go_left(name: str) -> None:
    fitted = fit(name)
    nodes = np.concatenate([tree.nodes for step in fitted._predictors for tree in step])
    steps = [0.0]
    for column in range(N_COLUMNS):
        splits = (nodes["is_leaf"] == 0) & (nodes["feature_idx"] == column)
        at = np.unique(nodes["num_threshold"][splits])
        at = at[np.isfinite(at)]
        if len(at):
            values = np.unique(np.concatenate([at, np.nextafter(at, np.inf), np.nextafter(at, -np.inf)]))
            steps.append(np.ptp(compare(fitted, X[:40], column, values), axis=1).max())
    assert max(steps) > 0 or fitted.min_samples_leaf == N


@every
@pytest.mark.parametrize("value", [-1e300, -0.3, 0.0, 5e-324, 3.0, 1e300])
def test_a_single_value(name: str, value: float) -> None:
    assert compare(fit(name), X[:25], 1, np.array([value])).shape[1] == 1


@every
def test_rows_without_any_value(name: str) -> None:
    rows = np.full((3, N_COLUMNS), np.nan)
    for column in range(N_COLUMNS):
        compare(fit(name), rows, column, np.linspace(-2, 2, 9))


def test_missing_values_where_training_had_none() -> None:
    fitted = HistGradientBoostingRegressor(**SMALL).fit(np.nan_to_num(X), Y)
    assert np.isnan(X[:40, 1]).any()
    compare(fitted, X[:40], 0, np.linspace(-2, 2, 9))


def test_a_column_that_no_tree_splits_on_gives_flat_curves() -> None:
    table = np.column_stack([X, np.zeros(N)])
    fitted = HistGradientBoostingRegressor(**SMALL).fit(table, Y)
    curves = compare(fitted, table[:30], N_COLUMNS, np.linspace(-5, 5, 11))
    assert_array_equal(curves, np.repeat(curves[:, :1], 11, axis=1))
    assert_allclose(curves[:, 0, 0], fitted.predict(table[:30]), rtol=1e-12)


def test_a_step_is_where_it_is() -> None:
    """The only test that knows the answer beforehand: a tree of one split."""
    x = np.arange(100.0)[:, None]
    fitted = HistGradientBoostingRegressor(
        max_iter=1, max_depth=1, learning_rate=1.0, min_samples_leaf=1, max_bins=255
    )
    fitted.fit(x, np.where(x.ravel() < 60, -2.0, 3.0))
    curves = BoostedTrees(fitted).sweep(x[:2], 0, np.array([0.0, 59.0, 59.4, 59.6, 60.0, 99.0]))
    assert_allclose(curves[:, :, 0], [[-2, -2, -2, 3, 3, 3]] * 2)


def test_the_rows_are_left_alone() -> None:
    fitted = HistGradientBoostingRegressor(**SMALL).fit(X, Y)
    rows = X[:20].copy()
    rows.setflags(write=False)
    BoostedTrees(fitted).sweep(rows, 1, np.linspace(-1, 1, 5))
    assert_array_equal(rows, X[:20])


class Subclass(HistGradientBoostingRegressor):
    """It may predict anything."""

    def predict(self, X: Any) -> Any:
        return -super().predict(X)


@pytest.mark.parametrize(
    "model",
    [
        RandomForestRegressor(n_estimators=2),
        GradientBoostingRegressor(n_estimators=2),
        DecisionTreeRegressor(),
        make_pipeline(HistGradientBoostingRegressor(max_iter=1)),
        Subclass(max_iter=1),
        HistGradientBoostingRegressor(max_iter=1, categorical_features=[2]),
    ],
    ids=["forest", "older boosting", "tree", "pipeline", "subclass", "categories"],
)
def test_other_models_are_not_swept_in_one_walk(model: Any) -> None:
    assert BoostedTrees.of(model.fit(np.nan_to_num(X), Y)) is None


def test_a_booster_that_is_not_fitted_has_no_trees() -> None:
    assert BoostedTrees.of(HistGradientBoostingRegressor()) is None
