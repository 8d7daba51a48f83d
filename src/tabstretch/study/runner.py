"""`run_study`: plan -> every run that is missing from the storage -> one tidy table.

The coordinator is the only one that writes. It claims cells, hands their jobs to workers, and stores what
comes back, one transaction for each job; whatever dies, a job is either stored or done again.
"""

from __future__ import annotations

import itertools
import logging
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import joblib
import optuna

from tabstretch.study.cells import CellWork
from tabstretch.study.datasets import load_dataset
from tabstretch.study.datasets.dataset import Task
from tabstretch.study.datasets.records import check_record
from tabstretch.study.errors import StudyError
from tabstretch.study.jobs import Job
from tabstretch.study.plan import CellKey, StudyPlan, read_plan
from tabstretch.study.progress import Progress, open_progress
from tabstretch.study.results import results_table
from tabstretch.study.searches import forget_search
from tabstretch.study.storage import StudyStorage, default_storage
from tabstretch.study.storage.studies import DatasetEntry, RunRecord, unique_names
from tabstretch.study.workers import Finished, Workers, open_workers
from tabstretch.study.workspace import DatasetRef

if TYPE_CHECKING:
    import pandas as pd

_POLL_SECONDS = 1.0


def run_study(
    plan: StudyPlan | Path | str,
    *,
    storage: str | None = None,
    scheduler: str | None = None,
    workers: int | None = None,
    threads: int = 1,
    retry_failed: bool = False,
    progress: bool = True,
) -> pd.DataFrame:
    """Run what is missing of a study, and return its results.

    The same call again goes on where the last one ended, however that ended. Several may run at once, on
    one machine or many, with one storage: they share the work.

    Parameters
    ----------
    plan : StudyPlan, Path or str
        A plan, or its TOML file.
    storage : str, default=None
        A SQLite file or a `postgresql://` URL; by default a file beside the plan, or `NAME.db` in the
        folder of a plan that was not read from a file.
    scheduler : str, default=None
        Address of a Dask scheduler, such as `tcp://host:8786`; by default work is done on this machine.
    workers : int, default=None
        Processes on this machine, by default as many as keep every core busy; 0 works in this process.
    threads : int, default=1
        Threads of each process. Another number changes the rounding of results.
    retry_failed : bool, default=False
        Whether runs that failed before are run again.
    progress : bool, default=True
        Whether to show what happens on standard error.

    Returns
    -------
    DataFrame
        One row per data set, network, transformation and seed; failed runs are rows with an `error`.
    """
    if threads < 1:
        raise StudyError(f"threads must be at least 1, got {threads}")
    if not isinstance(plan, StudyPlan):
        storage = storage or default_storage(Path(plan))
        plan = read_plan(plan)
    storage = storage or str(plan.folder / f"{plan.name}.db")
    n_workers = max(1, joblib.cpu_count() // threads) if workers is None else workers
    with _quiet_optuna(), _opened(storage, plan) as store:
        store.tidy_up()  # also where nothing is left to run
        if retry_failed:
            _forget_failed(plan, store)
        study = _Study(plan, store, _registered(plan, store), threads)
        with open_progress(plan, store, enabled=progress) as shown:
            if study.todo():
                with open_workers(scheduler, n_workers) as pool:
                    _Coordinator(study, pool, shown).run()
        return results_table(store)


@contextmanager
def _quiet_optuna() -> Generator[None]:
    """Silence Optuna while our study runs: it announces every search, and warns of lost connections."""
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(logging.ERROR)
    try:
        yield
    finally:
        optuna.logging.set_verbosity(before)


@contextmanager
def _opened(storage: str, plan: StudyPlan) -> Generator[StudyStorage]:
    store = StudyStorage(storage, plan)
    try:
        yield store
    finally:
        store.close()


def _forget_failed(plan: StudyPlan, store: StudyStorage) -> None:
    """Remove failed runs, and searches in which every trial failed: nothing could be chosen from those."""
    for cell in store.failed_searches():
        if store.claim(cell):  # else another coordinator is at it again
            forget_search(plan, cell, store)
            store.release(cell)
    store.forget_failed()


def _registered(plan: StudyPlan, store: StudyStorage) -> dict[str, DatasetEntry]:
    """Read every data set once, write down new ones, and refuse those that changed; return them by name."""
    known = store.dataset_entries()
    problems, names = [], []
    for source in plan.datasets:
        try:
            dataset = load_dataset(source, plan.folder)
            if source in known:
                check_record(dataset, known[source].split, store.place)
            names.append((source, dataset.name))
        except (ValueError, OSError) as error:
            problems.append(str(error))
    if problems:
        raise StudyError("\n".join(problems))
    name_of = unique_names(names)
    for source in plan.datasets:
        if source not in known:
            store.add_dataset(load_dataset(source, plan.folder), name_of[source])
    return {entry.name: entry for entry in store.dataset_entries().values()}


@dataclass(frozen=True)
class _Study:
    """What the coordinator needs of a plan and its storage."""

    plan: StudyPlan
    store: StudyStorage
    datasets: Mapping[str, DatasetEntry]
    threads: int

    def cells(self) -> list[CellKey]:
        """Return all cells, those that share a fitted transformation beside each other."""
        by_source = {entry.source: name for name, entry in self.datasets.items()}
        names = [by_source[source] for source in self.plan.datasets]
        grid = itertools.product(names, self.plan.noise, self.plan.transformations, self.plan.models)
        return [CellKey(name, model, transformation, noise) for name, noise, transformation, model in grid]

    def todo(self) -> list[CellKey]:
        """Return the cells that lack runs."""
        finished = self.store.finished()
        return [cell for cell in self.cells() if len(finished.get(cell, ())) < self.plan.seeds]

    def work_on(self, cell: CellKey) -> CellWork:
        """Open a cell that was claimed."""
        entry = self.datasets[cell.dataset]
        task: Task = entry.description["task"]
        ref = DatasetRef(entry.source, self.plan.folder, entry.checksum, cell.noise, self.plan.train_rows)
        done = self.store.seeds_of(cell)
        return CellWork(cell, self.plan, ref, task, done, self.store, self.threads)


class _Coordinator:
    """Keeps every worker busy until no run is missing."""

    def __init__(self, study: _Study, workers: Workers, progress: Progress) -> None:
        self._study = study
        self._store = study.store
        self._workers = workers
        self._progress = progress
        self._numbers = itertools.count()
        self._active: list[CellWork] = []
        self._jobs: dict[int, tuple[CellWork, Job]] = {}
        self._is_waiting = False

    def run(self) -> None:
        """Work until everything is stored, by this coordinator or another."""
        if self._workers.slots == 0:
            self._progress.message("the cluster has no workers yet; waiting for them")
        while True:
            self._fill()
            if not self._jobs:
                left = self._study.todo()
                if not left:
                    return
                self._tell_of_waiting(left)
            for finished in self._workers.finished(_POLL_SECONDS):
                self._store_outcomes(finished)
            self._progress.look()

    def _tell_of_waiting(self, left: list[CellKey]) -> None:
        """Say, once, that all that is left is with others."""
        if self._workers.slots and not self._is_waiting:
            cells = ", ".join(map(str, left[:3])) + (f" and {len(left) - 3} more" if len(left) > 3 else "")
            self._progress.message(f"waiting for another coordinator, which works on {cells}")
            self._is_waiting = True

    def _fill(self) -> None:
        """Give every free worker a job.

        Of cells at hand first; but one that is about to fit its transformation is joined only if there is no
        other, for whoever joins has to wait for that.
        """
        while len(self._jobs) < self._workers.slots:
            begun = [work for work in self._active if work.worker is not None or not work.in_flight]
            if not (self._start_one(begun) or self._claim_one() or self._start_one(self._active)):
                return

    def _start_one(self, works: list[CellWork]) -> bool:
        for work in list(works):
            job = work.next_job()
            if job is not None and self._keeps(work):
                number = next(self._numbers)
                self._jobs[number] = (work, job)
                self._workers.submit(number, job, work.worker)
                self._progress.started(work.cell, job)
                return True
        return False

    def _claim_one(self) -> bool:
        taken = {work.cell for work in self._active}
        for cell in self._by_kinship([cell for cell in self._study.todo() if cell not in taken]):
            if self._store.claim(cell):
                work = self._study.work_on(cell)
                self._active.append(work)
                self._finish(work, work.failed_already)
                return True
        return False

    def _by_kinship(self, cells: list[CellKey]) -> list[CellKey]:
        """Put last the cells whose transformation another worker has: that worker goes on with them."""
        busy = {_kin(work.cell) for work in self._active}
        return sorted(cells, key=lambda cell: _kin(cell) in busy)

    def _store_outcomes(self, finished: Finished) -> None:
        work, job = self._jobs.pop(finished.number)
        work.worker = finished.worker
        self._progress.finished(work.cell, job, finished.outcomes)
        if work in self._active and self._keeps(work):
            self._finish(work, work.take(job, finished.outcomes))

    def _keeps(self, work: CellWork) -> bool:
        """Tell whether a cell is still ours, and let it go if not: the other may have stored its runs."""
        if self._store.owned(work.cell):
            return True
        self._progress.message(f"{work.cell} went to another coordinator while the storage was away")
        self._active.remove(work)
        return False

    def _finish(self, work: CellWork, records: list[RunRecord]) -> None:
        if records:
            if not self._store.add_runs(work.cell, records):
                self._active.remove(work)
                return
            self._progress.stored(work.cell, records)
        if work.is_finished:
            self._active.remove(work)
            self._store.release(work.cell)


def _kin(cell: CellKey) -> tuple[str, float, str]:
    return cell.dataset, cell.noise, cell.transformation
