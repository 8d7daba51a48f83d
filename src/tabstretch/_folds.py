"""Folds: which rows are held out together, and which rows train the model that predicts them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import check_cv
from sklearn.utils import check_random_state

from tabstretch._kernels import deal_rows
from tabstretch._sampling import seed_of
from tabstretch._target import Target

# Of so many shuffled decks of folds, each fold is in each place of a deck about equally often.
_SHUFFLED_DECKS = 4096


@dataclass(frozen=True)
class Folds:
    """A partition of the rows (`assignment`), or arbitrary splits into training and held-out rows.

    In a partition, row i is held out in fold `assignment[i]` and trains all the others; -1 marks a
    row that is never held out.
    """

    n_folds: int
    assignment: NDArray[np.int32] | None = None
    splits: list[tuple[NDArray[np.intp], NDArray[np.intp]]] = field(default_factory=list)

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
    splits: int | Splits,
    target: Target,
    random_state: Any,
    block: int | None = None,
    order: NDArray[np.intp] | None = None,
) -> Folds:
    """Make folds from splits or from a number.

    A number gives shuffled folds, stratified by class for classes, and no more of them than the
    smallest class has rows, nor than leave two rows to hold out in each (but at least two). More rows than
    a `block` has are dealt out as those of files are, block by block. Rows are taken in the `order` given, or
    in that of the data.
    """
    if isinstance(splits, int):
        if order is None:
            return _shuffled_folds(splits, target, random_state, block)
        folds = _shuffled_folds(splits, target.take(order), random_state, block)
        assert folds.assignment is not None
        assignment = np.empty_like(folds.assignment)
        assignment[order] = folds.assignment
        return Folds(folds.n_folds, assignment)
    return _as_partition(splits, target.n_rows) or Folds(len(splits), None, splits)


def _shuffled_folds(wanted: int, target: Target, random_state: Any, block: int | None) -> Folds:
    labels = target.labels
    n_folds = allowed_folds(wanted, target.n_rows, None if labels is None else np.bincount(labels))
    if block is not None and target.n_rows > block:
        dealt = deal_blocks(wanted, labels, target.n_rows, block, seed_of(random_state))
        return Folds(n_folds, dealt % n_folds)
    return Folds(n_folds, deal_folds(n_folds, target.n_rows, labels, random_state))


def allowed_folds(n_folds: int, n_rows: int, class_counts: NDArray[np.intp] | None) -> int:
    """Return the number of folds that the rows, and the members of the smallest class, allow."""
    smallest = n_rows if class_counts is None else int(class_counts[class_counts > 0].min())
    return max(2, min(n_folds, n_rows // 2, smallest))


def deal_folds(
    n_folds: int, n_rows: int, labels: NDArray[np.int32] | None, random_state: Any
) -> NDArray[np.int32]:
    """Return shuffled fold numbers of equal frequency, also within each class."""
    random_state = check_random_state(random_state)
    dealt = _deal(n_rows, n_folds)
    if labels is None:
        random_state.shuffle(dealt)
        return dealt
    # Dealing out the rows class by class stratifies the folds and keeps their sizes equal.
    for members in np.split(dealt, np.cumsum(np.bincount(labels))[:-1]):
        random_state.shuffle(members)
    assignment = np.empty_like(dealt)
    assignment[np.argsort(labels, kind="stable")] = dealt
    return assignment


def deal_in_turn(
    n_folds: int, n_rows: int, labels: NDArray[np.int32] | None, seed: list[int]
) -> NDArray[np.int32]:
    """Return fold numbers of equal frequency, also within each class, faster than by shuffling.

    Each class has a deck of folds, which is shuffled anew whenever all have been dealt. Without classes the
    next deck is one of many that are shuffled beforehand.
    """
    rng = np.random.default_rng(seed)
    start = rng.integers(1, 1 << 63, dtype=np.uint64)
    n_decks = -(-n_rows // n_folds)
    if labels is not None or n_decks <= _SHUFFLED_DECKS:
        return _deal_decks(n_folds, n_rows, labels, start)
    decks = _deal_decks(n_folds, _SHUFFLED_DECKS * n_folds, None, start).reshape(-1, n_folds)
    return np.take(decks, rng.integers(_SHUFFLED_DECKS, size=n_decks), axis=0).reshape(-1)[:n_rows]


def deal_blocks(
    n_folds: int, labels: NDArray[np.int32] | None, n_rows: int, block: int, seed: int
) -> NDArray[np.int32]:
    """Return the folds that rows have which are compressed block by block."""
    parts = []
    for start in range(0, n_rows, block):
        rows = slice(start, min(start + block, n_rows))
        of_block = None if labels is None else labels[rows]
        parts.append(deal_in_turn(n_folds, rows.stop - start, of_block, [seed, start]))
    return np.concatenate(parts)


def _deal_decks(
    n_folds: int, n_rows: int, labels: NDArray[np.int32] | None, start: np.uint64
) -> NDArray[np.int32]:
    fold = np.empty(n_rows, dtype=np.int32)
    n_classes = 1 if labels is None else int(labels.max(initial=0)) + 1
    decks = np.tile(np.arange(n_folds, dtype=np.int32), (n_classes, 1))
    labels = np.empty(0, dtype=np.int32) if labels is None else labels
    deal_rows(labels, decks, np.zeros(n_classes, dtype=np.int64), start, fold)
    return fold


def _deal(n_rows: int, n_folds: int) -> NDArray[np.int32]:
    """Return fold numbers for rows that are dealt out in turn."""
    return np.resize(np.arange(n_folds, dtype=np.int32), n_rows)


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
