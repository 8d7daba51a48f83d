"""`StudyStorage`: everything a coordinator reads and writes of one study."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Generator, Iterable
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import optuna
from sqlalchemy import Connection, and_, case, delete, func, insert, inspect, select, text, update
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from tabstretch.study.datasets import Dataset, SplitRecord
from tabstretch.study.datasets.records import record_of
from tabstretch.study.environment import environment
from tabstretch.study.errors import StudyError
from tabstretch.study.plan import CellKey, StudyPlan, differences, read_plan
from tabstretch.study.storage import tables
from tabstretch.study.storage.claims import Claims
from tabstretch.study.storage.database import Database, sqlite_options, storage_url
from tabstretch.study.storage.liveness import alone
from tabstretch.study.subsets import with_fewer_rows

Result = TypeVar("Result")


def default_storage(plan_path: Path) -> str:
    """Return the SQLite file beside a plan.

    >>> Path(default_storage(Path("studies/quick.toml"))).as_posix()
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
        self._database = Database(self.url, must_exist=must_exist)
        self._transact = self._database.transact
        self._claims = Claims(self._database)
        self._plan = plan
        self._train_rows = plan.train_rows
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
        self._claims.close()
        if "trials" in self.__dict__:  # it was used
            with suppress(SQLAlchemyError):  # a session that lost its server ends with it
                self.trials.remove_session()
            self.trials.engine.dispose()
        self._database.engine.dispose()

    @cached_property
    def trials(self) -> optuna.storages.RDBStorage:
        """Optuna's storage in the same database."""
        options = sqlite_options() if self.url.get_backend_name() == "sqlite" else {"pool_pre_ping": True}
        url = self.url.render_as_string(hide_password=False)

        def opened() -> optuna.storages.RDBStorage:
            with alone(self._database.engine):  # Optuna's tables, too, are made by one
                try:
                    return optuna.storages.RDBStorage(url, engine_kwargs=options)
                except RuntimeError as error:  # so it says that its tables are of another version
                    raise StudyError(f"the trials in {self.place} cannot be read: {error}") from error

        return self.patiently(opened)

    def trial_counts(self) -> dict[str, int]:
        """Return how many trials each of Optuna's studies has, by name."""
        # Optuna's own summaries read every trial with all it holds: minutes for a large study.
        query = text(
            "SELECT study_name, COUNT(*) FROM studies JOIN trials USING (study_id) GROUP BY study_name"
        )
        if not self.patiently(lambda: inspect(self._database.engine).has_table("trials")):
            return {}
        rows = self._transact(lambda connection: connection.execute(query).all())
        return {str(name): int(count) for name, count in rows}

    # ------------------------------------------------------------------------------------------ the plan

    def _create_tables(self, must_exist: bool) -> None:
        engine = self._database.engine
        if tables.metadata.tables.keys() <= set(inspect(engine).get_table_names()):
            return
        if must_exist:
            raise StudyError(f"there is no study in {self.place} yet; tabstretch run starts one")
        with alone(engine):
            tables.metadata.create_all(engine)

    def _find_or_create(self, plan: StudyPlan, must_exist: bool) -> int:
        table = tables.studies
        with self._database.engine.begin() as connection:
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
        if changes and (must_exist or not self._transact(lambda connection: _amend(connection, plan))):
            raise self._started_with_another(plan, changes)
        return int(row.study_id)

    def _started_with_another(self, plan: StudyPlan, changes: list[str]) -> StudyError:
        return StudyError(
            f"the study {plan.name!r} in {self.place} was started with another plan:\n  "
            + "\n  ".join(changes)
            + "\nRestore the plan, or give it another name or --storage"
        )

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
            "description": json.dumps(_description(with_fewer_rows(dataset, self._train_rows))),
            "split": json.dumps(asdict(record_of(dataset))),
        }

        def write(connection: Connection) -> None:
            try:
                with connection.begin_nested():
                    connection.execute(insert(tables.datasets).values(values))
                    self._check_plan(connection)  # inside, or SQLite would keep the row
            except IntegrityError:
                self._check_plan(connection)  # the checksum is compared when the entries are read again

        self._transact(write)

    def _check_plan(self, connection: Connection) -> None:
        """Check that nobody has amended the plan: with a data set stored, nobody can any more."""
        studies = tables.studies
        query = select(studies.c.plan).where(studies.c.study_id == self.study_id)
        stored = StudyPlan.from_dict(json.loads(connection.execute(query).scalar_one()))
        if changes := differences(stored, self._plan):
            raise self._started_with_another(self._plan, changes)

    # ------------------------------------------------------------------------------------------ claims

    def claim(self, cell: CellKey) -> bool:
        """Make a cell this coordinator's own, if it is nobody's or its owner died."""
        return self._claims.take(self._key(cell))

    def release(self, cell: CellKey) -> None:
        """Give a cell back."""
        self._claims.give_back(self._key(cell))

    def owned(self, cell: CellKey) -> bool:
        """Tell whether a cell is still this coordinator's: ask before writing what was computed."""
        return self._claims.has(self._key(cell))

    def tidy_up(self) -> None:
        """Give back the cells of coordinators that died."""
        self._claims.tidy_up()

    def claimed(self) -> dict[CellKey, bool]:
        """Return the cells that somebody works on, and whether that is another coordinator that lives."""
        return {_cell_of(row): elsewhere for row, elsewhere in self._claims.of_study(self.study_id)}

    # ------------------------------------------------------------------------------------------ runs

    def seeds_of(self, cell: CellKey) -> set[int]:
        """Return the seeds of a cell that are done."""
        query = select(tables.runs.c.seed).where(tables.at(tables.runs, self._key(cell)))
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

    def run_counts(self) -> dict[CellKey, tuple[int, int]]:
        """Return how many runs of each cell are stored, and how many of them failed."""
        table = tables.runs
        cell = (table.c.dataset, table.c.model, table.c.transformation, table.c.noise)
        n_failed = func.sum(case((table.c.status == "failed", 1), else_=0))
        query = select(*cell, func.count().label("n_runs"), n_failed.label("n_failed"))
        query = query.where(table.c.study_id == self.study_id).group_by(*cell)
        rows = self._transact(lambda connection: connection.execute(query).all())
        return {_cell_of(row): (int(row.n_runs), int(row.n_failed)) for row in rows}

    def runs(self) -> list[tuple[CellKey, RunRecord]]:
        """Return every finished run."""
        table = tables.runs
        query = select(table).where(table.c.study_id == self.study_id)
        rows = self._transact(lambda connection: connection.execute(query).all())
        return [(_cell_of(row), _record_of(row)) for row in rows]

    def runs_of(self, cell: CellKey) -> list[RunRecord]:
        """Return the finished runs of a cell."""
        query = select(tables.runs).where(tables.at(tables.runs, self._key(cell)))
        rows = self._transact(lambda connection: connection.execute(query).all())
        return [_record_of(row) for row in rows]

    def add_runs(self, cell: CellKey, records: Collection[RunRecord]) -> bool:
        """Write finished runs, all or none; False if the cell became another coordinator's."""
        is_ours = self._claims.fence(self._key(cell))

        def write(connection: Connection) -> bool:
            if not is_ours(connection):
                return False
            seeds = select(tables.runs.c.seed).where(tables.at(tables.runs, self._key(cell)))
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
        return {**self._key(cell), **values, **packed}

    def forget_failed(self) -> int:
        """Remove failed runs so that they are run again; return how many there were."""
        failed = and_(tables.runs.c.study_id == self.study_id, tables.runs.c.status == "failed")
        gone = self._transact(lambda connection: connection.execute(delete(tables.runs).where(failed)))
        return int(gone.rowcount)

    def failed_searches(self) -> list[CellKey]:
        """Return the cells in which no trial succeeded."""
        table = tables.runs
        query = select(table.c.dataset, table.c.model, table.c.transformation, table.c.noise).distinct()
        query = query.where(
            table.c.study_id == self.study_id, table.c.trials > 0, table.c.trials == table.c.failed_trials
        )
        return [_cell_of(row) for row in self._transact(lambda connection: connection.execute(query).all())]

    # ------------------------------------------------------------------------------------------ plumbing

    def _key(self, cell: CellKey) -> dict[str, Any]:
        return {"study_id": self.study_id, **cell._asdict()}

    def patiently(self, action: Callable[[], Result]) -> Result:
        """Do something in the database, and do it again while the database is away."""
        return self._database.patiently(action)


def _amend(connection: Connection, plan: StudyPlan) -> bool:
    """Store another plan under the same name, if no data set of the study was read yet; tell whether it was.

    A mistake in a plan shows when its data are read: whoever mends it need not give it another name.
    """
    studies, datasets = tables.studies, tables.datasets
    # The lock of the row (SQLite has none, its writers come one by one) waits for data sets being written.
    row = select(studies.c.study_id).where(studies.c.name == plan.name).with_for_update()
    study_id = connection.execute(row).scalar_one()
    was_read = select(datasets.c.source).where(datasets.c.study_id == study_id).exists()
    changed = update(studies).where(studies.c.study_id == study_id, ~was_read)
    return connection.execute(changed.values(plan=json.dumps(plan.to_dict()))).rowcount == 1


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
