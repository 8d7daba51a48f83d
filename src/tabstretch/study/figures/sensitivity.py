"""Mean scores along the threshold below which a panel is a tie."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from tabstretch.study.figures.names import display_name
from tabstretch.study.figures.style import (
    WIDTH,
    in_house_style,
    look_of,
    new_figure,
    panel_grid,
    place_legend,
    task_groups,
)


@in_house_style
def draw_delta_sweep(sweep: pd.DataFrame, *, model: str = "all") -> Figure:
    """Draw the curves of `tabstretch.study.statistics.delta_sweep`, a panel for each group of tasks.

    Parameters
    ----------
    sweep : DataFrame
        delta, tasks, model, transformation, score.
    model : str, default="all"
        Whose curves.
    """
    chosen = sweep[sweep["model"] == model]
    if chosen.empty:
        raise ValueError(f"no model {model!r}, there are {', '.join(sweep['model'].unique())}")
    groups = task_groups(chosen)
    names = _by_first_score(chosen[chosen["tasks"] == groups[0]])
    figure = new_figure(WIDTH if len(groups) > 1 else 0.7 * WIDTH, 3.9)
    axes = panel_grid(figure, len(groups), len(groups), sharey=True)
    smallest = chosen.loc[chosen["delta"] > 0, "delta"].min()
    for axis, tasks in zip(axes, groups, strict=True):
        part = chosen[chosen["tasks"] == tasks]
        for number, name in enumerate(names):
            look = look_of(name, names)
            curve = part[part["transformation"] == name]
            axis.plot(
                curve["delta"],
                curve["score"],
                color=look.color,
                linestyle=look.dash,
                marker=look.marker,
                markerfacecolor=look.face,
                # Markers of different curves stand apart, so that curves can be followed where they meet.
                markevery=(number % 5, 5),
                label=display_name(name),
            )
        if smallest == smallest:  # some threshold is above 0
            axis.set_xscale("symlog", linthresh=smallest, linscale=0.4)
            axis.xaxis.set_major_formatter("{x:g}")
        axis.axhline(0.5, color="0.4", linewidth=0.7, zorder=0)
        axis.set(title=display_name(tasks), xlabel="threshold δ", xlim=(0, None))
    axes[0].set_ylabel("mean normalised score")
    place_legend(figure, names, axes[0], n_columns=4 if len(groups) > 1 else 1)
    return figure


def _by_first_score(part: pd.DataFrame) -> list[str]:
    """Return the names from best to worst at the smallest threshold, the order in which curves begin."""
    first = part[part["delta"] == part["delta"].min()]
    return first.sort_values("score", ascending=False, kind="stable")["transformation"].tolist()
