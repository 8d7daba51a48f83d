"""The text of a source, "kind:location?option=value&option=value", taken apart."""

from __future__ import annotations

import os
import shlex
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

_TABLE_OPTIONS = ("target", "task", "numeric", "categorical", "drop")
OPTIONS: dict[str, tuple[str, ...]] = {
    "sklearn": (),
    "talent": (),
    "file": _TABLE_OPTIONS,
    "openml": _TABLE_OPTIONS,
}
TASKS = ("regression", "classification")

_are_flags: ContextVar[bool] = ContextVar("options are flags of a command", default=False)


def option(name: str, value: str) -> str:
    """Return an option as its user has to write it, for advice.

    >>> option("drop", "sold on")
    'drop=sold on'
    >>> with options_as_flags():
    ...     option("drop", "sold on")
    "--drop 'sold on'"
    """
    return f"--{name} {shlex.quote(value)}" if _are_flags.get() else f"{name}={value}"


@contextmanager
def options_as_flags() -> Generator[None]:
    """Let advice name the options of a command, for a user who has written no source."""
    token = _are_flags.set(True)
    try:
        yield
    finally:
        _are_flags.reset(token)


@dataclass(frozen=True)
class Source:
    """Where a data set comes from, and what its user says about its columns."""

    kind: str
    location: str
    target: str | None = None
    task: str | None = None
    numeric: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()

    def path(self, folder: Path) -> Path:
        """Return the location as a path, relative ones seen from `folder`."""
        return folder / os.path.expanduser(self.location)  # unlike pathlib's, it never fails


def parse_source(text: str) -> Source:
    """Take a source apart.

    Whatever stands between the separators may be percent-encoded, and must be where it contains one of
    them: `%2C` is a comma in a column's name, `%26` an ampersand, `%3F` a question mark in a path.

    >>> parse_source("file:houses.csv?target=price&drop=id,seller%2C%20buyer")
    Source(kind='file', location='houses.csv', target='price', task=None, numeric=(), categorical=(),
           drop=('id', 'seller, buyer'))
    """
    kind, colon, rest = text.partition(":")
    if not colon or kind not in OPTIONS:
        raise ValueError(
            f"a source must be one of {', '.join(f'{known}:…' for known in OPTIONS)}, got {text!r}; "
            "a table in a file is file:PATH?target=COLUMN"
        )
    location, _, query = rest.partition("?")
    if not location:
        raise ValueError(f"nothing follows '{kind}:'; say which data set, for example {_EXAMPLES[kind]}")
    source = Source(kind, _decoded(location), **_options(kind, query))  # type: ignore[arg-type]
    _check_roles(source)
    return source


_EXAMPLES = {
    "sklearn": "sklearn:diabetes",
    "talent": "talent:path/to/yeast",
    "file": "file:houses.csv?target=price",
    "openml": "openml:electricity",
}


def _options(kind: str, query: str) -> dict[str, str | tuple[str, ...]]:
    options: dict[str, str | tuple[str, ...]] = {}
    for pair in query.split("&") if query else []:
        name, equals, value = pair.partition("=")
        if name not in OPTIONS[kind]:
            known = ", ".join(OPTIONS[kind]) or "none"
            raise ValueError(f"unknown option {name!r}; options of {kind}: {known}")
        if not equals or not value:
            raise ValueError(f"option {name!r} has no value; write {name}=…")
        if name in options:
            raise ValueError(
                f"option {name!r} is given twice"
                + ("" if name in ("target", "task") else f"; several columns are one list, {name}=a,b")
            )
        options[name] = _decoded(value) if name in ("target", "task") else _names(name, value)
    if options.get("task", TASKS[0]) not in TASKS:
        raise ValueError(f"task must be {' or '.join(TASKS)}, got {options['task']!r}")
    return options


def _names(option: str, value: str) -> tuple[str, ...]:
    names = tuple(_decoded(name) for name in value.split(","))
    if "" in names:
        raise ValueError(f"option {option!r} names an empty column in {value!r}; a comma in a name is %2C")
    return names


def _decoded(text: str) -> str:
    try:
        return unquote(text, errors="strict")
    except UnicodeDecodeError:
        raise ValueError(f"{text!r} must be percent-encoded UTF-8") from None


def _check_roles(source: Source) -> None:
    """Refuse a column that would have to be two things at once."""
    roles = [*source.numeric, *source.categorical, *source.drop]
    roles += [source.target] if source.target is not None else []
    for name, count in Counter(roles).items():
        if count > 1:
            raise ValueError(
                f"column {name!r} appears {count} times in the options; "
                "it can be only one of target, numeric, categorical and drop"
            )
