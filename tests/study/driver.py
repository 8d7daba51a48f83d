"""`tabstretch` with a small search space and, if asked to, a log, less patience, or a `kill -9` of itself.

    python driver.py [OPTIONS] ARGUMENTS

--die WHERE WHEN COUNT   die "before" or "after" the COUNT-th call of WHERE
--strike WHERE SIGNALS   send itself signals, as "SIGINT,SIGTERM", when WHERE is called first
--log FILE               write down each training that begins or ends, and each trial and run that is stored
--pause SECONDS          lengthen each training
--patience SECONDS       how long a database may be locked or away
--file-size BYTES        how large a file may grow
--clock FILE             read how many seconds the clock is wrong from a file, at each look at it
"""

import argparse
import json
import os
import signal
import sys
import threading
import time
from contextlib import contextmanager
from functools import partial, wraps
from pathlib import Path

import distributed
import optuna

from tabstretch.cli import main
from tabstretch.study import runner, workers, workspace
from tabstretch.study.jobs import run_job
from tabstretch.study.models import mlp
from tabstretch.study.storage import StudyStorage, database

PLACES = {
    "job": (workers, "run_job"),
    "trial": (optuna.Study, "add_trial"),
    "runs": (StudyStorage, "add_runs"),
    "claim": (StudyStorage, "claim"),
    "release": (StudyStorage, "release"),
    "dataset": (StudyStorage, "add_dataset"),
}

MOMENTS = {
    "data sets load": (runner, "load_dataset"),
    "workers start": (workers.LocalWorkers, "_start"),
    "a job is sent": (workers.LocalWorkers, "submit"),
    "workers work": (workers.LocalWorkers, "finished"),
    "a transformation is fitted": (workspace, "fit_transformation"),
    "runs are stored": (StudyStorage, "add_runs"),
    "workers are stopped": (workers.LocalWorkers, "__exit__"),
    "the storage is closed": (StudyStorage, "close"),
}


def suggest(trial):
    width = trial.suggest_int("width", 4, 16)
    lr = trial.suggest_float("lr", 1e-3, 1e-1, log=True)
    return {"d_layers": [width], "dropout": 0.1, "lr": lr, "weight_decay": 0.0}


def die(where, when, count):
    holder, name = PLACES[where]
    original = getattr(holder, name)
    left = [count]

    def call(*args, **kwargs):
        left[0] -= 1
        if left[0] == 0 and when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        result = original(*args, **kwargs)
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    setattr(holder, name, call)


def strike(where, signals):
    """Send signals at a moment: the first while it lasts, the others while that is dealt with."""
    holder, name = MOMENTS[where]
    original = getattr(holder, name)
    once = threading.Semaphore(1)

    @wraps(original)
    def call(*args, **kwargs):
        if once.acquire(blocking=False):
            threading.Thread(target=send, args=(signals,)).start()
        return original(*args, **kwargs)

    setattr(holder, name, call)


def send(signals):
    for name in signals.split(","):
        os.kill(os.getpid(), signal.Signals[name])
        time.sleep(0.01)


class Log:
    """Lines of JSON that several processes append: their order is that of the events."""

    def __init__(self, path, pause):
        self.path = path
        self.pause = pause

    def write(self, event, keys):
        line = json.dumps({"event": event, "keys": keys}) + "\n"
        file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(file, line.encode())  # one write: it is in the file whole, whoever is killed
        os.close(file)

    @contextmanager
    def training(self, job):
        dataset = Path(job.dataset.source.partition(":")[2].partition("?")[0]).stem
        cell = f"{dataset}/{job.model}/{job.transformation}"
        if job.part == "test":
            keys = [run_key(cell, seed) for seed in job.seeds]
        else:
            keys = [trial_key(cell, json.dumps(dict(job.params)))]
        self.write("begin", keys)
        time.sleep(self.pause)
        yield
        self.write("end", keys)


def run_key(cell, seed):
    return f"{cell} seed {seed}"


def trial_key(cell, configuration):
    return f"{cell} trial {configuration}"


def run_here(log, job):
    with log.training(job):
        return run_job(job)


def run_on_worker(log, job):
    return run_here(log, job), distributed.get_worker().address


def log_everything(log):
    workers.run_job = partial(run_here, log)
    workers._run_on_worker = partial(run_on_worker, log)
    add_runs, add_trial = StudyStorage.add_runs, optuna.Study.add_trial

    @wraps(add_runs)
    def logged_runs(store, cell, records):
        is_stored = add_runs(store, cell, records)
        if is_stored:
            log.write("stored", [run_key(str(cell), record.seed) for record in records])
        return is_stored

    @wraps(add_trial)
    def logged_trial(study, trial):
        add_trial(study, trial)
        if "/" in study.study_name:  # else it is the search in memory
            cell = study.study_name.partition("/")[2]
            log.write("stored", [trial_key(cell, trial.user_attrs["configuration"])])

    StudyStorage.add_runs = logged_runs
    optuna.Study.add_trial = logged_trial


def read_clock_from(path):
    right_time = time.time
    time.time = lambda: right_time() + float(path.read_text())


def drive(arguments):
    parser = argparse.ArgumentParser()
    parser.add_argument("--die", nargs=3)
    parser.add_argument("--strike", nargs=2)
    parser.add_argument("--log")
    parser.add_argument("--pause", type=float, default=0.0)
    parser.add_argument("--patience", type=float)
    parser.add_argument("--file-size", type=int)
    parser.add_argument("--clock", type=Path)
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    chosen = parser.parse_args(arguments)
    mlp.suggest = suggest
    if chosen.log:
        log_everything(Log(chosen.log, chosen.pause))
    if chosen.die:
        die(chosen.die[0], chosen.die[1], int(chosen.die[2]))
    if chosen.strike and chosen.strike[0] in MOMENTS:
        strike(*chosen.strike)
    if chosen.patience is not None:
        database.LOCK_SECONDS = database.AWAY_SECONDS = chosen.patience
    if chosen.file_size is not None:
        import resource  # not on Windows

        resource.setrlimit(resource.RLIMIT_FSIZE, (chosen.file_size, chosen.file_size))
    if chosen.clock:
        read_clock_from(chosen.clock)
    sys.argv = ["tabstretch", *chosen.arguments]
    code = main()
    if chosen.strike and chosen.strike[0] == "the end":
        send(chosen.strike[1])
        time.sleep(1.0)
    return code


if __name__ == "__main__":
    sys.exit(drive(sys.argv[1:]))
