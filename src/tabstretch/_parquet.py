"""Fit a stretch on files of any size."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabstretch._base import BaseStretch
from tabstretch._batches import block_rows
from tabstretch._extras import import_extra
from tabstretch._parts import SeparateColumns
from tabstretch._progress import with_progress
from tabstretch._sources import (
    ParquetSource,
    Source,
    find_files,
    finite_columns,
    is_number,
    numbers,
    shortened,
)
from tabstretch._transformers import StretchTransformer, SupervisedStretchTransformer


def fit_parquet(
    path: Any,
    target: Any = None,
    columns: Any = None,
    *,
    weight: str | None = None,
    transformer: Any = None,
) -> Any:
    """Fit a stretch on Parquet files, however large, in one pass and in bounded memory.

    The map is that of `fit` on all rows together, within the tolerance that `fit_batches` states. A terminal
    shows a progress bar.

    Parameters
    ----------
    path : str or path, or iterable of them
        A file, a pattern such as `"data/*.parquet"`, or a folder, of which all Parquet files are read.
    target : str or list of str, default=None
        Column or columns of the target.
    columns : list of str, default=None
        The columns to stretch; None means all columns of numbers but the target, the weight and what pandas
        has stored as its index.
    weight : str, default=None
        Column of the weights of rows.
    transformer : SupervisedStretchTransformer or StretchTransformer, default=None
        What to fit. None means a `SupervisedStretchTransformer` if there is a target, else a
        `StretchTransformer`.

    Returns
    -------
    The transformer, fitted
    """
    if transformer is None:
        transformer = StretchTransformer() if target is None else SupervisedStretchTransformer()
    if not isinstance(transformer, BaseStretch):
        raise TypeError(
            f"transformer must be a SupervisedStretchTransformer or a StretchTransformer, got {transformer!r}"
        )
    if isinstance(target, str):
        target = [target]
    targets = _names("target must be a name or a list of names", () if target is None else target)
    if isinstance(transformer, SupervisedStretchTransformer) and not targets:
        raise ValueError("a SupervisedStretchTransformer needs a target: name its column, target='...'")
    chosen = None if columns is None else _names("columns must be a list of names", columns)
    return fit_source(ParquetSource(find_files(path)), targets, chosen, weight, transformer)


def fit_source(
    source: Source,
    targets: list[str],
    columns: list[str] | None,
    weight: str | None,
    transformer: BaseStretch,
    skip: Collection[str] = (),
) -> Any:
    """Fit on files; without `columns` on all columns of numbers that are not skipped."""
    if source.n_rows == 0:
        raise ValueError(f"{source.paths[0]} has no rows to fit on")
    if columns is None:
        source.require(skip)
        columns = numeric_columns(source, {*targets, weight, *skip})
    if not isinstance(transformer, SupervisedStretchTransformer):
        source.require(targets)
        targets = []  # not asked for, whatever they hold
    training = TrainingColumns(source, targets, columns, weight)
    batches = with_progress(training.batches(), source.n_rows, "fitting")
    return transformer._fit_named(batches, columns)


def numeric_columns(source: Source, others: Collection[str | None]) -> list[str]:
    """Return the columns of numbers but for some, and but for what pandas has stored as its index."""
    index = (source.schema.pandas_metadata or {}).get("index_columns", [])
    candidates = [name for name in source.schema.names if name not in others and name not in index]
    return [name for name in candidates if any(is_number(kind) for _, kind in source.kinds(name)[:1])]


class TrainingColumns:
    """The columns of files that a fit needs, as arrays."""

    def __init__(self, source: Source, targets: list[str], columns: list[str], weight: str | None) -> None:
        self._source, self._targets, self._columns, self._weight = source, targets, columns, weight
        weights = [] if weight is None else [weight]
        self._wanted = [*columns, *targets, *weights]
        twice = sorted({name for name in self._wanted if self._wanted.count(name) > 1})
        if twice:
            raise ValueError(f"each column has one part, got {twice} more than once")
        source.require_labels(targets)
        source.require_numbers([*columns, *weights])
        if not columns:
            names = shortened(source.schema.names) + source.hint
            raise ValueError(f"{source.paths[0]} has no columns of numbers to stretch, only {names}")

    def batches(self) -> Iterator[tuple[int, tuple[Any, Any, Any]]]:
        """Yield the number of rows and X, y and weight of one batch after the other."""
        yield from _read_ahead(self._arrays())

    def _arrays(self) -> Iterator[tuple[int, tuple[Any, Any, Any]]]:
        row, size, nothing = 0, block_rows(len(self._columns)), True
        # Twice as much is the usual row group of a million rows: pyarrow is slower at parts of them.
        for batch in self._source.batches(self._wanted, 2 * size):
            for start in range(0, batch.num_rows, size):
                part = batch.slice(start, size)
                X, y, weight = self._as_arrays(part, row)
                nothing = nothing and weight is not None and not weight.any()
                yield part.num_rows, (X, y, weight)
                row += part.num_rows
        if nothing:
            raise ValueError(
                f"column {self._weight!r}, the weight, is zero in all rows: nothing is left to fit"
            )

    def _as_arrays(self, batch: Any, row: int) -> tuple[Any, Any, Any]:
        X = SeparateColumns(finite_columns(batch, self._columns, row))
        y = None
        if self._targets:
            outputs = [_labels(name, batch.column(name), row) for name in self._targets]
            y = outputs[0] if len(outputs) == 1 else np.column_stack(outputs)
        return X, y, None if self._weight is None else _weights(self._weight, batch.column(self._weight), row)


def _weights(name: str, column: Any, first_row: int) -> NDArray[Any]:
    weight = numbers(column)
    wrong = ~(weight >= 0) | np.isinf(weight)
    if np.any(wrong):
        row = int(np.argmax(wrong))
        raise ValueError(
            f"column {name!r}, the weight, holds {weight[row]} in row {first_row + row + 1}: "
            "put a finite number there that is not negative"
        )
    return weight


def _labels(name: str, column: Any, first_row: int) -> NDArray[Any]:
    labels = _as_labels(column)
    missing = column.is_null().to_numpy(zero_copy_only=False) if column.null_count else np.zeros(1, bool)
    wrong = missing if missing.any() or labels.dtype.kind != "f" else ~np.isfinite(labels)
    if np.any(wrong):
        row = int(np.argmax(wrong))
        found = "nothing" if missing.any() else labels[row]
        raise ValueError(
            f"column {name!r}, the target, holds {found} in row {first_row + row + 1}: "
            "leave out rows whose target is not known"
        )
    return labels


def _as_labels(column: Any) -> NDArray[Any]:
    types = import_extra("pyarrow", "parquet").types
    if types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if types.is_decimal(column.type):
        return numbers(column)
    return np.asarray(column.to_numpy(zero_copy_only=False))


def _names(wanted: str, names: Any) -> list[str]:
    is_list = isinstance(names, Iterable) and not isinstance(names, str)
    listed = list(names) if is_list else []
    if not is_list or not all(isinstance(name, str) for name in listed):
        raise TypeError(f"{wanted}, got {names!r}")
    return listed


def _read_ahead(batches: Iterator[Any]) -> Iterator[Any]:
    """Read the next batch while the last one is worked on."""
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(next, batches, None)
        while (batch := waiting.result()) is not None:
            waiting = pool.submit(next, batches, None)
            yield batch
