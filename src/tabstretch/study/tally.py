"""Where a study stands, in numbers: what `tabstretch status` prints and a running study shows.

The numbers are those of the storage, whoever put them there. A coordinator counts what it stores at once, and
what others store whenever it looks.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from tabstretch.study.jobs import Job, Outcome
from tabstretch.study.metrics import main_metric
from tabstretch.study.plan import CellKey, StudyPlan
from tabstretch.study.searches import study_name
from tabstretch.study.storage import StudyStorage
from tabstretch.study.storage.studies import RunRecord


@dataclass
class Best:
    """The best cell of a data set so far."""

    cell: CellKey
    metric: str
    score: float


@dataclass
class CellCount:
    """What is stored of a cell."""

    runs: int = 0
    failed: int = 0
    trials: int = 0
    scores: list[float] = field(default_factory=list)

    def add(self, records: Iterable[RunRecord], metric: str) -> CellCount:
        """Count some runs more."""
        for record in records:
            self.runs += 1
            self.failed += record.status != "ok"
            if metric in record.metrics:
                self.scores.append(record.metrics[metric])
        return self


@dataclass
class Tally:
    """Trainings are trials and runs; runs are the rows of the results."""

    n_runs: int
    n_trainings: int
    cells: dict[CellKey, CellCount]
    """All that the plan has, in its order."""
    tasks: dict[str, str]
    """Of the data sets."""
    running: dict[CellKey, int] = field(default_factory=dict)
    """How many jobs of each cell are under way."""
    elsewhere: list[CellKey] = field(default_factory=list)
    """Cells that other coordinators work on."""
    begin: float = field(default_factory=time.monotonic)
    done_before: int = 0
    """Trainings of earlier sessions, which say nothing about the speed of this one."""

    @property
    def runs_done(self) -> int:
        """How many runs are stored."""
        return sum(count.runs for count in self.cells.values())

    @property
    def runs_failed(self) -> int:
        """How many of them failed."""
        return sum(count.failed for count in self.cells.values())

    @property
    def trainings_done(self) -> int:
        """How many runs and trials are stored."""
        return sum(count.runs + count.trials for count in self.cells.values())

    def seconds_left(self) -> float | None:
        """Return how long the rest takes at the speed so far, or None before there is one."""
        done = self.trainings_done
        if done <= self.done_before:
            return None
        return (time.monotonic() - self.begin) / (done - self.done_before) * (self.n_trainings - done)

    def started(self, cell: CellKey) -> None:
        """Count a job that began."""
        self.running[cell] = self.running.get(cell, 0) + 1

    def finished(self, cell: CellKey, job: Job, outcomes: Sequence[Outcome]) -> None:
        """Count a job that ended."""
        self.running[cell] -= 1
        if not self.running[cell]:
            del self.running[cell]
        if job.part == "val":
            self.cells[cell].trials += len(outcomes)

    def add(self, cell: CellKey, records: Iterable[RunRecord]) -> None:
        """Count runs that are stored."""
        self.cells[cell].add(records, main_metric(self.tasks[cell.dataset]))

    def look(self, plan: StudyPlan, store: StudyStorage) -> None:
        """Count what the storage has by now; only cells in which something happened are read."""
        stored = store.run_counts()
        for cell, count in self.cells.items():
            if stored.get(cell, (0, 0)) != (count.runs, count.failed):
                metric = main_metric(self.tasks[cell.dataset])
                # Put in place when it is counted: another thread may be drawing.
                self.cells[cell] = CellCount(trials=count.trials).add(store.runs_of(cell), metric)
        self.count_trials(plan, store)
        self.elsewhere = [cell for cell, is_other_s in store.claimed().items() if is_other_s]

    def count_trials(self, plan: StudyPlan, store: StudyStorage) -> None:
        """Count the trials: all of a cell that was evaluated, else those that Optuna has."""
        counts = store.trial_counts() if plan.trials else {}
        for cell, count in self.cells.items():
            stored = plan.trials if count.runs else counts.get(study_name(plan, cell), 0)
            count.trials = min(stored, plan.trials)

    def best(self) -> list[Best]:
        """Return the best cell of each data set by the mean over seeds; noise is not compared."""
        found: dict[str, Best] = {}
        for cell, count in self.cells.items():
            if cell.noise or not count.scores:
                continue
            score = sum(count.scores) / len(count.scores)
            if cell.dataset not in found or score > found[cell.dataset].score:
                found[cell.dataset] = Best(cell, main_metric(self.tasks[cell.dataset]), score)
        return [found[name] for name in sorted(found)]


def tally(plan: StudyPlan, store: StudyStorage) -> Tally:
    """Count what is stored of a study."""
    n_cells = len(plan.datasets) * len(plan.noise) * len(plan.models) * len(plan.transformations)
    tasks = {entry.name: entry.description["task"] for entry in store.dataset_entries().values()}
    grid = itertools.product(tasks, plan.models, plan.transformations, plan.noise)
    counted = Tally(
        n_runs=n_cells * plan.seeds,
        n_trainings=n_cells * (plan.seeds + plan.trials),
        cells={cell: CellCount() for cell in itertools.starmap(CellKey, grid)},
        tasks=tasks,
    )
    for cell, record in store.runs():
        counted.add(cell, [record])
    counted.count_trials(plan, store)
    counted.done_before = counted.trainings_done
    return counted
