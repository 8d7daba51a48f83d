"""`realmlp`: RealMLP-TD of pytabkit, trained by that library's own loop and schedules."""

from __future__ import annotations

import logging
import math
import os
import pickle
import signal
import threading
import warnings
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from optuna.trial import BaseTrial
from torch import Tensor

from tabstretch.study.inputs import Inputs
from tabstretch.study.metrics import objective
from tabstretch.study.training import Budget, Fitted, Network, Streams

# pytabkit can train several seeds as one stack, but they share one stream of batches and dropout, so that a
# seed would depend on its neighbours, and 15 of them took 10 times as long as one (4000 × 20 rows, one core).
STACKS = False

DEFAULTS: dict[str, Any] = {}
"""The library's own, which differ between classification and regression."""

BATCH_SIZE = 256
"""At most, whatever the budget says."""


def suggest(trial: BaseTrial) -> dict[str, Any]:
    """Draw from the paper's search space."""
    return {
        "num_emb_type": trial.suggest_categorical("num_emb_type", ["none", "pbld", "pl", "plr"]),
        "add_front_scale": trial.suggest_categorical("add_front_scale", [True, False]),
        # Optuna stores choices as text or numbers, not as lists.
        "hidden_sizes": trial.suggest_categorical("hidden_sizes", ["256-256-256", "64-64-64-64-64", "512"]),
        "p_drop": trial.suggest_categorical("p_drop", [0.0, 0.15, 0.30]),
        "act": trial.suggest_categorical("act", ["selu", "relu", "mish"]),
        "lr": trial.suggest_float("lr", 0.02, 0.3, log=True),
        "wd": trial.suggest_categorical("wd", [0.0, 0.02]),
        "ls_eps": trial.suggest_categorical("ls_eps", [0.0, 0.1]),
        "plr_sigma": trial.suggest_float("plr_sigma", 0.05, 0.5, log=True),
    }


class RealMLP(Network):
    """A fitted estimator of pytabkit as a stack of one seed."""

    def __init__(self, estimator: Any) -> None:
        super().__init__()
        self.estimator = estimator

    def forward(self, numeric: Tensor, categorical: Tensor, streams: Streams | None = None) -> Tensor:
        """Return logits, or the standardised target, as (1, rows, outputs)."""
        with _undisturbed():
            outputs: Tensor = self.estimator._predict_raw(_rows(numeric[0].numpy(), categorical[0].numpy()))
        return outputs

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (pickle.dumps(self.estimator),)


def _unpickled(estimator: bytes) -> RealMLP:
    with _undisturbed():  # it imports the library
        return RealMLP(pickle.loads(estimator))


def fit(
    inputs: Inputs, params: Mapping[str, Any], seeds: Sequence[int], budget: Budget
) -> list[Fitted | Exception]:
    """Train a network for each seed, one after the other.

    NOTE[DIFF]: a batch has at most 256 rows, and an incomplete last one is left out. Training stops after
    twice the best epoch and `budget.patience` epochs more, the library's rule: its learning rate rises again
    several times, and with it the error, before the next better epoch. TALENT trains for all epochs. The best
    epoch, the last of equal ones, is that of the study's objective; TALENT's is that of RMSE for regression.
    """
    results: list[Fitted | Exception] = []
    for seed in seeds:
        try:
            results.append(_fit_one(inputs, params, seed, budget))
        except Exception as error:
            results.append(error)
    return results


def _fit_one(inputs: Inputs, params: Mapping[str, Any], seed: int, budget: Budget) -> Fitted:
    with _undisturbed():
        # Takes as long to import as all the rest together, and only those who train this network need it.
        from pytabkit import RealMLP_TD_Classifier, RealMLP_TD_Regressor

    options = {**params, "hidden_sizes": _hidden_sizes(params)}
    metric = "mae" if inputs.is_regression else "class_error"
    estimator = (RealMLP_TD_Regressor if inputs.is_regression else RealMLP_TD_Classifier)(
        **options,
        # Without its robust scaling and smooth clipping: the study has transformed the columns already.
        tfms=["one_hot", "embedding"],
        batch_size=min(BATCH_SIZE, budget.batch_size),
        predict_batch_size=budget.batch_size,
        n_epochs=budget.max_epochs,
        use_early_stopping=True,
        early_stopping_additive_patience=budget.patience,
        val_metric_name=metric,
        device="cpu",
        n_threads=torch.get_num_threads(),
        random_state=int(seed),
    )
    train, val = (_rows(inputs.numeric[part], inputs.categorical[part]) for part in ("train", "val"))
    with _undisturbed():
        estimator.fit(
            train,
            inputs.y["train"],
            X_val=_with_known_codes(val, train, inputs.width),
            y_val=inputs.y["val"],
            cat_indicator=[column >= inputs.width for column in range(train.shape[1])],
        )
    fitted = Fitted(
        network=RealMLP(estimator),
        task=inputs.task,
        target_mean=inputs.target_mean,
        target_scale=inputs.target_scale,
        codes=None,
        batch_size=2**31,  # the library cuts rows into batches itself
        epochs=estimator.alg_interface_.model.progress.epoch,
        best_epoch=estimator.fit_params_["best_indiv_stop_epochs"][metric][0],
        val_score=math.nan,
    )
    return replace(fitted, val_score=_val_score(fitted, inputs))


def _hidden_sizes(params: Mapping[str, Any]) -> list[int]:
    return [int(width) for width in params.get("hidden_sizes", "256-256-256").split("-")]


def _val_score(fitted: Fitted, inputs: Inputs) -> float:
    """Return the objective on the validation part.

    It is an error if predictions are no numbers, which the library scores as if they were zero: an epoch
    that diverged can be its best.
    """
    predictions = fitted.predict(inputs.numeric["val"], inputs.categorical["val"])
    y = inputs.y["val"].astype(np.float64) * inputs.target_scale + inputs.target_mean
    return objective(inputs.task, y if inputs.is_regression else inputs.y["val"], predictions)


def memory(inputs_width: int, batch: int, params: Mapping[str, Any]) -> float:
    """Return how many bytes the activations of a training step take, roughly.

    A numeric input is embedded with 16 frequencies, which makes about 40 numbers to keep of it. Predicting
    keeps none, but needs two numbers of each frequency at a time for a whole batch of the budget.
    """
    embeds = params.get("num_emb_type", "pbld") != "none"
    kept = (40 if embeds else 2) * inputs_width + 5 * sum(_hidden_sizes(params))
    passing = (32 if embeds else 2) * inputs_width
    return 4.0 * max(min(batch, BATCH_SIZE) * kept, batch * passing)


def _rows(numeric: NDArray[np.float32], categorical: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return numeric columns, then codes."""
    return np.hstack([numeric, categorical.astype(np.float32)])


def _with_known_codes(
    rows: NDArray[np.float32], train: NDArray[np.float32], width: int
) -> NDArray[np.float32]:
    """Return rows with NaN, which the library takes for an unknown category, for codes that `train` lacks.

    The library looks for categories in the validation part too, and would make an input of such a code
    that is never trained.
    """
    rows = rows.copy()
    for column in range(width, rows.shape[1]):
        rows[~np.isin(rows[:, column], train[:, column]), column] = np.nan
    return rows


# What the library says of its own code, and Lightning, with which it trains.
_THEIR_WARNINGS = (
    "`torch.jit.script` is deprecated",
    r"`isinstance\(treespec, LeafSpec\)` is deprecated",
    "The given NumPy array is not writable",  # a column of pandas 3, which it only reads
)


@contextmanager
def _undisturbed() -> Generator[None]:
    """Let the library run without a trace.

    It seeds torch's global generator and sets the number of threads. Lightning logs which hardware it found,
    turns signals to end into `sys.exit` and switches Ctrl-C off, and would join the tasks of a Slurm job.
    """
    loggers = [logging.getLogger(name) for name in ("pytorch_lightning", "lightning_fabric")]
    levels = [logger.level for logger in loggers]
    threads, on_interrupt = torch.get_num_threads(), signal.getsignal(signal.SIGINT)
    with torch.random.fork_rng(devices=[]), warnings.catch_warnings(), _interactive_slurm_job():
        for message in _THEIR_WARNINGS:
            warnings.filterwarnings("ignore", message=message)
        for logger in loggers:
            logger.setLevel(logging.ERROR)
        try:
            yield
        except SystemExit as stop:
            if isinstance(stop.__context__, KeyboardInterrupt):
                raise KeyboardInterrupt from None
            if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
                signal.raise_signal(signal.SIGTERM)  # else the process would seem to have ended well
            raise
        finally:
            if threading.current_thread() is threading.main_thread():  # the only one that signals reach
                signal.signal(signal.SIGINT, on_interrupt)
            for logger, level in zip(loggers, levels, strict=True):
                logger.setLevel(level)
            torch.set_num_threads(threads)


@contextmanager
def _interactive_slurm_job() -> Generator[None]:
    """Let Lightning think that nobody but us divides the tasks of a Slurm job."""
    before = os.environ.get("SLURM_JOB_NAME")
    os.environ["SLURM_JOB_NAME"] = "interactive"
    try:
        yield
    finally:
        if before is None:
            del os.environ["SLURM_JOB_NAME"]
        else:
            os.environ["SLURM_JOB_NAME"] = before
