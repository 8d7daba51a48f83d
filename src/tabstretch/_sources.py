"""Files of tables, read in batches: one or several files with the same columns are a source."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Collection, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from glob import escape, glob
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabstretch._extras import import_extra
from tabstretch._kernels import find_infinite

PARQUET_ENDINGS = (".parquet", ".pq")
CSV_ENDINGS = (".csv", ".tsv")
_NAMES_SHOWN = 12
# Bytes that pyarrow reads at once: so few stay in the cache until they are decoded.
_BYTES_READ = 1 << 16


class Source(ABC):
    """Files that are read one after the other."""

    paths: list[str]
    schemas: list[Any]
    """Names and types of the columns of each file."""
    n_rows: int
    hint: str = ""
    """What may be wrong where a column is missing."""

    @abstractmethod
    def batches(self, columns: list[str] | None, size: int) -> Iterator[Any]:
        """Yield record batches of these columns, or of all, with about `size` rows at most."""

    @property
    def schema(self) -> Any:
        """Names and types of the columns of the first file."""
        return self.schemas[0]

    def require(self, names: Collection[str]) -> None:
        """Check that all files have these columns."""
        for path, schema in zip(self.paths, self.schemas, strict=True):
            missing = [name for name in names if schema.get_field_index(name) < 0]
            if missing:
                names = shortened(schema.names) + self.hint
                raise ValueError(f"{path} lacks the columns {shortened(missing)}; it has {names}")

    def require_numbers(self, names: Collection[str], advice: str = "leave it out of columns") -> None:
        """Check that all files have these columns, and that they hold numbers or truth values."""
        self.require(names)
        for name in names:
            for path, kind in self.kinds(name):
                if not is_number(kind) and not is_truth(kind):
                    raise ValueError(f"column {name!r} of {path} holds {kind}, not numbers: {advice}")

    def require_labels(self, names: Collection[str]) -> None:
        """Check that all files have these columns, and that all hold numbers, or all of them text."""
        self.require(names)
        types = import_extra("pyarrow", "parquet").types
        first: tuple[bool, str] | None = None
        for name in names:
            for path, kind in self.kinds(name):
                place = f"column {name!r} of {path}"
                labels = kind.value_type if types.is_dictionary(kind) else kind
                if not is_text(labels) and not is_number(labels) and not is_truth(labels):
                    raise ValueError(
                        f"{place} holds {kind}: a target is made of numbers, truth values or text"
                    )
                first = first or (is_text(labels), f"{place} holds {kind}")
                if is_text(labels) != first[0]:
                    raise ValueError(
                        f"{first[1]}, but {place} holds {kind}: a target is made of numbers or of text"
                    )

    def kinds(self, name: str) -> list[tuple[str, Any]]:
        """Return the files in which a column has a type, with that type.

        Where all is missing it may have none, as pandas writes it, and suits whatever it is in other files.
        """
        types = import_extra("pyarrow", "parquet").types
        found = [
            (path, schema.field(name).type)
            for path, schema in zip(self.paths, self.schemas, strict=True)
            if schema.get_field_index(name) >= 0
        ]
        return [(path, kind) for path, kind in found if not types.is_null(kind)]

    def require_alike(self) -> None:
        """Check that all files have the same columns, in the same order and of the same types."""
        for path, schema in zip(self.paths, self.schemas, strict=True):
            if not schema.equals(self.schema):
                raise ValueError(
                    f"{path} and {self.paths[0]} differ in the names, types or order of their columns: "
                    "work on them one by one"
                )


class ParquetSource(Source):
    """Parquet files, read row group by row group."""

    def __init__(self, paths: Sequence[str]) -> None:
        self._parquet = import_extra("pyarrow.parquet", "parquet")
        self.paths = list(paths)
        self.schemas, self.n_rows = [], 0
        for path in self.paths:
            with explained(path, "Parquet"), self._parquet.ParquetFile(path) as file:
                self.schemas.append(file.schema_arrow)
                self.n_rows += file.metadata.num_rows
            check_differ(path, self.schemas[-1].names)

    def batches(self, columns: list[str] | None, size: int) -> Iterator[Any]:
        """Yield record batches, none of which spans row groups."""
        for path in self.paths:
            with explained(path, "Parquet"), self._open(path) as file:
                # Row group by row group: across them pyarrow spends most of its time on fresh memory.
                for group in range(file.num_row_groups):
                    yield from file.iter_batches(size, row_groups=[group], columns=columns)

    def _open(self, path: str) -> Any:
        return self._parquet.ParquetFile(path, buffer_size=_BYTES_READ, pre_buffer=False)


@contextmanager
def explained(path: str, kind: str) -> Generator[None]:
    """Name the file in what pyarrow says about it."""
    arrow = import_extra("pyarrow", "parquet")
    try:
        yield
    except (arrow.ArrowException, UnicodeDecodeError, OSError) as error:
        detail = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise ValueError(f"{path} cannot be read as {kind}: {detail}") from error


def check_differ(path: str, names: Sequence[str]) -> None:
    """Check that no two columns of a file have the same name."""
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"{path} has columns of the same name, {shortened(twice)}: rename them")


def find_files(path: Any, endings: tuple[str, ...] = PARQUET_ENDINGS[:1]) -> list[str]:
    """Return the files that a path, a pattern, a folder or a list of them stand for.

    Of a folder these are all files with one of the endings, in folders inside it too.
    """
    if isinstance(path, Iterable) and not isinstance(path, (str, bytes)):
        files = [file for each in path for file in find_files(each, endings)]
        if not files:
            raise FileNotFoundError("the list of files is empty: give a file, a folder or a pattern")
        return files
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"a path, a pattern, a folder or a list of them is needed, got {path!r}")
    path = os.fspath(path)
    if os.path.isfile(path):
        return [path]
    patterns = [os.path.join(escape(path), "**", f"*{ending}") for ending in endings]
    found = [
        file
        for pattern in (patterns if os.path.isdir(path) else [path])
        for file in glob(pattern, recursive=True)
    ]
    files = sorted(file for file in found if os.path.isfile(file))
    if not files:
        what = "CSV or Parquet" if CSV_ENDINGS[0] in endings else "Parquet"
        raise FileNotFoundError(
            f"no {what} files at {path!r}: give a file, a folder or a pattern like 'data/*'"
        )
    return files


def shortened(names: Sequence[str]) -> str:
    """Return names as a list that stays readable however many there are."""
    if len(names) <= _NAMES_SHOWN:
        return str(list(names))
    shown = ", ".join(repr(name) for name in names[:_NAMES_SHOWN])
    return f"[{shown}, … {len(names)} in all]"


def is_number(kind: Any) -> bool:
    """Tell types of numbers from truth values and everything else."""
    types = import_extra("pyarrow", "parquet").types
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind))


def is_text(kind: Any) -> bool:
    """Tell the types of text, by name: older pyarrows lack one of them."""
    return str(kind) in ("string", "large_string", "string_view")


def is_truth(kind: Any) -> bool:
    """Tell the type of truth values."""
    return bool(import_extra("pyarrow", "parquet").types.is_boolean(kind))


def numbers(column: Any) -> NDArray[Any]:
    """Return a column of numbers or truth values in double precision; missing ones are NaN."""
    arrow = import_extra("pyarrow", "parquet")
    if is_truth(column.type):
        column = column.cast(arrow.int8())
    column = column.cast(arrow.float64(), safe=False)
    return np.asarray(column.to_numpy(zero_copy_only=False))


def matrix(batch: Any, names: Sequence[str], first_row: int) -> NDArray[Any]:
    """Return columns of a batch side by side; infinite numbers are an error that names their place."""
    X = np.empty((batch.num_rows, len(names)), order="F")
    for j, column in enumerate(finite_columns(batch, names, first_row)):
        X[:, j] = column
    return X


def finite_columns(batch: Any, names: Sequence[str], first_row: int) -> list[NDArray[Any]]:
    """Return columns of a batch, not copied where they need no change; they must not be written into."""
    columns = []
    for name in names:
        x = _writable(numbers(batch.column(name)))
        row = find_infinite(x)
        if row < len(x):
            place = f"row {first_row + row + 1}"
            raise ValueError(f"column {name!r} holds {x[row]} in {place}: put a number or nothing there")
        columns.append(x)
    return columns


def _writable(x: NDArray[Any]) -> NDArray[Any]:
    """Return the same memory as an ordinary array: for read-only ones kernels would be compiled anew."""
    return x if x.flags.writeable or len(x) == 0 else np.asarray(_Memory(x))


class _Memory:
    """The memory of an array, kept as long as it is used; numpy reads where it lies from the interface."""

    def __init__(self, x: NDArray[Any]) -> None:
        self._x = x
        place, _ = x.__array_interface__["data"]
        self.__array_interface__ = {**x.__array_interface__, "data": (place, False)}
