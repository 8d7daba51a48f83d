"""A data frame and the options of its source -> `Table`: what each column is, and what is to be learned."""

from __future__ import annotations

import re
from datetime import date, time, timedelta
from decimal import Decimal
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabstretch._extras import import_extra
from tabstretch._target import MOST_INTEGER_CLASSES
from tabstretch._validation import is_temporal
from tabstretch.study.datasets.sources import Source, option
from tabstretch.study.datasets.tables import (
    Table,
    as_labels,
    as_numbers,
    check_names,
    check_no_missing,
    listed,
)

_DATE = re.compile(
    r"\d{4}([-/.])\d{1,2}\1\d{1,2}([ T].*)?"  # 2024-05-31, perhaps with a time
    r"|\d{1,2}([-/.])\d{1,2}\3\d{2}(\d{2})?([ T].*)?"  # 31.5.24, 5/31/2024
)


def table_from_frame(name: str, frame: Any, source: Source, target: str) -> Table:
    """Return the table that a pandas data frame holds, target apart."""
    columns = [str(column) for column in frame.columns]
    check_names(columns)
    frame = frame.set_axis(columns, axis=1)
    for column in (target, *source.numeric, *source.categorical, *source.drop):
        if column not in columns:
            raise ValueError(missing_column(column, columns))
    if len(frame) == 0:
        raise ValueError(f"it has no rows, only the columns {listed(columns)}")
    numeric: dict[str, NDArray[np.float64]] = {}
    categorical: dict[str, list[str | None]] = {}
    for column in columns:
        if column == target or column in source.drop:
            continue
        _check_values(column, frame[column])
        if column in source.numeric:
            numeric[column] = column_numbers(column, frame[column])
        elif column in source.categorical or not _is_number_column(column, frame[column]):
            categorical[column] = as_labels(frame[column].tolist())
        else:
            numeric[column] = column_numbers(column, frame[column])
    if not numeric and not categorical:
        raise ValueError(f"no column is left beside the target {target!r}")
    return Table(name, numeric, categorical, _target(target, frame[target], source.task), target)


def missing_column(name: str, columns: list[str]) -> str:
    """Return what to say of a column that is not there."""
    return f"there is no column {name!r}; available: {listed(columns)}"


def _check_values(name: str, column: Any) -> None:
    """Refuse lists, bytes and whatever else a cell may hold that is one value in no sense."""
    for value in column[column.notna()].tolist() if _kind(column) == "O" else []:
        if not isinstance(value, (str, Real, Decimal, date, time, timedelta)):
            raise ValueError(
                f"column {name!r} holds values of type {type(value).__name__}, which are neither numbers nor "
                f"text; convert it, or leave it out with {option('drop', name)}"
            )


def _is_number_column(name: str, column: Any) -> bool:
    """Tell numbers from categories, and refuse dates, which could be taken for either."""
    pandas = import_extra("pandas", "study")
    if isinstance(column.dtype, pandas.CategoricalDtype) or _kind(column) == "b":
        return False
    if (what := _temporal(column)) is not None:
        left_out, as_it_is = option("drop", name), option("categorical", name)
        raise ValueError(
            _about_dates(name, what, f"leave it out with {left_out}, or take it as it is with {as_it_is}")
        )
    values = column[column.notna()].tolist() if _kind(column) not in "iuf" else []
    return all(isinstance(value, (Real, Decimal)) and not isinstance(value, bool) for value in values)


def _about_dates(name: str, what: str, ways_out: str) -> str:
    return (
        f"column {name!r} holds dates or times ({what}); convert it to numbers, for example days since a "
        f"fixed date, {ways_out}"
    )


def _temporal(column: Any) -> str | None:
    """Return in words which dates or times a column holds, None if it holds something else."""
    pandas = import_extra("pandas", "study")
    if is_temporal(column):
        return str(column.dtype)
    if isinstance(column.dtype, pandas.CategoricalDtype) or _kind(column) != "O":
        return None
    values = column[column.notna()].tolist()
    if any(isinstance(value, (date, time, timedelta)) for value in values):
        return f"such as {values[0]}"
    if values and all(isinstance(value, str) and _DATE.fullmatch(value) for value in values):
        return f"such as {values[0]!r}"
    return None


def _target(name: str, column: Any, task: str | None) -> NDArray[np.float64] | list[str]:
    check_no_missing(name, column.isna().to_numpy())
    _check_values(name, column)
    if task != "classification" and (what := _temporal(column)) is not None:
        way_out = f"or take each for a class with {option('task', 'classification')}"
        raise ValueError(_about_dates(name, what, way_out))
    if task == "regression" or (task is None and _is_number_column(name, column) and _is_quantity(column)):
        return column_numbers(name, column)
    return [label for label in as_labels(column.tolist()) if label is not None]


def _is_quantity(column: Any) -> bool:
    """Tell numbers to be predicted from numbers that stand for classes."""
    is_whole = _kind(column) in "iu" or all(isinstance(value, Integral) for value in column.tolist())
    return not is_whole or column.nunique() > MOST_INTEGER_CLASSES


def column_numbers(name: str, column: Any) -> NDArray[np.float64]:
    """Return the numbers of a pandas column, NaN where one is missing."""
    if _kind(column) in "iuf":
        return as_numbers(name, column.to_numpy(dtype=np.float64, na_value=np.nan))
    return as_numbers(name, column.tolist())


def _kind(column: Any) -> str:
    """Return NumPy's letter for the type, which pandas' own types have as well; most of them are "O"."""
    return str(getattr(column.dtype, "kind", "O"))
