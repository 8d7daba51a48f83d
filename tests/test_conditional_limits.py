"""Conditional variation at the limits of the data, and what is refused."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from oracle import Array
from samples import column, half_l1, noisy_target
from sklearn.ensemble import (
    RandomForestClassifier,
)
from sklearn.linear_model import Ridge
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from taught import EVEN, boosted, conditional, table

from tabstretch import SupervisedStretchTransformer

# The limits


def check_maps(fitted: SupervisedStretchTransformer, X: Array) -> None:
    output = fitted.transform(X)
    assert_array_equal(np.isnan(output), np.isnan(X))
    for j, edges in enumerate(fitted.output_edges_):
        assert np.all(np.isfinite(edges))
        assert np.all(np.diff(edges) > 0)
        values, first = np.unique(X[~np.isnan(X[:, j]), j], return_index=True)
        stretched = output[~np.isnan(X[:, j]), j][first]
        assert np.all(np.diff(stretched) >= 0)
        if len(values) > 1:
            assert (stretched[0], stretched[-1]) == (0, 1)
    assert np.all(np.isfinite(fitted.shrinkage_))
    assert all(np.all(np.isfinite(variation)) for variation in fitted.variation_)
    assert len(fitted.summary()) == X.shape[1]


@pytest.mark.parametrize("classes", [False, True])
@pytest.mark.parametrize("shrinkage", ["auto", 0.0])
def test_columns_at_the_limits_side_by_side(classes: bool, shrinkage: Any) -> None:
    x = column("normal", 150)
    X = np.column_stack(
        [
            x,
            column("missing", 150, 1),
            np.full(150, 3.0),
            np.where(x > 0, 2.0, 5.0),
            1e308 / (1 + np.exp(-x)),
            1e-310 * x,
            column("outlier", 150, 2),
            np.where(np.arange(150) % 3 == 0, np.nan, 1.0),
        ]
    )
    y = noisy_target(x, "3 classes" if classes else "regression")
    fitted = conditional(8, n_curves=30, shrinkage=shrinkage).fit(X, y)
    check_maps(fitted, X)
    assert [fitted.fallback_[j] for j in (2, 7)] == ["one distinct value"] * 2
    assert fitted.shrinkage_[0] < 1


@pytest.mark.parametrize("n_values", [0, 1, 2, 3])
@pytest.mark.parametrize("teacher", [None, DecisionTreeRegressor(max_depth=4)])
def test_a_column_with_values_in_hardly_any_row(teacher: Any, n_values: int) -> None:
    """Some folds' training rows, or all of them, have no value at all."""
    X = table(60, 2)
    X[n_values:, 1] = np.nan
    fitted = conditional(8, n_curves=20, teacher=teacher, cv=3).fit(X, X[:, 0])
    check_maps(fitted, X)
    assert fitted.n_bins_[1] == max(n_values - 1, 0)
    assert fitted.variation_[0].sum() > 0.5


@pytest.mark.parametrize("teacher", [None, DecisionTreeRegressor(max_depth=4)])
def test_a_column_without_values_in_the_rows_that_teachers_see(teacher: Any) -> None:
    X = table(300, 2)
    X[3:, 1] = np.nan
    for seed in range(3):
        fitted = conditional(8, n_curves=10, teacher=teacher, teacher_rows=40, cv=2, random_state=seed)
        check_maps(fitted.fit(X, X[:, 0]), X)


@pytest.mark.parametrize("scale", [1e308, 1e-310])
def test_extreme_columns_vary_as_any_other(scale: float) -> None:
    X = np.linspace(0, 1, 200)[:, None]
    y = np.tanh(8 * X.ravel() - 4)
    plain = conditional(n_curves=40, teacher=boosted()).fit(X, y)
    extreme = conditional(n_curves=40, teacher=boosted()).fit(X * scale, y)
    assert half_l1(extreme.output_widths_[0], plain.output_widths_[0]) < 0.05


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("kind", ["regression", "binary", "names", "two outputs"])
def test_a_few_rows(n: int, kind: str) -> None:
    X = np.arange(2.0 * n).reshape(n, 2)
    y: Any = {
        "regression": np.arange(n) + 0.5,
        "binary": np.arange(n) % 2,
        "names": np.array(list("abcdefgh"))[:n],
        "two outputs": np.arange(2.0 * n).reshape(n, 2) ** 2 + 0.5,
    }[kind]
    classes = kind in ("binary", "names")
    tree = DecisionTreeClassifier() if classes else DecisionTreeRegressor()
    for teacher in (None, tree):
        fitted = conditional(4, teacher=teacher, n_curves=10).fit(X, y)
        check_maps(fitted, X)
        check_maps(conditional(4, teacher=teacher, teacher_rows=2).fit(X, y), X)


def test_a_class_with_one_member() -> None:
    X = table(100, 2)
    y = np.where(X[:, 0] > 0, "up", "low").astype(object)
    y[17] = "rare"
    for teacher in (None, DecisionTreeClassifier(), RandomForestClassifier(n_estimators=3)):
        fitted = conditional(8, teacher=teacher, n_curves=30).fit(X, y)
        assert list(fitted.classes_) == ["low", "rare", "up"]
        check_maps(fitted, X)
        assert fitted.variation_[0].sum() > 0.5


def test_every_row_a_class_of_its_own() -> None:
    X = table(40, 2)
    for teacher in (None, DecisionTreeClassifier()):
        check_maps(conditional(4, teacher=teacher, n_curves=10).fit(X, np.arange(40).astype(str)), X)


@pytest.mark.parametrize("y", [np.ones(60), np.full(60, "a"), np.zeros((60, 2)), np.ones((60, 2), dtype=int)])
def test_a_constant_target_says_nothing(y: Any) -> None:
    X = table(60, 2)
    target_type = "multilabel-indicator" if y.ndim == 2 and y.dtype == int else "auto"
    fitted = conditional(target_type=target_type).fit(X, y)
    assert fitted.fallback_ == ["constant target"] * 2
    assert_array_equal(fitted.shrinkage_, 1)
    assert_allclose(fitted.output_widths_[0], EVEN)


def test_a_constant_output_beside_another_changes_nothing() -> None:
    X = table(120, 2)
    y = X[:, 0] * X[:, 1]
    teacher = DecisionTreeRegressor(max_depth=4, random_state=0)
    alone = conditional(teacher=teacher, n_curves=30).fit(X, y)
    beside = conditional(teacher=teacher, n_curves=30).fit(X, np.column_stack([y, np.full(120, 3.0)]))
    for a, b in zip(alone.output_widths_, beside.output_widths_, strict=True):
        assert_allclose(a, b, rtol=1e-9)


def test_a_teacher_that_learns_nothing_is_a_reason() -> None:
    X = table(30, 2)
    fitted = conditional(n_curves=10, teacher=boosted(min_samples_leaf=30)).fit(X, X[:, 0])
    assert fitted.fallback_ == ["negligible variation of the teachers' predictions"] * 2
    assert_array_equal(fitted.shrinkage_, 1)
    assert_allclose(fitted.output_widths_[0], EVEN)


def test_splits_that_hold_out_nothing_say_nothing() -> None:
    X = table(30, 2)
    nothing = np.empty(0, dtype=int)
    fitted = conditional(cv=[(np.arange(30), nothing)], shrinkage=0).fit(X, X[:, 0])
    assert_array_equal(fitted.shrinkage_, 1)
    check_maps(fitted, X)


# Refusals


@pytest.mark.parametrize("variation", ["within_fold", "pooled"])
def test_teachers_and_context_are_for_conditional_only(variation: str) -> None:
    X = table(30, 1)
    alone = SupervisedStretchTransformer(4, variation=variation, rank_weight=0.0, value_weight=0.0)
    with pytest.raises(
        ValueError, match=f"context is for variation='conditional', got variation='{variation}'"
    ):
        alone.fit(X, X[:, 0], context=X)
    with pytest.raises(
        ValueError, match=f"teacher is for variation='conditional', got variation='{variation}'"
    ):
        alone.set_params(teacher=Ridge()).fit(X, X[:, 0])


@pytest.mark.parametrize("value", [0, -3, 2.5, "all", None, True, np.nan])
def test_numbers_of_curves_and_rows_are_checked(value: Any) -> None:
    X = table(30, 1)
    with pytest.raises(ValueError, match=r"n_curves must be a whole number of at least 1, got "):
        conditional(n_curves=value).fit(X, X[:, 0])
    with pytest.raises(ValueError, match=r"teacher_rows must be a whole number of at least 2, got "):
        conditional(teacher_rows=value).fit(X, X[:, 0])
    with pytest.raises(ValueError, match=r"teacher_rows must be a whole number of at least 2, got 1"):
        conditional(teacher_rows=1).fit(X, X[:, 0])


def test_numpy_numbers_of_curves_and_rows_are_fine() -> None:
    X = table(30, 1)
    conditional(n_curves=np.int64(5), teacher_rows=np.int32(20)).fit(X, X[:, 0])
