"""Read the paper's tables and join them to ours."""

from __future__ import annotations

from importlib.resources import files

import pandas as pd

TABLES: dict[str, list[str]] = {
    "table1": ["statistic", "model", "transformation"],
    "metrics": ["metric", "model", "transformation"],
    "breakdown": ["composition", "tasks", "model", "transformation"],
    "win_loss": ["tasks", "first", "second"],
    "datasets": ["dataset"],
    "marginal": ["dataset"],
}
"""The tables, and the columns that identify a row of each."""


def paper_table(name: str) -> pd.DataFrame:
    """Return one of the paper's tables, in the form of ours.

    Parameters
    ----------
    name : {"table1", "metrics", "breakdown", "win_loss", "datasets", "marginal"}
        - table1: statistic, model, transformation, value, sem, flagged, best (as printed, in bold);
        - metrics: metric, model, transformation, value, sem, flagged, best: the seven tables of the appendix;
        - breakdown: composition, tasks, model ("all" for "Overall"), transformation, value, best;
        - win_loss: tasks, first, second, wins, losses: the six records that the text gives;
        - datasets: dataset, composition, task, n_numeric, n_categorical, n_rows, imbalance_ratio, n_classes,
          NaN where it prints a dash. The task is that of the table of marginals;
        - marginal: dataset, composition ("image" for its four sets of images), task, std, skewness.

    Notes
    -----
    A data set has one name here, that of the table of data sets: the table of marginals prints
    Kaggle_bike_sharing_demand_challange. Where figures are flagged "> .05", `sem` is NaN.
    """
    if name not in TABLES:
        raise ValueError(f"the paper's tables are {', '.join(TABLES)}, got {name!r}")
    with files(__package__).joinpath(f"{name}.csv").open(encoding="utf-8") as file:
        return pd.read_csv(file)


def beside_paper(table: pd.DataFrame, name: str) -> pd.DataFrame:
    """Add the paper's columns to a table of ours, named `…_paper`, NaN where it has no such row.

    Parameters
    ----------
    table : DataFrame
        What `table1`, `metric_tables`, `breakdown` or `pairwise_counts` of `tabstretch.study.statistics`
        returns, or any table with the identifying columns.
    name : str
        The paper's table, see `paper_table`.
    """
    keys = TABLES.get(name, [])
    printed = paper_table(name)
    lacking = [key for key in keys if key not in table.columns]
    if lacking:
        raise ValueError(f"to stand beside the paper's {name} a table needs {', '.join(lacking)}")
    named = printed.rename(columns={column: f"{column}_paper" for column in printed.columns.drop(keys)})
    if "model" in table.columns and "model" not in keys:  # the paper's records are over all models
        named["model"], keys = "all", [*keys, "model"]
    return table.merge(named, on=keys, how="left")
