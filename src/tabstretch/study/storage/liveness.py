"""Which coordinators live: each holds a lock that the operating system or the server frees when it dies.

No heartbeat and no clock: a machine that sleeps, a clock that jumps or a process that is stopped for an hour
changes nothing, and the work of a killed coordinator is free at once.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import sys
from collections.abc import Generator
from pathlib import Path
from typing import IO, Protocol

from sqlalchemy import Connection, text
from sqlalchemy.engine import Engine
from sqlalchemy.exc import DBAPIError

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl


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
        return FileLock(Path(str(engine.url.database)), owner)
    return ServerLock(engine, owner)


class FileLock:
    """A locked file beside the SQLite database, one for each coordinator."""

    def __init__(self, database: Path, owner: int) -> None:
        self.owner = owner
        self._database = database
        self._file = self._path(owner).open("w")
        assert _try_lock(self._file), "a new file is locked by nobody"

    def _path(self, owner: int) -> Path:
        return self._database.with_name(f"{self._database.name}-{owner}.lock")

    def is_held(self) -> bool:
        """Tell whether the locked file is still there for others to see."""
        try:
            return os.path.samestat(os.fstat(self._file.fileno()), self._path(self.owner).stat())
        except (OSError, ValueError):  # removed; or closed
            return False

    def is_alive(self, owner: int) -> bool:
        """Try the other's lock; it is free if the other died, and its file is removed then."""
        if owner == self.owner:
            return True
        try:
            file = self._path(owner).open("r+")
        except FileNotFoundError:
            return False
        with file:
            if not _try_lock(file):
                return True
            self._path(owner).unlink(missing_ok=True)
            return False

    def release(self) -> None:
        """Remove the file, which frees the lock."""
        self._path(self.owner).unlink(missing_ok=True)
        self._file.close()


def _try_lock(file: IO[str]) -> bool:
    """Lock an open file unless another has it locked. A child process does not inherit it."""
    try:
        if sys.platform == "win32":
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


class ServerLock:
    """An advisory lock of PostgreSQL, held by one open connection and gone with it."""

    _SPACE = 0x7AB5  # our own among the pairs of numbers that applications lock

    def __init__(self, engine: Engine, owner: int) -> None:
        self.owner = owner
        self._engine = engine
        self._connection = engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        self._lock(self._connection, "pg_advisory_lock", owner)

    def _lock(self, connection: Connection, function: str, owner: int) -> bool:
        statement = text(f"SELECT {function}(:space, :owner)")
        return bool(connection.execute(statement, {"space": self._SPACE, "owner": owner}).scalar())

    def is_held(self) -> bool:
        """Ask on the connection that holds the lock: if it answers, it never broke."""
        if self._connection.invalidated:
            return False
        try:
            self._connection.execute(text("SELECT 1"))
        except DBAPIError:
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
            with contextlib.suppress(DBAPIError):
                self._lock(self._connection, "pg_advisory_unlock", self.owner)
        self._connection.close()
