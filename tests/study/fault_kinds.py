"""Faults: each starts a session of a disturbed study, strikes, and checks that what follows was promised.

A fault returns whether it struck: a study may have been finished before.
"""

import signal
import sqlite3
import time
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass

from disturbed import END_SECONDS, BrokenPromiseError
from driver import PLACES
from sessions import worker_processes
from wrong_clock import wrong_clock


@dataclass(frozen=True)
class Kind:
    name: str
    strike: Callable
    storages: tuple[str, ...]


KINDS = []
EITHER, SQLITE, POSTGRES = ("sqlite", "postgres"), ("sqlite",), ("postgres",)


def kind(name, storages=EITHER):
    def register(strike):
        KINDS.append(Kind(name, strike, storages))
        return strike

    return register


# ---------------------------------------------------------------------------------------- coordinators


@kind("coordinator killed")
def kill_coordinator(study):
    session = study.start(workers=study.rng.choice([0, 0, 0, 1]))
    if study.moment(session):
        session.send(signal.SIGKILL)
    return study.stopped(session, -signal.SIGKILL)


@kind("coordinator killed inside a step")
def die_inside(study):
    where, when = study.rng.choice(list(PLACES)), study.rng.choice(["before", "after"])
    session = study.start("--die", where, when, study.rng.randint(1, 2))
    return study.stopped(session, -signal.SIGKILL)


@kind("Ctrl-C (SIGINT)")
def interrupt(study):
    return _asked_to_stop(study, signal.SIGINT)


@kind("SIGTERM")
def terminate(study):
    return _asked_to_stop(study, signal.SIGTERM)


def _asked_to_stop(study, how):
    session = study.start()
    if study.moment(session, after=1):
        session.send(how)
    return study.stopped(session, 130, "Go on with:\n  tabstretch")


@kind("one of two coordinators killed")
def kill_one_of_two(study):
    first, second = study.start(), study.start()
    has_struck = study.moment(first, second, after=1)
    if has_struck:
        first.send(signal.SIGKILL)
        has_struck = study.stopped(first, -signal.SIGKILL)
    study.goes_on(second)
    return has_struck


@kind("one of two coordinators frozen")
def freeze_one_of_two(study):
    first, second = study.start(), study.start()
    has_struck = study.moment(first, second, after=1)
    if has_struck:
        with _frozen(first):
            time.sleep(study.rng.uniform(0.5, 3.0))
    study.goes_on(first, second)
    return has_struck


@contextmanager
def _frozen(session):
    session.send(signal.SIGSTOP)
    try:
        yield
    finally:
        session.send(signal.SIGCONT)


# ---------------------------------------------------------------------------------------- workers


@kind("worker killed")
def kill_worker(study):
    return _kill_workers(study, lambda workers: [study.rng.choice(workers)])


@kind("all workers killed")
def kill_workers(study):
    return _kill_workers(study, lambda workers: workers)


def _kill_workers(study, choose):
    session = study.start(workers=2)
    has_struck = study.moment(session, after=1)
    workers = worker_processes(session) if has_struck else []
    if workers:
        for worker in choose(workers):
            worker.kill()
    study.goes_on(session)
    return bool(workers)


# ---------------------------------------------------------------------------------------- databases


@kind("server stopped and started", POSTGRES)
def restart_server(study):
    session = study.start()
    has_struck = study.moment(session, after=1)
    if has_struck:
        with study.server.away():
            time.sleep(study.rng.uniform(0.0, 3.0))
    study.goes_on(session)
    return has_struck


@kind("server away for too long", POSTGRES)
def lose_server(study):
    session = study.start("--patience", 0.5)
    if not study.moment(session, after=1):
        return study.stopped(session, 1)
    with study.server.away():
        session.end(END_SECONDS)
    return study.stopped(session, 1, "run the same command again when it answers")


@kind("server restarted while one of two is frozen", POSTGRES)
def restart_server_beside_frozen(study):
    first, second = study.start(), study.start()
    has_struck = study.moment(first, second, after=1)
    if has_struck:
        with _frozen(first):
            with study.server.away():
                time.sleep(study.rng.uniform(0.0, 1.0))
            time.sleep(study.rng.uniform(0.5, 3.0))
    study.goes_on(first, second)
    return has_struck


@kind("all connections cut", POSTGRES)
def cut_connections(study):
    session = study.start()
    has_struck = study.moment(session, after=1)
    if has_struck:
        study.server.cut_all()
    study.goes_on(session)
    return has_struck


@kind("database locked for a while", SQLITE)
def lock_database(study):
    session = study.start()
    has_struck = study.moment(session, after=1)
    if has_struck:
        with _locked(study.database):
            time.sleep(study.rng.uniform(0.2, 3.0))
    study.goes_on(session)
    return has_struck


@kind("database locked for too long", SQLITE)
def keep_database_locked(study):
    session = study.start("--patience", 0.3)
    if not study.moment(session, after=1):
        return study.stopped(session, 1)
    with _locked(study.database):
        session.end(END_SECONDS)
    return study.stopped(session, 1, "another program holds it; close that and run the same command again")


@contextmanager
def _locked(path):
    connection = sqlite3.connect(path, timeout=20, isolation_level=None)
    connection.execute("BEGIN EXCLUSIVE")
    try:
        yield
    finally:
        connection.rollback()
        connection.close()


# ---------------------------------------------------------------------------------------- disk and data


NO_ROOM = "tabstretch: .*(full; make room|No space left|File too large|disk I/O error)"


@kind("disk full", SQLITE)
def fill_disk(study):
    if not study.folder.parent.is_mount():
        return _limit_files(study)
    begins_full = study.rng.random() < 0.3
    filler = study.folder / "filler"
    if begins_full:
        _fill(filler)
    try:
        session = study.start()
        if not begins_full and study.moment(session, after=1):
            _fill(filler)
        session.end(END_SECONDS)
    finally:
        filler.unlink(missing_ok=True)
    return study.stopped(session, 1, NO_ROOM)


def _limit_files(study):
    """Without a small disk of our own: files of the session can grow only so far."""
    size = study.database.stat().st_size if study.database.exists() else 0
    session = study.start("--file-size", size + study.rng.randint(10_000, 60_000))
    return study.stopped(session, 1, NO_ROOM)


def _fill(path):
    with path.open("wb", buffering=0) as file:
        for size in (1 << 16, 1 << 12, 1):
            try:
                while True:
                    file.write(bytes(size))
            except OSError:
                pass


@kind("data file changed between runs")
def change_data(study):
    before = study.data.read_text()
    place = study.rng.randrange(before.index("\n") + 1, len(before))
    while not before[place].isdigit():
        place -= 1
    other = str((int(before[place]) + study.rng.randint(1, 9)) % 10)
    if not study.knows_data():  # nothing is recorded yet that it could differ from
        study.goes_on(study.start())
    study.data.write_text(before[:place] + other + before[place + 1 :])
    try:
        session = study.start()
        code = session.end(END_SECONDS)
    finally:
        study.data.write_text(before)
    if code == 0:
        raise BrokenPromiseError("a changed data file was accepted")
    return study.stopped(session, 1, "the data changed since")


# ---------------------------------------------------------------------------------------- clocks


@kind("clock jumps forwards")
def clock_forwards(study):
    return _clock_jumps(study, +1)


@kind("clock jumps backwards")
def clock_backwards(study):
    return _clock_jumps(study, -1)


def _clock_jumps(study, direction):
    seconds = direction * study.rng.choice([90, 4000, 100_000, 40_000_000])
    clock = study.notes / "clock"
    clock.write_text("0")
    session = study.start(clock=clock) if wrong_clock() else study.start("--clock", clock)
    has_struck = study.moment(session, after=1)
    if has_struck:
        new = clock.with_suffix(".new")
        new.write_text(str(seconds))
        new.replace(clock)
    study.goes_on(session)
    return has_struck
