"""Where a study stands, in numbers: what `tabstretch status` prints and a running study shows."""

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
class Tally:
    """Trainings are trials and runs; runs are the rows of the results."""

    n_runs: int
    n_trainings: int
    runs_done: int = 0
    runs_failed: int = 0
    trainings_done: int = 0
    running: dict[CellKey, int] = field(default_factory=dict)
    """How many jobs of each cell are under way."""
    scores: dict[CellKey, list[float]] = field(default_factory=dict)
    tasks: dict[str, str] = field(default_factory=dict)
    begin: float = field(default_factory=time.monotonic)
    done_before: int = 0
    """Trainings of earlier sessions, which say nothing about the speed of this one."""

    def seconds_left(self) -> float | None:
        """Return how long the rest takes at the speed so far, or None before there is one."""
        now = self.trainings_done - self.done_before
        if now <= 0:
            return None
        return (time.monotonic() - self.begin) / now * (self.n_trainings - self.trainings_done)

    def started(self, cell: CellKey) -> None:
        """Count a job that began."""
        self.running[cell] = self.running.get(cell, 0) + 1

    def finished(self, cell: CellKey, job: Job, outcomes: Sequence[Outcome]) -> None:
        """Count a job that ended."""
        self.running[cell] -= 1
        if not self.running[cell]:
            del self.running[cell]
        self.trainings_done += len(outcomes)

    def add(self, cell: CellKey, records: Iterable[RunRecord]) -> None:
        """Count runs that are stored."""
        metric = main_metric(self.tasks[cell.dataset])
        for record in records:
            self.runs_done += 1
            self.runs_failed += record.status != "ok"
            if metric in record.metrics:
                self.scores.setdefault(cell, []).append(record.metrics[metric])

    def best(self) -> list[Best]:
        """Return the best cell of each data set by the mean over seeds; noise is not compared."""
        found: dict[str, Best] = {}
        for cell, scores in self.scores.items():
            score = sum(scores) / len(scores)
            if not cell.noise and (cell.dataset not in found or score > found[cell.dataset].score):
                found[cell.dataset] = Best(cell, main_metric(self.tasks[cell.dataset]), score)
        return [found[name] for name in sorted(found)]


def tally(plan: StudyPlan, store: StudyStorage) -> Tally:
    """Count what is stored of a study."""
    n_cells = len(plan.datasets) * len(plan.noise) * len(plan.models) * len(plan.transformations)
    counted = Tally(n_runs=n_cells * plan.seeds, n_trainings=n_cells * (plan.seeds + plan.trials))
    counted.tasks = {entry.name: entry.description["task"] for entry in store.dataset_entries().values()}
    cells: set[CellKey] = set()
    for cell, record in store.runs():
        counted.add(cell, [record])
        cells.add(cell)
    counted.trainings_done = counted.runs_done
    if plan.trials:
        counted.trainings_done += _trials_done(plan, store, counted, cells)
    counted.done_before = counted.trainings_done
    return counted


def _trials_done(plan: StudyPlan, store: StudyStorage, counted: Tally, evaluated: set[CellKey]) -> int:
    """Count the trials: all of a cell that was evaluated, else those that Optuna has."""
    counts = store.trial_counts()
    cells = itertools.starmap(
        CellKey, itertools.product(counted.tasks, plan.models, plan.transformations, plan.noise)
    )
    others = (counts.get(study_name(plan, cell), 0) for cell in cells if cell not in evaluated)
    return plan.trials * len(evaluated) + sum(min(n, plan.trials) for n in others)
