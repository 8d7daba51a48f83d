"""Which coordinators live: each holds a lock that the operating system or the server frees when it dies.

No heartbeat and no clock: a machine that sleeps, a clock that jumps or a process that is stopped for an hour
changes nothing, and the work of a killed coordinator is free at once.
"""

from __future__ import annotations

import contextlib
import glob
import secrets
from collections.abc import Generator
from pathlib import Path
from typing import IO, Protocol

from sqlalchemy import Connection, text
from sqlalchemy.engine import Engine
from sqlalchemy.exc import SQLAlchemyError

from tabstretch.study.errors import StudyError
from tabstretch.study.locks import alone_with, is_at, try_lock

_SPACE = 0x7AB5  # our own among the pairs of numbers that applications lock on a server


class Liveness(Protocol):
    """The lock of this coordinator, and a look at those of others."""

    owner: int

    def is_held(self) -> bool:
        """Tell whether this coordinator's lock is still its own; if not, its claims may be another's."""
        ...

    def is_alive(self, owner: int) -> bool:
        """Tell whether another coordinator lives."""
        ...

    def release(self) -> None:
        """Let go of the lock."""
        ...


def hold(engine: Engine) -> Liveness:
    """Take a lock under a new number."""
    owner = secrets.randbits(31)
    if engine.url.get_backend_name() == "sqlite":
        return FileLock(_database_path(engine), owner)
    return ServerLock(engine, owner)


@contextlib.contextmanager
def alone(engine: Engine) -> Generator[None]:
    """Let one process at a time through; the others wait."""
    if engine.url.get_backend_name() == "sqlite":
        path = _lock_path(_database_path(engine), "setup")
        with contextlib.ExitStack() as stack:
            try:
                stack.enter_context(alone_with(path))
            except OSError as error:
                raise _cannot_be_written(path, error) from error
            yield
    else:
        with engine.connect() as connection:  # its end is the end of the transaction, and of the lock
            connection.execute(text("SELECT pg_advisory_xact_lock(:space, -1)"), {"space": _SPACE})
            yield


def remove_dead_locks(engine: Engine) -> None:
    """Remove the locked files of coordinators that were killed, also of those that wrote nothing yet."""
    if engine.url.get_backend_name() == "sqlite":
        database = _database_path(engine)
        for path in database.parent.glob(f"{glob.escape(database.name)}-[0-9]*.lock"):
            with contextlib.suppress(OSError), path.open("a") as file:
                if try_lock(file):
                    path.unlink(missing_ok=True)


class FileLock:
    """A locked file beside the SQLite database, one for each coordinator."""

    def __init__(self, database: Path, owner: int) -> None:
        self.owner = owner
        self._database = database
        self._file = _opened(self._path(owner), "w")
        # Nobody else has a use for a new file but who tidies up, and takes it for one that was left.
        while not (try_lock(self._file) and is_at(self._file, self._path(owner))):
            self._file.close()
            self._file = _opened(self._path(owner), "w")

    def _path(self, owner: int) -> Path:
        return _lock_path(self._database, str(owner))

    def is_held(self) -> bool:
        """Tell whether the locked file is still there for others to see."""
        return is_at(self._file, self._path(self.owner))

    def is_alive(self, owner: int) -> bool:
        """Try the other's lock; it is free if the other died, and its file is removed then."""
        if owner == self.owner:
            return True
        if not self._path(owner).exists():
            return False
        with _opened(self._path(owner), "a") as file:
            if not try_lock(file):
                return True
            self._path(owner).unlink(missing_ok=True)
            return False

    def release(self) -> None:
        """Remove the file, which frees the lock."""
        self._path(self.owner).unlink(missing_ok=True)
        self._file.close()


def _database_path(engine: Engine) -> Path:
    """Return the one name that all coordinators see, whatever links they came by."""
    return Path(str(engine.url.database)).resolve()


def _lock_path(database: Path, name: str) -> Path:
    return database.with_name(f"{database.name}-{name}.lock")


def _opened(path: Path, mode: str) -> IO[str]:
    try:
        return path.open(mode)
    except OSError as error:
        raise _cannot_be_written(path, error) from error


def _cannot_be_written(path: Path, error: OSError) -> StudyError:
    return StudyError(
        f"{path} cannot be written ({error.strerror}); the storage must be in a folder you may write, "
        "on a disk with room"
    )


class ServerLock:
    """An advisory lock of PostgreSQL, held by one open connection and gone with it."""

    def __init__(self, engine: Engine, owner: int) -> None:
        self.owner = owner
        self._engine = engine
        self._connection = engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        self._lock(self._connection, "pg_advisory_lock", owner)

    def _lock(self, connection: Connection, function: str, owner: int) -> bool:
        statement = text(f"SELECT {function}(:space, :owner)")
        return bool(connection.execute(statement, {"space": _SPACE, "owner": owner}).scalar())

    def is_held(self) -> bool:
        """Ask on the connection that holds the lock: if it answers, it never broke."""
        if self._connection.invalidated:
            return False
        try:
            self._connection.execute(text("SELECT 1"))
        except SQLAlchemyError:
            return False
        return True

    def is_alive(self, owner: int) -> bool:
        """Try the other's lock; it is free if the other's connection is gone."""
        if owner == self.owner:
            return True
        with self._new_connection() as connection:
            if not self._lock(connection, "pg_try_advisory_lock", owner):
                return True
            self._lock(connection, "pg_advisory_unlock", owner)
            return False

    @contextlib.contextmanager
    def _new_connection(self) -> Generator[Connection]:
        with self._engine.connect() as connection:
            yield connection.execution_options(isolation_level="AUTOCOMMIT")

    def release(self) -> None:
        """Unlock, and give the connection back."""
        if not self._connection.invalidated:  # else the server freed it when the connection broke
            try:
                self._lock(self._connection, "pg_advisory_unlock", self.owner)
            except SQLAlchemyError:  # it is gone, or was interrupted inside a query
                self._connection.invalidate()
        with contextlib.suppress(SQLAlchemyError):
            self._connection.close()
