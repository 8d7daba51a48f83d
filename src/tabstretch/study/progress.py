"""What a running study shows: a live view on a terminal, a line for each stored result elsewhere."""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import TextIO

from rich.console import Console, Group
from rich.live import Live
from rich.markup import escape
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from tabstretch._terminal import printable, tell
from tabstretch.study.jobs import Job, Outcome
from tabstretch.study.metrics import main_metric
from tabstretch.study.plan import CellKey, StudyPlan
from tabstretch.study.storage import StudyStorage
from tabstretch.study.storage.studies import RunRecord
from tabstretch.study.tally import Tally, tally

_SHOWN = 12
"""Data sets and cells that fit on a screen."""
_LOOK_SECONDS = 2.0
"""How often to count what is stored, at most."""
_LOOK_SHARE = 20.0
"""How many times as long as that took to wait before the next time."""


class Progress:
    """Counts, and shows nothing."""

    def __init__(self, counted: Tally) -> None:
        self.tally = counted

    def started(self, cell: CellKey, job: Job) -> None:
        """Note that a job went to a worker."""
        self.tally.started(cell)

    def finished(self, cell: CellKey, job: Job, outcomes: Sequence[Outcome]) -> None:
        """Note that a job came back."""
        self.tally.finished(cell, job, outcomes)

    def stored(self, cell: CellKey, records: Sequence[RunRecord]) -> None:
        """Note that runs are in the storage."""
        self.tally.add(cell, records)

    def look(self) -> None:
        """Look at what others have stored; nobody would see it."""

    def message(self, text: str) -> None:
        """Tell the user something."""


class Shown(Progress):
    """Shows the counts of the storage, in which others may work as well."""

    def __init__(self, plan: StudyPlan, store: StudyStorage) -> None:
        super().__init__(tally(plan, store))
        self._plan = plan
        self._store = store
        self._next_look = 0.0

    def look(self) -> None:
        """Count what the storage has, every few seconds, and less often where that takes long."""
        begin = time.monotonic()
        if begin >= self._next_look:
            self.tally.look(self._plan, self._store)
            end = time.monotonic()
            self._next_look = end + max(_LOOK_SECONDS, _LOOK_SHARE * (end - begin))


class Lines(Shown):
    """One line for each stored result, for logs."""

    def __init__(self, plan: StudyPlan, store: StudyStorage, stream: TextIO) -> None:
        super().__init__(plan, store)
        self._stream = stream
        self.message(f"{self.tally.runs_done} of {self.tally.n_runs} runs are stored")

    def stored(self, cell: CellKey, records: Sequence[RunRecord]) -> None:
        """Print what was stored."""
        super().stored(cell, records)
        left = self.tally.seconds_left()
        rest = f", about {duration(left)} left" if left else ""
        counts = f"{self.tally.runs_done}/{self.tally.n_runs}"
        found = summary(self.tally.tasks[cell.dataset], records)
        self.message(f"[{counts}{rest}] {printable(str(cell))}: {found}")

    def message(self, text: str) -> None:
        """Print a line at once."""
        tell(text, self._stream)


class Screen(Shown):
    """A live view."""

    def __init__(self, plan: StudyPlan, store: StudyStorage) -> None:
        super().__init__(plan, store)
        self._console = Console(stderr=True)
        self.live = Live(
            console=self._console, get_renderable=self.render, refresh_per_second=4, transient=False
        )

    def message(self, text: str) -> None:
        """Print a line above the view."""
        self._console.print(escape(printable(text)))

    def render(self) -> Group:
        """Return the view of this moment."""
        return Group(self._bar(), self._running(), self._best())

    def _bar(self) -> Table:
        counted = self.tally
        left = counted.seconds_left()
        grid = Table.grid(padding=(0, 2))
        grid.add_row(
            Text(self._plan.name, style="bold"),
            ProgressBar(total=counted.n_trainings, completed=counted.trainings_done, width=30),
            f"{counted.runs_done} of {counted.n_runs} runs",
            Text(f"{counted.runs_failed} failed", style="red" if counted.runs_failed else "dim"),
            f"about {duration(left)} left" if left else "",
        )
        return grid

    def _running(self) -> Text:
        here = _listed("running", list(self.tally.running))
        elsewhere = _listed("running elsewhere", self.tally.elsewhere)
        return Text("\n".join(filter(None, (here, elsewhere))), style="dim")

    def _best(self) -> Table:
        table = Table(box=None, pad_edge=False, header_style="dim")
        for heading in ("best so far", "network", "transformation", "metric"):
            table.add_column(heading)
        table.add_column("mean", justify="right")
        best = self.tally.best()
        for row in best[-_SHOWN:]:
            cell = row.cell
            names = (escape(printable(cell.dataset)), cell.model, cell.transformation)
            table.add_row(*names, row.metric, f"{row.score:.4f}")
        return table


@contextmanager
def open_progress(plan: StudyPlan, store: StudyStorage, *, enabled: bool) -> Generator[Progress]:
    """Yield what shows the study: a live view if standard error is a terminal, else lines."""
    if not enabled:
        yield Progress(tally(plan, store))
    elif sys.stderr.isatty():
        screen = Screen(plan, store)
        with screen.live:
            yield screen
    else:
        yield Lines(plan, store, sys.stderr)


def _listed(what: str, cells: Sequence[CellKey]) -> str:
    more = f" and {len(cells) - _SHOWN} more" if len(cells) > _SHOWN else ""
    return f"{what}: {', '.join(printable(str(cell)) for cell in cells[:_SHOWN])}{more}" if cells else ""


def summary(task: str, records: Sequence[RunRecord]) -> str:
    """Return some runs of a cell in a few words."""
    metric = main_metric(task)
    scored = [record for record in records if metric in record.metrics]
    scores = [record.metrics[metric] for record in scored]
    failed = [record for record in records if record.status != "ok"]
    words = []
    if scores:
        spread = f" ± {statistics.stdev(scores):.4f}" if len(scores) > 1 else ""
        seeds = f"{len(scores)} seeds" if len(scores) > 1 else f"seed {scored[0].seed}"
        words.append(f"{metric} {statistics.fmean(scores):.4f}{spread} ({seeds})")
    if failed:
        words.append(f"{len(failed)} failed: {failed[0].error}")
    notes = {record.note for record in records if record.note}
    return "; ".join([*words, *sorted(notes)])


def duration(seconds: float) -> str:
    """Return a length of time in words.

    >>> duration(42), duration(100), duration(4000), duration(200_000)
    ('42 s', '2 min', '1.1 h', '2.3 days')
    """
    if seconds < 60:
        return f"{seconds:.0f} s"
    if seconds < 3600:
        return f"{seconds / 60:.0f} min"
    if seconds < 100_000:
        return f"{seconds / 3600:.1f} h"
    return f"{seconds / 86400:.1f} days"
