"""Arguments that several verbs have, and how their texts are read."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TypeAlias

Verbs: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def add_plan(verb: argparse.ArgumentParser) -> None:
    """Add the plan and its storage."""
    verb.add_argument("plan", type=Path, metavar="PLAN", help="the study's TOML file")
    verb.add_argument(
        "--storage", metavar="URL", help="a SQLite file or postgresql://… (default: PLAN.db beside the plan)"
    )


def add_workers(verb: argparse.ArgumentParser) -> None:
    """Add where the work is done, and whether it is shown."""
    where = verb.add_mutually_exclusive_group()
    where.add_argument(
        "--scheduler", metavar="ADDRESS", help="work on a Dask cluster, such as tcp://host:8786"
    )
    where.add_argument(
        "--workers", type=count, metavar="N", help="processes on this machine (default: cores / threads)"
    )
    verb.add_argument("--threads", type=positive, default=1, metavar="N", help="threads of each (default 1)")
    verb.add_argument("--quiet", action="store_true", help="show no progress")


def study_of(chosen: argparse.Namespace):  # type: ignore[no-untyped-def]
    """Open the study that was asked for."""
    from tabstretch.study.storage import opened_study

    return opened_study(chosen.plan, chosen.storage)


def names(text: str) -> tuple[str, ...]:
    """Take a list with commas apart."""
    return tuple(text.split(","))


def numbers(text: str) -> tuple[float, ...]:
    """Take a list of numbers with commas apart."""
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be numbers with commas between them, got {text!r}") from None


def count(text: str) -> int:
    """Read a whole number, 0 or more."""
    return _whole(text, 0)


def positive(text: str) -> int:
    """Read a whole number, 1 or more."""
    return _whole(text, 1)


def _whole(text: str, least: int) -> int:
    try:
        number = int(text)
    except ValueError:
        number = least - 1
    if number < least:
        raise argparse.ArgumentTypeError(f"must be a whole number of at least {least}, got {text!r}")
    return number
