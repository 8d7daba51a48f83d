"""Mean scores with their intervals, over the scores of single data sets."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from tabstretch.study.figures.names import display_name
from tabstretch.study.figures.style import WIDTH, in_house_style, look_of, new_figure, panel_grid, task_groups


@in_house_style
def draw_scores(intervals: pd.DataFrame, scores: pd.DataFrame) -> Figure:
    """Draw the mean score of each transformation, its interval, and a dot for each data set.

    Parameters
    ----------
    intervals : DataFrame
        What `tabstretch.study.statistics.bootstrap_scores` returns; the rows of all models are drawn.
    scores : DataFrame
        What `tabstretch.study.statistics.normalised_scores` returns; a dot is the mean over models.
    """
    chosen = intervals[intervals["model"] == "all"]
    groups = task_groups(chosen)
    order = chosen[chosen["tasks"] == groups[0]].sort_values("value", kind="stable", na_position="first")
    names = order["transformation"].tolist()
    figure = new_figure(WIDTH, 0.9 + 0.3 * len(names))
    places = {name: place for place, name in enumerate(names)}
    for axis, tasks in zip(panel_grid(figure, len(groups), 3, sharey=True), groups, strict=True):
        dots = scores if tasks == "all" else scores[scores["tasks"] == tasks]
        means = dots.groupby(["transformation", "dataset"], sort=False, observed=True)["score"].mean()
        found = means.dropna().reset_index()
        rng = np.random.default_rng(0)  # dots are moved up and down a little, so that they do not hide
        heights = found["transformation"].map(places).astype(float) + rng.uniform(-0.25, 0.25, len(found))
        axis.scatter(found["score"], heights, s=7, color="0.75", linewidth=0, zorder=1)
        part = chosen[chosen["tasks"] == tasks]
        bounds = part[["value", "low", "high"]].to_numpy(np.float64)
        for name, (value, low, high) in zip(part["transformation"], bounds, strict=True):
            look, place = look_of(name, names), places[name]
            axis.plot([low, high], [place, place], color=look.color, linewidth=2, zorder=2)
            axis.plot(
                value,
                place,
                look.marker,
                color=look.color,
                markerfacecolor=look.face,
                markersize=6,
                zorder=3,
            )
        axis.set(title=display_name(tasks), xlabel="normalised score", xlim=(-0.03, 1.03))
        axis.set_ylim(-0.6, len(names) - 0.4)
        axis.set_yticks(range(len(names)), [display_name(name) for name in names])
        axis.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
    return figure
