"""The verb for one table."""

from __future__ import annotations

import argparse
from pathlib import Path

from tabstretch.cli.arguments import Verbs, count, names, positive
from tabstretch.study.names import MODELS, TRANSFORMATIONS


def add_compare(verbs: Verbs) -> None:
    """Add `tabstretch compare`."""
    verb = verbs.add_parser(
        "compare",
        help="find the best transformation for one table and keep its pipeline",
        description="Compare transformations on one table, and save the fitted pipeline of the best.",
    )
    verb.add_argument("file", type=Path, metavar="FILE", help="a table: FILE.csv or FILE.parquet")
    verb.add_argument("--target", required=True, metavar="COLUMN", help="what is to be learned")
    verb.add_argument("-o", "--output", type=Path, metavar="FOLDER", help="default: FILE-compare beside FILE")
    verb.add_argument(
        "--models",
        type=names,
        default=("mlp",),
        metavar="A,B",
        help=f"networks: some of {', '.join(MODELS)} (default mlp)",
    )
    verb.add_argument(
        "--transformations",
        type=names,
        metavar="A,B",
        help=f"some of {', '.join(TRANSFORMATIONS)} (default: all thirteen)",
    )
    verb.add_argument(
        "--trials", type=count, default=0, metavar="N", help="tuning trials of each (default 0)"
    )
    verb.add_argument("--seeds", type=positive, default=5, metavar="N", help="networks of each (default 5)")
    verb.add_argument(
        "--task",
        choices=("regression", "classification"),
        help="default: by the target; whole numbers with more than 20 values are regression",
    )
    for name in ("numeric", "categorical", "drop"):
        # Not a list with commas: names of columns have some, too.
        verb.add_argument(
            f"--{name}",
            action="append",
            default=[],
            metavar="COLUMN",
            help=f"a column that is {_MEANING[name]}; may be repeated",
        )
    verb.add_argument("--workers", type=count, metavar="N", help="processes (default: one for each core)")
    verb.add_argument("--quiet", action="store_true", help="show no progress")
    verb.set_defaults(run=_compare)


_MEANING = {"numeric": "a number", "categorical": "a category", "drop": "left out"}


def _compare(chosen: argparse.Namespace) -> None:
    from tabstretch.study.comparison import compare
    from tabstretch.study.datasets.sources import options_as_flags
    from tabstretch.study.views import print_comparison

    optional = {} if chosen.transformations is None else {"transformations": chosen.transformations}
    with options_as_flags():
        found = compare(
            chosen.file,
            chosen.target,
            folder=chosen.output,
            models=chosen.models,
            trials=chosen.trials,
            seeds=chosen.seeds,
            task=chosen.task,
            numeric=chosen.numeric,
            categorical=chosen.categorical,
            drop=chosen.drop,
            workers=chosen.workers,
            progress=not chosen.quiet,
            **optional,
        )
    print_comparison(found)
