"""Fit a stretch on Parquet files of any size."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from glob import glob
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabstretch._base import BaseStretch
from tabstretch._batches import block_rows
from tabstretch._extras import import_extra
from tabstretch._progress import with_progress
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
    path : str or path, or list of them
        A file, a pattern such as `"data/*.parquet"`, or a folder, of which all Parquet files are read.
    target : str or list of str, default=None
        Column or columns of the target.
    columns : list of str, default=None
        The columns to stretch; None means all columns of numbers but the target and the weight.
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
    files = ParquetFiles(path, target, columns, weight)
    batches = with_progress(files.batches(), files.n_rows, "fitting")
    return transformer._fit_named(batches, files.columns)


class ParquetFiles:
    """Some columns of Parquet files, read one after the other."""

    def __init__(self, path: Any, target: Any, columns: Any, weight: str | None) -> None:
        self._parquet = import_extra("pyarrow.parquet", "parquet")
        self._arrow = import_extra("pyarrow", "parquet")
        self.paths = find_files(path)
        self.targets = [target] if isinstance(target, str) else list(target or [])
        self.weight = weight
        schema = self._parquet.read_schema(self.paths[0])
        self.columns = self._numeric(schema) if columns is None else _names("columns", columns)
        self._wanted = [*self.columns, *self.targets, *([weight] if weight is not None else [])]
        twice = sorted({name for name in self._wanted if self._wanted.count(name) > 1})
        if twice:
            raise ValueError(f"each column has one part, got {twice} more than once")
        if not self.columns:
            raise ValueError(f"{self.paths[0]} has no columns of numbers to stretch, only {schema.names}")
        self.n_rows = sum(self._check_file(path) for path in self.paths)

    def batches(self) -> Iterator[tuple[int, tuple[Any, Any, Any]]]:
        """Yield the number of rows and X, y and weight of one batch after the other."""
        for batch in _read_ahead(self._record_batches()):
            yield batch.num_rows, self._as_arrays(batch)

    def _record_batches(self) -> Iterator[Any]:
        size = block_rows(len(self.columns))
        for path in self.paths:
            with self._parquet.ParquetFile(path) as file:
                # Row group by row group: across them pyarrow spends most of its time on fresh memory.
                for group in range(file.num_row_groups):
                    yield from file.iter_batches(size, row_groups=[group], columns=self._wanted)

    def _as_arrays(self, batch: Any) -> tuple[Any, Any, Any]:
        X = np.empty((batch.num_rows, len(self.columns)), order="F")
        for j, name in enumerate(self.columns):
            X[:, j] = self._numbers(batch.column(name))
        y = None
        if self.targets:
            outputs = [self._labels(batch.column(name)) for name in self.targets]
            y = outputs[0] if len(outputs) == 1 else np.column_stack(outputs)
        weight = None if self.weight is None else self._numbers(batch.column(self.weight))
        return X, y, weight

    def _numbers(self, column: Any) -> NDArray[Any]:
        if column.type == self._arrow.bool_():
            column = column.cast(self._arrow.int8())
        column = column.cast(self._arrow.float64(), safe=False)
        return np.asarray(column.to_numpy(zero_copy_only=False))

    def _labels(self, column: Any) -> NDArray[Any]:
        types = self._arrow.types
        if types.is_dictionary(column.type):
            column = column.dictionary_decode()
        if types.is_decimal(column.type):
            return self._numbers(column)
        return np.asarray(column.to_numpy(zero_copy_only=False))

    def _is_number(self, kind: Any) -> bool:
        types = self._arrow.types
        return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind))

    def _numeric(self, schema: Any) -> list[str]:
        others = {*self.targets, self.weight}
        return [field.name for field in schema if field.name not in others and self._is_number(field.type)]

    def _check_file(self, path: str) -> int:
        """Check that a file has the columns wanted, and return its number of rows."""
        with self._parquet.ParquetFile(path) as file:
            schema, n_rows = file.schema_arrow, file.metadata.num_rows
        missing = [name for name in self._wanted if name not in schema.names]
        if missing:
            raise ValueError(f"{path} lacks the columns {missing}; it has {schema.names}")
        for name in (name for name in self._wanted if name not in self.targets):
            kind = schema.field(name).type
            if not self._is_number(kind) and kind != self._arrow.bool_():
                raise ValueError(
                    f"column {name!r} of {path} holds {kind}, not numbers: leave it out of columns"
                )
        return int(n_rows)


def find_files(path: Any) -> list[str]:
    """Return the files that a path, a pattern, a folder or a list of them stand for."""
    if isinstance(path, Sequence) and not isinstance(path, str):
        return [file for each in path for file in find_files(each)]
    path = os.fspath(path)
    if os.path.isfile(path):
        return [path]
    pattern = os.path.join(path, "**", "*.parquet") if os.path.isdir(path) else path
    files = sorted(file for file in glob(pattern, recursive=True) if os.path.isfile(file))
    if not files:
        raise FileNotFoundError(
            f"no Parquet files at {path!r}: give a file, a folder or a pattern like 'data/*'"
        )
    return files


def _names(what: str, names: Any) -> list[str]:
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise TypeError(f"{what} must be a list of names, got {names!r}")
    return list(names)


def _read_ahead(batches: Iterator[Any]) -> Iterator[Any]:
    """Read the next batch while the last one is worked on."""
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(next, batches, None)
        while (batch := waiting.result()) is not None:
            waiting = pool.submit(next, batches, None)
            yield batch
