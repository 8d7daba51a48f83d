"""The work on one cell: its trials one after another, then its seeds."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Any

from tabstretch.study.datasets.dataset import Task
from tabstretch.study.jobs import Job, Outcome
from tabstretch.study.models import MODELS
from tabstretch.study.plan import CellKey, StudyPlan
from tabstretch.study.searches import Search, default_configuration, study_name
from tabstretch.study.storage.studies import RunRecord, StudyStorage
from tabstretch.study.training import Budget
from tabstretch.study.workspace import DatasetRef

_MOST_SEEDS_IN_JOB = 8


def _seeds_in_job(model: str, n_seeds: int) -> int:
    """Return how many seeds train together.

    By the plan alone, never by what is idle: stacks of other seeds may round otherwise. With few cells left,
    a cell of many seeds still has a job for more than one worker.
    """
    if not MODELS[model].STACKS:
        return 1
    return math.ceil(n_seeds / math.ceil(n_seeds / _MOST_SEEDS_IN_JOB))


class CellWork:
    """What is left to do for a cell, as jobs; outcomes go in, records of finished runs come out."""

    def __init__(
        self,
        cell: CellKey,
        plan: StudyPlan,
        dataset: DatasetRef,
        task: Task,
        done: Collection[int],
        storage: StudyStorage,
        threads: int,
    ) -> None:
        self.cell = cell
        self.worker: str | None = None
        """Where its last job ran."""
        self._plan = plan
        self._dataset = dataset
        self._threads = threads
        self._seeds = [seed for seed in range(plan.seeds) if seed not in done]
        self.in_flight = 0
        """How many of its jobs are with workers."""
        self._search = Search(cell, task, study_name(plan, cell), storage) if plan.trials else None
        self._chosen = default_configuration(cell) if self._search is None else None
        self.failed_already = self._choose()
        """Runs that failed because every trial of an earlier session did."""

    @property
    def is_finished(self) -> bool:
        """Whether nothing is left to do or to wait for."""
        return not self._seeds and not self.in_flight

    def next_job(self) -> Job | None:
        """Return a job that can start now; None while others have to come back first."""
        if self._chosen is None:
            if self.in_flight or self._search is None:
                return None
            return self._job(self._search.ask(), (0,), "val")
        if not self._seeds:
            return None
        size = _seeds_in_job(self.cell.model, self._plan.seeds)
        together = self._seeds[0] // size
        seeds = tuple(seed for seed in self._seeds if seed // size == together)
        self._seeds = self._seeds[len(seeds) :]
        return self._job(self._chosen, seeds, "test")

    def _job(self, params: dict[str, Any], seeds: tuple[int, ...], part: Any) -> Job:
        self.in_flight += 1
        plan = self._plan
        return Job(
            dataset=self._dataset,
            transformation=self.cell.transformation,
            model=self.cell.model,
            params=params,
            seeds=seeds,
            part=part,
            budget=Budget(plan.epochs, plan.patience, plan.batch_size),
            memory_limit=plan.memory_limit_gb * 1e9,
            threads=self._threads,
        )

    def take(self, job: Job, outcomes: Sequence[Outcome]) -> list[RunRecord]:
        """Take what came back, and return the runs that are finished by it. A trial is stored here."""
        self.in_flight -= 1
        if job.part == "test":
            return [self._record(outcome, job.params) for outcome in outcomes]
        assert self._search is not None, "a trial belongs to a search"
        self._search.tell(outcomes[0])
        return self._choose()

    def _choose(self) -> list[RunRecord]:
        """Fix the configuration once the search is over; without one, every seed has failed."""
        if self._search is None or self._search.n_finished < self._plan.trials:
            return []
        self._chosen = self._search.best()
        if self._chosen is not None:
            return []
        error = (
            f"none of {self._plan.trials} trials succeeded; the last failed with {self._search.last_error()}"
        )
        failed = [self._record(Outcome(seed, error), {}) for seed in self._seeds]
        self._seeds = []
        return failed

    def _record(self, outcome: Outcome, params: Any) -> RunRecord:
        return RunRecord(
            seed=outcome.seed,
            status="ok" if outcome.error is None else "failed",
            error=outcome.error,
            note=outcome.note,
            params=dict(params),
            metrics=outcome.metrics,
            measures=outcome.measures,
            trials=0 if self._search is None else self._search.n_finished,
            failed_trials=0 if self._search is None else self._search.n_failed,
        )
