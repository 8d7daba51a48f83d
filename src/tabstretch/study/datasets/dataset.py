"""`Dataset`: what a study trains on, split, without gaps, all of it numbers, and with a checksum."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tabstretch.study.datasets.encoding import encoded_column, encoded_target, imputed
from tabstretch.study.datasets.readers import read_table
from tabstretch.study.datasets.sources import parse_source
from tabstretch.study.datasets.splits import split_rows
from tabstretch.study.datasets.tables import PARTS, Table

Task = Literal["regression", "binclass", "multiclass"]


@dataclass(frozen=True, eq=False)  # arrays have no single answer to ==
class Dataset:
    """A data set as networks need it. `numeric`, `categorical` and `y` have "train", "val" and "test"."""

    name: str
    source: str
    """As the plan has it."""
    task: Task
    numeric: dict[str, NDArray[np.float64]]
    """Without NaN: the training part's mean stands for a missing number."""
    categorical: dict[str, NDArray[np.int64]]
    """Codes: the training part's categories in order, then missing if it has that, then unknown."""
    y: dict[str, NDArray[np.float64] | NDArray[np.int64]]
    """Numbers for regression, or the positions of labels in `classes`."""
    classes: tuple[str, ...] | None
    numeric_names: tuple[str, ...]
    categorical_names: tuple[str, ...]
    categories: tuple[tuple[str | None, ...], ...]
    """Of each categorical column, what its codes stand for: None is missing, unknown is left out."""
    missing: int
    """How many numbers were missing."""
    split: dict[str, NDArray[np.int64]] | None
    """Row numbers in the source, from 0; None if the source has a split of its own."""
    checksum: str = ""
    """SHA-256 of everything above but `name` and `source`."""

    @property
    def n_categories(self) -> tuple[int, ...]:
        """Of each categorical column, how many codes there are, with the one for unknown."""
        return tuple(len(known) + 1 for known in self.categories)

    @property
    def n_outputs(self) -> int:
        """How many numbers a network returns for a row: one, or one for each class."""
        return 1 if self.classes is None else len(self.classes)

    @property
    def n_rows(self) -> dict[str, int]:
        """How many rows each part has."""
        return {part: len(self.y[part]) for part in PARTS}


def load_dataset(source: str, folder: Path) -> Dataset:
    """Read, split, impute and encode a data set.

    Parameters
    ----------
    source : str
        One of these; names and paths may be percent-encoded.

        - ``sklearn:NAME``: a data set that comes with scikit-learn, such as ``sklearn:diabetes``
        - ``talent:PATH``: a folder of the TALENT benchmark, with its own split
        - ``file:PATH?target=COLUMN``: a CSV or Parquet file
        - ``openml:NAME`` or ``openml:ID``: a data set of openml.org

        Files and OpenML take options, joined by ``&``: ``target``, ``task`` (regression or
        classification), and ``numeric``, ``categorical`` and ``drop``, each followed by names of columns
        with commas between them.
    folder : Path
        Where relative paths begin: the folder of the plan.

    Examples
    --------
    >>> dataset = load_dataset("sklearn:wine", Path())
    >>> dataset.task, dataset.n_rows, dataset.n_outputs
    ('multiclass', {'train': 114, 'val': 28, 'test': 36}, 3)
    """
    with _source_named(source):
        table = read_table(parse_source(source), folder)
        return dataset_from_table(table, source)


@contextmanager
def _source_named(source: str) -> Generator[None]:
    """Begin every complaint with the source, since a plan has many."""
    try:
        yield
    except (ValueError, OSError) as error:
        kinds = (FileNotFoundError, ConnectionError)
        # Of all else that a system may say, of a name that is too long for instance, the words are enough.
        kind = next((kind for kind in kinds if isinstance(error, kind)), ValueError)
        raise kind(f"{source}: {error}") from error


def dataset_from_table(table: Table, source: str) -> Dataset:
    """Split, impute and encode a table."""
    labels = table.target if isinstance(table.target, list) else None
    rows = table.rows or split_rows(len(table.target), labels)
    y, classes = encoded_target(table.target, table.target_name, rows)
    numeric = [imputed(column, rows["train"]) for column in table.numeric.values()]
    encoded = [encoded_column(column, rows["train"]) for column in table.categorical.values()]
    matrix = np.column_stack([np.empty((len(y), 0)), *numeric])
    codes = np.column_stack([np.empty((len(y), 0), dtype=np.int64), *(codes for codes, _ in encoded)])
    dataset = Dataset(
        name=table.name,
        source=source,
        task="regression" if classes is None else "binclass" if len(classes) == 2 else "multiclass",
        numeric={part: matrix[rows[part]] for part in PARTS},
        categorical={part: codes[rows[part]] for part in PARTS},
        y={part: y[rows[part]] for part in PARTS},
        classes=classes,
        numeric_names=tuple(table.numeric),
        categorical_names=tuple(table.categorical),
        categories=tuple(categories for _, categories in encoded),
        missing=sum(int(np.isnan(column).sum()) for column in table.numeric.values()),
        split=None if table.rows else rows,
    )
    return replace(dataset, checksum=checksum_of(dataset))


def checksum_of(dataset: Dataset) -> str:
    """Return the SHA-256 of the content in one order and one byte order, whatever it was read from."""
    digest = hashlib.sha256(b"tabstretch data set 1\n")
    for field in fields(dataset):
        value = getattr(dataset, field.name)
        if isinstance(value, dict):
            for part in PARTS:
                digest.update(f"{field.name} {part} {value[part].shape}\n".encode())
                digest.update(_canonical_bytes(value[part]))
        elif field.name not in ("name", "source", "checksum"):
            digest.update(f"{field.name} {json.dumps(value)}\n".encode())
    return digest.hexdigest()


def _canonical_bytes(array: NDArray[np.float64] | NDArray[np.int64]) -> bytes:
    if array.dtype.kind == "i":
        return array.astype("<i8").tobytes()
    return (array.astype("<f8") + 0.0).tobytes()  # -0.0 becomes 0.0
