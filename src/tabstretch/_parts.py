"""Compress a part of a table, and merge what is kept of two parts.

One form serves batches, files larger than memory and clusters: a plan is made from the first rows, every part
is compressed by the plan, the results are merged in pairs, and `_whole` fits the columns from what is left.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabstretch._cells import CELL_LIMIT, SAMPLE_SIZE, Cells, Column
from tabstretch._compress import sum_cells
from tabstretch._folds import Dealer, Folds, allowed_folds, deal_by_values
from tabstretch._foreseen import ForeseenCells
from tabstretch._magnitude import power_of_two_scale
from tabstretch._merging import ColumnPart, cut_by_itself, keep_cells, merge_parts
from tabstretch._sampling import RowSample, keys_of_values, smallest_keys
from tabstretch._target import REGRESSION, Target
from tabstretch._target_parts import TargetPart, TargetPlan, encode_part, merge_targets, plan_target
from tabstretch._threads import map_in_threads
from tabstretch._validation import are_copies

# Sums of all columns together keep to about this many numbers, if need be with fewer cells.
_NUMBERS_KEPT = 1 << 25
_FEWEST_CELLS = 1024


class SeparateColumns:
    """Columns of one length that lie apart in memory, as files hold them: a matrix that is not yet one.

    A column and a range of rows are taken without a copy, any other rows as a matrix.
    """

    def __init__(self, columns: list[Column]) -> None:
        self._columns = columns
        self.shape = (len(columns[0]), len(columns))

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, tuple):
            rows, j = key
            return self._columns[j][rows]
        parts = [column[key] for column in self._columns]
        return SeparateColumns(parts) if isinstance(key, slice) else np.column_stack(parts)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.column_stack(self._columns).astype(dtype or np.float64, copy=False)


@dataclass(frozen=True)
class Block:
    """Some rows of a table, checked."""

    X: NDArray[Any] | SeparateColumns
    y: NDArray[Any] | None = None
    weight: Column | None = None
    names: tuple[str, ...] | None = None

    def take(self, rows: slice | NDArray[Any]) -> Block:
        """Return some of the rows."""
        y = None if self.y is None else self.y[rows]
        weight = None if self.weight is None else self.weight[rows]
        return Block(self.X[rows], y, weight, self.names)


@dataclass(frozen=True)
class Request:
    """What an estimator wants to know of its data.

    `target_type` is None for no target, `n_folds` is zero where no sums by fold are wanted, and `sample_rows`
    is the size of the sample of rows, if any.
    """

    target_type: str | None = None
    n_folds: int = 0
    sample_rows: int = 0
    seed: int = 0
    n_jobs: int | None = None


@dataclass(frozen=True)
class Plan:
    """How every part of a table is compressed; of the `first` rows only the form is kept."""

    request: Request
    first: Block
    target: TargetPlan | None
    cell_limit: int
    foreseen: list[ForeseenCells | None]


@dataclass(frozen=True)
class TablePart:
    """What is kept of a part of a table."""

    columns: list[ColumnPart]
    target: TargetPart | None
    n_folds: int
    n_rows: int
    weight: float
    weight_square: float
    weights_are_copies: bool
    sample: RowSample | None


def make_plan(block: Block, request: Request) -> Plan:
    """Decide from the first rows how all are compressed."""
    target = None
    if request.target_type is not None and block.y is not None:
        target = plan_target(block.y, block.weight, request.target_type)
    n_sums = max(1, target.n_sums * request.n_folds if target else 1)
    limit = int(np.clip(_NUMBERS_KEPT // (n_sums * block.X.shape[1]), _FEWEST_CELLS, CELL_LIMIT))

    def foresee(j: int) -> ForeseenCells | None:
        x, _, scale = _scaled(_column(block.X, j))
        if scale != 1.0:
            return None
        # These are for all parts, and worth a larger sample.
        cells = cut_by_itself(x, None, 4 * SAMPLE_SIZE, limit)
        return ForeseenCells.of(cells) if cells.n_cells > 1 else None

    foreseen = map_in_threads(foresee, ((j,) for j in range(block.X.shape[1])), request.n_jobs)
    return Plan(request, block.take(slice(0)), target, limit, foreseen)


def compress(block: Block, first_row: int, plan: Plan, *, alone: bool = False) -> TablePart:
    """Compress a part of a table; `alone` says that there is no other.

    The place of its `first_row` in the table, or any other number that no two parts share, seeds what is
    drawn at random.
    """
    request = plan.request
    part, target, n_folds = None, None, request.n_folds
    folds: Folds | Dealer | None = None
    if plan.target is not None and block.y is not None:
        part, target = encode_part(block.y, block.weight, plan.target)
        if n_folds:
            if alone:  # dealt out as data in memory are
                counts = part.counts[0] if target.codes is not None else None
                n_folds = allowed_folds(n_folds, len(block.X), counts)
                folds = Dealer.of(n_folds, target, block.weight, request.seed)
            else:
                columns = [block.X[:, j] for j in range(block.X.shape[1])]
                if plan.target.kind in REGRESSION:
                    columns += list(block.y.reshape(len(block.y), -1).T)
                folds = Folds(n_folds, deal_by_values(n_folds, columns, target.codes, request.seed))
    compressed = map_in_threads(
        partial(_compress_column, block, plan, target if n_folds else None, folds),
        ((j,) for j in range(block.X.shape[1])),
        request.n_jobs,
    )
    n_rows, weight = len(block.X), block.weight
    return TablePart(
        columns=compressed,
        target=part,
        n_folds=n_folds,
        n_rows=n_rows,
        weight=float(n_rows if weight is None else weight.sum()),
        weight_square=float(n_rows if weight is None else weight @ weight),
        weights_are_copies=weight is None or are_copies(weight),
        sample=_draw(block, first_row, request),
    )


def _compress_column(
    block: Block, plan: Plan, target: Target | None, folds: Folds | Dealer | None, j: int
) -> ColumnPart:
    x = _column(block.X, j)
    gram = np.empty((0, 0))
    if target is not None and target.codes is None and target.n_outputs > 1:
        present = np.flatnonzero(~np.isnan(x))
        values = target.values[present]
        gram = values.T @ (values if block.weight is None else block.weight[present, None] * values)

    def keep(cells: Cells, ends: tuple[float, float], scale: float) -> ColumnPart:
        if target is None or folds is None:
            sums = np.empty((cells.n_cells, 0, 0))
        else:
            assignment = folds.along(x).assignment
            assert assignment is not None
            sums = sum_cells(cells, target, assignment, folds.n_folds, block.weight)
        return keep_cells(cells, sums, gram, ends, scale)

    foreseen = plan.foreseen[j]
    cells = None if foreseen is None else foreseen.describe(x, block.weight, plan.cell_limit)
    if cells is not None:
        return keep(cells, cells.ends, 1.0)
    x, ends, scale = _scaled(x)
    return keep(cut_by_itself(x, block.weight, SAMPLE_SIZE, plan.cell_limit), ends, scale)


def _column(X: NDArray[Any] | SeparateColumns, j: int) -> Column:
    return np.ascontiguousarray(X[:, j], dtype=np.float64)


def _scaled(x: Column) -> tuple[Column, tuple[float, float], float]:
    """Return a column, scaled, with its own ends and the scale."""
    ends = float(np.fmin.reduce(x)), float(np.fmax.reduce(x))
    scale = power_of_two_scale(np.array(ends))
    return (x if scale == 1.0 else x * scale), ends, scale


def check_alike(block: Block, first: Block, what: str, number: int) -> None:
    """Refuse a batch or a partition, whatever it is called, that is unlike the first one."""
    place, there = f"{what} {number}", f"in the first {what}"
    n_columns, n_first = block.X.shape[1], first.X.shape[1]
    if n_columns != n_first:
        raise ValueError(f"{place}: X has {n_columns} columns, but {n_first} {there}")
    if block.names != first.names:
        names, expected = (
            "columns without names" if each is None else f"the columns {each}"
            for each in (block.names, first.names)
        )
        raise ValueError(f"{place}: X has {names}, but {expected} {there}")
    if (block.weight is None) != (first.weight is None):
        raise ValueError(f"{place}: either all batches have weights or none: give 1 where there are none")
    if block.y is None or first.y is None:
        return
    n_columns, n_first = (1 if y.ndim == 1 else y.shape[1] for y in (block.y, first.y))
    if n_columns != n_first:
        raise ValueError(f"{place}: y has {n_columns} columns here, but {n_first} {there}")
    kind, expected = ("strings" if y.dtype.kind in "OUS" else "numbers" for y in (block.y, first.y))
    if kind != expected:
        raise ValueError(f"{place}: y holds {kind}, but {expected} {there}")


def _draw(block: Block, first_row: int, request: Request) -> RowSample | None:
    if request.sample_rows == 0 or block.y is None:
        return None
    key = keys_of_values(request.seed, block.X, first_row)
    chosen = smallest_keys(key, request.sample_rows)
    weight = None if block.weight is None else block.weight[chosen]
    return RowSample(key[chosen], block.X[chosen], block.y[chosen], weight)


def merge_tables(a: TablePart, b: TablePart, plan: Plan) -> TablePart:
    """Return what is kept of two parts of a table together."""
    target, columns = a.target, (a.columns, b.columns)
    if a.target is not None and b.target is not None:
        target, places = merge_targets(a.target, b.target)
        n_outputs = sum(map(len, target.classes))
        if n_outputs and a.n_folds:
            columns = (
                [_with_outputs(column, places[0], n_outputs) for column in a.columns],
                [_with_outputs(column, places[1], n_outputs) for column in b.columns],
            )
    sample = a.sample
    if a.sample is not None and b.sample is not None:
        sample = a.sample.merge(b.sample, plan.request.sample_rows)
    merged = [merge_parts(*pair, plan.cell_limit) for pair in zip(*columns, strict=True)]
    return TablePart(
        columns=merged,
        target=target,
        n_folds=a.n_folds,
        n_rows=a.n_rows + b.n_rows,
        weight=a.weight + b.weight,
        weight_square=a.weight_square + b.weight_square,
        weights_are_copies=a.weights_are_copies and b.weights_are_copies,
        sample=sample,
    )


def _with_outputs(column: ColumnPart, place: NDArray[np.intp], n_outputs: int) -> ColumnPart:
    """Return a column's sums with places for classes that it has not seen."""
    if len(place) == n_outputs:
        return column
    sums = np.zeros((*column.sums.shape[:2], 2 + n_outputs))
    sums[..., :2] = column.sums[..., :2]
    sums[..., 2 + place] = column.sums[..., 2:]
    gram = column.gram
    if gram.size:
        gram = np.zeros((n_outputs, n_outputs))
        gram[np.ix_(place, place)] = column.gram
    return replace(column, sums=sums, gram=gram)


class Merger:
    """Merge parts as they come, neighbours of equal size first: each row is merged only a few times.

    The pairs are those of a tree whose leaves are the parts in their order, as on a cluster.
    """

    def __init__(self, plan: Plan) -> None:
        self._merge = partial(merge_tables, plan=plan)
        self._waiting: list[TablePart] = []
        self._n_parts = 0

    def add(self, part: TablePart) -> None:
        """Add the next part."""
        self._waiting.append(part)
        self._n_parts += 1
        n = self._n_parts
        while n % 2 == 0:
            later = self._waiting.pop()
            self._waiting.append(self._merge(self._waiting.pop(), later))
            n //= 2

    def result(self) -> TablePart:
        """Return everything merged."""
        return reduce(lambda later, earlier: self._merge(earlier, later), reversed(self._waiting))
