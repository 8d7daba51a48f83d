"""Tidy results -> one row per cell: the mean over seeds, its spread, and what is missing or failed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from tabstretch.study.metrics import METRICS
from tabstretch.study.names import MODELS, TRANSFORMATIONS

PANEL = ["dataset", "model"]
ALL = "all"
"""Stands for all models in a column of models, and for all tasks in a column of tasks."""

LOWER_IS_BETTER = ("mae", "rmse")
_TASKS = {"regression": "regression", "binclass": "classification", "multiclass": "classification"}
_NEEDED = (*PANEL, "transformation", "seed", "status", "task")


def cell_table(results: pd.DataFrame, metric: str | None = None, *, by_noise: bool = False) -> pd.DataFrame:
    """Summarise the seeds of every cell, that is of every (dataset, model, transformation).

    Every transformation of the results has a row in every panel, that is in every (dataset, model) of
    them, run or not.

    Parameters
    ----------
    results : DataFrame
        One row per (dataset, model, transformation, seed).
    metric : {"accuracy", "avg_recall", "f1", "auc", "r2", "mae", "rmse"}, default=None
        What to summarise; the panels it does not apply to are left out. By default the primary metric of
        each panel: accuracy for classes, R² for quantities.
    by_noise : bool, default=False
        Whether each level of label noise has panels of its own. If not, there must be one level only.

    Returns
    -------
    DataFrame
        - dataset, model, (noise,) transformation, task, and tasks: "classification" or "regression";
        - state: "ok", "failed" (there are runs, none with a finite value) or "missing" (no run);
        - value, std, sem: mean over the seeds that have a finite value, their sample standard deviation
          (NaN for one seed) and std / √n. R² is clipped to [0, 1] after taking the mean;
        - gain: the value, its sign turned if lower is better;
        - n_seeds, n_failed_seeds: runs, and those of them without a finite value;
        - noted: whether a run has a note, such as that an encoding fell back to standardisation.

    Notes
    -----
    The paper does not say whether R² is clipped before or after taking the mean over seeds. Its standard
    errors of up to .042, means over twelve data sets, suggest that seeds are not clipped: four data sets
    would have to flip between 0 and 1. For clipped seeds pass `results.assign(r2=results["r2"].clip(0, 1))`.
    """
    rows = _checked(results, metric, by_noise)
    transformations = in_order(rows["transformation"], TRANSFORMATIONS)
    tasks = rows["task"].map(_TASKS)
    if metric is not None:
        applies = tasks == ("regression" if metric in ("r2", *LOWER_IS_BETTER) else "classification")
        rows, tasks, value = rows[applies], tasks[applies], rows.loc[applies, metric]
    else:
        value = rows["r2"].where(tasks == "regression", rows["accuracy"])
    value = value.astype(np.float64)
    usable = (rows["status"] == "ok") & pd.Series(np.isfinite(value.to_numpy()), index=rows.index)
    panel = [*PANEL, "noise"] if by_noise else PANEL
    runs = rows[[*panel, "transformation"]].assign(
        value=value.where(usable), usable=usable, noted=texts(rows, "note") != ""
    )
    cells = runs.groupby([*panel, "transformation"], sort=False, observed=True).agg(
        value=("value", "mean"),
        std=("value", "std"),
        n_seeds=("usable", "size"),
        n_usable=("usable", "sum"),
        noted=("noted", "any"),
    )
    cells["std"] = _settled(cells["std"].where(cells["std"] > 1e-12 * cells["value"].abs(), cells["std"] * 0))
    cells["value"] = _settled(cells["value"])
    panels = rows[[*panel, "task"]].assign(tasks=tasks).drop_duplicates()
    every = panels.merge(pd.DataFrame({"transformation": transformations}), how="cross")
    table = every.merge(cells.reset_index(), on=[*panel, "transformation"], how="left")
    counts = table[["n_seeds", "n_usable"]].fillna(0).astype(int)
    if metric in (None, "r2"):
        table["value"] = table["value"].clip(0.0, 1.0)  # accuracy is there anyway
    table["n_seeds"], table["n_failed_seeds"] = counts["n_seeds"], counts["n_seeds"] - counts["n_usable"]
    table["sem"] = table["std"] / np.sqrt(counts["n_usable"].where(counts["n_usable"] > 0))
    table["gain"] = -table["value"] if metric in LOWER_IS_BETTER else table["value"]
    table["noted"] = table["noted"] == True  # noqa: E712 -- NaN where there is no run
    table["state"] = np.select([counts["n_usable"] > 0, counts["n_seeds"] > 0], ["ok", "failed"], "missing")
    order = [*panel, "transformation", "task", "tasks", "state", "value", "std", "sem", "gain"]
    return _sorted(table[[*order, "n_seeds", "n_failed_seeds", "noted"]], panel)


def _settled(numbers: pd.Series) -> pd.Series:
    """Round away the last digits, which would make one of two equal means the larger."""
    return numbers.map(lambda number: float(f"{number:.12g}"))


def with_all(table: pd.DataFrame, column: str) -> pd.DataFrame:
    """Put a copy of the table, in which the column says "all", above it."""
    return pd.concat([table.assign(**{column: ALL}), table], ignore_index=True)


def by_tasks(table: pd.DataFrame) -> pd.DataFrame:
    """Stack all panels, those of classification and those of regression; the column `tasks` says which."""
    kinds = [table[table["tasks"] == kind] for kind in ("classification", "regression")]
    return pd.concat([table.assign(tasks=ALL), *kinds], ignore_index=True)


def in_order(found: pd.Series, known: Sequence[str]) -> list[str]:
    """Return the distinct names found: known ones in their order, then the others as they came."""
    names = found.unique().tolist()
    return [name for name in known if name in names] + [name for name in names if name not in known]


def exceeds(difference: pd.Series | np.ndarray, threshold: pd.Series | np.ndarray | float) -> np.ndarray:
    """Return whether a difference exceeds a threshold, rounding aside: 0.86 - 0.85 is not above 0.01."""
    difference, threshold = np.asarray(difference, np.float64), np.asarray(threshold, np.float64)
    return difference > threshold * (1 + 1e-9) + 1e-12


def _checked(results: pd.DataFrame, metric: str | None, by_noise: bool) -> pd.DataFrame:
    if metric is not None and metric not in METRICS:
        raise ValueError(f"metric must be one of {', '.join(METRICS)} or None, got {metric!r}")
    values = ("accuracy", "r2") if metric is None else (metric,)
    lacking = [name for name in (*_NEEDED, *values, *["noise"] * by_noise) if name not in results.columns]
    if lacking:
        raise ValueError(
            f"results lack the columns {', '.join(lacking)}: pass the tidy table of a study, "
            "one row per dataset, model, transformation and seed"
        )
    if not len(results):
        raise ValueError("results have no rows: run some of the study first")
    levels = results["noise"].unique().tolist() if "noise" in results.columns else []
    if len(levels) > 1 and not by_noise:
        raise ValueError(
            f"results hold {len(levels)} levels of label noise, which do not mix: select one, such as "
            f"results[results['noise'] == {levels[0]}], or use noise_ranks"
        )
    unknown = [task for task in results["task"].unique() if task not in _TASKS]
    if unknown:
        raise ValueError(f"task must be one of {', '.join(_TASKS)}, got {', '.join(map(repr, unknown))}")
    tasks = results.groupby("dataset", observed=True)["task"].nunique()
    if (tasks > 1).any():
        raise ValueError(f"data set {tasks.idxmax()!r} has {tasks.max()} tasks, it must have one")
    key = [*PANEL, "transformation", "seed", *["noise"] * by_noise]
    twice = results.duplicated(key)
    if twice.any():
        shown = ", ".join(str(part) for part in results.loc[twice, key].iloc[0])
        raise ValueError(f"results have {twice.sum()} rows more than once, such as {shown}: keep one of each")
    # Categories would be kept, and hold names that are not in the rows.
    kept = [name for name in _NEEDED if isinstance(results[name].dtype, pd.CategoricalDtype)]
    return results.astype(dict.fromkeys(kept, object))


def texts(rows: pd.DataFrame, column: str) -> pd.Series:
    """Return a column of texts; what is empty, NaN or not there is the empty text."""
    if column not in rows.columns:
        return pd.Series("", index=rows.index)
    return rows[column].astype(object).where(rows[column].notna(), "").astype(str)


def _sorted(table: pd.DataFrame, panel: list[str]) -> pd.DataFrame:
    """Sort by model and transformation in the order of plans, data sets as they came."""
    known = {"model": MODELS, "transformation": TRANSFORMATIONS, "dataset": ()}
    keys = pd.DataFrame(
        {
            name: table[name].map({found: i for i, found in enumerate(in_order(table[name], order))})
            for name, order in known.items()
        }
    )
    if "noise" in panel:
        keys["noise"] = table["noise"]
    order = keys.sort_values(["model", "dataset", *panel[2:], "transformation"], kind="stable").index
    return table.loc[order].reset_index(drop=True)
