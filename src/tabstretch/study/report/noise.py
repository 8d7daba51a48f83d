"""The section on label noise."""

from __future__ import annotations

from functools import partial

import pandas as pd

from tabstretch.study import statistics
from tabstretch.study.figures import draw_noise_ranks, draw_noise_ranks_by_dataset
from tabstretch.study.report.pictures import Picture, short_names
from tabstretch.study.report.sections import Section
from tabstretch.study.report.sheets import Layout, Sheet, grid_sheet
from tabstretch.study.statistics.panels import ALL, PANEL

_MOST_DRAWN = 12
"""Data sets that are drawn one by one; more would fill the page."""


def noise_section(results: pd.DataFrame) -> Section:
    """Mean ranks along the level of label noise."""
    rows = at_all_levels(results)
    ranks = statistics.noise_ranks(rows)
    text: tuple[str, ...] = (
        "Labels of the training part only are noisy: a share η of classes is replaced by random ones, a "
        "quantity gets Gaussian "
        "noise of η times its standard deviation. Validation and test stay clean. Rank 1 is the best of "
        "a panel.",
    )
    if len(rows) < len(results):
        text += ("Panels that were not run at every level are left out.",)
    items: list[Picture] = []
    if ranks["mean_rank"].notna().any():
        items.append(
            Picture(
                "noise",
                "Mean rank along the level of label noise",
                partial(draw_noise_ranks, short_names(ranks)),
                caption="Bars are the standard deviation of ranks over panels.",
            )
        )
        n_datasets = ranks["dataset"].nunique() - 1
        if 1 < n_datasets <= _MOST_DRAWN:
            items.append(
                Picture(
                    "noise-datasets",
                    "Mean rank along the level of label noise, by data set",
                    partial(draw_noise_ranks_by_dataset, short_names(ranks)),
                    folded=True,
                )
            )
    return Section("noise", "Label noise", text, (*items, noise_sheet(ranks)))


def at_all_levels(results: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of panels that were run at every level, or all rows if no panel was."""
    levels = results.groupby(PANEL, observed=True)["noise"].transform("nunique")
    rows = results[levels == results["noise"].nunique()]
    return rows if len(rows) else results


def noise_sheet(ranks: pd.DataFrame) -> Sheet:
    """Arrange `noise_ranks` by data set and level."""
    rows = [ranks[key] for key in ("dataset", "noise")]
    rounded = ranks["mean_rank"].round(2)
    shown = ranks.assign(
        std=ranks["std_rank"],
        best=rounded == rounded.groupby(rows, observed=True).transform("min"),
        dataset=ranks["dataset"].where(ranks["dataset"] != ALL, "All"),
    )
    return grid_sheet(
        "noise_ranks",
        "Mean ranks by level of noise",
        ranks,
        ["dataset", "noise"],
        value="mean_rank",
        digits=2,
        shown=shown,
        layout=Layout(digits={"noise": 2}, choose=("dataset", "noise")),
        caption="± is the standard deviation over panels.",
    )
