"""From what was measured of columns to suggestions: the rules, and the table that tells them.

`docs/suggest.md` has the evidence for every number here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

import numpy as np

from tabstretch._extras import import_extra
from tabstretch._sources import shortened
from tabstretch._traits import Traits

SUPERVISED, UNSUPERVISED, STANDARDISE = "SupervisedStretchTransformer", "StretchTransformer", "standardise"
DEFAULT_BINS = {SUPERVISED: 64, UNSUPERVISED: 256}

# On data sets whose columns have fewer values, no stretch gained anything.
_FEW_VALUES = 32
# A column has a signal of its own if it explains so much, and if most of its variation is not noise.
_LEAST_R2, _MOST_NOISE = 0.01, 0.5
_LEAST_UNEVENNESS = 0.05
# Rows are crowded if the middle nine tenths of them fill less of the range.
_CROWDED = 0.25
# One stretch for the whole table pays if so many of its columns ask for it.
_ENOUGH_COLUMNS = 1 / 3
# Views gained where half of the columns had so many values.
_MANY_VALUES = 100

_COLUMNS_SHOWN = 40
_NAME_SHOWN = 30
# Of the advice, which is longer than a line.
_WIDTH = 100


@dataclass(frozen=True)
class ColumnSuggestion:
    """A row of the table: what was measured of a column, and what it suggests (see `suggest`)."""

    feature: Any
    n_distinct: int
    top_share: float
    skewness: float
    middle_share: float
    r2: float
    unevenness: float
    suggestion: str
    n_bins: int | None
    why: str


@dataclass(frozen=True, repr=False)
class Suggestions:
    """The table that `suggest` returns: printed it is readable, and `to_frame` gives it to pandas.

    Attributes
    ----------
    columns : tuple of ColumnSuggestion
        A row for each numeric column.
    not_numeric : tuple
        Names of the other columns, which are left alone.
    advice : str
        What to do with the table as a whole.
    n_rows, n_measured : int
        How many rows there are, and on how many the numbers rest.
    """

    columns: tuple[ColumnSuggestion, ...]
    not_numeric: tuple[Any, ...]
    advice: str
    n_rows: int
    n_measured: int

    def to_frame(self) -> Any:
        """Return the table as a pandas DataFrame, indexed by column name, with the advice in `attrs`."""
        pandas = import_extra("pandas", "pandas")
        fields = [name for name in ColumnSuggestion.__dataclass_fields__ if name != "feature"]
        index = pandas.Index([row.feature for row in self.columns], name="feature")
        rows = [{name: getattr(row, name) for name in fields} for row in self.columns]
        frame = pandas.DataFrame(rows, index=index, columns=fields).astype({"n_bins": "Int64"})
        frame.attrs["advice"] = self.advice
        return frame

    def __str__(self) -> str:
        return "\n".join(_lines(self))

    __repr__ = __str__


def suggest_column(name: Any, traits: Traits, *, supervised: bool) -> ColumnSuggestion:
    """Return the row of a column."""
    suggestion, why = _rule(traits, supervised=supervised)
    n_bins = None if suggestion == STANDARDISE else min(DEFAULT_BINS[suggestion], traits.n_distinct - 1)
    return ColumnSuggestion(
        name,
        traits.n_distinct,
        traits.top_share,
        traits.skewness,
        traits.middle,
        traits.r2,
        traits.unevenness,
        suggestion,
        n_bins,
        why,
    )


def _rule(traits: Traits, *, supervised: bool) -> tuple[str, str]:
    """Return what to do with a column, and why."""
    n_distinct = traits.n_distinct
    if n_distinct < 2:
        return STANDARDISE, f"{'One value' if n_distinct else 'No values'}: nothing to gain, leave it out."
    if n_distinct < _FEW_VALUES:
        return STANDARDISE, f"Nothing to gain: only {n_distinct} distinct values."
    has_signal = traits.r2 >= _LEAST_R2 and traits.noise < _MOST_NOISE
    if has_signal and traits.unevenness >= _LEAST_UNEVENNESS:
        why = f"{_percent(traits.unevenness)} of the target's change is squeezed into too little room."
        return SUPERVISED, why
    if has_signal:
        state = "the target changes evenly"
    else:
        state = "no clear signal of its own" if supervised else "no target to look at"
    if traits.middle < _CROWDED:
        why = f"{state[0].upper()}{state[1:]}; 90 % of rows lie in {_percent(traits.middle)} of the range."
        return UNSUPERVISED, why
    return STANDARDISE, f"Nothing to gain: {state}, and no long tails."


def advise(rows: Sequence[ColumnSuggestion], *, supervised: bool, target_type: str = "auto") -> str:
    """Return what to do with a table as a whole; a kind of target that was asked for is passed on."""
    call = f"{SUPERVISED}()" if target_type == "auto" else f'{SUPERVISED}(target_type="{target_type}")'
    if not rows:
        return "there are no columns of numbers."
    counts = {name: sum(row.suggestion == name for row in rows) for name in (SUPERVISED, UNSUPERVISED)}
    asking = counts[SUPERVISED if supervised else UNSUPERVISED]
    if asking >= _ENOUGH_COLUMNS * len(rows):
        advice = f"{call if supervised else f'{UNSUPERVISED}()'} for all columns"
        advice += f", {asking} of {len(rows)} ask for it."
        if supervised and np.median([row.n_distinct for row in rows]) >= _MANY_VALUES:
            advice += ' With a large network, also try output="views".'
        return advice
    if sum(counts.values()) == 0:
        gain = "standardise, there is little to gain from a stretch."
    else:
        few = f"{sum(counts.values())} of {len(rows)} columns"
        gain = f"standardise, and stretch only the {few} that ask for it."
    if supervised:
        gain += f" Columns that matter only together do not show here: {call} would find them."
    return gain


def _lines(table: Suggestions) -> Iterator[str]:
    """Yield the lines of the printed form."""
    shown = table.columns[:_COLUMNS_SHOWN]
    if shown:
        yield from _aligned([_HEADER, *(_cells(row) for row in shown)])
    if len(table.columns) > len(shown):
        yield f"… and {len(table.columns) - len(shown)} more: to_frame() has them all"
    if table.not_numeric:
        yield f"left alone, not numbers: {shortened([str(name) for name in table.not_numeric])}"
    if table.n_measured < table.n_rows and shown:
        yield f"measured on {table.n_measured:,} of {table.n_rows:,} rows, drawn at random"
    yield from wrap(f"In short: {table.advice}", _WIDTH, break_long_words=False, break_on_hyphens=False)


_HEADER = ("column", "distinct", "top", "skew", "middle", "R²", "uneven", "suggestion", "bins", "why")
_TEXT = {"column", "suggestion", "why"}


def _cells(row: ColumnSuggestion) -> tuple[str, ...]:
    name = str(row.feature)
    return (
        name if len(name) <= _NAME_SHOWN else name[: _NAME_SHOWN - 1] + "…",
        str(row.n_distinct),
        _percent(row.top_share),
        _decimal(row.skewness),
        _percent(row.middle_share),
        _decimal(row.r2),
        _decimal(row.unevenness),
        row.suggestion,
        "" if row.n_bins is None else str(row.n_bins),
        row.why,
    )


def _aligned(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = zip(row, widths, _HEADER, strict=True)
        padded = (cell.ljust(width) if name in _TEXT else cell.rjust(width) for cell, width, name in cells)
        yield "  ".join(padded).rstrip()


def _percent(share: float) -> str:
    if np.isnan(share):
        return "-"
    rounded = f"{share:.0%}".replace("%", " %")
    return "<1 %" if share > 0 and rounded == "0 %" else rounded


def _decimal(number: float) -> str:
    # Zero has no sign: R² of -0.001 is none.
    return "-" if np.isnan(number) else f"{round(number, 2) + 0.0:.2f}"
