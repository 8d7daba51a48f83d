"""Conditional variation: teachers that see all columns find what no column shows alone, and no more."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from oracle import Array, Folds, stretch_widths
from samples import column, every_kth, half_l1, noisy_target, repeat_splits
from sklearn.base import clone, is_classifier
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, PoissonRegressor, Ridge
from sklearn.model_selection import GroupKFold, KFold
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import tabstretch._conditional
import tabstretch._target
from tabstretch import SupervisedStretchTransformer
from tabstretch._conditional import Teaching, conditional_variation
from tabstretch._folds import make_folds

BINS = 16
EVEN = np.full(BINS, 1 / BINS)


def conditional(n_bins: Any = BINS, **params: Any) -> SupervisedStretchTransformer:
    """The target alone decides, unless said otherwise."""
    options: dict[str, Any] = {"variation": "conditional", "rank_weight": 0.0, "value_weight": 0.0}
    return SupervisedStretchTransformer(n_bins, **{**options, **params})


def boosted(*, classes: bool = False, **params: Any) -> Any:
    """The default teacher, but cheap."""
    booster = HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor
    return booster(**{"max_iter": 15, "max_leaf_nodes": 8, "early_stopping": False, **params})


def table(n: int, n_columns: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).normal(size=(n, n_columns))


def same_fit(a: SupervisedStretchTransformer, b: SupervisedStretchTransformer) -> None:
    for one, other in zip(a.bin_edges_, b.bin_edges_, strict=True):
        assert_array_equal(one, other)
    for one, other in zip(a.variation_, b.variation_, strict=True):
        assert_array_equal(one, other)
    for one, other in zip(a.output_widths_, b.output_widths_, strict=True):
        assert_array_equal(one, other)
    assert_array_equal(a.shrinkage_, b.shrinkage_)


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
    teaching = Teaching(teacher, n_curves, target, folds, weight, len(X), np.random.RandomState(0), None)
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
        assert_allclose(fitted.variation_[j], expected, rtol=1e-9, atol=1e-12)
        assert_allclose(fitted.output_widths_[j], expected / expected.sum(), atol=1e-6)


def test_curves_held_a_few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = (SMALL_X, SMALL_Y, every_kth(N, 3), REGRESSORS["tree"], SMALL_EDGES)
    whole = fast(*arguments)
    monkeypatch.setattr(tabstretch._conditional, "_NUMBERS_AT_ONCE", 30)
    for (variation, curves), (few, few_curves) in zip(whole, fast(*arguments), strict=True):
        assert_allclose(variation.observed, few.observed, rtol=1e-12)
        assert_allclose(curves.spread, few_curves.spread, atol=1e-7)


# What noise shows


def test_under_pure_noise_columns_show_what_their_shadows_show() -> None:
    ratios = []
    for seed in range(4):
        X = table(300, 4, seed)
        y = np.random.default_rng(seed + 100).normal(size=300)
        target = tabstretch._target.encode_target(y, "continuous")
        folds = make_folds(4, target, 0)
        teaching = Teaching(boosted(), 100, target, folds, None, len(X), np.random.RandomState(0), None)
        edges = [np.quantile(each, np.linspace(0, 1, BINS + 1)) for each in X.T]
        found = conditional_variation(X, None, edges, teaching, with_noise=True)
        ratios += [variation.observed.sum() / variation.noise.sum() for variation, _, _ in found]
    assert np.mean(ratios) == pytest.approx(1, abs=0.25)
    assert max(ratios) < 2


def stray(fitted: SupervisedStretchTransformer, columns: Any) -> list[float]:
    return [half_l1(fitted.output_widths_[j], EVEN) for j in columns]


@pytest.mark.parametrize("classes", [False, True])
def test_a_target_of_pure_noise_leaves_every_column_to_its_rank(classes: bool) -> None:
    strays = []
    for seed in range(4):
        rng = np.random.default_rng(seed + 50)
        y = rng.integers(0, 2, size=400) if classes else rng.normal(size=400)
        strays += stray(conditional(n_curves=200).fit(table(400, 4, seed), y), range(4))
    assert np.mean(strays) < 0.03
    assert np.mean(np.array(strays) < 1e-9) >= 0.8


@pytest.mark.parametrize("classes", [False, True])
def test_columns_of_noise_beside_a_strong_signal_are_left_to_their_rank(classes: bool) -> None:
    strays = []
    for seed in range(4):
        rng = np.random.default_rng(seed + 50)
        X = table(600, 5, seed)
        y = 2 * np.tanh(2 * X[:, 0]) + (0.5 if classes else 1.0) * rng.normal(size=600)
        fitted = conditional(n_curves=200).fit(X, y > 0 if classes else y)
        strays += stray(fitted, range(1, 5))
        assert fitted.shrinkage_[0] < 0.05
        assert stray(fitted, [0])[0] > 0.2
    assert np.mean(strays) < 0.03
    assert np.mean(np.array(strays) < 1e-9) >= 0.8


def test_without_taking_noise_out_noise_is_stretched_for() -> None:
    """The tests above mean something: teachers overfit."""
    y = np.random.default_rng(50).normal(size=400)
    fitted = conditional(n_curves=200, shrinkage=0).fit(table(400, 4), y)
    assert np.mean(stray(fitted, range(4))) > 0.1


# Interactions


def marginal(X: Array, y: Any) -> SupervisedStretchTransformer:
    return SupervisedStretchTransformer(
        BINS, variation="within_fold", rank_weight=0.0, value_weight=0.0, random_state=0
    ).fit(X, y)


def room_around_zero(fitted: SupervisedStretchTransformer, j: int) -> float:
    """The share of the output range between the neighbours of the bin that holds zero."""
    at = int(np.searchsorted(fitted.bin_edges_[j], 0.0)) - 1
    return float(fitted.output_widths_[j][at - 1 : at + 2].sum())


@pytest.mark.parametrize("seed", [0, 2])
def test_xor_is_invisible_to_each_column_alone_and_found_by_teachers(seed: int) -> None:
    X = table(800, 4, seed)
    y = np.where(X[:, 0] * X[:, 1] > 0, "same", "different")
    assert max(stray(marginal(X, y), [0, 1])) < 0.05
    found = conditional(n_curves=200).fit(X, y)
    for j in (0, 1):
        assert found.shrinkage_[j] < 0.01
        assert room_around_zero(found, j) > 0.8
        assert found.variation_[j].sum() > 20 * max(found.variation_[2].sum(), found.variation_[3].sum())


@pytest.mark.parametrize("seed", [0, 3])
def test_a_product_is_invisible_to_each_column_alone_and_found_by_teachers(seed: int) -> None:
    X = table(800, 4, seed)
    y = X[:, 0] * X[:, 1] + 0.1 * np.random.default_rng(seed + 9).normal(size=800)
    assert max(stray(marginal(X, y), [0, 1])) < 0.05
    found = conditional(n_curves=200).fit(X, y)
    assert np.all(found.shrinkage_[:2] < 0.05)
    signal, noise = (
        np.array([each.sum() for each in found.variation_[part]]) for part in (slice(2), slice(2, 4))
    )
    assert signal.min() > 8 * noise.max()
    summary = found.summary()
    assert np.all(summary["total_variation"][:2] > 4 * summary["marginal_variation"][:2])


def test_a_step_in_one_half_of_another_column_gets_the_room() -> None:
    X = table(800, 3, seed=1)
    y = np.where((X[:, 0] > 0.5) & (X[:, 1] > 0), 1.0, 0.0) + 0.05 * X[:, 2]
    fitted = conditional(n_curves=200).fit(X, y)
    at = int(np.searchsorted(fitted.bin_edges_[0], 0.5)) - 1
    assert fitted.output_widths_[0][at - 1 : at + 2].sum() > 0.7
    assert room_around_zero(fitted, 1) > 0.7


# Every kind of target, every kind of teacher


M = 120
KIND_X = np.column_stack([table(M, 2, seed=5), column("missing", M, 6)])
KIND_F = KIND_X[:, 0] * np.sign(KIND_X[:, 1]) + 0.3 * KIND_X[:, 0]
KINDS: dict[str, Any] = {
    "continuous": KIND_F,
    "binary": KIND_F > 0,
    "multiclass": np.digitize(KIND_F, [-0.5, 0.5]),
    "strings": np.array(["low", "middle", "up"])[np.digitize(KIND_F, [-0.5, 0.5])],
    "multilabel-indicator": np.column_stack([KIND_F > 0, KIND_X[:, 0] > 0]).astype(int),
    "continuous-multioutput": np.column_stack([KIND_F, 1e6 * KIND_X[:, 0]]),
    "multiclass-multioutput": np.column_stack([KIND_F > 0, np.digitize(KIND_X[:, 0], [-1, 1])]).astype(int),
}
TEACHERS: dict[str, tuple[Any, Any]] = {
    "default": (None, None),
    "forest": (RandomForestRegressor(n_estimators=5), RandomForestClassifier(n_estimators=5)),
    "tree": (DecisionTreeRegressor(), DecisionTreeClassifier()),
    "pipeline": (
        make_pipeline(SimpleImputer(), Ridge()),
        make_pipeline(SimpleImputer(), LogisticRegression()),
    ),
}


@pytest.mark.parametrize("teacher", TEACHERS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_target_and_teacher(kind: str, teacher: str) -> None:
    y = KINDS[kind]
    fitted = conditional(8, teacher=TEACHERS[teacher]["continuous" not in kind], n_curves=30, cv=2)
    output = fitted.fit_transform(KIND_X, y)
    assert fitted.target_type_ == {"strings": "multiclass"}.get(kind, kind)
    assert (fitted.classes_ is None) == ("continuous" in kind)
    assert_array_equal(np.isnan(output), np.isnan(KIND_X))
    assert np.nanmin(output) == 0
    assert np.nanmax(output) == 1
    assert all(np.all(np.diff(edges) > 0) for edges in fitted.output_edges_)
    assert np.all((fitted.shrinkage_ >= 0) & (fitted.shrinkage_ <= 1))
    raw = clone(fitted).set_params(shrinkage=0).fit(KIND_X, y)
    assert raw.variation_[0].sum() > 0.05
    assert_array_equal(raw.shrinkage_, 0)


def test_two_classes_as_numbers_labels_and_one_of_two_outputs() -> None:
    """However two classes are written, the maps are the same."""
    y = KIND_F > 0
    teacher = DecisionTreeClassifier(max_depth=4, random_state=0)
    first = conditional(8, teacher=teacher, cv=2).fit(KIND_X, y)
    for same in (y.astype(int), np.where(y, "b", "a"), np.where(y, 7, -2)):
        same_fit(first, conditional(8, teacher=teacher, cv=2).fit(KIND_X, same))


# The same every time


@pytest.mark.parametrize("teacher", [None, RandomForestRegressor(n_estimators=3)])
def test_the_same_seed_gives_the_same_bits(teacher: Any) -> None:
    X, y = table(200, 3), table(200, 1, seed=1).ravel()
    y += X[:, 0] * X[:, 1]
    first = conditional(teacher=teacher, n_curves=60).fit(X, y)
    same_fit(first, conditional(teacher=teacher, n_curves=60).fit(X, y))
    same_fit(first, conditional(teacher=teacher, n_curves=60, n_jobs=2).fit(X, y))
    same_fit(first, conditional(teacher=teacher, n_curves=60).fit(np.asfortranarray(X), y))
    same_fit(first, conditional(teacher=teacher, n_curves=60).fit(X.tolist(), y.tolist()))
    other = conditional(teacher=teacher, n_curves=60, random_state=1).fit(X, y)
    assert not np.array_equal(first.variation_[0], other.variation_[0])
    state = np.random.RandomState(0)
    drawn = conditional(teacher=teacher, n_curves=60, random_state=state).fit(X, y)
    again = conditional(teacher=teacher, n_curves=60, random_state=state).fit(X, y)
    assert not np.array_equal(drawn.variation_[0], again.variation_[0])


def test_single_precision_is_nearly_the_same() -> None:
    X = table(300, 2)
    y = np.tanh(3 * X[:, 0]) * X[:, 1]
    narrow = X.astype(np.float32)
    fitted = conditional(teacher=boosted(), n_curves=100).fit(narrow, y)
    same_fit(fitted, conditional(teacher=boosted(), n_curves=100).fit(narrow.astype(float), y))
    assert fitted.transform(narrow).dtype == np.float32
    wide = conditional(teacher=boosted(), n_curves=100).fit(X, y)
    assert_allclose(fitted.transform(narrow), wide.transform(X), atol=0.02)


def test_nothing_is_left_behind_in_the_arguments() -> None:
    X, context = table(100, 2), table(100, 2, seed=3)
    y, weight = X[:, 0] * X[:, 1], np.arange(100) % 3 + 0.5
    arguments = [X, y, weight, context]
    copies = [each.copy() for each in arguments]
    for each in arguments:
        each.setflags(write=False)
    conditional(teacher=boosted(), n_curves=40).fit(X, y, sample_weight=weight, context=context)
    for each, copy in zip(arguments, copies, strict=True):
        assert_array_equal(each, copy)


# Weights and folds


@pytest.mark.parametrize("teacher", [None, DecisionTreeRegressor(max_depth=5)])
def test_rows_without_weight_change_nothing(teacher: Any) -> None:
    X = table(200, 2)
    y = X[:, 0] * X[:, 1]
    weight = np.where(np.arange(200) < 160, 2.0, 0.0)
    X[160:], y[160:] = 1e6, -1e6
    context = np.where(weight[:, None] > 0, 1.0, 99.0)
    splits = every_kth(200, 4)
    kept = [(train[train < 160], test[test < 160]) for train, test in splits]
    zeros = conditional(teacher=teacher, cv=splits, n_curves=60)
    zeros.fit(X, y, sample_weight=weight, context=context)
    dropped = conditional(teacher=teacher, cv=kept, n_curves=60)
    dropped.fit(X[:160], y[:160], sample_weight=weight[:160], context=context[:160])
    same_fit(zeros, dropped)


@pytest.mark.parametrize("kind", ["regression", "3 classes"])
def test_weights_are_repeated_rows_for_a_teacher_that_takes_them_so(kind: str) -> None:
    x = column("normal", 120)
    X = np.column_stack([x, column("normal", 120, 7)])
    y = noisy_target(x, kind)
    weight = np.random.default_rng(0).integers(0, 4, size=120)
    splits, copies = every_kth(120, 3), np.repeat(np.arange(120), weight)
    tree = DecisionTreeRegressor if kind == "regression" else DecisionTreeClassifier
    options: dict[str, Any] = {"teacher": tree(max_depth=3, random_state=0), "shrinkage": 0, "n_curves": 3000}
    weighted = conditional(8, cv=splits, **options).fit(X, y, sample_weight=weight)
    repeated = conditional(8, cv=repeat_splits(splits, copies), **options).fit(X[copies], y[copies])
    for a, b in zip(weighted.output_widths_, repeated.output_widths_, strict=True):
        assert_allclose(a, b, rtol=1e-7)


def test_weights_of_one_are_no_weights() -> None:
    X = table(200, 2)
    y = X[:, 0] * X[:, 1]
    plain = conditional(n_curves=60).fit(X, y)
    for weight in (np.ones(200), 0.25, 1.0):
        ones = conditional(n_curves=60).fit(X, y, sample_weight=weight)
        for a, b in zip(plain.output_widths_, ones.output_widths_, strict=True):
            assert half_l1(a, b) < 1e-6


def test_splitters_iterables_and_groups_give_the_same_folds() -> None:
    X = table(120, 2)
    y = X[:, 0] * X[:, 1]
    teacher = DecisionTreeRegressor(max_depth=5)
    by_splitter = conditional(teacher=teacher, cv=KFold(3), n_curves=30).fit(X, y)
    same_fit(by_splitter, conditional(teacher=teacher, cv=list(KFold(3).split(X)), n_curves=30).fit(X, y))
    masks = [
        (np.isin(np.arange(120), train), np.isin(np.arange(120), test)) for train, test in KFold(3).split(X)
    ]
    same_fit(by_splitter, conditional(teacher=teacher, cv=masks, n_curves=30).fit(X, y))
    groups = np.repeat(np.arange(12), 10)
    grouped = conditional(teacher=teacher, cv=GroupKFold(3), n_curves=30).fit(X, y, groups=groups)
    splits = list(GroupKFold(3).split(X, y, groups))
    same_fit(grouped, conditional(teacher=teacher, cv=splits, n_curves=30).fit(X, y))
    assert not np.array_equal(grouped.variation_[0], by_splitter.variation_[0])
    with pytest.raises(ValueError, match="groups"):
        conditional(cv=3).fit(X, y, groups=groups)


# What the teacher gets to see


class Recording(DecisionTreeRegressor):
    """A tree that remembers what it was shown."""

    fits: list[Array] = []  # noqa: RUF012  # shared by all clones
    asked: list[Array] = []  # noqa: RUF012

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        Recording.fits.append(np.array(X))
        return super().fit(X, y, sample_weight)

    def predict(self, X: Any) -> Any:
        Recording.asked.append(np.array(X))
        return super().predict(X)


@pytest.fixture
def recording() -> Any:
    Recording.fits.clear()
    Recording.asked.clear()
    return Recording(max_depth=3)


def test_teachers_see_columns_shadows_and_context_of_other_folds(recording: Any) -> None:
    X, context = table(80, 2), table(80, 3, seed=8)
    splits = every_kth(80, 4)
    conditional(teacher=recording, cv=splits, n_curves=12).fit(X, X[:, 0], context=context)
    assert len(Recording.fits) == 4
    for seen, (train, _) in zip(Recording.fits, splits, strict=True):
        assert seen.shape == (60, 2 + 2 + 3)
        own = np.column_stack([X, context])[train]
        order, own_order = np.argsort(seen[:, 0]), np.argsort(own[:, 0])
        assert_array_equal(seen[:, :5][order], own[own_order])
        for j in (0, 1):
            assert np.isin(seen[:, 5 + j], X[:, j]).all()
            assert not np.array_equal(seen[:, 5 + j], seen[:, j])


def test_a_number_for_shrinkage_needs_no_shadows(recording: Any) -> None:
    X = table(80, 2)
    conditional(teacher=recording, cv=4, n_curves=12, shrinkage=0.5).fit(X, X[:, 0])
    assert [seen.shape for seen in Recording.fits] == [(60, 2)] * 4


@pytest.mark.parametrize(("n_curves", "per_fold"), [(1, 1), (12, 3), (13, 4), (10_000, 20)])
def test_as_many_curves_as_asked_for(recording: Any, n_curves: int, per_fold: int) -> None:
    """Each fold's share, rounded up, and no more than it holds out; all of them rows it has not trained."""
    X = table(80, 2)
    splits = every_kth(80, 4)
    conditional(5, teacher=recording, cv=splits, n_curves=n_curves, shrinkage=0).fit(X, X[:, 0])
    assert [len(rows) for rows in Recording.asked] == [per_fold * 6] * 8
    for number, rows in enumerate(Recording.asked):
        still = 1 if number < 4 else 0
        assert len(np.unique(rows[:, still])) == per_fold
        assert np.isin(rows[:, still], X[splits[number % 4][1], still]).all()


@pytest.mark.parametrize("splits", [None, 3, every_kth(300, 5)])
def test_teachers_see_no_more_rows_than_they_may(recording: Any, splits: Any) -> None:
    X = table(300, 2)
    transformer = conditional(teacher=recording, cv=splits, n_curves=20, teacher_rows=100, shrinkage=0)
    transformer.fit(X, X[:, 0])
    seen = np.unique(np.concatenate([fit[:, 0] for fit in Recording.fits]))
    assert len(seen) == 100
    assert max(len(fit) for fit in Recording.fits) < 100
    rows = np.flatnonzero(np.isin(X[:, 0], seen))
    assert rows.min() < 30
    assert rows.max() > 270
    assert_array_equal(transformer.bin_edges_[0][[0, -1]], [X[:, 0].min(), X[:, 0].max()])
    assert transformer.variation_[0].sum() > 1


def test_fewer_rows_for_teachers_with_weights_context_and_classes() -> None:
    X = table(300, 2)
    y = np.where(X[:, 0] * X[:, 1] > 0, "same", "different")
    y[0] = "rare"
    fitted = conditional(teacher_rows=90, n_curves=40, teacher=boosted(classes=True))
    fitted.fit(X, y, sample_weight=np.arange(300) % 3 + 1.0, context=X[:, :1] > 0)
    assert len(fitted.classes_) == 3
    assert np.all(np.isfinite(fitted.transform(X)))


def test_as_many_rows_as_there_are_is_all_of_them() -> None:
    X = table(100, 2)
    y = X[:, 0] * X[:, 1]
    teacher = DecisionTreeRegressor(max_depth=4)
    enough, plenty = (
        conditional(teacher=teacher, teacher_rows=n, n_curves=30).fit(X, y) for n in (100, 10**9)
    )
    same_fit(enough, plenty)


# Bins


def test_more_bins_than_places() -> None:
    X = table(1500, 1)
    y = np.tanh(4 * X[:, 0])
    fine = conditional(1400, teacher=boosted(), n_curves=20, shrinkage=0).fit(X, y)
    coarse = conditional(64, teacher=boosted(), n_curves=20, shrinkage=0).fit(X, y)
    assert fine.n_bins_[0] == 1400
    assert len(fine.variation_[0]) == 1400
    assert np.all(np.diff(fine.output_edges_[0]) > 0)
    assert_allclose(fine.variation_[0].sum(), coarse.variation_[0].sum(), rtol=0.02)
    assert_allclose(fine.transform(coarse.bin_edges_[0][:, None]).ravel(), coarse.output_edges_[0], atol=0.05)


def test_bins_column_by_column() -> None:
    X = np.column_stack([table(1200, 2), column("ties", 1200)])
    y = np.tanh(X[:, 0]) * X[:, 1]
    fitted = conditional([3, 1100, 40], teacher=boosted(), n_curves=20).fit(X, y)
    assert list(fitted.n_bins_[:2]) == [3, 1100]
    assert [len(each) for each in fitted.variation_] == list(fitted.n_bins_)
    assert fitted.n_bins_[2] < 20


def test_one_bin_is_min_max_scaling() -> None:
    X = table(100, 2)
    output = conditional(1, teacher=boosted(), n_curves=20).fit_transform(X, X[:, 0])
    assert_allclose(output, (X - X.min(axis=0)) / np.ptp(X, axis=0), atol=1e-12)


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


# Invariants


def test_the_units_of_the_target_do_not_matter() -> None:
    X = table(400, 3)
    y = X[:, 0] * X[:, 1] + 0.2 * X[:, 2]
    plain = conditional(teacher=boosted(), n_curves=100).fit(X, y)
    for changed in (1000 * y + 7, -y, 1e-200 * y, 1e250 * y):
        fitted = conditional(teacher=boosted(), n_curves=100).fit(X, changed)
        for a, b in zip(plain.output_widths_, fitted.output_widths_, strict=True):
            assert half_l1(a, b) < 0.02


def test_a_monotone_change_of_the_columns_hardly_moves_the_variation() -> None:
    X = table(600, 2)
    y = X[:, 0] * X[:, 1]
    plain = conditional(teacher=boosted(), n_curves=100).fit(X, y)
    changed = conditional(teacher=boosted(), n_curves=100).fit(np.exp(2 * X), y)
    for a, b in zip(plain.variation_, changed.variation_, strict=True):
        assert_allclose(b.sum(), a.sum(), rtol=0.05)
        assert half_l1(b / b.sum(), a / a.sum()) < 0.05


def test_a_column_upside_down_is_stretched_upside_down() -> None:
    X = table(400, 2)
    y = np.exp(X[:, 0]) * np.sign(X[:, 1])
    plain = conditional(teacher=boosted(), n_curves=100, shrinkage=0).fit(X, y)
    flipped = conditional(teacher=boosted(), n_curves=100, shrinkage=0).fit(-X, y)
    for a, b in zip(plain.output_widths_, flipped.output_widths_, strict=True):
        assert half_l1(a, b[::-1]) < 0.08
        assert half_l1(a, b) > 0.15 or half_l1(a, a[::-1]) < 0.1


def test_the_order_of_columns_hardly_matters() -> None:
    X = table(400, 3)
    y = X[:, 0] * X[:, 1] + 0.2 * X[:, 2]
    plain = conditional(teacher=boosted(), n_curves=100, shrinkage=0).fit(X, y)
    turned = conditional(teacher=boosted(), n_curves=100, shrinkage=0).fit(X[:, ::-1], y)
    for a, b in zip(plain.output_widths_, turned.output_widths_[::-1], strict=True):
        assert half_l1(a, b) < 0.01


def test_an_additive_target_gets_its_own_slopes() -> None:
    X = table(1200, 2)
    y = np.tanh(2 * X[:, 0]) + np.tanh(3 * X[:, 1] - 2) + 0.02 * np.random.default_rng(3).normal(size=1200)
    fitted = conditional(8, n_curves=100).fit(X, y)
    for j, f in enumerate((lambda x: np.tanh(2 * x), lambda x: np.tanh(3 * x - 2))):
        grid = np.linspace(fitted.bin_edges_[j][:-1], fitted.bin_edges_[j][1:], 100)
        slopes = np.abs(np.diff(f(grid), axis=0)).sum(axis=0)
        assert half_l1(fitted.output_widths_[j], slopes / slopes.sum()) < 0.12
        assert fitted.variation_[j].sum() == pytest.approx(slopes.sum() / y.std(), rel=0.15)


def test_blend_with_rank_and_value_as_for_any_variation() -> None:
    X = np.column_stack([table(150, 1), column("lognormal", 150)])
    y = X[:, 0] * np.log(X[:, 1])
    fitted = conditional(8, teacher=boosted(), n_curves=40, shrinkage=0.3, rank_weight=0.7, value_weight=1.5)
    fitted.fit(X, y)
    for variation, edges, widths in zip(
        fitted.variation_, fitted.bin_edges_, fitted.output_widths_, strict=True
    ):
        assert_allclose(widths, stretch_widths(variation, None, edges, 0.3, 0.7, 1.5), rtol=1e-9)


@pytest.mark.parametrize("times", [2.0, 5.0])
def test_rows_that_count_several_times_make_no_noise_a_signal(times: float) -> None:
    strays = []
    for seed in range(3):
        X, y = table(300, 4, seed), np.random.default_rng(seed + 70).normal(size=300)
        fitted = conditional(n_curves=100).fit(X, y, sample_weight=np.full(300, times))
        strays += stray(fitted, range(4))
    assert np.mean(strays) < 0.03


def test_a_linear_teacher_makes_nothing_of_wide_columns_of_noise() -> None:
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.uniform(size=(600, 4)), rng.lognormal(sigma=2, size=(600, 2))])
    y = X[:, 0] + 0.3 * rng.normal(size=600)
    fitted = conditional(teacher=Ridge(), n_curves=100).fit(X, y)
    assert fitted.shrinkage_[0] < 0.1
    assert np.mean(fitted.shrinkage_[1:]) > 0.75


def test_a_teacher_learns_counts_as_counts() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(400, 2))
    y = rng.poisson(np.exp(3 * X[:, 0]))
    fitted = conditional(teacher=PoissonRegressor(), target_type="continuous", n_curves=50).fit(X, y)
    assert fitted.shrinkage_[0] < 0.1
    assert fitted.output_widths_[0][-4:].sum() > 1.3 * fitted.output_widths_[0][:4].sum()
