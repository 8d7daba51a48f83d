"""CSV files as streams of record batches, in and out.

Text is read as text, and every column is converted to one type that suits all of its rows: a first pass
learns it. pyarrow's own reader decides by the first block, and fails where whole numbers become others
further down.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from tabstretch._extras import import_extra
from tabstretch._sources import Source, check_differ, explained

# Read at once; no row may be longer.
_BLOCK_BYTES = 1 << 22
# What stands for a missing number, beside nothing at all: the list of pandas and pyarrow.
_MISSING = (
    *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>"),
    *("N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"),
)
# Codes such as 007 or 0x1f would lose what they look like.
_CODE = r"^[-+]?0[0-9xX]"


class Dialect(NamedTuple):
    """How a CSV file is written."""

    delimiter: str | None = None
    """None means a tabulator in .tsv files, and a comma in others."""
    encoding: str = "utf-8"

    def separator(self, path: str) -> str:
        """Return what stands between the columns of a file."""
        return self.delimiter or ("\t" if path.lower().endswith(".tsv") else ",")


class CSVSource(Source):
    """CSV files, in which a column has the same type from the first row to the last.

    Parameters
    ----------
    paths : sequence of str
        The files.
    dialect : Dialect
        How they are written.
    numbers : collection of str, default=()
        Columns that must hold numbers or truth values; an error names the first value that is neither.
    learned : collection of str, default=None
        Columns whose types are learned from all their rows; None means all others. The rest stays text.
    """

    def __init__(
        self,
        paths: Sequence[str],
        dialect: Dialect,
        *,
        numbers: Collection[str] = (),
        learned: Collection[str] | None = None,
    ) -> None:
        self._arrow = import_extra("pyarrow", "parquet")
        self._csv = import_extra("pyarrow.csv", "parquet")
        self.paths, self._dialect = list(paths), dialect
        headers = [self._header(path) for path in self.paths]
        if len(headers[0]) == 1 and any(sign in headers[0][0] for sign in ",;|\t"):
            self.hint = ": is something else between its columns? Name it with --delimiter"
        self._kinds: dict[str, Any] = {}
        self.schemas = [self._schema(names) for names in headers]
        self.require([*numbers, *(learned or ())])
        wanted = headers[0] if learned is None else [*numbers, *learned]
        guesses = {name: Guess(name, number=name in numbers) for name in wanted}
        self.n_rows = self._learn(guesses)
        self._kinds = {name: guess.kind for name, guess in guesses.items()}
        self.schemas = [self._schema(names) for names in headers]

    def batches(self, columns: list[str] | None, size: int) -> Iterator[Any]:
        """Yield record batches of a fixed number of bytes, cut where they have too many rows."""
        for path, schema in zip(self.paths, self.schemas, strict=True):
            names = schema.names if columns is None else columns
            for texts in self._texts(path, names):
                arrays = [converted(texts.column(name), schema.field(name).type) for name in names]
                batch = self._arrow.RecordBatch.from_arrays(arrays, names)
                yield from (batch.slice(start, size) for start in range(0, batch.num_rows, size))

    def _schema(self, names: list[str]) -> Any:
        return self._arrow.schema([(name, self._kinds.get(name, self._arrow.string())) for name in names])

    def _learn(self, guesses: dict[str, Guess]) -> int:
        """Show all rows to the guesses, and return how many there are."""
        n_rows = 0
        for path, schema in zip(self.paths, self.schemas, strict=True):
            names = [name for name in guesses if name in schema.names] or schema.names[:1]
            row = 0
            for texts in self._texts(path, names):
                for name in names:
                    if name in guesses:
                        guesses[name].see(texts.column(name), path, row)
                row += texts.num_rows
            n_rows += row
        return n_rows

    def _header(self, path: str) -> list[str]:
        with self._reading(path), self._open(path, None) as reader:
            names = list(reader.schema.names)
        check_differ(path, names)
        return names

    def _texts(self, path: str, names: Sequence[str]) -> Iterator[Any]:
        """Yield some columns of a file as they are written."""
        with self._reading(path), self._open(path, names) as reader:
            yield from reader

    @contextmanager
    def _reading(self, path: str) -> Generator[None]:
        try:
            with explained(path, "CSV"):
                yield
        except ValueError as error:
            if "UTF8" not in str(error) and not isinstance(error.__cause__, UnicodeDecodeError):
                sign = self._likelier_separator(path)
                if sign is None:
                    raise
                raise ValueError(
                    f"{error} (its first line has more {sign}: try --delimiter '{sign}')"
                ) from error
            raise ValueError(
                f"{path} is not written in {self._dialect.encoding}: name its encoding, such as latin-1"
            ) from error

    def _likelier_separator(self, path: str) -> str | None:
        """Return the sign that stands more often in the first line than what should separate columns."""
        with open(path, encoding=self._dialect.encoding, errors="replace") as file:
            line = file.readline(_BLOCK_BYTES)
        likeliest = max(";|,\t", key=line.count)
        likelier = line.count(likeliest) > line.count(self._dialect.separator(path))
        return likeliest.replace("\t", "tab") if likelier else None

    def _open(self, path: str, names: Sequence[str] | None) -> Any:
        csv, text = self._csv, self._arrow.string()
        chosen = (
            {} if names is None else {"column_types": dict.fromkeys(names, text), "include_columns": names}
        )
        return csv.open_csv(
            path,
            csv.ReadOptions(block_size=_BLOCK_BYTES, encoding=self._dialect.encoding),
            csv.ParseOptions(delimiter=self._dialect.separator(path), newlines_in_values=True),
            csv.ConvertOptions(strings_can_be_null=False, **chosen),
        )


class Guess:
    """The type of a column of text, as far as it has been read."""

    def __init__(self, name: str, *, number: bool = False) -> None:
        arrow = import_extra("pyarrow", "parquet")
        self._name, self._number = name, number
        self._text = arrow.string()
        whole, real, truth, day = arrow.int64(), arrow.float64(), arrow.bool_(), arrow.date32()
        moment = arrow.timestamp("us")
        self._first = [real, truth] if number else [whole, real, truth, day, moment]
        self._wider = {whole: [real], day: [moment]}
        self.kind = real if number else arrow.null()
        self._seen = False

    def see(self, texts: Any, path: str, row: int) -> None:
        """Widen the type to what suits these texts too."""
        if self.kind == self._text:
            return
        texts = _without_missing(texts)
        if texts.null_count == len(texts):
            return
        kinds = [self.kind, *self._wider.get(self.kind, [])] if self._seen else self._first
        self._seen = True
        self.kind = next((kind for kind in kinds if self._fits(texts, kind)), self._text)
        if self._number and self.kind == self._text:
            self._complain(texts, kinds, path, row)

    def _fits(self, texts: Any, kind: Any) -> bool:
        compute = import_extra("pyarrow.compute", "parquet")
        looks_like_code = not self._number and (kind in self._first[:2])
        if looks_like_code and compute.any(compute.match_substring_regex(texts, _CODE)).as_py():
            return False
        return _castable(texts, kind)

    def _complain(self, texts: Any, kinds: list[Any], path: str, row: int) -> NoReturn:
        kind = max(kinds, key=lambda kind: _castable(texts[:1], kind))
        place = next(i for i in range(len(texts)) if not _castable(texts[i : i + 1], kind))
        raise ValueError(
            f"column {self._name!r} of {path} holds {texts[place].as_py()!r} in row {row + place + 1}, "
            "not a number: leave the column out or mend the row"
        )


def _castable(texts: Any, kind: Any) -> bool:
    try:
        texts.cast(kind)
    except ValueError:
        return False
    return True


def converted(texts: Any, kind: Any) -> Any:
    """Return a column of text as one of its type; nothing at all is missing, in numbers also words for it."""
    arrow, compute = import_extra("pyarrow", "parquet"), import_extra("pyarrow.compute", "parquet")
    if kind == arrow.string():
        return compute.if_else(compute.equal(texts, ""), arrow.scalar(None, kind), texts)
    if kind == arrow.null():
        return arrow.nulls(len(texts))
    return _without_missing(texts).cast(kind)


def _without_missing(texts: Any) -> Any:
    arrow, compute = import_extra("pyarrow", "parquet"), import_extra("pyarrow.compute", "parquet")
    texts = compute.utf8_trim_whitespace(texts)
    missing = compute.is_in(texts, value_set=arrow.array(_MISSING))
    return compute.if_else(missing, arrow.scalar(None, texts.type), texts)


class CSVWriter:
    """A CSV file in UTF-8, written batch by batch. Quotes are where they are needed, and nowhere else."""

    def __init__(self, path: Path, schema: Any, separator: str) -> None:
        self._arrow = import_extra("pyarrow", "parquet")
        self._compute = import_extra("pyarrow.compute", "parquet")
        self._separator = separator
        self._special = f'[{re.escape(separator)}"\\r\\n]'
        self._text = self._arrow.large_string()
        for field in schema:
            self._check(field)
        self._file = path.open("wb")
        header = [self._arrow.array([name], self._text) for name in schema.names]
        self._write_lines(header)

    def __enter__(self) -> CSVWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def write_batch(self, batch: Any) -> None:
        """Write some rows."""
        self._write_lines([self._as_text(column) for column in batch.columns])

    def _check(self, field: Any) -> None:
        types = self._arrow.types
        nested = types.is_nested(field.type) or types.is_binary(field.type)
        if nested or types.is_large_binary(field.type) or types.is_fixed_size_binary(field.type):
            raise ValueError(
                f"column {field.name!r} holds {field.type}, which CSV cannot hold: write to a .parquet file"
            )

    def _as_text(self, column: Any) -> Any:
        if self._arrow.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        if self._arrow.types.is_floating(column.type):
            nan = self._compute.is_nan(column)
            column = self._compute.if_else(nan, self._arrow.scalar(None, column.type), column)
        return column.cast(self._text)

    def _write_lines(self, columns: list[Any]) -> None:
        cells = [self._quoted(self._compute.fill_null(column, "")) for column in columns]
        if len(cells) == 1:  # an empty line would be no row
            cells = [self._compute.if_else(self._compute.equal(cells[0], ""), '""', cells[0])]
        ends = self._arrow.scalar("\n", self._text)
        separator = self._arrow.scalar(self._separator, self._text)
        lines = self._compute.binary_join_element_wise(*cells, separator)
        lines = self._compute.binary_join_element_wise(lines, ends, self._arrow.scalar("", self._text))
        n_bytes = self._compute.sum(self._compute.binary_length(lines)).as_py() or 0
        self._file.write(memoryview(lines.buffers()[2])[:n_bytes])

    def _quoted(self, cells: Any) -> Any:
        compute = self._compute
        special = compute.match_substring_regex(cells, self._special)
        if not compute.any(special).as_py():
            return cells
        doubled = compute.replace_substring(cells, '"', '""')
        mark, nothing = self._arrow.scalar('"', self._text), self._arrow.scalar("", self._text)
        return compute.if_else(special, compute.binary_join_element_wise(mark, doubled, mark, nothing), cells)
