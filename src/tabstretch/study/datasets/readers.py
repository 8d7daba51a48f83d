"""One reader for each kind of source: source and the plan's folder -> `Table`."""

from __future__ import annotations

import codecs
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from sklearn import datasets as sklearn_datasets

from tabstretch._extras import import_extra
from tabstretch.study.datasets.frames import missing_column, table_from_frame
from tabstretch.study.datasets.openml import read_openml
from tabstretch.study.datasets.sources import Source
from tabstretch.study.datasets.tables import Table, as_labels, as_numbers, check_names, listed
from tabstretch.study.datasets.talent import read_talent

_SKLEARN: dict[str, Callable[[], Any]] = {
    "breast_cancer": sklearn_datasets.load_breast_cancer,
    "diabetes": lambda: sklearn_datasets.load_diabetes(scaled=False),  # transformations are the study's part
    "digits": sklearn_datasets.load_digits,
    "iris": sklearn_datasets.load_iris,
    "wine": sklearn_datasets.load_wine,
}
_SEPARATORS = {";": "semicolons", "\t": "tabulators"}
_ENCODINGS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


def read_table(source: Source, folder: Path) -> Table:
    """Return the table of any source."""
    return READERS[source.kind](source, folder)


def read_sklearn(source: Source, folder: Path) -> Table:
    """Return one of the data sets that come with scikit-learn; all of their columns are numbers."""
    if source.location not in _SKLEARN:
        raise ValueError(f"scikit-learn has no {source.location!r} here; available: {listed(list(_SKLEARN))}")
    found = _SKLEARN[source.location]()
    names = [str(name) for name in found.feature_names]
    target: Any = as_numbers("target", found.target)
    if "target_names" in found:
        target = as_labels(found.target_names[found.target])
    numeric = {name: as_numbers(name, found.data[:, j]) for j, name in enumerate(names)}
    return Table(source.location, numeric, {}, target, "target")


def read_file(source: Source, folder: Path) -> Table:
    """Return the table of a CSV or Parquet file."""
    path = source.path(folder)
    if not path.is_file():
        raise FileNotFoundError(f"{path} does not exist or is no file")
    suffix = path.suffix.lower()
    if suffix not in _FORMATS:
        raise ValueError(f"the name of {path} must end in {' or '.join(_FORMATS)}, got {suffix!r}")
    import_extra("pandas", "study")
    try:
        frame = _FORMATS[suffix](path)
    except (ValueError, OSError) as error:
        raise ValueError(f"{path} cannot be read: {error}") from error
    columns = [str(column) for column in frame.columns]
    if source.target is None:
        raise ValueError(f"say what is to be learned: ?target=COLUMN with one of {listed(columns)}")
    if source.target not in columns:
        raise ValueError(f"{missing_column(source.target, columns)}{_about_separators(','.join(columns))}")
    return table_from_frame(path.stem, frame, source, source.target)


def _read_csv(path: Path) -> Any:
    pandas = import_extra("pandas", "study")
    with path.open("rb") as file:
        first = file.read(4)
    if not first:
        raise ValueError("it is empty")
    encoding = next((name for mark, name in _ENCODINGS.items() if first.startswith(mark)), "utf-8")
    try:
        # Without a header pandas neither renames the second of two equal names nor takes the first column
        # for an index where rows have one field more than the header.
        start = pandas.read_csv(path, encoding=encoding, header=None, nrows=2, dtype=str)
        check_names(start.iloc[0].dropna().tolist())
        return pandas.read_csv(path, encoding=encoding, low_memory=False, **_to_the_last_digit(pandas))
    except pandas.errors.ParserError as error:
        with path.open(encoding=encoding) as lines:
            raise ValueError(f"{str(error).strip()}{_about_separators(lines.readline())}") from error
    except UnicodeDecodeError as error:
        raise ValueError(
            f"it is not UTF-8 (byte {error.object[error.start]:#x}); save it as UTF-8, "
            "for example with: iconv -f latin1 -t utf-8"
        ) from error


def _about_separators(header: str) -> str:
    """Return advice for a table whose columns others than commas separate, nothing for one with commas."""
    found = max(_SEPARATORS, key=header.count)
    if header.count(found) <= header.count(","):
        return ""
    return f" (its first line has more {_SEPARATORS[found]} than commas; write the table with commas)"


def _to_the_last_digit(pandas: Any) -> dict[str, str]:
    """Return the option that makes pandas read floats exactly; since 3.1 it does so unasked, and warns."""
    major, minor = pandas.__version__.split(".")[:2]
    return {} if (int(major), int(minor)) >= (3, 1) else {"float_precision": "round_trip"}


def _read_parquet(path: Path) -> Any:
    import_extra("pyarrow", "study")
    parquet = import_module("pyarrow.parquet")
    try:
        table = parquet.read_table(path)
        table.validate(full=True)  # of text, that it is UTF-8
        return table.to_pandas()
    except Exception as error:  # what a file says about types in pandas may be wrong in any way
        raise ValueError(f"{type(error).__name__}: {error}") from error


_FORMATS: dict[str, Callable[[Path], Any]] = {".csv": _read_csv, ".parquet": _read_parquet}
READERS: dict[str, Callable[[Source, Path], Table]] = {
    "sklearn": read_sklearn,
    "talent": read_talent,
    "file": read_file,
    "openml": read_openml,
}
