"""Who works on which cell: rows that belong to coordinators, and end with them."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from tabstretch.study.errors import StudyError
from tabstretch.study.storage import tables
from tabstretch.study.storage.database import Database
from tabstretch.study.storage.liveness import Liveness, hold, remove_dead_locks

_owner = tables.claims.c.owner

Key = Mapping[str, Any]
"""A study and a cell of it, by the names of columns."""


class Claims:
    """The claims of one coordinator, in all studies of a database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock: Liveness | None = None

    def take(self, key: Key) -> bool:
        """Take a cell that is nobody's, or whose owner died."""
        held = self._held()
        here, mine = tables.at(tables.claims, key), {"owner": held.owner}

        def take(connection: Connection) -> bool:
            try:
                with connection.begin_nested():
                    connection.execute(insert(tables.claims).values({**key, **mine}))
                return True
            except IntegrityError:
                holder = connection.execute(select(_owner).where(here)).scalar()
            if holder is None or holder == held.owner:
                return holder == held.owner
            if held.is_alive(holder):
                return False
            taken = update(tables.claims).where(here, _owner == holder).values(mine)
            return connection.execute(taken).rowcount == 1

        return self._database.transact(take)

    def give_back(self, key: Key) -> None:
        """Let others take a cell."""
        mine = delete(tables.claims).where(tables.at(tables.claims, key), _owner == self._held().owner)
        self._database.transact(lambda connection: connection.execute(mine))

    def has(self, key: Key) -> bool:
        """Tell whether a cell is this coordinator's."""
        mine = (tables.at(tables.claims, key), _owner == self._held().owner)
        count = select(func.count()).select_from(tables.claims).where(*mine)
        return self._database.transact(lambda connection: connection.execute(count).scalar_one()) == 1

    def fence(self, key: Key) -> Callable[[Connection], bool]:
        """Return what tells, inside a transaction, whether a cell is ours, and keeps it so to its end."""
        owner = self._held().owner
        # An update that changes nothing: it locks the claim.
        mine = update(tables.claims).where(tables.at(tables.claims, key), _owner == owner).values(owner=owner)
        return lambda connection: connection.execute(mine).rowcount == 1

    def of_study(self, study_id: int) -> list[tuple[Any, bool]]:
        """Return all claims in a study, and whether another coordinator that lives has them."""
        query = select(tables.claims).where(tables.claims.c.study_id == study_id)
        rows = self._database.transact(lambda connection: connection.execute(query).all())
        held = self._held()
        return [(row, row.owner != held.owner and self._lives(row.owner, held)) for row in rows]

    def tidy_up(self) -> None:
        """Forget coordinators that died, if there are any: nobody may come to claim something again."""
        count = select(func.count()).select_from(tables.coordinators)
        if self._database.transact(lambda connection: connection.execute(count).scalar_one()):
            self._forget_dead(self._held())
        remove_dead_locks(self._database.engine)

    def close(self) -> None:
        """Give up every claim, and the lock."""
        if self._lock is not None:
            with suppress(StudyError):  # whoever comes next sees that the lock is free
                self._database.transact(partial(_forget, owner=self._lock.owner), away_seconds=1.0)
            self._lock.release()
            self._lock = None
            remove_dead_locks(self._database.engine)  # nobody may come after us

    def _held(self) -> Liveness:
        """Return this coordinator's lock, which it takes with its first claim."""
        if self._lock is None:
            self._lock = self._new_lock()
            self._forget_dead(self._lock)
        elif not self._lock.is_held():
            self._lock = self._renewed(self._lock)
        return self._lock

    def _new_lock(self) -> Liveness:
        held = self._database.patiently(lambda: hold(self._database.engine))
        values = {"owner": held.owner, "host": platform.node(), "pid": os.getpid()}

        def write(connection: Connection) -> None:
            _forget(connection, held.owner)  # of a first try whose answer was lost
            connection.execute(insert(tables.coordinators).values(values))

        try:
            self._database.transact(write)
        except BaseException:
            held.release()
            raise
        return held

    def _renewed(self, lost: Liveness) -> Liveness:
        """Take a new lock for one that the server forgot while it was away. Claims nobody took stay ours."""
        held = self._new_lock()
        moved = update(tables.claims).where(_owner == lost.owner).values(owner=held.owner)
        try:
            self._database.transact(lambda connection: connection.execute(moved))
        except BaseException:
            held.release()
            raise
        lost.release()
        return held

    def _forget_dead(self, held: Liveness) -> None:
        """Tidy up after coordinators that had no time to do so."""
        query = select(tables.coordinators.c.owner)
        for owner in self._database.transact(lambda connection: connection.execute(query).scalars().all()):
            if not self._lives(owner, held):
                self._database.transact(partial(_forget, owner=owner))

    def _lives(self, owner: int, held: Liveness) -> bool:
        return self._database.patiently(lambda: held.is_alive(owner))


def _forget(connection: Connection, owner: int) -> None:
    connection.execute(delete(tables.claims).where(_owner == owner))
    connection.execute(delete(tables.coordinators).where(tables.coordinators.c.owner == owner))
