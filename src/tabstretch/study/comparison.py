"""`compare`: one table, one or more networks: which transformation is best, by how much, and its pipeline."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from tabstretch.study.datasets import load_dataset
from tabstretch.study.errors import StudyError
from tabstretch.study.inputs import inputs_of
from tabstretch.study.metrics import direction, main_metric
from tabstretch.study.models import MODELS
from tabstretch.study.names import TRANSFORMATIONS
from tabstretch.study.pipeline import TabularPipeline, assemble
from tabstretch.study.plan import StudyPlan
from tabstretch.study.results import write_table
from tabstretch.study.runner import run_study
from tabstretch.study.training import Budget
from tabstretch.study.transformations import fit_transformation

if TYPE_CHECKING:
    import pandas as pd

_ERRORS_APART = 2.0
"""Standard errors by which two means must differ to differ beyond seed noise."""


@dataclass(frozen=True, eq=False)
class Comparison:
    """What `compare` found."""

    table: pd.DataFrame
    """One row per network and transformation, the best on the validation part first."""
    results: pd.DataFrame
    """One row per run."""
    metric: str
    pipeline: TabularPipeline
    pipeline_path: Path


def compare(
    path: Path | str,
    target: str,
    *,
    folder: Path | str | None = None,
    models: Sequence[str] = ("mlp",),
    transformations: Sequence[str] = TRANSFORMATIONS,
    trials: int = 0,
    seeds: int = 5,
    task: str | None = None,
    numeric: Sequence[str] = (),
    categorical: Sequence[str] = (),
    drop: Sequence[str] = (),
    workers: int | None = None,
    progress: bool = True,
) -> Comparison:
    """Compare transformations on the user's own table, and save the pipeline of the winner.

    The winner is chosen on the validation part; the test part only says how good it is.

    Parameters
    ----------
    path : Path or str
        A CSV or Parquet file.
    target : str
        The column to be learned.
    folder : Path or str, default=None
        Where the study and the pipeline go, by default `NAME-compare` beside the file. The same call again
        uses what is there.
    models, transformations, trials, seeds
        As in a plan.
    task : {"regression", "classification"}, default=None
        By default what the target looks like.
    numeric, categorical, drop : sequence of str, default=()
        Columns that are not what they look like, or that are left out.
    workers : int, default=None
        Processes, by default one for each core; 0 works in this process.
    progress : bool, default=True
        Whether to show what happens.
    """
    path = Path(path)
    if path.is_dir():
        raise StudyError(f"{path} is a folder; name a CSV or Parquet file")
    source = _source(path, target, task, {"numeric": numeric, "categorical": categorical, "drop": drop})
    plan = StudyPlan(
        name="compare",
        datasets=(source,),
        models=tuple(models),
        transformations=tuple(transformations),
        trials=trials,
        seeds=seeds,
        folder=path.parent,
    )
    plan = StudyPlan.from_dict({**plan.to_dict(), "name": _name(plan, path)}, path.parent)
    folder = Path(folder) if folder is not None else path.with_name(f"{path.stem}-compare")
    try:
        load_dataset(source, path.parent)  # before a folder is made for it
    except (ValueError, OSError) as error:
        raise StudyError(str(error)) from error
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StudyError(f"the folder {folder} cannot be made: {error}") from error
    results = run_study(plan, storage=str(folder / "compare.db"), workers=workers, progress=progress)
    write_table(results, folder / "results.csv")
    if not (results["status"] == "ok").any():
        raise StudyError(
            f"every run failed, the first with {results['error'].iloc[0]}; see {folder}/results.csv"
        )
    metric = main_metric(str(results["task"].iloc[0]))
    table = comparison_table(results)
    pipeline = fit_winner(plan, results, table)
    pipeline.save(folder / "pipeline.joblib")
    return Comparison(table, results, metric, pipeline, folder / "pipeline.joblib")


def _source(path: Path, target: str, task: str | None, columns: dict[str, Sequence[str]]) -> str:
    options = [f"target={quote(target, safe='')}"]
    options += [f"task={task}"] if task else []
    for name, values in columns.items():
        if values:
            options.append(f"{name}={','.join(quote(value, safe='') for value in values)}")
    return f"file:{quote(path.name, safe='')}?{'&'.join(options)}"


def _name(plan: StudyPlan, path: Path) -> str:
    """Return a name that is another one for other options or other data: those are other studies."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise StudyError(f"{path} cannot be read: {error.strerror}") from error
    digest = hashlib.sha256(content)
    digest.update(json.dumps(plan.to_dict()).encode())
    return f"compare {digest.hexdigest()[:16]}"


def comparison_table(results: pd.DataFrame) -> pd.DataFrame:
    """Return one row per network and transformation, the best on the validation part first.

    `difference` is the mean test score minus the winner's, `error` the standard error of that by seeds, and
    `verdict` whether it is more than two of them.
    """
    metric = main_metric(str(results["task"].iloc[0]))
    runs = results[results["status"] == "ok"].groupby(["model", "transformation"], sort=False)
    scores = runs[metric]
    table = scores.agg(mean="mean", std="std", seeds="count").assign(validation=runs["val_score"].mean())
    best_first = direction(results["task"].iloc[0]) == "minimize"
    table = table.sort_values(["validation", "mean"], ascending=[best_first, False])
    variance = table["std"].fillna(0.0) ** 2 / table["seeds"]
    table["difference"] = table["mean"] - table["mean"].iloc[0]
    table["error"] = (variance + variance.iloc[0]) ** 0.5
    table["verdict"] = [
        _verdict(position, difference, error, int(min(seeds, table["seeds"].iloc[0])))
        for position, (difference, error, seeds) in enumerate(
            zip(table["difference"], table["error"], table["seeds"], strict=True)
        )
    ]
    return table.reset_index()


def _verdict(position: int, difference: float, error: float, seeds: int) -> str:
    if position == 0:
        return "chosen"
    if seeds < 2 or math.isnan(difference):
        return "unknown"
    if abs(difference) <= _ERRORS_APART * error:
        return "within noise"
    return "better" if difference > 0 else "worse"


def fit_winner(plan: StudyPlan, results: pd.DataFrame, table: pd.DataFrame) -> TabularPipeline:
    """Train the winner as its best run was trained, and put its pipeline together."""
    winner = table.iloc[0]
    runs = results[
        (results["model"] == winner["model"])
        & (results["transformation"] == winner["transformation"])
        & (results["status"] == "ok")
    ]
    best = runs.sort_values("val_score", ascending=direction(runs["task"].iloc[0]) == "minimize").iloc[0]
    params: dict[str, Any] = json.loads(best["params"])
    n_bins = params.pop("n_bins", None)
    model = MODELS[str(best["model"])]
    dataset = load_dataset(plan.datasets[0], plan.folder)
    budget = Budget(plan.epochs, plan.patience, plan.batch_size)
    batch = min(budget.batch_size, dataset.n_rows["train"])
    transformation = fit_transformation(
        str(best["transformation"]),
        dataset,
        n_bins=n_bins,
        memory_limit=plan.memory_limit_gb * 1e9,
        memory=lambda width: model.memory(width, batch, params),
    )
    inputs = inputs_of(dataset, transformation.transform)
    (network,) = model.fit(inputs, params, [int(best["seed"])], budget)
    if isinstance(network, Exception):
        raise StudyError(f"the winner could not be trained again: {network}") from network
    return assemble(dataset, transformation, network)
