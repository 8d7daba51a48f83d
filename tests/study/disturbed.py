"""One study that faults strike: its sessions, moments to strike at, and what is right of it in the end."""

import json
import re
import signal
import time
from collections import Counter
from dataclasses import dataclass, field

import numpy as np
import sqlalchemy
from driver import Log, run_key, trial_key
from sessions import Session
from sqlalchemy.exc import DBAPIError
from test_runner import trials_of, unmeasured

from tabstretch.study.results import results_table
from tabstretch.study.storage.database import storage_url
from tabstretch.study.storage.studies import opened_study

PLAN = """
name = "faults"
datasets = ["file:houses.csv?target=price", "sklearn:wine"]
models = ["mlp"]
transformations = ["standard", "stretch_unsup"]
trials = 3
seeds = 2
epochs = 3
"""
RUN_NAMES = ["dataset", "model", "transformation", "noise", "seed"]
END_SECONDS = 900
"""A session that takes longer hangs; on a busy machine a worker may need minutes to start."""


class BrokenPromiseError(Exception):
    """A promise that was not kept."""


@dataclass
class Finding:
    """What is right and wrong with studies that were disturbed."""

    rows: int = 0
    equal_rows: int = 0
    lost: int = 0
    doubled: int = 0
    trials: int = 0
    equal_trials: int = 0
    rewritten: int = 0
    """Trials that were written again because the answer to the first write was lost; the first counts."""
    complaints: list[str] = field(default_factory=list)

    def add(self, other):
        for name in ("rows", "equal_rows", "lost", "doubled", "trials", "equal_trials", "rewritten"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.complaints += other.complaints

    @property
    def is_perfect(self):
        return (
            not (self.lost or self.doubled or self.complaints)
            and self.rows == self.equal_rows > 0
            and self.trials == self.equal_trials > 0
        )


class DisturbedStudy:
    """In `folder` are plan, data and a SQLite file; `notes` is a folder on a disk that is never full."""

    def __init__(self, folder, notes, rng, url=None, server=None):
        self.folder, self.notes, self.rng, self.server = folder, notes, rng, server
        self.plan = folder / "plan.toml"
        self.data = folder / "houses.csv"
        self.database = folder / "plan.db"
        self.url = url or str(self.database)
        self.log = notes / "log"
        self._sessions = []
        folder.mkdir(exist_ok=True)
        notes.mkdir(exist_ok=True)
        self.plan.write_text(PLAN)
        self.data.write_text(houses())
        self.log.touch()

    def start(self, *options, workers=0, clock=None):
        arguments = ["--log", self.log, "--pause", 0.1, *options]
        arguments += ["run", self.plan, "--storage", self.url, "--workers", workers]
        session = Session(arguments, self.notes / f"errors{len(self._sessions)}", clock)
        self._sessions.append(session)
        return session

    def close(self):
        """End what a broken promise left running."""
        for session in self._sessions:
            session.send(signal.SIGKILL)

    # ------------------------------------------------------------------------------------------ moments

    def moment(self, *sessions, after=0):
        """Wait for a random moment, at least so many events from now; False if a session ended before it."""
        until = len(self.events()) + self.rng.randint(after, after + 5)
        delay = self.rng.uniform(0.0, 0.4)
        begin = time.monotonic()
        while len(self.events()) < until:
            if any(session.returncode is not None for session in sessions):
                return False
            if time.monotonic() - begin > END_SECONDS:
                raise BrokenPromiseError(f"nothing happens: {sessions[0].errors}")
            time.sleep(0.02)
        time.sleep(delay)
        return all(session.returncode is None for session in sessions)

    def events(self):
        return self.log.read_text().splitlines()

    # ------------------------------------------------------------------------------------------ what follows

    def stopped(self, session, code, message=""):
        """Check that a session ended as it must; False if it was finished before the fault had an effect."""
        found = session.end(END_SECONDS)
        if found == 0:
            return False
        errors = session.errors
        if found != code:
            raise BrokenPromiseError(f"exit code {found} where {code} was due: {errors[-3000:]}")
        if not re.search(message, errors) or "Traceback" in errors:
            raise BrokenPromiseError(f"no clear message with {message!r}: {errors[-3000:]}")
        self._mark_stored()
        return True

    def goes_on(self, *sessions):
        """Check that sessions store more, or end well; those that go on are asked to stop."""
        begin, until = time.monotonic(), self._n_stored() + 1
        while self._n_stored() < until and any(session.returncode is None for session in sessions):
            if time.monotonic() - begin > END_SECONDS:
                raise BrokenPromiseError(f"a session hangs: {[session.errors for session in sessions]}")
            time.sleep(0.02)
        for session in sessions:
            session.send(signal.SIGTERM)
        for session in sessions:
            code = session.end(END_SECONDS)
            if code not in (0, 130) or "Traceback" in session.errors:
                raise BrokenPromiseError(
                    f"exit code {code} where it should have gone on: {session.errors[-3000:]}"
                )
        self._mark_stored()
        return True

    def _n_stored(self):
        return sum('"stored"' in line for line in self.events())

    def finish(self):
        """Let it end in peace."""
        session = self.start()
        code = session.end(END_SECONDS)
        if code != 0:
            raise BrokenPromiseError(
                f"exit code {code} of the last, undisturbed session: {session.errors[-3000:]}"
            )

    # ------------------------------------------------------------------------------------------ the database

    def _mark_stored(self):
        """Write down what the database has: one that was killed may have had no time to do so."""
        Log(self.log, 0.0).write("stored", [*self._stored_runs(), *self._stored_trials()])

    def _stored_runs(self):
        rows = self._query("SELECT dataset, model, transformation, seed FROM tabstretch_runs")
        return [run_key(f"{dataset}/{model}/{name}", seed) for dataset, model, name, seed in rows]

    def _stored_trials(self):
        rows = self._query(
            "SELECT study_name, value_json FROM trial_user_attributes JOIN trials USING (trial_id) "
            "JOIN studies USING (study_id) WHERE key = 'configuration'"
        )
        return [trial_key(name.partition("/")[2], json.loads(value)) for name, value in rows]

    def knows_data(self):
        """Tell whether the checksum of the data file is recorded."""
        return bool(self._query("SELECT source FROM tabstretch_datasets WHERE source LIKE 'file:%'"))

    def _query(self, text):
        engine = sqlalchemy.create_engine(storage_url(self.url))
        try:
            with engine.connect() as connection:
                return connection.execute(sqlalchemy.text(text)).all()
        except DBAPIError as error:
            if "no such table" in str(error) or "does not exist" in str(error):
                return []  # it was stopped before there was one
            raise
        finally:
            engine.dispose()

    # ------------------------------------------------------------------------------------------ the end

    def table(self):
        with opened_study(self.plan, self.url) as (_, store):
            return unmeasured(results_table(store))

    def trials(self):
        return trials_of(self.url)

    def tidiness(self):
        """Return what a finished study should not leave behind."""
        left = [f"lock file {path.name}" for path in self.folder.glob("*.lock")]
        left += [f"claim {row}" for row in self._query("SELECT * FROM tabstretch_claims")]
        if self.server is None:
            verdict = self._query("PRAGMA integrity_check")[0][0]
            left += [f"SQLite: {verdict}"] if verdict != "ok" else []
        return left


def houses():
    """Return a small table to learn from, as CSV."""
    rng = np.random.default_rng(7)
    x = rng.lognormal(size=(120, 3))
    price = x @ [1.0, 2.0, 0.5] + rng.normal(scale=0.1, size=120)
    lines = [",".join(f"{value:.6f}" for value in row) for row in np.column_stack([x, price])]
    return "\n".join(["area,rooms,age,price", *lines]) + "\n"


def compared(rows, expected_rows, trials, expected_trials, events):
    """Return the finding on one study: rows and trials against the undisturbed ones, and executions."""
    finding = Finding(rows=len(expected_rows), trials=sum(map(len, expected_trials.values())))
    found = [(tuple(row[RUN_NAMES]), repr(tuple(row))) for _, row in rows.iterrows()]
    expected = {tuple(row[RUN_NAMES]): repr(tuple(row)) for _, row in expected_rows.iterrows()}
    times = Counter(key for key, _ in found)
    finding.lost = sum(times[key] == 0 for key in expected)
    finding.doubled = sum(count - 1 for count in times.values()) + len(executed_again(events))
    finding.equal_rows = sum(expected[key] == text for key, text in dict(found).items() if key in expected)
    for name, due in expected_trials.items():
        first = {}
        for trial in trials.get(name, []):
            first.setdefault(trial[0], trial)
        finding.equal_trials += sum(first.get(trial[0]) == trial for trial in due)
        finding.rewritten += len(trials.get(name, [])) - len(first)
    return finding


def executed_again(events):
    """Return the trials and runs that were trained although they were stored already."""
    stored, again = set(), []
    for event in map(json.loads, events):
        if event["event"] == "stored":
            stored.update(event["keys"])
        elif event["event"] == "begin":
            again += [key for key in event["keys"] if key in stored]
    return again
