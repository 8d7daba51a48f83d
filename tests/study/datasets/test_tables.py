"""Values as numbers and as labels."""

import math
import re
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabstretch.study.datasets.tables import as_labels, as_numbers, check_names, sorted_labels


def test_numbers_of_every_kind() -> None:
    values = [1, 2.5, "3", " 4e0 ", Decimal("5.5"), True, np.float32(0.5), None, math.nan, pd.NA, "nan"]
    expected = [1, 2.5, 3, 4, 5.5, 1, 0.5, math.nan, math.nan, math.nan, math.nan]
    np.testing.assert_array_equal(as_numbers("a", values), expected)
    for dtype in (bool, np.int8, np.uint64, np.float16, np.float32, ">f8"):
        numbers = as_numbers("a", np.array([0, 1, 1], dtype=dtype))
        assert numbers.dtype == np.float64
        assert numbers.tolist() == [0, 1, 1]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1, "1,5"], "column 'a' should be numbers but has '1,5' in row 1 (counting from 0)"),
        (["", 1], "column 'a' should be numbers but has '' in row 0"),
        ([10**400], "column 'a' should be numbers"),
        (np.array([1, np.inf]), "column 'a' is inf in row 1 (counting from 0); replace it or leave it empty"),
        (["-inf"], "column 'a' is -inf in row 0"),
    ],
)
def test_what_is_no_number(values: Any, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        as_numbers("a", values)


def test_labels_do_not_depend_on_the_type_of_a_column() -> None:
    for dtype in (int, float, object, np.int8, np.float32, str):
        assert as_labels(np.array([1, 2, 10], dtype=dtype)) == ["1", "2", "10"]
    assert as_labels(np.array([True, False])) == as_labels([True, False]) == ["True", "False"]
    assert as_labels([Decimal("1.0"), 0.1, "", math.inf, -0.0]) == ["1", "0.1", "", "inf", "0"]
    assert as_labels([None, math.nan, pd.NA, pd.NaT, np.float64("nan")]) == [None] * 5


def test_the_order_of_labels() -> None:
    assert sorted_labels(["b", "a", "B", "b"]) == ["B", "a", "b"]
    assert sorted_labels(["10", "9", "-1", "1.5"]) == ["-1", "1.5", "9", "10"]
    assert sorted_labels(["10", "9", "nan"]) == ["10", "9", "nan"]
    assert sorted_labels([]) == []


@given(st.lists(st.one_of(st.text(), st.integers().map(str))), st.randoms(use_true_random=False))
def test_the_order_of_labels_does_not_depend_on_the_rows(labels: list[str], random: Any) -> None:
    shuffled = labels.copy()
    random.shuffle(shuffled)
    assert sorted_labels(shuffled) == sorted_labels(labels)


def test_names_twice() -> None:
    check_names(["a", "b"])
    with pytest.raises(ValueError, match="more than one column is called 'a'; rename or remove all but one"):
        check_names(["a", "b", "a"])
