"""What workers do: train one configuration with some seeds. A failure is an outcome, not an exception."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import torch
from threadpoolctl import threadpool_limits

from tabstretch.study.errors import StudyError
from tabstretch.study.measures import measured
from tabstretch.study.metrics import evaluate
from tabstretch.study.models import MODELS
from tabstretch.study.training import Budget, Fitted
from tabstretch.study.workspace import DatasetRef, Prepared, prepared_inputs


@dataclass(frozen=True)
class Job:
    """Train one configuration with some seeds, and score it on one part."""

    dataset: DatasetRef
    transformation: str
    model: str
    params: Mapping[str, Any]
    """Those of the network, and `n_bins` of the transformation if it has any."""
    seeds: tuple[int, ...]
    part: Literal["val", "test"]
    """Trials never see the test part."""
    budget: Budget
    memory_limit: float
    threads: int = 1


@dataclass(frozen=True)
class Outcome:
    """What became of one seed."""

    seed: int
    error: str | None = None
    note: str | None = None
    metrics: dict[str, float] = field(default_factory=dict)
    measures: dict[str, float] = field(default_factory=dict)


# Some networks draw from torch's global generator: two jobs in threads would disturb each other.
_one_at_a_time = threading.Lock()


def run_job(job: Job) -> list[Outcome]:
    """Return one outcome for each seed.

    Raises
    ------
    StudyError
        For data that cannot be read or is not what the study was started with: then no other run of the
        data set can succeed either. Whatever else goes wrong is an outcome.
    """
    with _one_at_a_time, threadpool_limits(job.threads):
        # A fixed number of threads: sums are taken in the same order, and cores are not shared by too many.
        torch.set_num_threads(job.threads)
        try:
            prepared = _prepare(job)
        except StudyError:
            raise
        except Exception as error:
            return [Outcome(seed, error=described(error)) for seed in job.seeds]
        return _train(job, prepared)


def _prepare(job: Job) -> Prepared:
    model, params = MODELS[job.model], _network_params(job)

    def memory(width: int, n_rows: int) -> float:
        return model.memory(width, min(job.budget.batch_size, n_rows), params)

    return prepared_inputs(
        job.dataset, job.transformation, job.params.get("n_bins"), job.memory_limit, memory
    )


def _network_params(job: Job) -> dict[str, Any]:
    return {name: value for name, value in job.params.items() if name != "n_bins"}


def _train(job: Job, prepared: Prepared) -> list[Outcome]:
    fitted: list[Fitted | Exception]
    with measured() as measures:
        try:
            fitted = MODELS[job.model].fit(prepared.inputs, _network_params(job), job.seeds, job.budget)
        except Exception as error:
            fitted = [error for _ in job.seeds]
    shared = {
        "seconds": measures.seconds / len(job.seeds),
        "fit_seconds": prepared.fit_seconds,
        "peak_memory_mb": measures.peak_memory_mb,
        "seeds_together": len(job.seeds),
    }
    return [
        _outcome(seed, network, prepared, job.part, shared)
        for seed, network in zip(job.seeds, fitted, strict=True)
    ]


def _outcome(
    seed: int, network: Fitted | Exception, prepared: Prepared, part: str, shared: dict[str, float]
) -> Outcome:
    if isinstance(network, Exception):
        return Outcome(seed, described(network), prepared.note, measures=shared)
    try:
        predictions = network.predict(prepared.inputs.numeric[part], prepared.inputs.categorical[part])
        metrics = evaluate(prepared.inputs.task, prepared.targets[part], predictions)
    except Exception as error:
        return Outcome(seed, described(error), prepared.note, measures=shared)
    own = {"val_score": network.val_score, "epochs": network.epochs, "best_epoch": network.best_epoch}
    return Outcome(seed, None, prepared.note, metrics, {**shared, **own})


def described(error: BaseException) -> str:
    """Return an error in one line that every database takes: PostgreSQL has no NUL, UTF-8 no surrogates."""
    text = "".join(
        char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in " ".join(str(error).split())
    )
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
