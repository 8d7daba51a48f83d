"""Verbs that work on tables of data: fit, transform."""

from __future__ import annotations

import argparse
import os
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from tabstretch._csv import CSVSource, Dialect
from tabstretch._monotone import OUT_OF_RANGE
from tabstretch._parameters import VARIATIONS
from tabstretch._parquet import fit_source
from tabstretch._rewriting import backward, forward, rewrite_source
from tabstretch._sources import CSV_ENDINGS, PARQUET_ENDINGS, ParquetSource, Source, find_files, shortened
from tabstretch._tables import fitted_stretch
from tabstretch._target import TARGET_TYPES, remark_on_classes
from tabstretch._terminal import printable, tell
from tabstretch._transformers import StretchTransformer, SupervisedStretchTransformer
from tabstretch.cli.arguments import (
    Verbs,
    add_map,
    check_ending,
    check_output,
    count,
    delimiter,
    encoding,
    mended_by_user,
    not_negative,
    positive,
    read_map,
)

_ENDINGS = (*PARQUET_ENDINGS, *CSV_ENDINGS)
_SUPERVISED = ("variation", "target_type", "rank_weight", "random_state")
_COLUMNS_SHOWN = 40
_MANY: Any = {"action": "append", "default": []}


def add_fit(verbs: Verbs) -> None:
    """Add `tabstretch fit`."""
    verb = verbs.add_parser(
        "fit",
        help="fit a stretch on CSV or Parquet files and save its map",
        description="Fit a stretch on CSV or Parquet files of any size and save its map, a small JSON file. "
        "With --target, columns get more room where the target changes fast; without it, where their values "
        "are dense. Memory is bounded; CSV files are read twice, first to learn the types of columns.",
    )
    add_data(verb)
    add_output(verb, "MAP", "the map, a .json file")
    verb.add_argument("--target", metavar="COLUMN", help="what is to be learned; again for several", **_MANY)
    columns = verb.add_mutually_exclusive_group()
    columns.add_argument(
        "--column",
        action="append",
        metavar="COLUMN",
        help="stretch this column; again for more (default: all columns of numbers)",
    )
    columns.add_argument("--skip", metavar="COLUMN", help="do not stretch it; again for more", **_MANY)
    verb.add_argument("--weight", metavar="COLUMN", help="the weights of rows")
    verb.add_argument(
        "--n-bins",
        type=positive,
        metavar="N",
        help="bins of each column (default: 64, or 256 without --target)",
    )
    verb.add_argument(
        "--views",
        dest="output_form",
        action="store_const",
        const="views",
        help="put value, rank and target stretch of a column side by side instead of blending them",
    )
    _add_target_options(verb)
    verb.add_argument(
        "--value-weight",
        type=not_negative,
        metavar="W",
        help="how much of a column's own shape to keep (default 2)",
    )
    verb.add_argument(
        "--out-of-range", choices=OUT_OF_RANGE, help="what values beyond those seen get (default: clip)"
    )
    add_jobs(verb)
    verb.set_defaults(run=mended_by_user(partial(_fit, verb)), interrupted="no map was written")


def _add_target_options(verb: argparse.ArgumentParser) -> None:
    options = verb.add_argument_group("with --target")
    options.add_argument(
        "--variation",
        choices=VARIATIONS,
        help="columns together (conditional, the default) or each alone (within_fold is much faster)",
    )
    add_target_type(options)
    options.add_argument(
        "--rank-weight",
        type=not_negative,
        metavar="W",
        help="how much of a column's rank to keep (default 0)",
    )
    options.add_argument(
        "--seed", dest="random_state", type=count, metavar="N", help="for what is random (default 0)"
    )


def add_target_type(options: Any) -> None:
    """Add the kind of target."""
    options.add_argument(
        "--target-type",
        choices=("auto", *TARGET_TYPES),
        metavar="TYPE",
        help=f"{', '.join(TARGET_TYPES)}, or auto, the default. Whole numbers look like classes: "
        "say continuous for counts",
    )


def add_data(verb: argparse.ArgumentParser) -> None:
    """Add data to read."""
    verb.add_argument("data", nargs="+", metavar="DATA", help="CSV or Parquet files, folders, or patterns")
    verb.add_argument(
        "--delimiter",
        type=delimiter,
        metavar="SIGN",
        help="between the columns of CSV files (default: a comma, in .tsv files a tabulator)",
    )
    verb.add_argument(
        "--encoding", type=encoding, default="utf-8", help="of the CSV files read (default: utf-8)"
    )


def add_output(verb: argparse.ArgumentParser, metavar: str, what: str) -> None:
    """Add the file to write."""
    verb.add_argument(
        "-o",
        "--output",
        type=Path,
        required=True,
        metavar=metavar,
        help=f"{what}; one that exists is replaced once the new one is complete",
    )


def add_jobs(verb: argparse.ArgumentParser) -> None:
    """Add the number of threads."""
    verb.add_argument("--jobs", type=positive, metavar="N", help="threads (default 1)")


def _fit(verb: argparse.ArgumentParser, chosen: argparse.Namespace) -> None:
    transformer = _transformer(verb, chosen)
    paths = data_files(chosen.data)
    check_ending(chosen.output, (".json",))
    check_output(chosen.output, paths)
    weights = [] if chosen.weight is None else [chosen.weight]
    learned = None if chosen.column is None else chosen.target
    source = open_source(paths, chosen, numbers=[*(chosen.column or []), *weights], learned=learned)
    fit_source(source, chosen.target, chosen.column, chosen.weight, transformer, chosen.skip)
    transformer.to_json(chosen.output)
    _print_fit(transformer, source, chosen)


def _transformer(verb: argparse.ArgumentParser, chosen: argparse.Namespace) -> Any:
    given = {
        "n_bins": chosen.n_bins,
        "output": chosen.output_form,
        "value_weight": chosen.value_weight,
        "out_of_range": chosen.out_of_range,
        "n_jobs": chosen.jobs,
    }
    supervised = {name: getattr(chosen, name) for name in _SUPERVISED}
    if chosen.target:
        given |= supervised
    elif any(value is not None for value in supervised.values()):
        verb.error("--variation, --target-type, --rank-weight and --seed are for a stretch with a --target")
    known = {name: value for name, value in given.items() if value is not None}
    return SupervisedStretchTransformer(**known) if chosen.target else StretchTransformer(**known)


def _print_fit(stretch: Any, source: Source, chosen: argparse.Namespace) -> None:
    names = list(stretch.feature_names_in_)
    by = f" by {', '.join(map(printable, chosen.target))} ({stretch.target_type_})" if chosen.target else ""
    tell(f"{_counted(len(names), 'column')} stretched{by}, {_counted(source.n_rows, 'row')}")
    rows = list(zip(map(printable, names), stretch.n_bins_, stretch.fallback_, strict=True))[:_COLUMNS_SHOWN]
    width = max(len("column"), *(len(name) for name, _, _ in rows))
    tell(f"  {'column':<{width}}  bins{'  note' if any(note for *_, note in rows) else ''}")
    for name, n_bins, fallback in rows:
        tell(f"  {name:<{width}}  {n_bins:>4}  {fallback or ''}".rstrip())
    if len(names) > len(rows):
        tell(f"  … and {len(names) - len(rows)} more")
    used = {*names, *chosen.target, chosen.weight}
    others = [name for name in source.schema.names if name not in used]
    if others:
        tell(f"left alone: {shortened(others)}")
    unasked = chosen.target and chosen.target_type is None and stretch.target_type_ == "multiclass"
    if unasked and (remark := remark_on_classes(np.asarray(stretch.classes_))) is not None:
        tell(remark)
    tell(f"map in {chosen.output}")


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def add_transform(verbs: Verbs) -> None:
    """Add `tabstretch transform`."""
    verb = verbs.add_parser(
        "transform",
        help="stretch the columns of CSV or Parquet files by a map",
        description="Stretch the columns of CSV or Parquet files of any size by a map. All other columns, "
        "the target among them, stay as they are. Every column keeps its name and place; views of a column "
        "stand where it was. What is missing stays missing. All DATA go into one file, which appears whole "
        "or not at all.",
    )
    add_map(verb)
    add_data(verb)
    add_output(verb, "FILE", "a .parquet, .csv or .tsv file")
    verb.add_argument("--inverse", action="store_true", help="map stretched columns back (of views, value)")
    add_jobs(verb)
    verb.set_defaults(run=mended_by_user(_transform), interrupted="nothing was written")


def _transform(chosen: argparse.Namespace) -> None:
    estimator = read_map(chosen.map)
    stretch = fitted_stretch(estimator).set_params(n_jobs=chosen.jobs)
    paths = data_files(chosen.data)
    check_ending(chosen.output, _ENDINGS)
    check_output(chosen.output, [chosen.map, *paths])
    rewriting = backward(stretch) if chosen.inverse else forward(stretch)
    # Text that goes from CSV to CSV stays as it is written.
    learned = () if _is_csv(chosen.output) else None
    source = open_source(paths, chosen, numbers=rewriting.inputs, learned=learned)
    rewrite_source(source, rewriting, chosen.output, _dialect(chosen))
    tell(f"{_counted(source.n_rows, 'row')} in {chosen.output}")


def data_files(data: list[str]) -> list[str]:
    """Return the files that DATA stand for, all of one kind."""
    paths = find_files(data, _ENDINGS)
    for path in paths:
        check_ending(path, _ENDINGS)
    if len({_is_csv(path) for path in paths}) > 1:
        raise ValueError("DATA are both CSV and Parquet files: give one kind, such as 'folder/*.csv'")
    return paths


def open_source(paths: list[str], chosen: argparse.Namespace, **columns: Any) -> Source:
    """Open CSV or Parquet files; `columns` says of which columns of CSV files types are wanted."""
    return CSVSource(paths, _dialect(chosen), **columns) if _is_csv(paths[0]) else ParquetSource(paths)


def _dialect(chosen: argparse.Namespace) -> Dialect:
    return Dialect(chosen.delimiter, chosen.encoding)


def _is_csv(path: str | os.PathLike[str]) -> bool:
    return os.fspath(path).lower().endswith(CSV_ENDINGS)
