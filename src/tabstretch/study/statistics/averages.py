"""Means over panels: the paper's Table 1 and its tables of single metrics."""

from __future__ import annotations

import numpy as np
import pandas as pd

from tabstretch.study.metrics import METRICS
from tabstretch.study.statistics.panels import ALL, LOWER_IS_BETTER, by_tasks, with_all
from tabstretch.study.statistics.scores import normalised_scores

UNSTABLE = 0.20
"""A standard deviation over seeds above this is flagged, whatever the metric."""

_SCORES = {"all": "overall_score", "classification": "classification_score", "regression": "regression_score"}
_RAW = {"classification": "accuracy", "regression": "r2"}


def table1(results: pd.DataFrame) -> pd.DataFrame:
    """Return the paper's Table 1: normalised scores, and means of accuracy and R² without the ties.

    Parameters
    ----------
    results : DataFrame
        One row per (dataset, model, transformation, seed).

    Returns
    -------
    DataFrame
        - statistic: "overall_score", "classification_score", "regression_score", "accuracy" or "r2";
        - model (one, or "all", a row the paper does not have), transformation;
        - value: the mean over panels;
        - sem: the mean over panels of the standard error over seeds; NaN for scores;
        - sem_datasets: the standard error of the mean over panels;
        - flagged: whether some panel's standard deviation over seeds is above 0.20 (printed as "> .05");
        - best: whether the value as printed is the best of its row;
        - n_panels: how many the value is the mean of;
        - n_ties: panels that are ties: they score 0.5, and are left out of accuracy and R²;
        - n_alone: panels with no other transformation: they have no score, but count in accuracy and R²;
        - n_failed, n_missing: cells without a finite value, cells without runs (see `normalised_scores`; both
          are left out of accuracy and R²);
        - n_partial, n_noted: cells of which some seeds failed, cells with a note.

    Notes
    -----
    NOTE[DIFF]: the caption defines "±" as the standard error over data sets, the captions of the appendix as
    the mean standard error over seeds. The printed figures are the latter: the means of the three groups
    of the paper's breakdown alone differ more than the former would allow. Here `sem` is the printed kind,
    `sem_datasets` the other.

    NOTE[DIFF]: the caption flags a single unstable panel, as is done here; the printed Table 1 seems to flag
    only where the mean itself is above .05, since cells it leaves unflagged are flagged in the appendix.
    `table["sem"] > 0.05` gives that.
    """
    scored = by_tasks(with_all(normalised_scores(results), "model"))
    scores = _averaged(scored, "score", scored["score"].notna(), digits=4)
    scores = scores.assign(sem=np.nan, flagged=False, statistic=scores["tasks"].map(_SCORES))
    raw = scored[scored["tasks"] != ALL]
    means = _averaged(raw, "value", (raw["state"] == "ok") & ~raw["tie"], digits=3)
    means = means.assign(statistic=means["tasks"].map(_RAW))
    table = pd.concat([scores, means], ignore_index=True)
    return table[["statistic", *table.columns.drop(["statistic", "tasks"])]]


def metric_table(results: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Return the means of one metric, without the panels that are ties under it.

    Parameters
    ----------
    results : DataFrame
        One row per (dataset, model, transformation, seed).
    metric : {"accuracy", "avg_recall", "f1", "auc", "r2", "mae", "rmse"}
        Which.

    Returns
    -------
    DataFrame
        metric and the columns of `table1`. MAE and RMSE have the units of each target: their `sem` is NaN and
        they are never flagged, as in the paper, and their mean over data sets says little.
    """
    scored = with_all(normalised_scores(results, metric=metric), "model")
    errors = metric in LOWER_IS_BETTER
    used = (scored["state"] == "ok") & ~scored["tie"]
    table = _averaged(scored, "value", used, digits=2 if errors else 3, lowest=errors)
    if errors:
        table = table.assign(sem=np.nan, sem_datasets=np.nan, flagged=False)
    return table.assign(metric=metric)[["metric", *table.columns.drop("tasks")]]


def metric_tables(results: pd.DataFrame) -> pd.DataFrame:
    """Return `metric_table` for the seven metrics, one below the other, without those that never apply."""
    tables = [metric_table(results, metric) for metric in METRICS]
    return pd.concat([table for table in tables if len(table)], ignore_index=True)


def _averaged(
    scored: pd.DataFrame, column: str, used: pd.Series, *, digits: int, lowest: bool = False
) -> pd.DataFrame:
    """Average a column over the panels that are used; count those that are not."""
    keys = ["tasks", "model", "transformation"]
    frame = scored.assign(
        value=scored[column].where(used), sem=scored["sem"].where(used), std=scored["std"].where(used)
    )
    table = average_over_panels(frame, keys)
    table.insert(len(keys) + 3, "flagged", table.pop("max_std") > UNSTABLE)
    table.insert(len(keys) + 4, "best", _is_best(table, keys[:-1], digits, lowest))
    return table


def average_over_panels(frame: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Average `value` and `sem` of what `normalised_scores` returns, NaN left out, and count the cells."""
    state = frame["state"]
    table = (
        frame.assign(
            alone=(state == "ok") & ~frame["compared"],
            failed=state == "failed",
            missing=state == "missing",
            partial=(state == "ok") & (frame["n_failed_seeds"] > 0),
        )
        .groupby(keys, sort=False, observed=True)
        .agg(
            value=("value", "mean"),
            sem=("sem", "mean"),
            sem_datasets=("value", "std"),
            max_std=("std", "max"),
            n_panels=("value", "count"),
            n_ties=("tie", "sum"),
            n_alone=("alone", "sum"),
            n_failed=("failed", "sum"),
            n_missing=("missing", "sum"),
            n_partial=("partial", "sum"),
            n_noted=("noted", "sum"),
        )
        .reset_index()
    )
    table["sem_datasets"] /= np.sqrt(table["n_panels"].where(table["n_panels"] > 0))
    return table


def _is_best(table: pd.DataFrame, keys: list[str], digits: int, lowest: bool) -> pd.Series:
    """Return whether a value is the best of its row as printed, so that equal figures are all best."""
    printed = table["value"].round(digits)
    rows = printed.groupby([table[key] for key in keys], sort=False, observed=True)
    return printed == rows.transform("min" if lowest else "max")
