"""The order of rows that chance follows: the same however the data came."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from tabstretch._lessons import Lesson
from tabstretch._order import key_of_rows, rows_in_order

RNG = np.random.default_rng(0)
TABLE = RNG.normal(size=(200, 3))
TABLE[::9, 1] = np.nan
TABLE[:, 2] = TABLE[:, 2].round(1)
NUMBERS = Lesson(RNG.normal(size=200))
CODES = Lesson(RNG.choice(3, p=[0.5, 0.3, 0.2], size=200), 3)


def places_of_rows(table: np.ndarray, lessons: list[Lesson]) -> np.ndarray:
    """The place of every row in the order."""
    return np.argsort(rows_in_order(key_of_rows(table), lessons))


PLACES = places_of_rows(TABLE, [NUMBERS, CODES])


def test_every_row_has_a_place_of_its_own() -> None:
    assert_array_equal(np.sort(PLACES), np.arange(200))


def test_the_order_of_rows_does_not_matter() -> None:
    shuffle = RNG.permutation(200)
    lessons = [Lesson(NUMBERS.y[shuffle]), Lesson(CODES.y[shuffle], 3)]
    assert_array_equal(places_of_rows(TABLE[shuffle], lessons), PLACES[shuffle])


@pytest.mark.parametrize(
    "table",
    [TABLE[:, ::-1], TABLE * [3.0, -0.5, 1e9] + [1.0, 2.0, 0.0], np.exp(TABLE)],
    ids=["columns reversed", "other units", "other shapes"],
)
def test_neither_do_units_directions_and_the_order_of_columns(table: np.ndarray) -> None:
    assert_array_equal(places_of_rows(table, [NUMBERS, CODES]), PLACES)


def test_rows_as_far_from_the_middle_are_told_apart() -> None:
    shuffle = RNG.permutation(200)
    one = np.exp(TABLE[:, :1])
    expected = places_of_rows(one, [])
    assert_array_equal(places_of_rows(one[shuffle], []), expected[shuffle])
    assert_array_equal(places_of_rows(5 - 0.3 * one, []), expected)


def test_neither_do_the_target_s_units_and_labels() -> None:
    other = [Lesson(5 - 2 * NUMBERS.y), Lesson(np.array([2, 0, 1])[CODES.y], 3)]
    assert_array_equal(places_of_rows(TABLE, other), PLACES)


def test_copies_of_a_row_stand_together() -> None:
    twice = np.repeat(np.arange(200), 2)
    lessons = [Lesson(NUMBERS.y[twice]), Lesson(CODES.y[twice], 3)]
    assert_array_equal(places_of_rows(TABLE[twice], lessons)[::2] // 2, PLACES)


def test_columns_without_values_and_no_columns() -> None:
    empty = np.column_stack([np.full(200, np.nan), np.ones(200), TABLE])
    assert_array_equal(places_of_rows(empty, [NUMBERS, CODES]), PLACES)
    assert_array_equal(np.sort(places_of_rows(TABLE[:, :0], [NUMBERS])), np.arange(200))
