"""Which rows teachers see, and with what weights: the same every time."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from oracle import Array
from samples import column, every_kth, half_l1, noisy_target, repeat_splits
from sklearn.ensemble import (
    RandomForestRegressor,
)
from sklearn.model_selection import GroupKFold, KFold
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from taught import boosted, conditional, same_fit, table

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
        assert seen.shape == (60, 2 + 3 + 14)
        own = np.column_stack([X, context])[train]
        order, own_order = np.argsort(seen[:, 0]), np.argsort(own[:, 0])
        assert_array_equal(seen[:, :5][order], own[own_order])
        for shadow in range(14):
            j = shadow // 7
            assert np.isin(seen[:, 5 + shadow], X[:, j]).all()
            assert not np.array_equal(seen[:, 5 + shadow], seen[:, j])


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
