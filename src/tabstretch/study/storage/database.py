"""URL -> connections to SQLite or PostgreSQL: patient with one that is away, clear about a broken one."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import sqlalchemy
from sqlalchemy import Connection, event
from sqlalchemy.engine import URL, Engine, make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError

from tabstretch.study.errors import StudyError
from tabstretch.study.storage.failures import explained, interruption, is_away, is_failure

LOCK_SECONDS = 30.0
"""How long a connection waits for SQLite's lock."""
AWAY_SECONDS = 120.0
"""How long a database may be away before the study stops."""

Result = TypeVar("Result")


def storage_url(text: str) -> URL:
    """Return the URL of a database: a path is a SQLite file, `postgresql://…` is a server.

    >>> str(storage_url("results/quick.db"))
    'sqlite:///results/quick.db'
    """
    if "://" not in text:
        return URL.create("sqlite", database=text)
    try:
        url = make_url(text)
    except ArgumentError:
        raise StudyError(
            f"the storage must be a path or a URL such as postgresql://…, got {text!r}"
        ) from None
    if url.get_backend_name() == "postgresql":
        return url.set(drivername="postgresql+psycopg")
    if url.get_backend_name() != "sqlite":
        raise StudyError(f"the storage must be sqlite:///… or postgresql://…, got {url.drivername}://…")
    if not url.database or url.database == ":memory:":
        raise StudyError("a study needs a SQLite file, not a database in memory: it could not be resumed")
    return url


class Database:
    """A database that answers."""

    def __init__(self, url: URL, *, must_exist: bool = False) -> None:
        self.url = url
        self.engine = connect(url, must_exist=must_exist)

    def patiently(self, action: Callable[[], Result], away_seconds: float | None = None) -> Result:
        """Do something, and do it again while the database is away."""
        return patiently(action, self.url, away_seconds)

    def transact(self, action: Callable[[Connection], Result], away_seconds: float | None = None) -> Result:
        """Do something in one transaction, patiently: it must be something that can be repeated."""

        def once() -> Result:
            with self.engine.begin() as connection:
                return action(connection)

        return self.patiently(once, away_seconds)


def connect(url: URL, *, must_exist: bool = False) -> Engine:
    """Return an engine, once it is clear that the database answers."""
    if url.get_backend_name() == "sqlite":
        path = Path(str(url.database))
        if must_exist and not path.is_file():
            raise StudyError(f"there is no study in {path} yet; tabstretch run starts one")
        if not path.parent.is_dir():
            raise StudyError(f"there is no folder {path.parent} for the storage {path.name}")
        engine = sqlalchemy.create_engine(url, **sqlite_options())
        event.listen(engine, "connect", _prepare_sqlite)
    else:
        try:
            engine = sqlalchemy.create_engine(url, pool_pre_ping=True)
        except (ModuleNotFoundError, NoSuchModuleError):
            raise StudyError(
                "PostgreSQL needs a driver: pip install 'tabstretch[postgres]' (or psycopg[binary])"
            ) from None
    try:
        with engine.connect() as connection:
            connection.execute(sqlalchemy.text("SELECT 1"))
    except SQLAlchemyError as error:
        raise explained(error, url) from error
    return engine


def sqlite_options() -> dict[str, Any]:
    """Return what every engine of a SQLite file is made with, Optuna's too."""
    return {"connect_args": {"timeout": LOCK_SECONDS}}


def _prepare_sqlite(connection: sqlite3.Connection, _record: Any) -> None:
    # Readers do not block the writer, and a commit costs one write; the mode is kept in the file.
    cursor = connection.cursor()
    with suppress(sqlite3.OperationalError):  # in use by another that changes the mode, and does not wait
        cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=NORMAL")
    cursor.execute("PRAGMA foreign_keys=ON")
    cursor.close()


def patiently(action: Callable[[], Result], url: URL, away_seconds: float | None = None) -> Result:
    """Call `action` until the database answers; anything else than its absence stops the study at once.

    `action` may be called again although an earlier call reached the database and only its answer was
    lost, so it must be one that can be repeated.
    """
    patience = AWAY_SECONDS if away_seconds is None else away_seconds
    begin, wait = time.monotonic(), 0.1
    while True:
        try:
            return action()
        except Exception as error:
            if not is_failure(error):
                raise
            if (struck := interruption(error)) is not None:
                raise struck from None
            if not is_away(error) or time.monotonic() - begin > patience:
                raise explained(error, url) from error
        time.sleep(wait)
        wait = min(2 * wait, 2.0)
