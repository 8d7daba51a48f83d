"""An order of rows that does not depend on how they came: chance then treats the same data the same way."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tabstretch._lessons import Lesson

# With more equal rows than this, on average, they are not copies.
_MOST_COPIES = 5


def key_of_rows(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how far from the middle the ranks of every row are, summed over columns."""
    key = np.zeros(len(table))
    for column in table.T:
        key += _spread(_distance_from_middle(column))
    return key


def rows_in_order(key: NDArray[np.float64], lessons: list[Lesson]) -> NDArray[np.intp]:
    """Return the numbers of rows in an order that only the data decide: their keys, and what they teach.

    It depends neither on the order of rows and columns nor on units, directions or labels. Rows that are
    alike in all of this keep their order.
    """
    key = key.copy()
    for lesson in lessons:
        if lesson.n_classes:
            counts = np.bincount(lesson.y, minlength=lesson.n_classes)
            key += 2.0 * _spread(counts[lesson.y] / len(key))
        else:
            key += 2.0 * _spread(_distance_from_middle(lesson.y))
    # Sums of the same numbers in another order differ in their last digits.
    return np.argsort(np.round(key, 9), kind="stable")


def copies_of_rows(table: NDArray[np.float64], lessons: list[Lesson], n_rows: float) -> NDArray[np.intp]:
    """Return a number for every row that only equal rows share, or one for each row.

    Equal rows are copies of one where there are few of them. Where most are equal, as in tables of few
    categories, they are rows of their own. `n_rows` is the number of rows before weights repeated any.
    """
    random = np.random.RandomState(0)
    key = np.zeros(len(table))
    for column in (*table.T, *(lesson.y for lesson in lessons)):
        key += random.uniform(0.5, 1.0) * np.where(np.isnan(column), np.pi, column)
    distinct, copy = np.unique(key, return_inverse=True)
    if _MOST_COPIES * len(distinct) < n_rows:
        return np.arange(len(table))
    return np.asarray(copy.ravel(), dtype=np.intp)


def _distance_from_middle(column: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how far the rank of each value among the distinct ones is from the middle; 2 for NaN."""
    values, rank = np.unique(column, return_inverse=True)
    n_values = int(np.sum(~np.isnan(values)))
    distance = np.abs(2.0 * rank.ravel() / max(n_values - 1, 1) - 1.0)
    return np.where(np.isnan(column), 2.0, distance)


def _spread(distance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return numbers whose sums are equal only where the numbers are."""
    return np.asarray(np.power(distance, 1.7))
