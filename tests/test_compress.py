"""Sums per cell and fold, against loops over the rows."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from oracle import Array
from samples import column, every_kth, noisy_target

from tabstretch._cells import cut_into_cells
from tabstretch._compress import sum_by_fold
from tabstretch._folds import make_folds
from tabstretch._target import encode_target, resolve_target_type

N = 90
SPLITS = {
    "partition": list(every_kth(N, 3)),
    "overlapping": [*every_kth(N, 3), *every_kth(N, 2)],
    "leaving rows out": [(np.arange(40), np.arange(50, 80)), (np.arange(30, 90), np.arange(10))],
}


def naive_sums(index: Any, rows: Any, T: Array, weight: Array, n_cells: int) -> Array:
    sums = np.zeros((n_cells, 2 + T.shape[1]))
    for row in rows:
        if index[row] < n_cells:
            sums[index[row]] += weight[row] * np.array([1.0, T[row] @ T[row], *T[row]])
    return sums


@pytest.mark.parametrize("splits", SPLITS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["regression", "3 classes"])
def test_sums_equal_loops(kind: str, weighted: bool, splits: str) -> None:
    x = np.where(np.arange(N) % 7 == 0, np.nan, column("ties", N))
    y = noisy_target(x, kind)
    weight = np.random.default_rng(0).uniform(0.5, 2, size=N) if weighted else None
    target = encode_target(y, resolve_target_type(y, "auto"), weight)
    T = target.values if target.codes is None else np.eye(3)[target.codes]
    cells = cut_into_cells(x, weight)
    sums = sum_by_fold(cells, target, make_folds(SPLITS[splits], target, 0), weight)
    rows_weight = np.ones(N) if weight is None else weight
    for fold, (train, test) in enumerate(SPLITS[splits]):
        naive = naive_sums(cells.index, train, T, rows_weight, cells.n_cells)
        assert_allclose(sums.train_weight[fold], naive[:, 0], atol=1e-9)
        assert_allclose(sums.train_square[fold], naive[:, 1], atol=1e-9)
        assert_allclose(sums.train_total[fold], naive[:, 2:], atol=1e-9)
        held = naive_sums(cells.index, test, T, rows_weight, cells.n_cells)
        assert_allclose(sums.held_weight[fold], held[:, 0], atol=1e-9)
    everything = naive_sums(cells.index, range(N), T, rows_weight, cells.n_cells)
    assert_allclose(np.column_stack([sums.weight, sums.square, sums.total]), everything, atol=1e-9)


def test_some_outputs_only() -> None:
    x = column("ties", N)
    y = np.random.default_rng(0).normal(size=(N, 5))
    target = encode_target(y, "continuous-multioutput")
    folds, cells = make_folds(3, target, 0), cut_into_cells(x)
    whole, part = sum_by_fold(cells, target, folds), sum_by_fold(cells, target, folds, None, slice(2, 4))
    assert_allclose(part.train_total, whole.train_total[:, :, 2:4])
    assert_allclose(part.total, whole.total[:, 2:4])
    assert_allclose(part.square, whole.square)


def test_a_cell_that_one_fold_holds_alone_trains_nobody_in_it() -> None:
    weight = np.random.default_rng(0).uniform(size=N)
    x = np.arange(N) % 3 * 1.0
    target = encode_target(noisy_target(column("normal", N)), "continuous", weight)
    sums = sum_by_fold(cut_into_cells(x, weight), target, make_folds(SPLITS["partition"], target, 0), weight)
    for fold in range(3):
        assert sums.train_weight[fold, fold] == 0
        assert sums.train_total[fold, fold] == 0
