"""Teachers: who may teach, what they are asked to learn, and what they say when one column moves."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from oracle import Array
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import tabstretch._teacher
from tabstretch import SupervisedStretchTransformer
from tabstretch._lessons import MANY_CLASSES, Lesson, make_lessons
from tabstretch._target import encode_target, resolve_target_type
from tabstretch._teacher import FittedTeacher, check_teacher, sweep_by_prediction

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 3))
Y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.1 * RNG.normal(size=200)
CLASSES = np.digitize(Y, [-0.7, 0.7])
PLACES = np.linspace(-2, 2, 9)


def conditional(**params: Any) -> SupervisedStretchTransformer:
    options: dict[str, Any] = {"n_bins": 4, "rank_weight": 0.5, "value_weight": 0.5, "n_curves": 20, "cv": 3}
    return SupervisedStretchTransformer(**{**options, "variation": "conditional", **params})


# Who may teach


@pytest.mark.parametrize("teacher", [RandomForestRegressor, "forest", 3, np.mean, object()])
def test_a_teacher_is_an_estimator_not_a_class_or_a_name(teacher: Any) -> None:
    with pytest.raises(ValueError, match="teacher must be None or a scikit-learn estimator, got "):
        check_teacher(teacher, classes=False, weighted=False)
    with pytest.raises(ValueError, match="teacher must be None or a scikit-learn estimator"):
        conditional(teacher=teacher).fit(X, Y)


@pytest.mark.parametrize("teacher", [DecisionTreeClassifier(), StandardScaler(), make_pipeline(LinearSVC())])
def test_numbers_need_a_regressor(teacher: Any) -> None:
    with pytest.raises(ValueError, match=r"teacher must be a regressor, since the target holds numbers, got"):
        check_teacher(teacher, classes=False, weighted=False)
    with pytest.raises(ValueError, match="teacher must be a regressor"):
        conditional(teacher=teacher).fit(X, Y)


@pytest.mark.parametrize("teacher", [DecisionTreeRegressor(), StandardScaler(), LinearSVC()])
@pytest.mark.parametrize("y", [Y > 0, CLASSES, np.column_stack([Y > 0, Y > 1]).astype(int)])
def test_classes_need_a_classifier_that_gives_probabilities(teacher: Any, y: Any) -> None:
    with pytest.raises(ValueError, match=r"teacher must be a classifier with predict_proba.*got"):
        conditional(teacher=teacher).fit(X, y)


def test_a_calibrated_classifier_may_teach() -> None:
    teacher = CalibratedClassifierCV(LinearSVC(), cv=2)
    fitted = conditional(teacher=teacher).fit(X, Y > 0)
    assert fitted.variation_[1].sum() > 0.5


def test_weights_need_a_teacher_that_takes_them() -> None:
    weight = np.arange(200) % 3 + 1.0
    teacher = KNeighborsRegressor()
    conditional(teacher=teacher).fit(X, Y)
    conditional(teacher=teacher).fit(X, Y, sample_weight=weight)  # whole weights are copies of rows
    with pytest.raises(ValueError, match=r"teacher must take sample_weight in fit.*KNeighborsRegressor"):
        conditional(teacher=teacher).fit(X, Y, sample_weight=weight + 0.5)
    weighted = conditional(teacher=DecisionTreeRegressor(max_depth=4)).fit(X, Y, sample_weight=weight)
    plain = conditional(teacher=DecisionTreeRegressor(max_depth=4)).fit(X, Y)
    assert not np.array_equal(weighted.variation_[0], plain.variation_[0])


@pytest.mark.parametrize("classes", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_default_may_always_teach(classes: bool, weighted: bool) -> None:
    check_teacher(None, classes=classes, weighted=weighted)


def test_a_wrong_teacher_is_refused_before_anything_is_learnt() -> None:
    transformer = conditional(teacher=DecisionTreeClassifier())
    with pytest.raises(ValueError, match="regressor"):
        transformer.fit(X, Y)
    assert not hasattr(transformer, "maps_")


# The user's own object


@pytest.mark.parametrize(
    "teacher",
    [
        RandomForestRegressor(n_estimators=2),
        make_pipeline(SimpleImputer(), Ridge()),
        HistGradientBoostingRegressor(max_iter=2),
    ],
)
def test_the_users_teacher_is_cloned(teacher: Any) -> None:
    before = repr(clone(teacher).get_params())
    transformer = conditional(teacher=teacher).fit(X, Y)
    assert transformer.teacher is teacher
    assert repr(teacher.get_params()) == before
    assert not hasattr(teacher, "n_features_in_")
    for step in getattr(teacher, "named_steps", {}).values():
        assert not hasattr(step, "n_features_in_")


def curves(teacher: Any, seed: int) -> Array:
    return FittedTeacher(teacher, X, Lesson(Y), Y, None, seed).sweep(X[:10], 0, PLACES)


@pytest.mark.parametrize(
    "teacher",
    [
        RandomForestRegressor(n_estimators=3, random_state=None),
        make_pipeline(SimpleImputer(), RandomForestRegressor(n_estimators=3)),
    ],
)
def test_what_is_left_to_chance_is_seeded(teacher: Any) -> None:
    assert_array_equal(curves(teacher, 1), curves(teacher, 1))
    assert not np.array_equal(curves(teacher, 1), curves(teacher, 2))
    first, second = (conditional(teacher=teacher).fit(X, Y) for _ in range(2))
    for a, b in zip(first.output_widths_, second.output_widths_, strict=True):
        assert_array_equal(a, b)


def test_a_seed_of_the_users_own_is_kept() -> None:
    teacher = RandomForestRegressor(n_estimators=3, random_state=7)
    assert_array_equal(curves(teacher, 1), curves(teacher, 2))
    own = sweep_by_prediction(clone(teacher).fit(X, Y), X[:10], 0, PLACES)
    assert_array_equal(curves(teacher, 1), own)


# Curves


@pytest.mark.parametrize("column", [0, 2])
def test_curves_are_predictions_of_rows_whose_one_column_moves(column: int) -> None:
    fitted = DecisionTreeRegressor(max_depth=5, random_state=0).fit(X, Y)
    expected = np.empty((10, len(PLACES), 1))
    for i, row in enumerate(X[:10]):
        for t, value in enumerate(PLACES):
            moved = row.copy()
            moved[column] = value
            expected[i, t] = fitted.predict(moved[None])
    assert_array_equal(sweep_by_prediction(fitted, X[:10], column, PLACES), expected)


def test_rows_in_batches_give_the_same_curves(monkeypatch: pytest.MonkeyPatch) -> None:
    fitted = DecisionTreeClassifier(max_depth=5, random_state=0).fit(X, CLASSES)
    whole = sweep_by_prediction(fitted, X[:31], 0, PLACES)
    for size in (1, 4 * 9 * 3 * 8):
        monkeypatch.setattr(tabstretch._teacher, "_BATCH_BYTES", size)
        assert_array_equal(sweep_by_prediction(fitted, X[:31], 0, PLACES), whole)


def test_the_rows_are_left_alone() -> None:
    rows = X[:10].copy()
    sweep_by_prediction(DecisionTreeRegressor().fit(X, Y), rows, 0, PLACES)
    assert_array_equal(rows, X[:10])


@pytest.mark.parametrize("teacher", [None, DecisionTreeClassifier(max_depth=3), LogisticRegression()])
def test_a_class_that_the_training_rows_lack_has_probability_zero(teacher: Any) -> None:
    """Of the classes 0 to 3 the training rows know 0 and 2, later 1, 2 and 3."""
    lesson = Lesson(np.arange(200) % 4, n_classes=4)
    y = np.where(Y > 0, 2, 0)
    probability = FittedTeacher(teacher, X, lesson, y, None, 0).sweep(X[:10], 0, PLACES)
    assert probability.shape == (10, len(PLACES), 4)
    assert_array_equal(probability[:, :, [1, 3]], 0)
    assert_allclose(probability.sum(axis=2), 1)
    two = FittedTeacher(teacher, X, Lesson(y // 2, n_classes=2), y // 2, None, 0).sweep(X[:10], 0, PLACES)
    assert_allclose(probability[:, :, [0, 2]], two, rtol=1e-9, atol=1e-12)
    three = FittedTeacher(teacher, X, lesson, CLASSES + 1, None, 0).sweep(X[:10], 0, PLACES)
    assert_array_equal(three[:, :, 0], 0)
    assert np.all(three[:, :, 1:].mean(axis=(0, 1)) > 0.05)


@pytest.mark.parametrize("teacher", [None, DecisionTreeClassifier(), DummyRegressor()])
@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_nothing_to_learn_gives_flat_curves(teacher: Any, n_classes: int) -> None:
    lesson = Lesson(np.ones(200, dtype=int), n_classes)
    flat = FittedTeacher(teacher, X, lesson, lesson.y, None, 0).sweep(X[:10], 0, PLACES)
    assert flat.shape == (10, len(PLACES), max(n_classes, 1))
    assert_array_equal(np.diff(flat, axis=1), 0)


def test_an_indicator_is_one_probability() -> None:
    y = (Y > 0).astype(int)
    both = FittedTeacher(None, X, Lesson(y, 2), y, None, 0).sweep(X[:10], 0, PLACES)
    second = FittedTeacher(None, X, Lesson(y, 2, first=1), y, None, 0).sweep(X[:10], 0, PLACES)
    assert_array_equal(second, both[:, :, 1:])


@pytest.mark.parametrize(
    ("teacher", "same"),
    [
        (None, HistGradientBoostingRegressor(early_stopping=False)),
        (DecisionTreeRegressor(max_depth=3), DecisionTreeRegressor(max_depth=3)),
    ],
)
def test_weights_reach_the_teacher(teacher: Any, same: Any) -> None:
    weight = np.where(Y > 0, 5.0, 0.5)
    expected = same.set_params(random_state=4).fit(X, Y, sample_weight=weight)
    found = FittedTeacher(teacher, X, Lesson(Y), Y, weight, 4).sweep(X[:10], 0, PLACES)
    assert_allclose(found, sweep_by_prediction(expected, X[:10], 0, PLACES), rtol=1e-12)
    assert found.mean() > FittedTeacher(teacher, X, Lesson(Y), Y, None, 4).sweep(X[:10], 0, PLACES).mean()


# What they learn


KINDS: dict[str, Any] = {
    "continuous": Y,
    "binary": Y > 0,
    "multiclass": CLASSES,
    "multilabel-indicator": np.column_stack([Y > 0, X[:, 0] > 1, np.ones(200)]).astype(int),
    "continuous-multioutput": np.column_stack([Y, 100 * X[:, 0]]),
    "multiclass-multioutput": np.column_stack([CLASSES, np.digitize(X[:, 0], [-1, 0, 1])]),
}


def lessons_of(y: Any, *, by_default: bool = True) -> list[Lesson]:
    return make_lessons(
        encode_target(np.asarray(y), resolve_target_type(np.asarray(y), "auto")), by_default=by_default
    )


@pytest.mark.parametrize("kind", KINDS)
def test_lessons_of_every_kind_of_target(kind: str) -> None:
    y = KINDS[kind]
    assert resolve_target_type(y, "auto") == kind
    lessons = lessons_of(y)
    columns = y.reshape(200, -1)
    assert len(lessons) == columns.shape[1]
    for lesson, column in zip(lessons, columns.T, strict=True):
        classes, codes = np.unique(column, return_inverse=True)
        if "continuous" in kind:
            assert lesson.n_classes == lesson.first == 0
            assert_allclose(lesson.y, (column - column.mean()) / column.std(), atol=1e-12)
        elif kind == "multilabel-indicator":
            assert (lesson.n_classes, lesson.first) == (2, 1)
            assert_array_equal(lesson.y, column)
        else:
            assert (lesson.n_classes, lesson.first) == (len(classes), 0)
            assert_array_equal(lesson.y, codes)


def test_two_classes_by_another_name() -> None:
    target = encode_target(np.where(Y > 0, "yes", "no"), "multiclass")
    (lesson,) = make_lessons(target, by_default=True)
    assert lesson.n_classes == 2
    assert_array_equal(lesson.y, Y > 0)


def test_many_classes_are_projected_for_the_default_teacher_only() -> None:
    few, many = (np.arange(200) % n for n in (MANY_CLASSES, MANY_CLASSES + 1))
    assert [lesson.n_classes for lesson in lessons_of(few)] == [MANY_CLASSES]
    assert [lesson.n_classes for lesson in lessons_of(many, by_default=False)] == [MANY_CLASSES + 1]
    projections = lessons_of(many)
    assert len(projections) > 1
    assert all(lesson.n_classes == 0 for lesson in projections)


@pytest.mark.parametrize("n_classes", [17, 30, 100])
def test_projections_nearly_keep_distances_between_probabilities(n_classes: int) -> None:
    codes = np.arange(4 * n_classes) % n_classes
    lessons = lessons_of(np.char.zfill(codes.astype(str), 3))  # so many whole numbers would be warned of
    axes = np.array([lesson.y[:n_classes] for lesson in lessons])
    assert_array_equal(axes[0][codes], lessons[0].y)
    rng = np.random.default_rng(0)
    some = rng.dirichlet(np.full(n_classes, 0.2), size=(2, 2000))
    change = some[0] - some[1]
    ratio = np.linalg.norm(change @ axes.T, axis=1) / np.linalg.norm(change, axis=1)
    assert ratio.mean() == pytest.approx(1, abs=0.15)
    assert np.std(ratio) < 0.35
    assert ratio.min() > 0.1
    assert ratio.max() < 2.5


def test_projected_classes_find_the_same_column() -> None:
    """Twenty classes along the first column: projections and probabilities agree where the variation is."""
    rng = np.random.default_rng(1)
    table = rng.normal(size=(600, 2))
    y = np.digitize(table[:, 0], np.linspace(-1.5, 1.5, 19))
    forest = RandomForestClassifier(n_estimators=5, max_depth=8, random_state=0)
    for teacher in (None, forest):
        fitted = conditional(teacher=teacher, n_bins=8).fit(table, y)
        first, second = (variation.sum() for variation in fitted.variation_)
        assert first > 4 * second
        assert fitted.shrinkage_[0] < 0.1
        assert fitted.shrinkage_[1] > 0.5


def test_a_boosted_classifier_of_the_users_own_learns_the_classes() -> None:
    booster = HistGradientBoostingClassifier(max_iter=5, early_stopping=False)
    y = np.arange(200) % 18
    fitted = conditional(teacher=booster).fit(X, y)
    assert fitted._columns[0].curves.outputs.max() < 18
    assert np.all(fitted._columns[0].curves.mean >= 0)
