"""Arguments that several verbs have, and how their texts are read."""

from __future__ import annotations

import argparse
import codecs
import math
import os
import sys
import warnings
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

from tabstretch._loading import load
from tabstretch._terminal import tell

Verbs: TypeAlias = "argparse._SubParsersAction[Parser]"


class Parser(argparse.ArgumentParser):
    """A parser that tells how a value is written that looks like an option, such as a column named -x."""

    def error(self, message: str) -> NoReturn:
        """Tell what is wrong and exit."""
        if message.endswith("expected one argument"):
            option = message.removeprefix("argument ").partition(":")[0].split("/")[-1]
            message += f"; a value that begins with - is written {option}=-…"
        super().error(message)


class CommandError(Exception):
    """What a user of the command can mend; its text is all they need to see."""


def mended_by_user(run: Callable[[argparse.Namespace], None]) -> Callable[[argparse.Namespace], None]:
    """Return a verb that tells wrong values, unreadable files and warnings in one line each."""

    def told(chosen: argparse.Namespace) -> None:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            try:
                run(chosen)
            except BrokenPipeError:
                raise
            except (ValueError, OSError) as error:
                raise CommandError(_one_line(error)) from error

    return told


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    tell(f"tabstretch: warning: {' '.join(str(message).split())}", file=sys.stderr)


def _one_line(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        where = "" if error.filename is None else f"{error.filename}: "
        return f"{where}{error.strerror}"
    return " ".join(str(error).split())


def add_map(verb: argparse.ArgumentParser) -> None:
    """Add a map that was fitted before."""
    verb.add_argument(
        "map", type=Path, metavar="MAP", help="a map: the JSON file of tabstretch fit or of to_json"
    )


def read_map(path: Path) -> Any:
    """Load a map."""
    if not path.is_file():
        raise CommandError(f"there is no map {path}: tabstretch fit DATA -o {path} makes one")
    if path.suffix.lower() != ".json":
        raise CommandError(f"{path} is no map: the JSON file of tabstretch fit comes first")
    return load(path)


def check_ending(path: str | os.PathLike[str], endings: Sequence[str]) -> None:
    """Check that the name of a file tells a format that is known."""
    if Path(path).suffix.lower() not in endings:
        last = f" or {endings[-1]}" if len(endings) > 1 else endings[-1]
        raise CommandError(f"{path} must end in {', '.join(endings[:-1])}{last}")


def check_output(output: Path, inputs: Collection[str | os.PathLike[str]]) -> None:
    """Check that an output is no input, and that it can be there, before any work is done."""
    if any(output.exists() and os.path.samefile(output, path) for path in inputs):
        raise CommandError(f"{output} is read by this command: write to another file")
    if not output.absolute().parent.is_dir():
        raise CommandError(f"the directory of {output} does not exist: create it first")


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


def not_negative(text: str) -> float:
    """Read a number, 0 or more."""
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0.0 <= number < math.inf:
        raise argparse.ArgumentTypeError(f"must be a number of at least 0, got {text!r}")
    return number


def delimiter(text: str) -> str:
    """Read a sign; a tabulator may be spelled out."""
    sign = {"tab": "\t", "\\t": "\t"}.get(text, text)
    if len(sign) != 1 or not sign.isascii() or sign in '"\r\n':
        raise argparse.ArgumentTypeError(f"must be one sign, such as ; or tab, got {text!r}")
    return sign


def encoding(text: str) -> str:
    """Read the name of an encoding."""
    try:
        codecs.lookup(text)
    except LookupError:
        raise argparse.ArgumentTypeError(
            f"must be an encoding that Python knows, such as utf-8 or latin-1, got {text!r}"
        ) from None
    return text


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
