"""`StudyStorage`: everything a coordinator reads and writes of one study."""

from __future__ import annotations

import json
import math
import os
import platform
from collections.abc import Callable, Collection, Generator, Iterable
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, TypeVar

import optuna
from sqlalchemy import Connection, and_, delete, func, insert, inspect, select, update
from sqlalchemy.exc import IntegrityError

from tabstretch.study.datasets import Dataset, SplitRecord
from tabstretch.study.datasets.records import record_of
from tabstretch.study.environment import environment
from tabstretch.study.errors import StudyError
from tabstretch.study.plan import CellKey, StudyPlan, differences, read_plan
from tabstretch.study.storage import tables
from tabstretch.study.storage.database import connect, patiently, sqlite_options, storage_url
from tabstretch.study.storage.liveness import Liveness, hold

Result = TypeVar("Result")


def default_storage(plan_path: Path) -> str:
    """Return the SQLite file beside a plan.

    >>> default_storage(Path("studies/quick.toml")).replace(os.sep, "/")
    'studies/quick.db'
    """
    return str(plan_path.with_suffix(".db"))


@contextmanager
def opened_study(plan_path: Path, url: str | None = None) -> Generator[tuple[StudyPlan, StudyStorage]]:
    """Yield a plan and its study, to look at what is there."""
    plan = read_plan(plan_path)
    store = StudyStorage(url or default_storage(plan_path), plan, must_exist=True)
    try:
        yield plan, store
    finally:
        store.close()


@dataclass(frozen=True)
class DatasetEntry:
    """What the storage knows of a data set."""

    source: str
    name: str
    checksum: str
    description: dict[str, Any]
    split: SplitRecord


@dataclass(frozen=True)
class RunRecord:
    """One finished run, failed ones included."""

    seed: int
    status: str
    error: str | None
    note: str | None
    params: dict[str, Any]
    metrics: dict[str, float]
    measures: dict[str, float]
    trials: int
    failed_trials: int


class StudyStorage:
    """One study in a database. Several coordinators may have it open, on one machine or many."""

    def __init__(self, url: str, plan: StudyPlan, *, must_exist: bool = False) -> None:
        self.url = storage_url(url)
        self._engine = connect(self.url, must_exist=must_exist)
        self._liveness: Liveness | None = None
        try:
            self.patiently(lambda: self._create_tables(must_exist))
            self.study_id = self.patiently(lambda: self._find_or_create(plan, must_exist))
        except BaseException:
            self.close()
            raise

    @property
    def place(self) -> str:
        """The database in words that may be shown: without a password."""
        if self.url.get_backend_name() == "sqlite":
            return str(self.url.database)
        return self.url.render_as_string(hide_password=True)

    def close(self) -> None:
        """Give up this coordinator's claims, and disconnect."""
        if self._liveness is not None:
            owner = self._liveness.owner
            with suppress(StudyError):  # whoever comes next sees that the lock is free
                self._transact(partial(_forget, owner=owner), away_seconds=1.0)
            self._liveness.release()
            self._liveness = None
        if "trials" in self.__dict__:  # it was used
            self.trials.remove_session()
            self.trials.engine.dispose()
        self._engine.dispose()

    @cached_property
    def trials(self) -> optuna.storages.RDBStorage:
        """Optuna's storage in the same database."""
        options = sqlite_options() if self.url.get_backend_name() == "sqlite" else {"pool_pre_ping": True}
        url = self.url.render_as_string(hide_password=False)
        return self.patiently(lambda: optuna.storages.RDBStorage(url, engine_kwargs=options))

    def trial_counts(self) -> dict[str, int]:
        """Return how many trials each of Optuna's studies has, by name."""
        summaries = self.patiently(
            lambda: optuna.get_all_study_summaries(self.trials, include_best_trial=False)
        )
        return {summary.study_name: summary.n_trials for summary in summaries}

    # ------------------------------------------------------------------------------------------ the plan

    def _create_tables(self, must_exist: bool) -> None:
        if must_exist and not inspect(self._engine).has_table(tables.studies.name):
            raise StudyError(f"there is no study in {self.place} yet; tabstretch run starts one")
        try:
            tables.metadata.create_all(self._engine)
        except IntegrityError:  # another coordinator creates them at this moment
            tables.metadata.create_all(self._engine)

    def _find_or_create(self, plan: StudyPlan, must_exist: bool) -> int:
        table = tables.studies
        with self._engine.begin() as connection:
            row = connection.execute(select(table).where(table.c.name == plan.name)).first()
            if row is None and must_exist:
                raise StudyError(f"there is no study {plan.name!r} in {self.place}; tabstretch run starts it")
            if row is None:
                values = {
                    "name": plan.name,
                    "schema_version": tables.SCHEMA_VERSION,
                    "plan": json.dumps(plan.to_dict()),
                    "environment": json.dumps(environment()),
                }
                try:
                    with connection.begin_nested():
                        return int(
                            connection.execute(
                                insert(table).values(values).returning(table.c.study_id)
                            ).scalar_one()
                        )
                except IntegrityError:
                    row = connection.execute(select(table).where(table.c.name == plan.name)).one()
        if row.schema_version != tables.SCHEMA_VERSION:
            raise StudyError(
                f"{self.place} was written by another tabstretch (tables of version {row.schema_version}, "
                f"this one has {tables.SCHEMA_VERSION}); use that one, or another --storage"
            )
        changes = differences(StudyPlan.from_dict(json.loads(row.plan)), plan)
        if changes:
            raise StudyError(
                f"the study {plan.name!r} in {self.place} was started with another plan:\n  "
                + "\n  ".join(changes)
                + "\nRestore the plan, or give it another name or --storage"
            )
        return int(row.study_id)

    def environment(self) -> dict[str, Any]:
        """Return versions and machine of the first run."""
        query = select(tables.studies.c.environment).where(tables.studies.c.study_id == self.study_id)
        return dict(json.loads(self._transact(lambda connection: connection.execute(query).scalar_one())))

    # ------------------------------------------------------------------------------------------ data sets

    def dataset_entries(self) -> dict[str, DatasetEntry]:
        """Return what is known of the data sets, by source."""
        table = tables.datasets
        query = select(table).where(table.c.study_id == self.study_id)
        rows = self._transact(lambda connection: connection.execute(query).all())
        return {
            row.source: DatasetEntry(
                source=row.source,
                name=row.dataset,
                checksum=row.checksum,
                description=json.loads(row.description),
                split=SplitRecord(**json.loads(row.split)),
            )
            for row in rows
        }

    def add_dataset(self, dataset: Dataset, name: str) -> None:
        """Write down a data set, unless another coordinator did."""
        values = {
            "study_id": self.study_id,
            "source": dataset.source,
            "dataset": name,
            "checksum": dataset.checksum,
            "description": json.dumps(_description(dataset)),
            "split": json.dumps(asdict(record_of(dataset))),
        }

        def write(connection: Connection) -> None:
            try:
                with connection.begin_nested():
                    connection.execute(insert(tables.datasets).values(values))
            except IntegrityError:
                pass  # its checksum is compared when the entries are read again

        self._transact(write)

    # ------------------------------------------------------------------------------------------ claims

    def claim(self, cell: CellKey) -> bool:
        """Make a cell this coordinator's own, if it is nobody's or its owner died."""
        owner = self._owner()
        here = self._at(tables.claims, cell)

        def take(connection: Connection) -> bool:
            try:
                with connection.begin_nested():
                    values = {"study_id": self.study_id, **cell._asdict(), "owner": owner}
                    connection.execute(insert(tables.claims).values(values))
                return True
            except IntegrityError:
                holder = connection.execute(select(tables.claims.c.owner).where(here)).scalar()
            if holder is None or holder == owner:
                return holder == owner
            if self._held().is_alive(holder):
                return False
            taken = update(tables.claims).where(here, tables.claims.c.owner == holder).values(owner=owner)
            return connection.execute(taken).rowcount == 1

        return self._transact(take)

    def release(self, cell: CellKey) -> None:
        """Give a cell back."""
        mine = and_(self._at(tables.claims, cell), tables.claims.c.owner == self._owner())
        self._transact(lambda connection: connection.execute(delete(tables.claims).where(mine)))

    def owned(self, cell: CellKey) -> bool:
        """Tell whether a cell is still this coordinator's: ask before writing what was computed."""
        held = self._held()
        if not held.is_held():
            # The server forgot our lock while it was away. Claims that nobody took are ours still.
            self._liveness = None
            lost, owner = held.owner, self._owner()
            moved = update(tables.claims).where(tables.claims.c.owner == lost).values(owner=owner)
            self._transact(lambda connection: connection.execute(moved))
            held.release()
        mine = and_(self._at(tables.claims, cell), tables.claims.c.owner == self._owner())
        count = select(func.count()).select_from(tables.claims).where(mine)
        return self._transact(lambda connection: connection.execute(count).scalar_one()) == 1

    def claimed(self) -> dict[CellKey, bool]:
        """Return the cells that somebody works on, and whether that is another coordinator that lives."""
        table = tables.claims
        query = select(table).where(table.c.study_id == self.study_id)
        rows = self._transact(lambda connection: connection.execute(query).all())
        held = self._held()
        return {_cell_of(row): row.owner != held.owner and held.is_alive(row.owner) for row in rows}

    def _held(self) -> Liveness:
        if self._liveness is None:
            held = self.patiently(lambda: hold(self._engine))
            values = {"owner": held.owner, "host": platform.node(), "pid": os.getpid()}
            known = insert(tables.coordinators).values(values)
            try:
                self._transact(lambda connection: connection.execute(known))
            except BaseException:
                held.release()
                raise
            self._liveness = held
            self._forget_dead(held)
        return self._liveness

    def _forget_dead(self, held: Liveness) -> None:
        """Tidy up after coordinators that had no time to do so."""
        query = select(tables.coordinators.c.owner)
        for owner in self._transact(lambda connection: connection.execute(query).scalars().all()):
            if not held.is_alive(owner):
                self._transact(partial(_forget, owner=owner))

    def _owner(self) -> int:
        return self._held().owner

    # ------------------------------------------------------------------------------------------ runs

    def seeds_of(self, cell: CellKey) -> set[int]:
        """Return the seeds of a cell that are done."""
        query = select(tables.runs.c.seed).where(self._at(tables.runs, cell))
        return set(self._transact(lambda connection: connection.execute(query).scalars().all()))

    def finished(self) -> dict[CellKey, set[int]]:
        """Return the seeds that are done, by cell."""
        table = tables.runs
        query = select(table.c.dataset, table.c.model, table.c.transformation, table.c.noise, table.c.seed)
        query = query.where(table.c.study_id == self.study_id)
        done: dict[CellKey, set[int]] = {}
        for row in self._transact(lambda connection: connection.execute(query).all()):
            done.setdefault(_cell_of(row), set()).add(row.seed)
        return done

    def runs(self) -> list[tuple[CellKey, RunRecord]]:
        """Return every finished run."""
        table = tables.runs
        query = select(table).where(table.c.study_id == self.study_id)
        rows = self._transact(lambda connection: connection.execute(query).all())
        return [(_cell_of(row), _record_of(row)) for row in rows]

    def add_runs(self, cell: CellKey, records: Collection[RunRecord]) -> bool:
        """Write finished runs, all or none; False if the cell became another coordinator's."""
        owner = self._owner()
        here = self._at(tables.claims, cell)

        def write(connection: Connection) -> bool:
            # An update that changes nothing: it locks the claim until the rows are written.
            fence = update(tables.claims).where(here, tables.claims.c.owner == owner).values(owner=owner)
            if connection.execute(fence).rowcount != 1:
                return False
            seeds = select(tables.runs.c.seed).where(self._at(tables.runs, cell))
            known = set(connection.execute(seeds).scalars())  # of a first try whose answer was lost
            rows = [self._row(cell, record) for record in records if record.seed not in known]
            if rows:
                connection.execute(insert(tables.runs), rows)
            return True

        return self._transact(write)

    def _row(self, cell: CellKey, record: RunRecord) -> dict[str, Any]:
        values = asdict(record)
        # NaN is no JSON, and what is absent is NaN in the table of results.
        for name in ("metrics", "measures"):
            values[name] = {key: value for key, value in values[name].items() if math.isfinite(value)}
        packed = {name: json.dumps(values[name]) for name in ("params", "metrics", "measures")}
        return {"study_id": self.study_id, **cell._asdict(), **values, **packed}

    def forget_failed(self) -> int:
        """Remove failed runs so that they are run again; return how many there were."""
        failed = and_(tables.runs.c.study_id == self.study_id, tables.runs.c.status == "failed")
        gone = self._transact(lambda connection: connection.execute(delete(tables.runs).where(failed)))
        return int(gone.rowcount)

    # ------------------------------------------------------------------------------------------ plumbing

    def _at(self, table: Any, cell: CellKey) -> Any:
        return and_(
            table.c.study_id == self.study_id,
            *(table.c[name] == value for name, value in cell._asdict().items()),
        )

    def patiently(self, action: Callable[[], Result], away_seconds: float | None = None) -> Result:
        """Do something in the database, and do it again while the database is away."""
        return patiently(action, self.url, away_seconds)

    def _transact(self, action: Callable[[Connection], Result], away_seconds: float | None = None) -> Result:
        def once() -> Result:
            with self._engine.begin() as connection:
                return action(connection)

        return self.patiently(once, away_seconds)


def _forget(connection: Connection, owner: int) -> None:
    connection.execute(delete(tables.claims).where(tables.claims.c.owner == owner))
    connection.execute(delete(tables.coordinators).where(tables.coordinators.c.owner == owner))


def _cell_of(row: Any) -> CellKey:
    return CellKey(row.dataset, row.model, row.transformation, row.noise)


def _record_of(row: Any) -> RunRecord:
    packed = {name: json.loads(getattr(row, name)) for name in ("params", "metrics", "measures")}
    plain = ("seed", "status", "error", "note", "trials", "failed_trials")
    return RunRecord(**{name: getattr(row, name) for name in plain}, **packed)


def _description(dataset: Dataset) -> dict[str, Any]:
    sizes = {f"n_{part}": size for part, size in dataset.n_rows.items()}
    return {
        "task": dataset.task,
        **sizes,
        "n_numeric": len(dataset.numeric_names),
        "n_categorical": len(dataset.categorical_names),
        "n_classes": len(dataset.classes or ()),
    }


def unique_names(names: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the name of each source in the results: its own, or the source where two would be the same.

    >>> unique_names([("sklearn:wine", "wine"), ("openml:iris", "iris"), ("sklearn:iris", "iris")])
    {'sklearn:wine': 'wine', 'openml:iris': 'openml:iris', 'sklearn:iris': 'sklearn:iris'}
    """
    pairs = list(names)
    counts = [name for _, name in pairs]
    return {source: name if counts.count(name) == 1 else source for source, name in pairs}
