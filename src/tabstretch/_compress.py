"""Compress a column and its target into sums per cell and fold, from which everything else follows.

The sums of two parts of the data, cut at the same boundaries, add up to those of the whole.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tabstretch._cells import Cells, Column
from tabstretch._folds import Folds
from tabstretch._kernels import add_codes, add_numbers, add_values
from tabstretch._target import Target


@dataclass(frozen=True)
class FoldSums:
    """Sums over rows for every fold and cell, of the held-out and of the training rows.

    Attributes
    ----------
    held_weight, train_weight : arrays of shape (n_folds, n_cells)
        Total weight of the rows.
    held_square, train_square : arrays of shape (n_folds, n_cells)
        Weighted sum of the squared norm of the target.
    held_total, train_total : arrays of shape (n_folds, n_cells, n_outputs)
        Weighted sum of the target.
    weight, square, total : the same over all rows, without the first axis.
    """

    held_weight: Column
    held_square: Column
    held_total: Column
    train_weight: Column
    train_square: Column
    train_total: Column
    weight: Column
    square: Column
    total: Column


def sum_by_fold(
    cells: Cells, target: Target, folds: Folds, weight: Column | None = None, outputs: slice = slice(None)
) -> FoldSums:
    """Sum weight and target (only some `outputs` of it, if there are many) per fold and cell."""
    if folds.assignment is not None:
        return sums_of_partition(
            _sum_rows(cells, target, folds.assignment, folds.n_folds, weight, outputs), folds.n_folds
        )
    held = _sum_splits(cells, target, [test for _, test in folds.splits], weight, outputs)
    train = _sum_splits(cells, target, [train for train, _ in folds.splits], weight, outputs)
    one_group = np.zeros(len(cells.index), dtype=np.int32)
    return _fold_sums(held, train, _sum_rows(cells, target, one_group, 1, weight, outputs)[0])


def sums_of_partition(held: Column, n_folds: int) -> FoldSums:
    """Return the sums of folds from those of the rows that each holds out (see `_sum_rows`)."""
    everything = held.sum(axis=0)
    # Everything less a fold would keep, in its rounding, a trace of the very rows that are held out.
    train = np.zeros_like(held)
    for folds in (range(len(held)), range(len(held) - 1, -1, -1)):
        before = np.zeros_like(everything)
        for fold in folds:
            train[fold] += before
            before += held[fold]
    return _fold_sums(held[:n_folds], train[:n_folds], everything)


def _fold_sums(held: Column, train: Column, everything: Column) -> FoldSums:
    return FoldSums(
        held_weight=np.ascontiguousarray(held[..., 0]),
        held_square=held[..., 1],
        held_total=held[..., 2:],
        train_weight=np.ascontiguousarray(train[..., 0]),
        train_square=np.ascontiguousarray(train[..., 1]),
        train_total=train[..., 2:],
        weight=np.ascontiguousarray(everything[..., 0]),
        square=np.ascontiguousarray(everything[..., 1]),
        total=everything[..., 2:],
    )


def _sum_splits(
    cells: Cells, target: Target, groups: list[NDArray[np.intp]], weight: Column | None, outputs: slice
) -> Column:
    """Sum over groups of rows that may overlap or leave rows out."""
    sums = []
    for rows in groups:
        group = np.full(len(cells.index), -1, dtype=np.int32)
        group[rows] = 0
        sums.append(_sum_rows(cells, target, group, 1, weight, outputs)[0])
    return np.stack(sums)


def _sum_rows(
    cells: Cells,
    target: Target,
    group: NDArray[np.int32],
    n_groups: int,
    weight: Column | None,
    outputs: slice,
) -> Column:
    """Return weight, squared norm and target outputs, summed per group and cell, groups first.

    Rows of group -1 make up one more group at the end.
    """
    sums = sum_cells(cells, target, group, n_groups + 1, weight, outputs)
    return np.ascontiguousarray(sums.transpose(1, 0, 2))


def sum_cells(
    cells: Cells,
    target: Target,
    group: NDArray[np.int32],
    n_groups: int,
    weight: Column | None = None,
    outputs: slice = slice(None),
) -> Column:
    """Return the same with cells first; group -1 is the last of the groups."""
    start, stop, _ = outputs.indices(target.n_outputs)
    sums = np.zeros((cells.n_cells + 1, n_groups, 2 + stop - start))
    weight = np.empty(0) if weight is None else weight
    if target.codes is not None:
        add_codes(cells.index, group, target.codes, weight, start, stop, sums)
    elif target.n_outputs == 1:
        add_numbers(cells.index, group, target.values, weight, sums)
    else:
        add_values(cells.index, group, target.values, target.square, weight, start, stop, sums)
    return sums[:-1]
