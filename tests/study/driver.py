"""`tabstretch` with a small search space, and, if asked to, a `kill -9` of itself at one exact moment.

python driver.py [--die WHERE WHEN COUNT] ARGUMENTS: WHEN is "before" or "after" the COUNT-th call of WHERE.
"""

import os
import signal
import sys

import optuna

from tabstretch.cli import main
from tabstretch.study import workers
from tabstretch.study.models import mlp
from tabstretch.study.storage import StudyStorage

PLACES = {
    "job": (workers, "run_job"),
    "trial": (optuna.Study, "add_trial"),
    "runs": (StudyStorage, "add_runs"),
    "claim": (StudyStorage, "claim"),
    "release": (StudyStorage, "release"),
    "dataset": (StudyStorage, "add_dataset"),
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


if __name__ == "__main__":
    arguments = sys.argv[1:]
    mlp.suggest = suggest
    if arguments[0] == "--die":
        die(arguments[1], arguments[2], int(arguments[3]))
        arguments = arguments[4:]
    sys.argv = ["tabstretch", *arguments]
    sys.exit(main(arguments))
