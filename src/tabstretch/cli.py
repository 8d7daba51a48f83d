"""The `tabstretch` command: one small function for each verb."""

from __future__ import annotations

import argparse
import shlex
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import NoReturn

from tabstretch import __version__


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code: 0, 1 for an error, 2 for misuse, 130 for an interruption."""
    parser = _parser()
    chosen = parser.parse_args(arguments)
    if chosen.verb is None:
        parser.print_help()
        return 2
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        return int(chosen.run(chosen) or 0)
    except KeyboardInterrupt:
        print(f"\ninterrupted; everything finished is stored. Go on with:\n  {_again()}", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader of our output has seen enough
        sys.stderr.close()
        return 1
    except Exception as error:
        if (explanation := _explanation(error)) is None:
            raise  # a fault of ours, whose trace is worth seeing
        print(f"tabstretch: {explanation}", file=sys.stderr)
        return 1


def _interrupt(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


def _explanation(error: Exception) -> str | None:
    """Return what to tell a user, if it is an error that a user can mend."""
    if (
        type(error).__name__ == "StudyError"
    ):  # not imported: the command must start without the study's extras
        return str(error)
    if isinstance(error, ModuleNotFoundError) and error.name and not error.name.startswith("tabstretch"):
        return f"{error.name} is needed for this: pip install 'tabstretch[study]'"
    return str(error) if isinstance(error, ImportError) and "pip install" in str(error) else None


def _again() -> str:
    return shlex.join(["tabstretch", *sys.argv[1:]])


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tabstretch", description="Stretch numeric columns for networks, and study what it does."
    )
    parser.add_argument("--version", action="version", version=f"tabstretch {__version__}")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB")
    for add in (_add_run, _add_status, _add_results, _add_splits, _add_compare):
        add(verbs)
    return parser


def _add_run(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    verb = verbs.add_parser(
        "run",
        help="run a study, or go on with it",
        description="Run what is missing of a study. The same command again goes on where it ended.",
    )
    _add_plan(verb)
    where = verb.add_mutually_exclusive_group()
    where.add_argument(
        "--scheduler", metavar="ADDRESS", help="work on a Dask cluster, such as tcp://host:8786"
    )
    where.add_argument(
        "--workers", type=_count, metavar="N", help="processes on this machine (default: one for each core)"
    )
    verb.add_argument("--threads", type=_positive, default=1, metavar="N", help="threads of each (default 1)")
    verb.add_argument("--retry-failed", action="store_true", help="run those again that failed before")
    verb.add_argument("--quiet", action="store_true", help="show no progress")
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


def _add_status(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    verb = verbs.add_parser("status", help="show where a study stands")
    _add_plan(verb)
    verb.set_defaults(run=_status)


def _status(chosen: argparse.Namespace) -> None:
    from tabstretch.study.views import print_status

    with _study(chosen) as (plan, store):
        print_status(plan, store)


def _add_results(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    verb = verbs.add_parser("results", help="write the results of a study to a file")
    _add_plan(verb)
    verb.add_argument(
        "-o", "--output", type=Path, required=True, metavar="FILE", help="FILE.csv or FILE.parquet"
    )
    verb.set_defaults(run=_results)


def _results(chosen: argparse.Namespace) -> None:
    from tabstretch.study.results import results_table, write_table

    with _study(chosen) as (_, store):
        table = results_table(store)
    write_table(table, chosen.output)
    print(f"{len(table)} rows in {chosen.output}")


def _add_splits(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    verb = verbs.add_parser(
        "splits", help="write which rows a study trained, validated and tested on, with checksums"
    )
    _add_plan(verb)
    verb.add_argument("-o", "--output", type=Path, required=True, metavar="FOLDER")
    verb.set_defaults(run=_splits)


def _splits(chosen: argparse.Namespace) -> None:
    from tabstretch.study.results import write_splits

    with _study(chosen) as (_, store):
        for path in write_splits(store, chosen.output):
            print(path)


def _add_compare(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    verb = verbs.add_parser(
        "compare",
        help="find the best transformation for one table and keep its pipeline",
        description="Compare transformations on one table, and save the fitted pipeline of the best.",
    )
    verb.add_argument("file", type=Path, metavar="FILE", help="a table: FILE.csv or FILE.parquet")
    verb.add_argument("--target", required=True, metavar="COLUMN", help="what is to be learned")
    verb.add_argument("-o", "--output", type=Path, metavar="FOLDER", help="default: FILE-compare beside FILE")
    verb.add_argument("--models", type=_names, default=("mlp",), metavar="A,B", help="networks (default mlp)")
    verb.add_argument("--transformations", type=_names, metavar="A,B", help="default: all thirteen")
    verb.add_argument(
        "--trials", type=_count, default=0, metavar="N", help="tuning trials of each (default 0)"
    )
    verb.add_argument("--seeds", type=_positive, default=5, metavar="N", help="networks of each (default 5)")
    verb.add_argument("--task", choices=("regression", "classification"), help="default: by the target")
    for name in ("numeric", "categorical", "drop"):
        verb.add_argument(
            f"--{name}", type=_names, default=(), metavar="A,B", help=f"columns: {_MEANING[name]}"
        )
    verb.add_argument("--workers", type=_count, metavar="N", help="processes (default: one for each core)")
    verb.add_argument("--quiet", action="store_true", help="show no progress")
    verb.set_defaults(run=_compare)


_MEANING = {"numeric": "numbers", "categorical": "categories", "drop": "left out"}


def _compare(chosen: argparse.Namespace) -> None:
    from tabstretch.study.comparison import compare
    from tabstretch.study.views import print_comparison

    optional = {} if chosen.transformations is None else {"transformations": chosen.transformations}
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


def _add_plan(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("plan", type=Path, metavar="PLAN", help="the study's TOML file")
    verb.add_argument(
        "--storage", metavar="URL", help="a SQLite file or postgresql://… (default: PLAN.db beside the plan)"
    )


def _study(chosen: argparse.Namespace):  # type: ignore[no-untyped-def]
    from tabstretch.study.storage import opened_study

    return opened_study(chosen.plan, chosen.storage)


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split(","))


def _count(text: str) -> int:
    return _whole(text, 0)


def _positive(text: str) -> int:
    return _whole(text, 1)


def _whole(text: str, least: int) -> int:
    try:
        number = int(text)
    except ValueError:
        number = least - 1
    if number < least:
        raise argparse.ArgumentTypeError(f"must be a whole number of at least {least}, got {text!r}")
    return number
