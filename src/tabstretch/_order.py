"""An order of rows that does not depend on how they came: chance then treats the same data the same way."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabstretch._lessons import Lesson
from tabstretch._magnitude import power_of_two_scale

# With more equal rows than this, on average, they are not copies.
_MOST_COPIES = 5


def key_of_rows(table: NDArray[Any]) -> NDArray[np.float64]:
    """Return how far from the middle the ranks of every row are, and on which side, summed over columns."""
    key = np.zeros((len(table), 2))
    for column in table.T:
        column = np.asarray(column, dtype=np.float64)
        rank = _centred_rank(column)
        key[:, 0] += _spread(_distance_from_middle(rank))
        key[:, 1] += _longer_side(column) * np.nan_to_num(rank)
    return key


def rows_in_order(key: NDArray[np.float64], lessons: list[Lesson]) -> NDArray[np.intp]:
    """Return the numbers of rows in an order that only the data decide: their keys, and what they teach.

    It depends neither on the order of rows and columns nor on units, directions or labels. Rows that are
    alike in all of this keep their order.
    """
    distance, side = key.T.copy()
    for lesson in lessons:
        if lesson.n_classes:
            counts = np.bincount(lesson.y, minlength=lesson.n_classes)
            distance += 2.0 * _spread(counts[lesson.y] / len(key))
        else:
            distance += 2.0 * _spread(_distance_from_middle(_centred_rank(lesson.y)))
    # Sums of the same numbers in another order differ in their last digits.
    return np.lexsort((np.round(side, 9), np.round(distance, 9)))


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


def _centred_rank(column: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the rank of each value among the distinct ones, from -1 to 1."""
    values, rank = np.unique(column, return_inverse=True)
    n_values = int(np.sum(~np.isnan(values)))
    return np.where(np.isnan(column), np.nan, 2.0 * rank.ravel() / max(n_values - 1, 1) - 1.0)


def _distance_from_middle(rank: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(np.isnan(rank), 2.0, np.abs(rank))


def _longer_side(column: NDArray[np.float64]) -> float:
    """Return the direction in which a column has its longer tail, zero where both are as long.

    It tells rows apart that are as far from the middle, and turns with the column's direction.
    """
    values = column[np.isfinite(column)]
    if len(values) == 0:
        return 0.0
    values = values * power_of_two_scale(values)
    from_middle = values - np.median(values)
    reach = float(np.abs(from_middle).max())
    lean = float((from_middle / reach).mean()) if reach > 0.0 else 0.0
    return float(np.sign(lean)) if abs(lean) > 1e-9 else 0.0


def _spread(distance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return numbers whose sums are equal only where the numbers are."""
    return np.asarray(np.power(distance, 1.7))
