"""Ranks of transformations within panels, and their means, with and without label noise."""

from __future__ import annotations

import numpy as np
import pandas as pd

from tabstretch.study.statistics.panels import PANEL, by_tasks, cell_table, with_all


def panel_ranks(results: pd.DataFrame, *, metric: str | None = None, by_noise: bool = False) -> pd.DataFrame:
    """Rank the transformations of each panel from 1, the best; equal means share their rank.

    Parameters
    ----------
    results : DataFrame
        One row per (dataset, model, transformation, seed).
    metric : str, default=None
        See `cell_table`; by default accuracy or R².
    by_noise : bool, default=False
        Whether each level of the column `noise` has panels of its own.

    Returns
    -------
    DataFrame
        The columns of `cell_table`, complete and rank.

    Notes
    -----
    Cells whose seeds all failed share the last ranks. Panels that lack a transformation, or in which all
    failed, are not complete and their ranks are NaN: third of three is not third of nine.
    """
    cells = cell_table(results, metric, by_noise=by_noise)
    panel = [*PANEL, "noise"] if by_noise else PANEL
    keys = [cells[key] for key in panel]
    present = (cells["state"] != "missing").groupby(keys, sort=False, observed=True).transform("all")
    valued = (cells["state"] == "ok").groupby(keys, sort=False, observed=True).transform("any")
    gain = cells["gain"].mask(cells["state"] == "failed", -np.inf)
    rank = gain.groupby(keys, sort=False, observed=True).rank(ascending=False)
    complete = present & valued
    return cells.assign(complete=complete, rank=rank.where(complete))


def mean_ranks(results: pd.DataFrame, *, metric: str | None = None) -> pd.DataFrame:
    """Return mean ranks over panels.

    Returns
    -------
    DataFrame
        tasks ("all", "classification", "regression"), model ("all" or one), transformation, mean_rank,
        std_rank (over panels), n_panels, n_incomplete (panels left out, see `panel_ranks`), n_failed.
    """
    ranks = by_tasks(with_all(panel_ranks(results, metric=metric), "model"))
    return _means(ranks, ["tasks", "model", "transformation"])


def noise_ranks(results: pd.DataFrame, *, metric: str | None = None) -> pd.DataFrame:
    """Return mean ranks at each level of label noise, over all data sets and for each.

    Parameters
    ----------
    results : DataFrame
        One row per (dataset, model, transformation, noise, seed).
    metric : str, default=None
        See `cell_table`; by default accuracy or R².

    Returns
    -------
    DataFrame
        noise, dataset ("all" or one), transformation and the columns of `mean_ranks`. `std_rank` is the error
        bar of the paper's figure.
    """
    ranks = with_all(panel_ranks(results, metric=metric, by_noise=True), "dataset")
    table = _means(ranks, ["noise", "dataset", "transformation"])
    places = {name: place for place, name in enumerate(table["dataset"].unique())}
    order = pd.DataFrame({"dataset": table["dataset"].map(places), "noise": table["noise"]})
    return table.loc[order.sort_values(["dataset", "noise"], kind="stable").index].reset_index(drop=True)


def _means(ranks: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    ranks = ranks.assign(incomplete=~ranks["complete"], failed=ranks["state"] == "failed")
    table = ranks.groupby(keys, sort=False, observed=True).agg(
        mean_rank=("rank", "mean"),
        std_rank=("rank", "std"),
        n_panels=("rank", "count"),
        n_incomplete=("incomplete", "sum"),
        n_failed=("failed", "sum"),
    )
    return table.reset_index()
