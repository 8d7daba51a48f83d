"""An order of rows that does not depend on how they came: chance then treats the same data the same way."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tabstretch._lessons import Lesson

# With more equal rows than this, on average, they are not copies.
_MOST_COPIES = 5


def places_of_rows(table: NDArray[np.float64], lessons: list[Lesson]) -> NDArray[np.intp]:
    """Return the place of every row in an order that only the data decide.

    It depends neither on the order of rows and columns nor on units, directions or labels: rows are sorted
    by how far from the middle their ranks are, summed over columns. Rows that are alike in all of this keep
    their order.
    """
    key = np.zeros(len(table))
    for column in table.T:
        key += _spread(_distance_from_middle(column))
    for lesson in lessons:
        if lesson.n_classes:
            counts = np.bincount(lesson.y, minlength=lesson.n_classes)
            key += 2.0 * _spread(counts[lesson.y] / len(table))
        else:
            key += 2.0 * _spread(_distance_from_middle(lesson.y))
    # Sums of the same numbers in another order differ in their last digits.
    key = np.round(key, 9)
    place = np.empty(len(table), dtype=np.intp)
    place[np.argsort(key, kind="stable")] = np.arange(len(table))
    return place


def copies_of_rows(table: NDArray[np.float64], lessons: list[Lesson], n_rows: int) -> NDArray[np.intp]:
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
