"""Synthetic results of a study, in the columns of the tidy table."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from tabstretch.study.metrics import METRICS
from tabstretch.study.names import MODELS, TRANSFORMATIONS
from tabstretch.study.paper import paper_table

NAN = float("nan")


def row(
    dataset: str,
    transformation: str,
    seed: int = 0,
    *,
    model: str = "mlp",
    task: str = "binclass",
    status: str = "ok",
    **more: Any,
) -> dict[str, Any]:
    """One run; metrics that are not given are NaN."""
    return {
        "dataset": dataset,
        "model": model,
        "transformation": transformation,
        "seed": seed,
        "status": status,
        "error": "" if status == "ok" else "ValueError: it diverged",
        "note": "",
        "task": task,
        **dict.fromkeys(METRICS, NAN),
        "n_numeric": 8,
        "n_categorical": 0,
        **more,
    }


def panel(
    dataset: str = "d",
    *,
    metric: str = "accuracy",
    model: str = "mlp",
    **transformations: Sequence[float | None],
) -> list[dict[str, Any]]:
    """The runs of one panel: for each transformation the values of its seeds, None for one that failed."""
    task = "regression" if metric in ("r2", "mae", "rmse") else "binclass"
    return [
        row(dataset, name, seed, model=model, task=task, status="failed")
        if value is None
        else row(dataset, name, seed, model=model, task=task, **{metric: value})
        for name, values in transformations.items()
        for seed, value in enumerate(values)
    ]


def frame(*panels: Iterable[dict[str, Any]], **changed: Any) -> pd.DataFrame:
    """The runs of several panels as one table, with columns set to the same value in every row."""
    return pd.DataFrame([run for runs in panels for run in runs]).assign(**changed)


def full_study(
    *,
    transformations: Sequence[str] = TRANSFORMATIONS,
    seeds: int = 15,
    noise: float | None = None,
    datasets: Sequence[str] | None = None,
    random_state: int = 0,
) -> pd.DataFrame:
    """A study of the paper's size: its data sets and models, differences and noise like those it prints."""
    rng = np.random.default_rng(random_state)
    facts = paper_table("datasets")
    if datasets is not None:
        facts = facts[facts["dataset"].isin(datasets)]
    keys = pd.MultiIndex.from_product(
        [facts["dataset"], MODELS, transformations, range(seeds)],
        names=["dataset", "model", "transformation", "seed"],
    )
    table = keys.to_frame(index=False).merge(
        facts[["dataset", "task", "n_numeric", "n_categorical", "n_rows"]], on="dataset"
    )
    level = dict(zip(facts["dataset"], rng.beta(6, 2, len(facts)), strict=True))
    spread = dict(zip(facts["dataset"], rng.gamma(1.5, 0.015, len(facts)), strict=True))
    strength = dict(zip(transformations, np.linspace(0.5, -0.5, len(transformations)), strict=True))
    cells = table[["dataset", "model", "transformation"]].drop_duplicates()
    cells["effect"] = cells["transformation"].map(strength) + rng.normal(0, 1, len(cells))
    table = table.merge(cells, on=["dataset", "model", "transformation"])
    if noise is not None:
        table["noise"] = noise
        table["effect"] *= 1 + noise
    size = table["dataset"].map(spread)
    seeds_noise = size * rng.normal(0, 0.5, len(table))
    value = (table["dataset"].map(level) + size * table["effect"] + seeds_noise - (noise or 0) / 4).clip(
        upper=0.999
    )
    regression = table["task"] == "regression"
    for metric in ("accuracy", "avg_recall", "f1", "auc"):
        table[metric] = value.clip(lower=0.01).where(~regression) ** {"f1": 1.3, "auc": 0.7}.get(metric, 1.0)
    table["r2"] = value.where(regression)
    table["rmse"] = (10 * np.sqrt(1 - value.clip(lower=0))).where(regression)
    table["mae"] = 0.7 * table["rmse"]
    return table.assign(status="ok", error="", note="").drop(columns="effect")
