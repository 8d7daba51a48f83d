"""`Table`: columns that know what they are, and a target, as every reader returns them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabstretch._validation import is_missing

PARTS = ("train", "val", "test")


@dataclass(frozen=True, eq=False)  # arrays have no single answer to ==
class Table:
    """All rows in the order of the source; a missing number is NaN, a missing category None.

    The target is numbers for regression and labels, as text, for classes. `rows` says which rows are
    training, validation and test where the source has a split of its own.
    """

    name: str
    numeric: dict[str, NDArray[np.float64]]
    categorical: dict[str, list[str | None]]
    target: NDArray[np.float64] | list[str]
    target_name: str
    rows: dict[str, NDArray[np.int64]] | None = None


def as_numbers(column: str, values: Sequence[Any] | NDArray[Any]) -> NDArray[np.float64]:
    """Return finite numbers, NaN where one is missing, or say which value is none."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "biuf":
        with np.errstate(over="ignore"):  # of longer floats; infinities are refused below
            numbers = values.astype(np.float64)
    else:
        numbers = np.array([_as_number(column, row, value) for row, value in enumerate(values)], dtype=float)
    infinite = np.flatnonzero(np.isinf(numbers))
    if infinite.size:
        raise ValueError(
            f"column {column!r} is {numbers[infinite[0]]} in row {infinite[0]} (counting from 0); "
            "replace it or leave it empty"
        )
    return numbers


def _as_number(column: str, row: int, value: Any) -> float:
    if is_missing(value):
        return math.nan
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(
            f"column {column!r} should be numbers but has {value!r} in row {row} (counting from 0)"
        ) from None


def as_labels(values: Iterable[Any]) -> list[str | None]:
    """Return categories as text, the same for 1, 1.0 and "1", and None where one is missing.

    >>> as_labels([1.0, "one", True, None, 2.5])
    ['1', 'one', 'True', None, '2.5']
    """
    return [None if is_missing(value) else _as_label(value) for value in values]


def _as_label(value: Any) -> str:
    if isinstance(value, np.generic):
        value = value.item()
    is_number = isinstance(value, (Real, Decimal)) and not isinstance(value, bool)
    if is_number and math.isfinite(value) and value == int(value):
        value = int(value)  # an integer column with a gap is read as floats
    return str(value)


def sorted_labels(labels: Iterable[str]) -> list[str]:
    """Return each label once: by value if all are numbers, as text otherwise.

    >>> sorted_labels(["10", "9", "10"]), sorted_labels(["10", "9", "few"])
    (['9', '10'], ['10', '9', 'few'])
    """
    distinct = sorted(set(labels))
    try:
        numbers = {label: float(label) for label in distinct}
    except ValueError:
        return distinct
    is_finite = all(map(math.isfinite, numbers.values()))
    return sorted(distinct, key=numbers.__getitem__) if is_finite else distinct


def check_no_missing(column: str, is_gone: Sequence[bool] | NDArray[np.bool_]) -> None:
    """Refuse a target without a value, naming its first row."""
    rows = np.flatnonzero(is_gone)
    if rows.size:
        raise ValueError(
            f"the target {column!r} has no value in row {rows[0]} (counting from 0; {rows.size} such rows "
            "in all); remove these rows, or fill them in: empty cells, NaN and words such as NA and None "
            "count as missing"
        )


def check_names(names: Sequence[str]) -> None:
    """Refuse columns that could not be told apart."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise ValueError(f"more than one column is called {twice[0]!r}; rename or remove all but one")


def listed(names: Sequence[str], limit: int = 30) -> str:
    """Return names for a message, not too many.

    >>> listed(["a", "b", "c"], limit=2)
    "'a', 'b' and 1 more"
    """
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(map(repr, names[:limit])) + more
