"""The search of a cell: Optuna proposes, workers try, and only finished trials are stored."""

from __future__ import annotations

import hashlib
import json
import math
from contextlib import suppress
from typing import Any

import optuna
from optuna.trial import FrozenTrial, TrialState

from tabstretch.study.datasets.dataset import Task
from tabstretch.study.jobs import Outcome
from tabstretch.study.metrics import direction
from tabstretch.study.models import MODELS
from tabstretch.study.plan import CellKey, StudyPlan
from tabstretch.study.storage import StudyStorage
from tabstretch.study.transformations import default_params
from tabstretch.study.transformations import suggest as suggest_transformation

_INDEX, _PARAMS, _ERROR = "index", "configuration", "error"


def default_configuration(cell: CellKey) -> dict[str, Any]:
    """Return what a cell is evaluated with if nothing is tuned."""
    return {**MODELS[cell.model].DEFAULTS, **default_params(cell.transformation)}


def study_name(plan: StudyPlan, cell: CellKey) -> str:
    """Return the name of a cell's search among Optuna's studies.

    It fits Optuna's column: a long one ends in a hash of all of it.
    """
    name = f"{plan.name}/{cell}"
    if len(name) <= 400:
        return name
    return f"{name[:300]}… {hashlib.sha256(name.encode()).hexdigest()[:16]}"


class Search:
    """Tree-structured Parzen estimation over one cell's space.

    Trial n is drawn with seed n from the trials before it, in memory. So a search that was interrupted goes
    on as if it had not been: what was not finished left nothing behind.
    """

    def __init__(self, cell: CellKey, task: Task, name: str, storage: StudyStorage) -> None:
        self._cell = cell
        self._task = task
        self._storage = storage
        self._stored = storage.patiently(
            lambda: optuna.create_study(
                storage=storage.trials,
                study_name=name,
                direction=direction(task),
                load_if_exists=True,
            )
        )
        self._study = optuna.create_study(direction=direction(task))
        self._study.add_trials(storage.patiently(lambda: _history(self._stored)))
        self._asked: optuna.Trial | None = None

    @property
    def n_finished(self) -> int:
        """How many trials are stored."""
        return len(self._study.trials) - (self._asked is not None)

    @property
    def n_failed(self) -> int:
        """How many of them failed."""
        return sum(_ERROR in trial.user_attrs for trial in self._study.trials)

    def ask(self) -> dict[str, Any]:
        """Return the next configuration to try."""
        # NOTE[DIFF]: TALENT seeds the sampler once; a seed for each trial is what makes searches resumable.
        self._study.sampler = optuna.samplers.TPESampler(
            seed=self.n_finished, multivariate=False, constant_liar=False
        )
        self._asked = self._study.ask()
        # The network first: its random trials are then the same under every transformation.
        params = MODELS[self._cell.model].suggest(self._asked)
        params |= suggest_transformation(self._cell.transformation, self._asked)
        self._asked.set_user_attr(_PARAMS, json.dumps(params))
        return dict(params)

    def tell(self, outcome: Outcome) -> None:
        """Finish the trial that was asked for, and store it."""
        assert self._asked is not None, "no trial was asked for"
        trial, self._asked = self._asked, None
        trial.set_user_attr(_INDEX, trial.number)
        for name, value in (("note", outcome.note), (_ERROR, outcome.error)):
            if value is not None:
                trial.set_user_attr(name, value)
        for name, number in {**outcome.metrics, **outcome.measures}.items():
            if math.isfinite(number):  # NaN is no JSON
                trial.set_user_attr(name, number)
        finished = self._study.tell(trial, self._value(outcome))
        self._storage.patiently(lambda: self._stored.add_trial(finished))

    def _value(self, outcome: Outcome) -> float:
        """Return the objective; a failed trial has the worst there is."""
        if outcome.error is not None:
            return math.inf if self._task == "regression" else 0.0
        return outcome.metrics["mae" if self._task == "regression" else "accuracy"]

    def best(self) -> dict[str, Any] | None:
        """Return the best configuration, or None if every trial failed."""
        trials = [trial for trial in self._study.trials if _ERROR not in trial.user_attrs]
        if not trials:
            return None
        # The first of those that are equally good; a failed one may be, where nothing is predicted right.
        best = min if self._task == "regression" else max
        return dict(json.loads(best(trials, key=lambda trial: trial.values[0]).user_attrs[_PARAMS]))

    def last_error(self) -> str:
        """Return the error of the last trial that failed."""
        errors = [trial.user_attrs[_ERROR] for trial in self._study.trials if _ERROR in trial.user_attrs]
        return str(errors[-1])


def forget_search(plan: StudyPlan, cell: CellKey, storage: StudyStorage) -> None:
    """Remove the trials of a cell, so that it is searched anew."""
    with suppress(KeyError):  # it is gone
        storage.patiently(
            lambda: optuna.delete_study(study_name=study_name(plan, cell), storage=storage.trials)
        )


def _history(study: optuna.Study) -> list[FrozenTrial]:
    """Return the finished trials in order.

    A write whose answer was lost may have been repeated, so the first of each index counts.
    """
    first: dict[int, FrozenTrial] = {}
    for trial in study.get_trials(states=(TrialState.COMPLETE,)):
        first.setdefault(trial.user_attrs.get(_INDEX, trial.number), trial)
    return [first[index] for index in sorted(first)]
