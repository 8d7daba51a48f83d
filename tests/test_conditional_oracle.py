"""Conditional variation is what plain scikit-learn gives, a row at a time."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from oracle import Array, Folds
from samples import column, every_kth
from sklearn.base import clone, is_classifier
from sklearn.ensemble import (
    HistGradientBoostingRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from taught import boosted, conditional, table

import tabstretch._conditional
import tabstretch._target
from tabstretch._conditional import Teaching, conditional_variation
from tabstretch._folds import make_folds
from tabstretch._interactions import smoothed
from tabstretch._order import key_of_rows

# The oracle: plain scikit-learn, a row at a time.


def slow_curves(
    X: Array, y: Any, splits: Folds, teacher: Any, moving: int, places: Array, weight: Array | None = None
) -> tuple[Array, Array]:
    """The curves of every held-out row, (rows, places, outputs), and the rows' weights."""
    curves, weights = [], []
    for train, test in splits:
        fit_params = {} if weight is None else {"sample_weight": weight[train]}
        fitted = clone(teacher).fit(X[train], y[train], **fit_params)
        for row in test:
            moved = np.repeat(X[[row]], len(places), axis=0)
            moved[:, moving] = places
            if is_classifier(fitted):
                curve = np.zeros((len(places), len(np.unique(y))))
                curve[:, np.searchsorted(np.unique(y), fitted.classes_)] = fitted.predict_proba(moved)
            else:
                curve = fitted.predict(moved).reshape(len(places), 1)
            curves.append(curve)
            weights.append(1.0 if weight is None else weight[row])
    return np.array(curves), np.array(weights)


def encoded(y: Any, weight: Array | None = None) -> Array:
    """The target standardised, so that its own units are those of the variation."""
    kind = "continuous" if y.ndim == 1 else "continuous-multioutput"
    return np.round(tabstretch._target.encode_target(y, kind, weight).values, 12)


def slow_variation(curves: Array, weights: Array) -> Array:
    return np.average(np.linalg.norm(np.diff(curves, axis=1), axis=2), axis=0, weights=weights)


def slow_smoothed(variation: Array, n_rows: int) -> Array:
    """What every bin hands to the others, by their distance; all of it arrives somewhere."""
    n_bins = len(variation)
    smooth = np.zeros(n_bins)
    deviation = n_bins * n_rows ** (2 / 3) / n_rows / 3
    for source in range(n_bins):
        shares = [np.exp(-0.5 * ((bin_ - source) / deviation) ** 2) for bin_ in range(n_bins)]
        total = sum(shares)
        for bin_ in range(n_bins):
            smooth[bin_] += variation[source] * shares[bin_] / total
    return smooth


def fast(
    X: Array,
    y: Any,
    splits: Folds,
    teacher: Any,
    edges: list[Array],
    weight: Array | None = None,
    kind: str = "continuous",
    context: Array | None = None,
) -> list[Any]:
    target = tabstretch._target.encode_target(np.asarray(y), kind, weight)
    folds = make_folds(list(splits), target, 0)
    n_curves = len(X) * len(splits)  # every held-out row
    teaching = Teaching(
        teacher, n_curves, target, folds, weight, key_of_rows(X), len(X), np.random.RandomState(0), None
    )
    found = conditional_variation(X, context, edges, teaching, with_noise=False)
    return [(variation, curves) for variation, _, curves in found]


N = 90
SMALL_X = np.column_stack([column("normal", N), column("missing", N, 1), column("ties", N, 2)])
SMALL_Y = np.nan_to_num(SMALL_X[:, 0] * SMALL_X[:, 1]) + 0.3 * SMALL_X[:, 2]
SMALL_EDGES = [np.unique(np.nanquantile(each, np.linspace(0, 1, 8))) for each in SMALL_X.T]
REGRESSORS = {
    "tree": DecisionTreeRegressor(max_depth=5, random_state=0),
    "linear": make_pipeline(SimpleImputer(), Ridge()),
    "boosted": boosted(min_samples_leaf=3, random_state=0),
}
CLASSIFIERS = {
    "tree": DecisionTreeClassifier(max_depth=5, random_state=0),
    "linear": make_pipeline(SimpleImputer(), LogisticRegression()),
    "boosted": boosted(classes=True, min_samples_leaf=3, random_state=0),
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", REGRESSORS)
def test_numbers_as_by_the_oracle(name: str, weighted: bool) -> None:
    weight = np.arange(N) % 3 + 0.5 if weighted and name != "linear" else None  # a pipeline takes no weights
    splits, teacher = every_kth(N, 3), REGRESSORS[name]
    numbers = encoded(SMALL_Y, weight).ravel()
    found = fast(SMALL_X, numbers, splits, teacher, SMALL_EDGES, weight)
    for j, (variation, curves) in enumerate(found):
        expected, weights = slow_curves(SMALL_X, numbers, splits, teacher, j, SMALL_EDGES[j], weight)
        assert_allclose(variation.observed, slow_variation(expected, weights), rtol=1e-9, atol=1e-12)
        assert_array_equal(variation.noise, 0)
        assert_array_equal(curves.places, SMALL_EDGES[j])
        assert_allclose(curves.mean, np.average(expected, axis=0, weights=weights), atol=1e-9)
        centred = expected - expected.mean(axis=1, keepdims=True)
        for rows in np.split(np.arange(N), 3):  # the folds, in turn: one teacher is not compared with another
            centred[rows] -= np.average(centred[rows], axis=0, weights=weights[rows])
        spread = np.sqrt(np.average(centred**2, axis=0, weights=weights))
        assert_allclose(curves.spread, spread, atol=1e-7)
    assert found[0][0].observed.sum() > 0.1


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classes_as_by_the_oracle(name: str, n_classes: int) -> None:
    y = np.digitize(SMALL_Y, [1.0, 1.8][: n_classes - 1])
    splits, teacher = every_kth(N, 3), CLASSIFIERS[name]
    found = fast(SMALL_X, y, splits, teacher, SMALL_EDGES, kind="multiclass")
    for j, (variation, curves) in enumerate(found):
        expected, weights = slow_curves(SMALL_X, y, splits, teacher, j, SMALL_EDGES[j])
        assert_allclose(variation.observed, slow_variation(expected, weights), rtol=1e-9, atol=1e-12)
        assert_allclose(curves.mean, expected.mean(axis=0), atol=1e-9)
        assert_array_equal(curves.outputs, range(n_classes))
    assert found[0][0].observed.sum() > 0.1


def test_the_default_teacher_as_by_the_oracle() -> None:
    X, splits = table(160, 2), every_kth(160, 2)
    y = np.sign(X[:, 0] * X[:, 1]) + 0.1 * X[:, 0]
    edges = [np.quantile(each, np.linspace(0, 1, 6)) for each in X.T]
    numbers = encoded(y).ravel()
    teacher = HistGradientBoostingRegressor(early_stopping=False)
    for j, (variation, _) in enumerate(fast(X, y, splits, None, edges)):
        expected = slow_variation(*slow_curves(X, numbers, splits, teacher, j, edges[j]))
        assert_allclose(variation.observed, expected, rtol=1e-9)
        assert variation.observed.sum() > 1


def test_several_outputs_vary_as_one_vector() -> None:
    splits, teacher = every_kth(N, 3), REGRESSORS["tree"]
    Y = encoded(np.column_stack([SMALL_Y, 50 * SMALL_X[:, 2]]))
    found = fast(SMALL_X, Y, splits, teacher, SMALL_EDGES, kind="continuous-multioutput")
    for j, (variation, _) in enumerate(found):
        outputs = [slow_curves(SMALL_X, numbers, splits, teacher, j, SMALL_EDGES[j]) for numbers in Y.T]
        together = np.concatenate([curves for curves, _ in outputs], axis=2)
        assert_allclose(variation.observed, slow_variation(together, outputs[0][1]), rtol=1e-9, atol=1e-12)


def test_overlapping_and_partial_splits_as_by_the_oracle() -> None:
    splits = [*every_kth(N, 3)[:2], (np.arange(40, 80), np.arange(30))]
    teacher = REGRESSORS["tree"]
    numbers = encoded(SMALL_Y).ravel()
    for j, (variation, _) in enumerate(fast(SMALL_X, numbers, splits, teacher, SMALL_EDGES)):
        expected = slow_variation(*slow_curves(SMALL_X, numbers, splits, teacher, j, SMALL_EDGES[j]))
        assert_allclose(variation.observed, expected, rtol=1e-9, atol=1e-12)


def test_context_is_seen_but_not_swept_by_the_oracle() -> None:
    splits, teacher = every_kth(N, 3), REGRESSORS["tree"]
    numbers = encoded(SMALL_Y).ravel()
    found = fast(SMALL_X[:, 1:], numbers, splits, teacher, SMALL_EDGES[1:], context=SMALL_X[:, :1])
    assert len(found) == 2
    reordered = SMALL_X[:, [1, 2, 0]]
    for j, (variation, _) in enumerate(found):
        expected = slow_variation(*slow_curves(reordered, numbers, splits, teacher, j, SMALL_EDGES[j + 1]))
        assert_allclose(variation.observed, expected, rtol=1e-9, atol=1e-12)


def test_the_estimator_is_the_oracle_with_quantile_bins() -> None:
    splits, teacher = every_kth(N, 3), REGRESSORS["tree"]
    numbers = encoded(SMALL_Y).ravel()
    fitted = conditional(7, teacher=teacher, cv=splits, shrinkage=0, n_curves=3 * N).fit(SMALL_X, numbers)
    for j, edges in enumerate(fitted.bin_edges_):
        expected = slow_variation(*slow_curves(SMALL_X, numbers, splits, teacher, j, edges))
        expected = slow_smoothed(expected, N)
        assert_allclose(fitted.variation_[j], expected, rtol=1e-9, atol=1e-12)
        assert_allclose(fitted.output_widths_[j], expected / expected.sum(), atol=1e-6)


@pytest.mark.parametrize("n_rows", [2, 300, 10**5, 10**9])
@pytest.mark.parametrize("n_bins", [1, 2, 7, 64, 256])
def test_smoothing_is_the_oracle_s(n_bins: int, n_rows: int) -> None:
    variation = np.random.default_rng(n_bins).exponential(size=n_bins) ** 3
    assert_allclose(smoothed(variation, n_rows), slow_smoothed(variation, n_rows), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("n_bins", [513, 2000, 100_000])
def test_smoothing_of_many_bins_is_that_of_fewer(n_bins: int) -> None:
    variation = np.random.default_rng(n_bins).exponential(size=n_bins)
    smooth = smoothed(variation, 1000)
    assert_allclose(smooth.sum(), variation.sum(), rtol=1e-9)
    assert smooth.min() >= 0
    tenths = np.linspace(0, n_bins, 11)
    few = np.diff(
        np.interp(np.linspace(0, n_bins, 129), np.arange(n_bins + 1), np.r_[0, np.cumsum(variation)])
    )
    found = np.diff(np.interp(tenths, np.arange(n_bins + 1), np.r_[0, np.cumsum(smooth)]))
    expected = np.diff(
        np.interp(tenths, np.linspace(0, n_bins, 129), np.r_[0, np.cumsum(slow_smoothed(few, 1000))])
    )
    assert_allclose(found, expected, rtol=0.01)


def test_curves_held_a_few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = (SMALL_X, SMALL_Y, every_kth(N, 3), REGRESSORS["tree"], SMALL_EDGES)
    whole = fast(*arguments)
    monkeypatch.setattr(tabstretch._conditional, "_NUMBERS_AT_ONCE", 30)
    for (variation, curves), (few, few_curves) in zip(whole, fast(*arguments), strict=True):
        assert_allclose(variation.observed, few.observed, rtol=1e-12)
        assert_allclose(curves.spread, few_curves.spread, atol=1e-7)
