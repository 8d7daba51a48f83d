"""Folds: which rows are held out together, and which rows train the model that predicts them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import check_cv
from sklearn.utils import check_random_state

from tabstretch._kernels import deal_by_key, deal_in_order
from tabstretch._sampling import hash_rows, seed_of
from tabstretch._target import REGRESSION, Target

# Among the rows of a block, so many that come more than once are told apart; a power of two.
_COPIES_SOUGHT = 1 << 16
# Rows of the same value are told apart by so many outputs of a regression.
_OUTPUTS_COMPARED = 8


@dataclass(frozen=True)
class Folds:
    """A partition of the rows (`assignment`), or arbitrary splits into training and held-out rows.

    In a partition, row i is held out in fold `assignment[i]` and trains all the others; -1 marks a
    row that is never held out.
    """

    n_folds: int
    assignment: NDArray[np.int32] | None = None
    splits: list[tuple[NDArray[np.intp], NDArray[np.intp]]] = field(default_factory=list)

    def along(self, x: NDArray[Any]) -> Folds:
        """Return these folds, which are the same for all columns."""
        return self

    def repeat(self, counts: NDArray[np.intp]) -> Folds:
        """Return the folds of data in which every row stands as often as it counts, copies together."""
        if self.assignment is not None:
            return Folds(self.n_folds, np.repeat(self.assignment, counts))
        copies = np.split(np.arange(counts.sum()), np.cumsum(counts)[:-1])

        def of(rows: NDArray[np.intp]) -> NDArray[np.intp]:
            return np.concatenate([np.empty(0, dtype=np.intp), *(copies[row] for row in rows)])

        return Folds(self.n_folds, None, [(of(train), of(test)) for train, test in self.splits])

    def rows(self) -> Splits:
        """Return the training and the held-out rows of every fold that has both."""
        pairs = self.splits
        if self.assignment is not None:
            held = [self.assignment == fold for fold in range(self.n_folds)]
            pairs = [(np.flatnonzero(~test), np.flatnonzero(test)) for test in held]
        return [(train, test) for train, test in pairs if len(train) and len(test)]


Splits = list[tuple[NDArray[np.intp], NDArray[np.intp]]]


@dataclass(frozen=True)
class Dealer:
    """Deals the same shuffled folds to the rows of every column, in the order of its values.

    So neither the order of rows nor another column has a say in what becomes of a column. Of rows with the
    same value, target and weight it does not matter which is in which fold.
    """

    n_folds: int
    dealt: NDArray[np.int32]
    """Shuffled fold numbers, class by class."""
    order: NDArray[np.intp]
    """Rows by class, then target, then weight."""
    starts: NDArray[np.intp]
    """Where each class begins in these, and the end."""

    @classmethod
    def of(
        cls, n_folds: int, target: Target, weight: NDArray[np.float64] | None, random_state: Any
    ) -> Dealer:
        """Deal for the rows of a target."""
        counts = np.array([target.n_rows]) if target.labels is None else np.bincount(target.labels)
        starts = np.concatenate([[0], np.cumsum(counts)])
        return cls(
            n_folds, _shuffled_by_class(n_folds, starts, random_state), _order_of(target, weight), starts
        )

    def along(self, x: NDArray[Any]) -> Folds:
        """Return the folds for a column."""
        assignment = np.empty(len(x), dtype=np.int32)
        for start, stop in pairwise(self.starts):
            rows = self.order[start:stop]
            of_class = x[rows]
            # An order of ties is not asked of the sort, for that takes it many times as long.
            deal_in_order(of_class, np.argsort(of_class), rows, self.dealt[start:stop], assignment)
        return Folds(self.n_folds, assignment)


def _order_of(target: Target, weight: NDArray[np.float64] | None) -> NDArray[np.intp]:
    """Return the rows by class or target, then weight."""
    keys: list[NDArray[Any]] = [] if weight is None else [weight]
    if target.labels is not None:
        keys.append(target.labels)
    elif target.kind in REGRESSION:
        keys.extend(target.values.T[:_OUTPUTS_COMPARED][::-1])
    else:  # indicators: a number that only equal rows share
        keys.append(target.values @ np.random.RandomState(0).uniform(0.5, 1.0, target.n_outputs))
    return np.lexsort(keys)


def requested_splits(cv: Any, X: Any, y: Any, split_params: dict[str, Any]) -> int | Splits:
    """Return the number of folds asked for, or the splits that a splitter or an iterable gives."""
    wanted = f"cv must be an integer of at least 2, a splitter or an iterable of splits, got {cv!r}"
    if isinstance(cv, Integral) and not isinstance(cv, bool):
        if cv < 2:
            raise ValueError(wanted)
        if split_params:
            raise ValueError(
                f"{sorted(split_params)} need a splitter that uses them, such as GroupKFold, got cv={cv}"
            )
        return int(cv)
    if isinstance(cv, str) or not (hasattr(cv, "split") or isinstance(cv, Iterable)):
        raise ValueError(wanted)
    splits = [
        (_row_numbers(train), _row_numbers(test)) for train, test in check_cv(cv).split(X, y, **split_params)
    ]
    if not splits:
        raise ValueError(f"cv must give at least one split, got none from {cv!r}")
    return splits


def _row_numbers(rows: Any) -> NDArray[np.intp]:
    """Return row numbers from row numbers or from a mask."""
    rows = np.asarray(rows)
    return np.flatnonzero(rows) if rows.dtype == bool else rows.astype(np.intp)


def keep_rows(splits: int | Splits, kept: NDArray[np.bool_]) -> int | Splits:
    """Renumber splits for data from which only the rows `kept` remain."""
    if isinstance(splits, int):
        return splits
    number = np.cumsum(kept) - 1
    return [(number[train[kept[train]]], number[test[kept[test]]]) for train, test in splits]


def make_folds(
    splits: int | Splits, target: Target, random_state: Any, order: NDArray[np.intp] | None = None
) -> Folds:
    """Make folds from splits or from a number.

    A number gives shuffled folds, stratified by class for classes, and no more of them than the
    smallest class has rows, nor than leave two rows to hold out in each (but at least two). Rows are taken in
    the `order` given, or in that of the data.
    """
    if not isinstance(splits, int):
        return _as_partition(splits, target.n_rows) or Folds(len(splits), None, splits)
    ordered = target if order is None else target.take(order)
    n_folds = _allowed(splits, target)
    dealt = deal_folds(n_folds, target.n_rows, ordered.labels, random_state)
    if order is None:
        return Folds(n_folds, dealt)
    assignment = np.empty_like(dealt)
    assignment[order] = dealt
    return Folds(n_folds, assignment)


def make_column_folds(
    splits: int | Splits,
    X: NDArray[Any],
    target: Target,
    weight: NDArray[np.float64] | None,
    random_state: Any,
    block: int | None = None,
) -> Folds | Dealer:
    """Make folds from splits, or from a number a dealer, with as many folds as `make_folds` has.

    More rows than a `block` has are dealt out by all of their values, as those of files are.
    """
    if not isinstance(splits, int):
        return make_folds(splits, target, random_state)
    n_folds = _allowed(splits, target)
    if block is None or target.n_rows <= block:
        return Dealer.of(n_folds, target, weight, random_state)
    seed = seed_of(random_state)
    columns = [*X.T, *([] if target.raw is None else target.raw.T)]
    dealt = np.empty(target.n_rows, dtype=np.int32)
    for start in range(0, target.n_rows, block):
        rows = slice(start, start + block)
        labels = None if target.labels is None else target.labels[rows]
        dealt[rows] = deal_by_values(splits, [column[rows] for column in columns], labels, seed)
    return Folds(n_folds, dealt % n_folds)


def _allowed(n_folds: int, target: Target) -> int:
    return allowed_folds(
        n_folds, target.n_rows, None if target.labels is None else np.bincount(target.labels)
    )


def allowed_folds(n_folds: int, n_rows: int, class_counts: NDArray[np.intp] | None) -> int:
    """Return the number of folds that the rows, and the members of the smallest class, allow."""
    smallest = n_rows if class_counts is None else int(class_counts[class_counts > 0].min())
    return max(2, min(n_folds, n_rows // 2, smallest))


def deal_folds(
    n_folds: int, n_rows: int, labels: NDArray[np.int32] | None, random_state: Any
) -> NDArray[np.int32]:
    """Return shuffled fold numbers of equal frequency, also within each class."""
    if labels is None:
        return _shuffled_by_class(n_folds, np.array([0, n_rows]), random_state)
    starts = np.concatenate([[0], np.cumsum(np.bincount(labels))])
    assignment = np.empty(n_rows, dtype=np.int32)
    assignment[np.argsort(labels, kind="stable")] = _shuffled_by_class(n_folds, starts, random_state)
    return assignment


def _shuffled_by_class(n_folds: int, starts: NDArray[np.intp], random_state: Any) -> NDArray[np.int32]:
    """Return fold numbers for rows that stand class by class.

    Dealing them out in turn and shuffling within classes stratifies the folds and keeps their sizes equal.
    """
    random_state = check_random_state(random_state)
    dealt = np.resize(np.arange(n_folds, dtype=np.int32), starts[-1])
    for start, stop in pairwise(starts):
        random_state.shuffle(dealt[start:stop])
    return dealt


def deal_by_values(
    n_folds: int, columns: Sequence[NDArray[Any]], labels: NDArray[np.int32] | None, seed: int
) -> NDArray[np.int32]:
    """Return fold numbers that the values of rows decide, wherever they stand; copies of a row take turns.

    `columns` hold all numbers, those of the target included. Copies have the same label besides.
    """
    key = hash_rows([seed, 3], columns)
    fold = np.empty(len(key), dtype=np.int32)
    latest, n_copies = np.zeros(_COPIES_SOUGHT, np.uint64), np.zeros(_COPIES_SOUGHT, np.int32)
    labels = np.empty(0, dtype=np.int32) if labels is None else labels
    deal_by_key(key, labels, latest, n_copies, n_folds, fold)
    return fold


def _as_partition(splits: Splits, n_rows: int) -> Folds | None:
    """Return splits in which every row trains exactly where it is not held out as a partition."""
    assignment = np.full(n_rows, -1, dtype=np.int32)
    for fold, (train, test) in enumerate(splits):
        if len(train) + len(test) != n_rows or np.any(assignment[test] >= 0):
            return None
        assignment[test] = fold
        trains = np.zeros(n_rows, dtype=bool)
        trains[train] = True
        trains[test] = False
        if np.count_nonzero(trains) != len(train):
            return None
    return Folds(len(splits), assignment)
