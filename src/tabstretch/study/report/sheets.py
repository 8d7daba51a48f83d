"""`Sheet`: a table twice, as data and as it is read; every format is written from it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral, Real
from typing import Any, Literal

import pandas as pd

from tabstretch.study.figures.names import display_name
from tabstretch.study.names import TRANSFORMATIONS
from tabstretch.study.statistics.panels import in_order

Kind = Literal["text", "number", "code"]
NOTHING = "–"

HEADINGS = {
    "dataset": "Data set",
    "model": "Network",
    "transformation": "Transformation",
    "statistic": "Statistic",
    "metric": "Metric",
    "tasks": "Tasks",
    "composition": "Columns",
    "n_panels": "Panels",
    "n_datasets": "Data sets",
    "n_transformations": "Transformations",
    "n_numeric": "Numeric",
    "n_categorical": "Categorical",
    "n_classes": "Classes",
    "n_train": "Train",
    "n_val": "Validation",
    "n_test": "Test",
    "n_rows": "Rows",
    "imbalance_ratio": "Imbalance ratio",
    "mean_rank": "Mean rank",
    "std_rank": "± std",
    "p_value": "p",
    "f_statistic": "F",
    "f_p_value": "p of F",
    "critical_difference": "Critical difference",
    "n_ok": "Cells with values",
    "n_partial": "Some seeds failed",
    "n_failed": "All seeds failed",
    "n_missing": "Not run",
    "n_noted": "With a note",
    "n_seeds": "Runs",
    "n_failed_seeds": "Runs failed",
    "n_left_out": "Left out",
    "n_slopes": "Slopes",
    "win_rate": "Win rate",
    "std": "Std",
    "delta": "δ",
    "noise": "η",
}
"""Of columns that are not named by their first letter's capital alone."""

NAMES = (
    "model",
    "transformation",
    "statistic",
    "metric",
    "tasks",
    "composition",
    "first",
    "second",
    "reference",
)
"""Columns whose entries have a name to print."""


@dataclass(frozen=True)
class Cell:
    """What is read in one place of a table."""

    text: str
    value: float | str | None = None
    """To sort by; None goes last."""
    error: str = ""
    """What follows the figure, such as "± .004"."""
    paper: str = ""
    """The paper's figure of the same cell."""
    best: bool = False
    hint: str = ""


@dataclass(frozen=True)
class Column:
    """A heading, and what stands below it."""

    title: str
    kind: Kind = "number"
    choose: bool = False
    """Whether a reader may want the rows of one of its entries only."""


@dataclass(frozen=True, eq=False)
class Sheet:
    """A table. `name` is its file's and must be unique in a report; `data` has all columns and all rows."""

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: list[tuple[Cell, ...]]
    data: pd.DataFrame
    caption: str = ""
    folded: bool = False
    """Whether the page shows it only on demand."""

    @property
    def has_paper(self) -> bool:
        """Whether the paper's figures stand beside some of ours."""
        return any(cell.paper for row in self.rows for cell in row)


@dataclass(frozen=True)
class Layout:
    """How figures are written: decimals of each column, 3 where nothing is said."""

    digits: Mapping[str, int] = field(default_factory=dict)
    choose: Sequence[str] = ()
    code: Sequence[str] = ()
    headings: Mapping[str, str] = field(default_factory=dict)

    def column(self, name: str, values: pd.Series) -> Column:
        """Return the heading of a column of data."""
        title = self.headings.get(name) or HEADINGS.get(name) or name.replace("_", " ").capitalize()
        number = pd.api.types.is_numeric_dtype(values.dtype) and not pd.api.types.is_bool_dtype(values.dtype)
        kind: Kind = "code" if name in self.code else "number" if number else "text"
        return Column(title, kind, name in self.choose)

    def cell(self, name: str, value: Any) -> Cell:
        """Return one entry of a column of data."""
        if isinstance(value, str):
            text = display_name(value) if name in NAMES else value
            return Cell(text, text.casefold())
        return number_cell(value, self.digits.get(name, 3))


def number_cell(value: Any, digits: int = 3) -> Cell:
    """Write a number; NaN and None are a dash."""
    if value is None or value is pd.NA:
        return Cell(NOTHING)
    if isinstance(value, Integral):
        return Cell(
            f"{int(value):,}".replace(",", "\u202f") if abs(int(value)) >= 10000 else str(int(value)),
            int(value),
        )
    if not isinstance(value, Real) or math.isnan(value):
        return Cell(NOTHING if isinstance(value, Real) else str(value))
    return Cell(number_text(float(value), digits), float(value))


def number_text(value: float, digits: int) -> str:
    """Write a number with so many decimals, or as a power of ten where these would be all zeros.

    >>> [number_text(value, 3) for value in (0.25, 1e-9, 12345.678, 1e21)]
    ['0.250', '1.0e-09', '12345.7', '1.0e+21']
    """
    if value and (abs(value) < 0.5 * 10.0**-digits or abs(value) >= 1e9):
        return f"{value:.1e}"
    return f"{value:.{digits if abs(value) < 1000 else 1}f}"


def plain_sheet(
    name: str,
    title: str,
    data: pd.DataFrame,
    *,
    layout: Layout | None = None,
    shown: pd.DataFrame | None = None,
    paper: Mapping[str, pd.Series] | None = None,
    caption: str = "",
    folded: bool = False,
) -> Sheet:
    """Make a sheet of a table as it is.

    Parameters
    ----------
    name, title, caption, folded
        See `Sheet`.
    data : DataFrame
        What is exported.
    layout : Layout, default=None
        How its entries are written.
    shown : DataFrame, default=None
        What is read: some rows and columns of it; by default all.
    paper : mapping of str to Series, default=None
        By column, what the paper prints in the rows of `shown`, NaN where it prints nothing.
    """
    layout = layout or Layout()
    shown = data if shown is None else shown
    names = [str(column) for column in shown.columns]
    columns = tuple(layout.column(column, shown[column]) for column in names)
    rows = [
        tuple(layout.cell(column, value) for column, value in zip(names, row, strict=True))
        for row in shown.itertuples(index=False, name=None)
    ]
    for column, printed in (paper or {}).items():
        place, digits = names.index(column), layout.digits.get(column, 0)
        for number, value in enumerate(printed):
            if not math.isnan(value):
                written = number_cell(float(value) if digits else int(value), digits).text
                beside = replace(rows[number][place], paper=written)
                rows[number] = (*rows[number][:place], beside, *rows[number][place + 1 :])
    return Sheet(name, title, columns, rows, data, caption, folded)


def grid_sheet(
    name: str,
    title: str,
    data: pd.DataFrame,
    rows: Sequence[str],
    *,
    digits: int | Callable[[Mapping[str, Any]], int] = 3,
    value: str = "value",
    shown: pd.DataFrame | None = None,
    layout: Layout | None = None,
    caption: str = "",
    folded: bool = False,
) -> Sheet:
    """Make a sheet with transformations across.

    Parameters
    ----------
    name, title, caption, folded
        See `Sheet`.
    data : DataFrame
        With `transformation`, `rows`, and the value; where it has them, `sem` or `std`, `flagged`, `best`,
        `value_paper` (with `sem_paper`, `flagged_paper`) and `hint` are used.
    rows : sequence of str
        Columns that name a row; a reader may choose among them.
    digits : int or function, default=3
        Decimals, or from the columns that name a row to decimals.
    value : str, default="value"
        The column of figures.
    shown : DataFrame, default=None
        What is read: some rows of `data`; by default all.
    layout : Layout, default=None
        How the names of rows are written.
    """
    layout = layout or Layout(choose=rows)
    table = data if shown is None else shown
    names = in_order(table["transformation"], TRANSFORMATIONS)
    heads = tuple(layout.column(row, table[row]) for row in rows)
    across = tuple(Column(display_name(other)) for other in names)
    written: dict[tuple[Any, ...], dict[str, Cell]] = {}
    for record in table.to_dict("records"):
        key = tuple(record[row] for row in rows)
        places = digits if isinstance(digits, int) else digits({str(k): v for k, v in record.items()})
        written.setdefault(key, {})[record["transformation"]] = _grid_cell(record, value, places)
    lines = [
        (
            *(layout.cell(row, part) for row, part in zip(rows, key, strict=True)),
            *(cells.get(other, Cell(NOTHING)) for other in names),
        )
        for key, cells in written.items()
    ]
    exported = data.drop(columns="hint", errors="ignore")
    return Sheet(name, title, (*heads, *across), lines, exported, caption, folded)


def _grid_cell(record: Mapping[Any, Any], value: str, digits: int) -> Cell:
    cell = number_cell(record[value], digits)
    if cell.value is None:
        return Cell(NOTHING, paper=_paper_text(record, value, digits), hint=str(record.get("hint", "")))
    error = "± > .05" if record.get("flagged") else _error_text(record.get("sem", record.get("std")), digits)
    return Cell(
        cell.text,
        cell.value,
        error=error,
        paper=_paper_text(record, value, digits),
        best=bool(record.get("best", False)),
        hint=str(record.get("hint", "")),
    )


def _error_text(error: Any, digits: int) -> str:
    if error is None or math.isnan(error):
        return ""
    if 0 < error < 0.5 * 10.0**-digits:
        return f"± < {10.0**-digits:.{digits}f}".replace(" 0.", " .")
    return f"± {error:.{digits}f}".replace(" 0.", " .")


def _paper_text(record: Mapping[Any, Any], value: str, digits: int) -> str:
    printed = record.get(f"{value}_paper")
    if printed is None or math.isnan(printed):
        return ""
    error = "± > .05" if record.get("flagged_paper") is True else _error_text(record.get("sem_paper"), digits)
    return f"{number_text(float(printed), digits)} {error}".strip()


def entries_sheet(name: str, title: str, entries: Iterable[tuple[str, str]], *, caption: str = "") -> Sheet:
    """Make a sheet of names and what they stand for."""
    data = pd.DataFrame(list(entries), columns=["what", "value"])
    return plain_sheet(
        name,
        title,
        data,
        layout=Layout(code=("value",), headings={"what": "What", "value": "Value"}),
        caption=caption,
    )
