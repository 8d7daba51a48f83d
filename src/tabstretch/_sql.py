"""Maps as SQL expressions.

A map with few pieces is a balanced tree of comparisons; one with many is a look-up in constant arrays, by
`width_bucket` in PostgreSQL and by a bisection in DuckDB: trees of many leaves take long to plan, and
DuckDB's vectors become too short at their leaves (`docs/deploy/sql.md` has the measurements).

PostgreSQL raises an error where a number over- or underflows, so no expression may do so for any input.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tabstretch._monotone import MonotoneMap, careful_slopes, straight_pieces

Numbers = NDArray[np.float64]
LARGEST = float(np.finfo(np.float64).max)
# Differences and products stay below this.
_NEARLY_LARGEST = 1.6e308


class Pieces(NamedTuple):
    """What a map has inside its range: raw edges to compare with, scaled ones to compute with.

    Pieces that may underflow right after their left edge are flat as far as `flat_to`, in scaled units.
    """

    edges: Numbers
    left: Numbers
    value: Numbers
    slope: Numbers
    flat_to: Numbers


class Dialect(ABC):
    """How a database spells things."""

    max_tree: int
    """Up to how many pieces a tree of comparisons is faster."""
    underflow_is_an_error = False

    @abstractmethod
    def number(self, number: float) -> str:
        """Return a literal that is exactly this number, in double precision."""

    @abstractmethod
    def array(self, numbers: Iterable[float]) -> str:
        """Return a constant array."""

    @abstractmethod
    def double(self, expression: str) -> str:
        """Return a cast to double precision."""

    @abstractmethod
    def piece_number(self, x: str, edges: Numbers) -> str:
        """Return the number, from 1, of the piece whose left edge is the last not above x."""

    def identifier(self, name: str) -> str:
        """Return a name in quotes."""
        if not name or "\0" in name:
            raise ValueError(f"a column of a database cannot have the name {name!r}: rename it")
        return '"' + name.replace('"', '""') + '"'


class DuckDB(Dialect):
    """DuckDB, from version 1.3 on."""

    max_tree = 96

    def number(self, number: float) -> str:
        """Return a literal: with an exponent it is no decimal number but a double."""
        text = repr(float(number))
        if not np.isfinite(number):
            return f"'{text}'::DOUBLE"
        text = text if "e" in text else f"{text}e0"
        return f"({text})" if text.startswith("-") else text

    def array(self, numbers: Iterable[float]) -> str:
        """Return a list, as text: that is parsed much faster than a list of literals."""
        return f"('[{','.join(repr(float(number)) for number in numbers)}]'::DOUBLE[])"

    def double(self, expression: str) -> str:
        """Return a cast to double precision."""
        return f"CAST({expression} AS DOUBLE)"

    def piece_number(self, x: str, edges: Numbers) -> str:
        """Return a bisection: fold the halved steps, going right where x is not below."""
        n_steps = int(np.ceil(np.log2(len(edges))))
        padded = np.append(edges, np.full(2**n_steps - len(edges), np.inf))
        steps = ", ".join(str(2**step) for step in reversed(range(n_steps)))
        place, step = (self._free_name(name, x) for name in ("place", "step"))
        further = f"{place} + {step}"
        move = f"CASE WHEN {x} < {self.array(padded)}[{further}] THEN {place} ELSE {further} END"
        return f"list_reduce([1, {steps}], lambda {place}, {step}: {move})"

    @staticmethod
    def _free_name(name: str, x: str) -> str:
        """Return a name for a variable that the expression x does not use for a column."""
        while name in x.lower():
            name += "_"
        return name


class PostgreSQL(Dialect):
    """PostgreSQL, from version 9.5 on."""

    max_tree = 256
    underflow_is_an_error = True

    def number(self, number: float) -> str:
        """Return a literal, as text with its type: otherwise it would be a decimal number first."""
        return f"float8 '{float(number)!r}'"

    def array(self, numbers: Iterable[float]) -> str:
        """Return an array."""
        return f"('{{{','.join(repr(float(number)) for number in numbers)}}}'::float8[])"

    def double(self, expression: str) -> str:
        """Return a cast to double precision."""
        return f"CAST({expression} AS double precision)"

    def piece_number(self, x: str, edges: Numbers) -> str:
        """Return the number of edges that are not above x."""
        return f"width_bucket({x}, {self.array(edges)})"


DIALECTS: dict[str, Dialect] = {"duckdb": DuckDB(), "postgres": PostgreSQL()}


def sql_expressions(
    columns: Sequence[str], outputs: Sequence[str], maps: Sequence[MonotoneMap | None], dialect: str
) -> dict[str, str]:
    """Return the expression of each output, given its input; without a map it is the input itself."""
    if dialect not in DIALECTS:
        raise ValueError(f"dialect must be one of {tuple(DIALECTS)}, got {dialect!r}")
    speech = DIALECTS[dialect]
    expressions = {}
    for column, output, map_ in zip(columns, outputs, maps, strict=True):
        name = speech.identifier(column)
        expressions[output] = name if map_ is None else map_expression(speech.double(name), map_, speech)
    return expressions


def map_expression(x: str, map_: MonotoneMap, speech: Dialect) -> str:
    """Return a map of the expression x, a double. NULL stays NULL, and NaN stays NaN."""
    is_nan = f"{x} = {speech.number(np.nan)}"
    if len(map_.edges) < 2:
        value = speech.number(map_.values[0])
        return f"CASE WHEN {x} IS NULL OR {is_nan} THEN {x} ELSE {value} END"
    low, high = (speech.number(edge) for edge in map_.edges[[0, -1]])
    # Databases hold NaN for larger than all numbers: only values at the upper end need to be asked.
    return (
        f"CASE WHEN {x} < {high} THEN CASE WHEN {x} > {low} THEN {_inside(x, map_, speech)} "
        f"ELSE {_beyond(x, map_, speech, first=True)} END "
        f"WHEN {x} >= {high} THEN CASE WHEN {is_nan} THEN {x} "
        f"ELSE {_beyond(x, map_, speech, first=False)} END END"
    )


def _inside(x: str, map_: MonotoneMap, speech: Dialect) -> str:
    """Return the expression for an x between the ends."""
    bins, edge_scale, output_scale = straight_pieces(map_)
    left, value, _, _ = bins[:-1].T
    slope = careful_slopes(bins)
    flat_to = left
    if speech.underflow_is_an_error:
        with np.errstate(over="ignore", divide="ignore"):
            flat_to = left + _negligible(output_scale) / slope
    pieces = Pieces(map_.edges[:-1], left, value, slope, flat_to)
    scaled = _times(x, edge_scale, speech)
    if len(left) <= speech.max_tree:
        outputs = _tree(x, scaled, pieces, 0, len(left), speech)
    else:
        outputs = _look_up(x, scaled, pieces, speech)
    return outputs if output_scale == 1.0 else f"({outputs}) * {speech.number(output_scale)}"


def _negligible(output_scale: float) -> float:
    """Return what a rise above the left edge's output must reach, or it might underflow."""
    return max(1e-300, 1e-322 / output_scale)


def _times(x: str, scale: float, speech: Dialect) -> str:
    if scale == 1.0:
        return x
    product = f"{x} * {speech.number(scale)}"
    if scale > 1.0:
        return f"({product})"
    # In a column of huge numbers the tiniest are zero; scaled, they would underflow.
    return f"(CASE WHEN abs({x}) < {speech.number(1e-290)} THEN {speech.number(0.0)} ELSE {product} END)"


def _tree(x: str, scaled: str, pieces: Pieces, start: int, stop: int, speech: Dialect) -> str:
    """Return a tree of comparisons, each of which halves the pieces."""
    if stop - start > 1:
        middle = (start + stop) // 2
        lower = _tree(x, scaled, pieces, start, middle, speech)
        upper = _tree(x, scaled, pieces, middle, stop, speech)
        return f"CASE WHEN {x} < {speech.number(pieces.edges[middle])} THEN {lower} ELSE {upper} END"
    left, value, slope = (speech.number(numbers[start]) for numbers in pieces[1:4])
    flat_to = pieces.flat_to[start]
    if np.isinf(flat_to):
        return value
    line = f"{value} + ({scaled} - {left}) * {slope}"
    if flat_to == pieces.left[start]:
        return line
    return f"CASE WHEN {scaled} < {speech.number(flat_to)} THEN {value} ELSE {line} END"


def _look_up(x: str, scaled: str, pieces: Pieces, speech: Dialect) -> str:
    """Return a look-up in constant arrays."""
    number = speech.piece_number(x, pieces.edges)
    left, value, slope, flat_to = (f"{speech.array(numbers)}[{number}]" for numbers in pieces[1:])
    line = f"{value} + ({scaled} - {left}) * {slope}"
    if np.array_equal(pieces.flat_to, pieces.left):
        return line
    return f"CASE WHEN {scaled} < {flat_to} THEN {value} ELSE {line} END"


def _beyond(x: str, map_: MonotoneMap, speech: Dialect, *, first: bool) -> str:
    """Return the expression for an x at or beyond the first or the last edge."""
    bins, edge_scale, output_scale = straight_pieces(map_)
    end, piece, sign, compare = (0, 0, -1.0, "<=") if first else (-1, -2, 1.0, ">=")
    edge, value, slope = bins[end, 0], bins[end, 1], bins[piece, 2]
    if map_.out_of_range == "clip" or slope == 0.0:
        return speech.number(map_.values[end])
    with np.errstate(over="ignore"):
        reach = min(
            _NEARLY_LARGEST - abs(edge), (_NEARLY_LARGEST / max(output_scale, 1.0) - abs(value)) / slope
        )
        last = np.clip((edge + sign * reach) / edge_scale, -LARGEST, LARGEST)
        flat_to = edge + sign * _negligible(output_scale) / slope
    scaled = _times(x, edge_scale, speech)
    line = f"{speech.number(value)} + ({scaled} - {speech.number(edge)}) * {speech.number(slope)}"
    if output_scale != 1.0:
        line = f"({line}) * {speech.number(output_scale)}"
    if speech.underflow_is_an_error and flat_to != edge:
        inner = ">" if first else "<"
        flat = f"{scaled} {inner} {speech.number(flat_to)}"
        line = f"CASE WHEN {flat} THEN {speech.number(map_.values[end])} ELSE {line} END"
    return (
        f"CASE WHEN {x} {compare} {speech.number(last)} THEN {speech.number(sign * LARGEST)} ELSE {line} END"
    )
