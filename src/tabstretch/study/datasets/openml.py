"""Data sets of openml.org, by name or number, through scikit-learn and its cache."""

from __future__ import annotations

import re
import socket
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from http.client import HTTPException
from pathlib import Path
from urllib.error import URLError

from sklearn.datasets import fetch_openml, get_data_home

from tabstretch._extras import import_extra
from tabstretch.study.datasets.frames import table_from_frame
from tabstretch.study.datasets.sources import Source
from tabstretch.study.datasets.tables import Table, listed

# What openml.org allows. scikit-learn makes a path in its cache of a name: "../x" would lead out of it.
_NAME = re.compile(r"[A-Za-z0-9_.(),-]{1,255}")
_SILENCE = 60.0


def read_openml(source: Source, folder: Path) -> Table:
    """Return a table of openml.org, from scikit-learn's cache where it has been loaded before.

    The cache is scikit-learn's: in the folder that the environment variable SCIKIT_LEARN_DATA names, or
    else in ~/scikit_learn_data.
    """
    import_extra("pandas", "study")
    if not _NAME.fullmatch(source.location) or not source.location.strip("."):
        raise ValueError(
            f"{source.location!r} is no name of a data set on openml.org; those have letters, digits and "
            "the characters _ - . ( ) ,"
        )
    is_number = source.location.isascii() and source.location.isdigit()
    which = {"data_id": int(source.location)} if is_number else {"name": source.location}
    # Without a target scikit-learn returns all columns, and the target is checked here as for a file.
    target_column = None if source.target else "default-target"
    try:
        with _silent_at_most(_SILENCE), warnings.catch_warnings():
            # Each new attempt is warned of; when the last has failed too, the message below says so.
            warnings.filterwarnings("ignore", "A network error occurred", UserWarning)
            found = fetch_openml(**which, as_frame=True, parser="pandas", target_column=target_column)
        name, frame, targets = str(found.details["name"]), found.frame, [str(t) for t in found.target_names]
    except (URLError, ConnectionError, TimeoutError, HTTPException) as error:
        raise ConnectionError(
            f"openml.org could not be reached ({error}), and the data set is not in {_cache()}. Load it once "
            "where there is a network and copy that folder here (the environment variable SCIKIT_LEARN_DATA "
            "says where it lies), or use a file instead: file:PATH?target=COLUMN"
        ) from error
    except Exception as error:  # an answer may be wrong in any way, and scikit-learn takes it for right
        reason = str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
        raise ValueError(
            f"openml.org's answer cannot be used: {reason.strip()[:500]} (If it was damaged on its way, "
            f"remove {_cache()}, where answers are kept, and try again)"
        ) from error
    target = source.target or _only_target(targets, [str(column) for column in frame.columns])
    return table_from_frame(name, frame, source, target)


@contextmanager
def _silent_at_most(seconds: float) -> Generator[None]:
    """Have connections give up on a server that says nothing for so long; scikit-learn's never would."""
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(seconds if before is None else before)
    try:
        yield
    finally:
        socket.setdefaulttimeout(before)


def _cache() -> Path:
    return Path(get_data_home()) / "openml"


def _only_target(targets: list[str], columns: list[str]) -> str:
    if len(targets) != 1:
        what = f"{len(targets)} targets, {listed(targets)}" if targets else "no target of its own"
        raise ValueError(f"it has {what}; add ?target=COLUMN with one of {listed(columns)}")
    return targets[0]
