"""No row's own target reaches its own estimate."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from oracle import Array
from samples import TARGETS, every_kth, noisy_target
from sklearn.linear_model import Ridge
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from taught import boosted

from tabstretch import StretchTransformer, SupervisedStretchTransformer
from tabstretch._cells import cut_into_cells
from tabstretch._conditional import Teaching, _give_lectures
from tabstretch._folds import Folds
from tabstretch._order import key_of_rows
from tabstretch._target import Target, encode_target
from tabstretch._variation import SmoothedColumn

N, FOLDS = 120, 4
X = np.random.default_rng(0).normal(size=(N, 2)).round(1)  # with ties
FOLD = (np.arange(N) % FOLDS).astype(np.int32)
PARTITION = Folds(FOLDS, FOLD)
# The same as splits, in which the last rows train nobody: they are held out only.
SPLITS = Folds(FOLDS, None, [(train[train < 100], held) for train, held in every_kth(N, FOLDS)])
every_target = pytest.mark.parametrize("kind", TARGETS)
folds_of_both_kinds = pytest.mark.parametrize("folds", [PARTITION, SPLITS], ids=["partition", "splits"])


def target_of(kind: str) -> Target:
    target = encode_target(
        noisy_target(X[:, 0], kind), "continuous" if kind == "regression" else "multiclass"
    )
    return with_label(target, None)


def with_label(target: Target, row: int | None) -> Target:
    """The same target but for one row, if any, which gets another class, or a number far from all others.

    Units are kept: by themselves they would follow the number, and change all others alike.
    """
    rows = [] if row is None else [row]
    if target.codes is not None:
        codes = target.codes.copy()
        codes[rows] = (codes[rows] + 1) % target.n_outputs
        return replace(target, codes=codes)
    values = target.values.copy()
    values[rows] = 1 - values[rows] if target.classes is not None else 1e6
    raw = None if target.raw is None else values * target.scale + target.shift
    return replace(target, values=values, square=np.einsum("ij,ij->i", values, values), raw=raw)


def trained_by(row: int, folds: Folds) -> list[int]:
    """The folds whose models learn from a row."""
    return [fold for fold in range(FOLDS) if fold != FOLD[row] and (folds is PARTITION or row < 100)]


def curves(target: Target, folds: Folds, weight: Array | None = None) -> list[Array]:
    """What each fold's model predicts for its own held-out values."""
    x = np.ascontiguousarray(X[:, 0])
    column = SmoothedColumn(cut_into_cells(x, weight), target, folds, weight, 10.0)
    sums = column.sums(column.blocks[0])
    return [column.smooth_fold(sums, fold)[1].estimate for fold in range(folds.n_folds)]


@every_target
@folds_of_both_kinds
@pytest.mark.parametrize("weighted", [False, True])
def test_each_label_in_turn_moves_the_estimates_of_all_folds_but_its_own(
    kind: str, folds: Folds, weighted: bool
) -> None:
    weight = np.random.default_rng(1).uniform(0.1, 3.0, size=N) if weighted else None
    target = target_of(kind)
    before = curves(target, folds, weight)
    moved = may_move = 0
    for row in range(N):
        after = curves(with_label(target, row), folds, weight)
        for fold in range(FOLDS):
            if fold in trained_by(row, folds):
                may_move += 1
                moved += not np.array_equal(after[fold], before[fold])
            else:  # to the bit
                assert_array_equal(after[fold], before[fold], err_msg=f"row {row}, fold {fold}")
    assert moved > 0.98 * may_move  # a row far out may be beyond everybody's reach


def sweeps(target: Target, folds: Folds) -> list[Array]:
    """The curves that each fold's teachers predict for rows they have not seen, shadows included."""
    table = np.column_stack([X, X])
    teacher = boosted(classes=target.classes is not None)
    teaching = Teaching(teacher, 40, target, folds, None, key_of_rows(X), N, np.random.RandomState(0), None)
    lectures = _give_lectures(table, range(2, 4), teaching)
    places = np.linspace(-2, 2, 9)
    return [
        np.concatenate(
            [lecture.rows.ravel()]
            + [
                teacher.sweep(lecture.rows, j, places).ravel()
                for teacher in lecture.teachers
                for j in range(4)
            ]
        )
        for lecture in lectures
    ]


@every_target
@folds_of_both_kinds
def test_teachers_never_see_the_labels_of_the_rows_they_are_asked_about(kind: str, folds: Folds) -> None:
    target = target_of(kind)
    before = sweeps(target, folds)
    for row in (33, 50, 103):
        after = sweeps(with_label(target, row), folds)
        trains = trained_by(row, folds)
        for fold in range(FOLDS):
            if fold not in trains:
                assert_array_equal(after[fold], before[fold], err_msg=f"row {row}, fold {fold}")
        assert any(not np.array_equal(after[fold], before[fold]) for fold in trains) or not trains


@pytest.mark.parametrize("variation", ["within_fold", "pooled", "conditional"])
@every_target
def test_labels_that_are_only_held_out_move_no_width(variation: str, kind: str) -> None:
    """Whatever they are; labels that train move some."""
    y = noisy_target(X[:, 0], kind)
    splits = [(np.flatnonzero(FOLD[:100] > 1), np.flatnonzero(fold == FOLD)) for fold in (0, 1)]

    def widths(y: Any) -> Array:
        stretch = SupervisedStretchTransformer(8, cv=splits, variation=variation, shrinkage=0, n_curves=40)
        return np.concatenate(stretch.fit(X, y).output_widths_)

    before = widths(y)
    for row, trains in ((0, False), (5, False), (101, False), (2, True)):
        other = y.copy()
        # Another row's label in exchange keeps the mean and the classes as they are.
        partner = next(r for r in range(row % 4, N, 4) if y[r] != y[row] and (r < 100) == (row < 100))
        other[[row, partner]] = other[[partner, row]]
        assert np.allclose(widths(other), before, rtol=0, atol=1e-12) != trains, f"row {row}"


@pytest.mark.parametrize(("variation", "draws"), [("within_fold", 8), ("pooled", 8), ("conditional", 3)])
def test_under_a_target_of_noise_supervision_gains_nothing(variation: str, draws: int) -> None:
    """Neither validated on rows that the stretch has not seen, nor where it was fitted to all rows before."""
    gains = []
    for seed in range(draws):
        rng = np.random.default_rng(seed)
        table, y = rng.lognormal(size=(200, 2)), rng.normal(size=200)
        supervised = SupervisedStretchTransformer(
            16, variation=variation, value_weight=0, n_curves=40, cv=2, n_neighbors=10
        )
        plain = StretchTransformer(16, value_weight=0)
        beforehand = supervised.fit(table, y).transform(table)
        for model in (KNeighborsRegressor(15), Ridge(1.0)):
            without, honest = (
                cross_val_score(make_pipeline(stretch, model), table, y, cv=2).mean()
                for stretch in (plain, supervised)
            )
            gains.append((honest - without, cross_val_score(model, beforehand, y, cv=2).mean() - without))
    error = np.std(gains, axis=0) / np.sqrt(len(gains))
    assert np.all(np.mean(gains, axis=0) < 2 * error + 1e-3)
