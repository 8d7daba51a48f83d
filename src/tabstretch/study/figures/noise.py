"""Mean ranks along the level of label noise."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tabstretch.study.figures.names import display_name
from tabstretch.study.figures.style import (
    WIDTH,
    in_house_style,
    look_of,
    new_figure,
    panel_grid,
    place_legend,
)


@in_house_style
def draw_noise_ranks(ranks: pd.DataFrame) -> Figure:
    """Draw mean ranks over all data sets, with the standard deviation over panels as error bars.

    Parameters
    ----------
    ranks : DataFrame
        What `tabstretch.study.statistics.noise_ranks` returns.
    """
    figure = new_figure(0.85 * WIDTH, 3.8)
    axis = figure.add_subplot()
    chosen = ranks[ranks["dataset"] == "all"]
    names = _draw(axis, chosen)
    _set_limits(axis, chosen)
    axis.set_ylabel("mean rank (1 is best)")
    place_legend(figure, names, axis)
    return figure


@in_house_style
def draw_noise_ranks_by_dataset(ranks: pd.DataFrame) -> Figure:
    """Draw mean ranks over models, a panel for each data set.

    Parameters
    ----------
    ranks : DataFrame
        What `tabstretch.study.statistics.noise_ranks` returns.
    """
    datasets = [name for name in ranks["dataset"].unique() if name != "all"]
    n_rows = -(-len(datasets) // 2)
    figure = new_figure(WIDTH, 0.8 + 2.7 * n_rows)
    axes = panel_grid(figure, len(datasets), 2, sharey=True)
    names: list[str] = []
    for axis, dataset in zip(axes, datasets, strict=True):
        names = _draw(axis, ranks[ranks["dataset"] == dataset])
        axis.set_title(dataset)
    _set_limits(axes[0], ranks[ranks["dataset"] != "all"])  # shared by all
    for axis in axes[::2]:
        axis.set_ylabel("mean rank (1 is best)")
    place_legend(figure, names, axes[0], n_columns=min(len(names), 4))
    return figure


def _draw(axis: Axes, ranks: pd.DataFrame) -> list[str]:
    names = list(ranks["transformation"].unique())
    levels = np.sort(ranks["noise"].unique())
    step = np.diff(levels).min() if len(levels) > 1 else 1.0
    for number, name in enumerate(names):
        look = look_of(name, names)
        curve = ranks[ranks["transformation"] == name].sort_values("noise")
        # Side by side, or the error bars of one would hide those of another.
        aside = (number - (len(names) - 1) / 2) * 0.4 * step / max(len(names), 1)
        axis.errorbar(
            curve["noise"] + aside,
            curve["mean_rank"],
            yerr=curve["std_rank"].fillna(0.0),
            color=look.color,
            linestyle=look.dash,
            marker=look.marker,
            markerfacecolor=look.face,
            elinewidth=0.8,
            capsize=2,
            label=display_name(name),
        )
    if ranks["mean_rank"].isna().all():
        axis.text(0.5, 0.5, "no complete panel", transform=axis.transAxes, ha="center")
    axis.set_xlim(levels[0] - 0.4 * step, levels[-1] + 0.4 * step)
    axis.set_xticks(levels, [f"{level:g}" for level in levels])
    axis.set_xlabel("label noise η")
    axis.set_yticks(range(1, len(names) + 1))
    return names


def _set_limits(axis: Axes, ranks: pd.DataFrame) -> None:
    """Put the best rank on top, and leave room for all error bars."""
    spread = ranks["std_rank"].fillna(0.0)
    low, high = (ranks["mean_rank"] - spread).min(), (ranks["mean_rank"] + spread).max()
    n = ranks["transformation"].nunique()
    axis.set_ylim(
        np.fmax(n + 0.5, high + 0.1), np.fmin(0.5, low - 0.1)
    )  # without complete panels both are NaN
