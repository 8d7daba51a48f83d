"""The verb that looks at a table before anything is fitted."""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

import numpy as np

from tabstretch._parquet import TrainingColumns, numeric_columns
from tabstretch._progress import with_progress
from tabstretch._sampling import RowSample, random_keys
from tabstretch._sources import Source
from tabstretch._suggest import MAX_ROWS, make_table, measure_table, remark_on_target
from tabstretch._transformers import StretchTransformer
from tabstretch._validation import check_target
from tabstretch.cli.arguments import Verbs, count, mended_by_user, positive
from tabstretch.cli.tables import add_data, add_jobs, add_target_type, data_files, open_source

_FOLDS = 5


def add_suggest(verbs: Verbs) -> None:
    """Add `tabstretch suggest`."""
    verb = verbs.add_parser(
        "suggest",
        help="say for each column of CSV or Parquet files whether a stretch is worth it, and which",
        description="Measure every column of numbers in CSV or Parquet files and suggest what to do with it: "
        "a supervised stretch, an unsupervised one, or nothing but standardisation. Nothing is written.",
    )
    add_data(verb)
    verb.add_argument(
        "--target",
        action="append",
        default=[],
        metavar="COLUMN",
        help="what is to be learned; again for several (without it only the shape of columns is measured)",
    )
    verb.add_argument(
        "--skip", action="append", default=[], metavar="COLUMN", help="leave it out; again for more"
    )
    add_target_type(verb)
    verb.add_argument(
        "--max-rows",
        type=positive,
        default=MAX_ROWS,
        metavar="N",
        help=f"look at so many rows, drawn at random (default {MAX_ROWS})",
    )
    verb.add_argument("--seed", type=count, default=0, metavar="N", help="for what is random (default 0)")
    add_jobs(verb)
    verb.set_defaults(run=mended_by_user(partial(_suggest, verb)), interrupted="nothing was written")


def _suggest(verb: argparse.ArgumentParser, chosen: argparse.Namespace) -> None:
    if chosen.target_type is not None and not chosen.target:
        verb.error("--target-type is for a --target")
    if chosen.max_rows < 2:
        verb.error("--max-rows must be at least 2")
    source = open_source(data_files(chosen.data), chosen, numbers=[], learned=None)
    if source.n_rows == 0:
        raise ValueError(f"{source.paths[0]} has no rows to look at")
    source.require([*chosen.skip, *chosen.target])
    columns = numeric_columns(source, {*chosen.target, *chosen.skip})
    X, y = _sampled(source, columns, chosen)
    target_type = chosen.target_type or "auto"
    traits = measure_table(X, y, _FOLDS, target_type=target_type, seed=chosen.seed, n_jobs=chosen.jobs)
    used = {*columns, *chosen.target, *chosen.skip}
    others = [name for name in source.schema.names if name not in used]
    table = make_table(
        columns,
        others,
        traits,
        n_rows=source.n_rows,
        n_measured=len(X),
        supervised=y is not None,
        target_type=target_type,
        remark=remark_on_target(y, target_type),
    )
    print(table)


def _sampled(source: Source, columns: list[str], chosen: argparse.Namespace) -> tuple[Any, Any]:
    """Return the rows that `tabstretch.suggest` would draw, and their target, all of which is checked."""
    training = TrainingColumns(source, chosen.target, columns, None)
    targets, row, sample = [], 0, None
    for X, y, _ in with_progress(training.batches(), source.n_rows, "reading"):
        n_rows = len(X)
        keys = random_keys(chosen.seed, row, n_rows)
        part = RowSample(keys, X, np.arange(row, row + n_rows), None).smallest(chosen.max_rows)
        sample = part if sample is None else sample.merge(part, chosen.max_rows)
        targets.append(y)
        row += n_rows
    assert sample is not None
    if not chosen.target:
        return sample.X, None
    whole = np.concatenate(targets)
    return sample.X, check_target(StretchTransformer(), whole, whole)[sample.y]
