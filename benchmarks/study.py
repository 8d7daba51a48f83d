"""What the machinery of a study costs over bare training: runs per minute, and overhead as a ratio.

    python benchmarks/study.py [studies/quick.toml] [--workers N]

The bare loop does what a script would: fit each transformation once, train every network with all its seeds,
score it. It and the study in one process do the same work on the same core, one after the other; then the
study runs in worker processes. The overhead is one of processor time, which other programs hardly change.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import torch
from threadpoolctl import threadpool_limits

from tabstretch.study import read_plan, run_study
from tabstretch.study.datasets import load_dataset
from tabstretch.study.inputs import inputs_of
from tabstretch.study.metrics import evaluate
from tabstretch.study.models import MODELS
from tabstretch.study.plan import StudyPlan
from tabstretch.study.training import Budget
from tabstretch.study.transformations import default_params, fit_transformation


def bare_loop(plan: StudyPlan) -> None:
    """Train everything, keep nothing."""
    budget = Budget(plan.epochs, plan.patience, plan.batch_size)
    for source in plan.datasets:
        dataset = load_dataset(source, plan.folder)
        for transformation in plan.transformations:
            fitted = fit_transformation(transformation, dataset, **default_params(transformation))
            inputs = inputs_of(dataset, fitted.transform)
            for model in map(MODELS.__getitem__, plan.models):
                for network in model.fit(inputs, model.DEFAULTS, range(plan.seeds), budget):
                    predictions = network.predict(inputs.numeric["test"], inputs.categorical["test"])
                    evaluate(dataset.task, dataset.y["test"], predictions)


def study(plan: StudyPlan, workers: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        run_study(plan, storage=str(Path(folder) / "study.db"), workers=workers, progress=False)


def seconds_of(action, *arguments) -> tuple[float, float]:
    """Return the time that passed, and what this process had of the processor."""
    begin = time.perf_counter(), time.process_time()
    action(*arguments)
    return time.perf_counter() - begin[0], time.process_time() - begin[1]


def best(repeats: int, action, *arguments) -> tuple[float, float]:
    elapsed, worked = zip(*(seconds_of(action, *arguments) for _ in range(repeats)), strict=True)
    return min(elapsed), min(worked)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("plan", type=Path, nargs="?", default=Path("studies/quick.toml"))
    parser.add_argument("--workers", type=int, default=os.cpu_count(), help="default: one for each core")
    parser.add_argument("--repeats", type=int, default=1, help="take the best of so many (default 1)")
    arguments = parser.parse_args()
    plan = read_plan(arguments.plan)
    if plan.trials:
        parser.error("the bare loop does not tune: choose a plan with trials = 0")
    torch.set_num_threads(1)
    with threadpool_limits(1):
        study(replace(plan, epochs=1), 0)  # once for the compiler and the caches
        bare, bare_work = best(arguments.repeats, bare_loop, plan)
        inside, inside_work = best(arguments.repeats, study, plan, 0)
    outside, _ = best(arguments.repeats, study, plan, arguments.workers)
    n_runs = len(plan.datasets) * len(plan.transformations) * len(plan.models) * plan.seeds
    print(f"{plan.name}: {n_runs} runs")
    print(f"bare loop, one core:            {60 * n_runs / bare:8.0f} runs per minute")
    print(f"study, in the same process:     {60 * n_runs / inside:8.0f} runs per minute")
    print(f"study, {arguments.workers} worker processes:      {60 * n_runs / outside:8.0f} runs per minute")
    print(f"overhead over the bare loop:    {inside_work / bare_work - 1:8.1%}  (bar 10 %)")
    print(f"gain of {arguments.workers} workers over one bare: {bare / outside:8.2f}  (start included)")


if __name__ == "__main__":
    main()
