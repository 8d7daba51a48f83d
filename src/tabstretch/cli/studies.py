"""Verbs that run a study and look at it."""

from __future__ import annotations

import argparse
from pathlib import Path

from tabstretch._terminal import tell
from tabstretch.cli.arguments import Verbs, add_plan, add_workers, study_of


def add_run(verbs: Verbs) -> None:
    """Add `tabstretch run`."""
    verb = verbs.add_parser(
        "run",
        help="run a study, or go on with it",
        description="Run what is missing of a study. The same command again goes on where it ended.",
    )
    add_plan(verb)
    add_workers(verb)
    verb.add_argument("--retry-failed", action="store_true", help="run those again that failed before")
    verb.set_defaults(run=_run)


def _run(chosen: argparse.Namespace) -> None:
    from tabstretch.study.runner import run_study
    from tabstretch.study.views import print_summary

    table = run_study(
        chosen.plan,
        storage=chosen.storage,
        scheduler=chosen.scheduler,
        workers=chosen.workers,
        threads=chosen.threads,
        retry_failed=chosen.retry_failed,
        progress=not chosen.quiet,
    )
    print_summary(table)


def add_status(verbs: Verbs) -> None:
    """Add `tabstretch status`."""
    verb = verbs.add_parser("status", help="show where a study stands")
    add_plan(verb)
    verb.set_defaults(run=_status)


def _status(chosen: argparse.Namespace) -> None:
    from tabstretch.study.views import print_status

    with study_of(chosen) as (plan, store):
        print_status(plan, store)


def add_results(verbs: Verbs) -> None:
    """Add `tabstretch results`."""
    verb = verbs.add_parser("results", help="write the results of a study to a file")
    add_plan(verb)
    verb.add_argument(
        "-o", "--output", type=Path, required=True, metavar="FILE", help="FILE.csv or FILE.parquet"
    )
    verb.set_defaults(run=_results)


def _results(chosen: argparse.Namespace) -> None:
    from tabstretch.study.results import results_table, write_table

    with study_of(chosen) as (_, store):
        table = results_table(store)
    write_table(table, chosen.output)
    nothing = "" if len(table) else f"; tabstretch run {chosen.plan} makes some"
    tell(f"{len(table)} rows in {chosen.output}{nothing}")


def add_splits(verbs: Verbs) -> None:
    """Add `tabstretch splits`."""
    verb = verbs.add_parser(
        "splits", help="write which rows a study trained, validated and tested on, with checksums"
    )
    add_plan(verb)
    verb.add_argument("-o", "--output", type=Path, required=True, metavar="FOLDER")
    verb.set_defaults(run=_splits)


def _splits(chosen: argparse.Namespace) -> None:
    from tabstretch.study.results import write_splits

    with study_of(chosen) as (_, store):
        paths = write_splits(store, chosen.output)
        for path in paths:
            tell(str(path))
        if not paths:
            tell(f"no data set was read yet: tabstretch run {chosen.plan} reads them")
