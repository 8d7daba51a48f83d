"""Stretch the columns of files: other columns stay as they are, and everything keeps its place."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from numpy.typing import NDArray

from tabstretch._base import BaseStretch
from tabstretch._batches import block_rows
from tabstretch._csv import CSVWriter, Dialect
from tabstretch._extras import import_extra
from tabstretch._files import written_whole
from tabstretch._progress import with_progress
from tabstretch._sources import CSV_ENDINGS, Source, matrix, shortened


class Rewriting(NamedTuple):
    """What becomes of the columns of a table."""

    inputs: list[str]
    """The columns that are read as numbers."""
    outputs: list[str]
    """The names of the columns that are made of them."""
    places: dict[str, list[int]]
    """Which outputs stand in the place of a column; others stay as they are."""
    apply: Callable[[NDArray[Any]], NDArray[Any]]
    """Makes the outputs of the inputs, side by side."""


def forward(stretch: BaseStretch) -> Rewriting:
    """Return the transform: all views of a column stand where it was."""
    names, n_views = stretch._input_names, len(stretch.views_)
    places = {name: list(range(n_views * j, n_views * (j + 1))) for j, name in enumerate(names)}
    return Rewriting(names, list(stretch.get_feature_names_out()), places, stretch._stretched)


def backward(stretch: BaseStretch) -> Rewriting:
    """Return the inverse: of views, the first is mapped back, and the others go."""
    stretched, n_views = list(stretch.get_feature_names_out()), len(stretch.views_)
    inputs = stretched[::n_views]
    places: dict[str, list[int]] = {name: [] for name in stretched}
    places |= {name: [j] for j, name in enumerate(inputs)}
    view = None if n_views == 1 else stretch.views_[0]
    return Rewriting(inputs, stretch._input_names, places, lambda X: stretch.inverse_transform(X, view))


def rewrite_source(
    source: Source, rewriting: Rewriting, output: str | os.PathLike[str], dialect: Dialect
) -> None:
    """Write all rows of a source, rewritten, to one file, which appears whole or not at all."""
    source.require_numbers(rewriting.inputs, "the map was fitted on numbers")
    source.require_alike()
    schema = rewritten_schema(source.schema, rewriting)
    size = block_rows(len(schema.names))
    row = 0
    with written_whole(output) as temporary, _writer(temporary, os.fspath(output), schema, dialect) as writer:
        counted = ((batch.num_rows, batch) for batch in source.batches(None, size))
        for batch in with_progress(counted, source.n_rows, "transforming"):
            if batch.num_rows:
                writer.write_batch(rewritten(batch, rewriting, schema, row))
            row += batch.num_rows


def rewritten_schema(schema: Any, rewriting: Rewriting) -> Any:
    """Return what is written: outputs have the type double, or float if their column has."""
    arrow = import_extra("pyarrow", "parquet")
    fields = []
    for field in schema:
        if field.name in rewriting.places:
            kind = arrow.float32() if field.type == arrow.float32() else arrow.float64()
            names = [rewriting.outputs[j] for j in rewriting.places[field.name]]
            fields += [arrow.field(name, kind) for name in names]
        else:
            fields.append(field)
    names = [field.name for field in fields]
    clash = sorted({name for name in names if names.count(name) > 1})
    if clash:
        raise ValueError(f"the columns {shortened(clash)} have names that are needed for others: rename them")
    return arrow.schema(fields, schema.metadata)


def rewritten(batch: Any, rewriting: Rewriting, schema: Any, row: int) -> Any:
    """Return a batch whose first row has this number, rewritten."""
    arrow = import_extra("pyarrow", "parquet")
    outputs = rewriting.apply(matrix(batch, rewriting.inputs, row))
    columns: list[Any] = []
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        if name not in rewriting.places:
            columns.append(column)
            continue
        for j in rewriting.places[name]:
            kind = schema.field(len(columns)).type
            columns.append(arrow.array(outputs[:, j], from_pandas=True).cast(kind))  # NaN becomes missing
    return arrow.RecordBatch.from_arrays(columns, schema=schema)


def _writer(temporary: Path, output: str, schema: Any, dialect: Dialect) -> Any:
    if output.lower().endswith(CSV_ENDINGS):
        return CSVWriter(temporary, schema, dialect.separator(output))
    parquet = import_extra("pyarrow.parquet", "parquet")
    return parquet.ParquetWriter(temporary, schema)
