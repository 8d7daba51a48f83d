"""One transformation against another, a point for each panel."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tabstretch.study.figures.names import display_name
from tabstretch.study.figures.style import WIDTH, in_house_style, new_figure, panel_grid, task_groups

# Wins, losses and ties differ in form, in colour and in lightness.
_OUTCOMES: dict[str, dict[str, Any]] = {
    "tie": {"marker": "o", "facecolor": "none", "edgecolor": "0.6", "s": 12, "linewidth": 0.8},
    "loss": {"marker": "v", "facecolor": "#0072B2", "edgecolor": "white", "s": 26, "linewidth": 0.4},
    "win": {"marker": "^", "facecolor": "#D55E00", "edgecolor": "white", "s": 26, "linewidth": 0.4},
}
_VALUES = {"classification": "accuracy", "regression": "R²"}


@in_house_style
def draw_pair(points: pd.DataFrame) -> Figure:
    """Draw one pair, a panel for each kind of task, with its counts of wins, losses and ties.

    Parameters
    ----------
    points : DataFrame
        What `tabstretch.study.statistics.pair_points` returns for a pair. Panels in which all seeds of one
        failed are counted, but have no place.
    """
    first, second = _only(points, "first"), _only(points, "second")
    groups = task_groups(points)
    figure = new_figure(WIDTH / 2 * len(groups), 3.8)
    for axis, tasks in zip(panel_grid(figure, len(groups), 2), groups, strict=True):
        _scatter(axis, points[points["tasks"] == tasks])
        value = _VALUES.get(tasks, "value")
        axis.set(xlabel=f"{display_name(second)}, {value}", ylabel=f"{display_name(first)}, {value}")
        axis.set_title(f"{display_name(tasks)}  {_counts(points[points['tasks'] == tasks])}")
    figure.suptitle(f"▲ wins, ▼ losses and ○ ties of {display_name(first)}", fontsize=9)
    return figure


@in_house_style
def draw_pairs(points: pd.DataFrame, tasks: str) -> Figure:
    """Draw one transformation against each other, a panel each.

    Parameters
    ----------
    points : DataFrame
        What `tabstretch.study.statistics.pair_points` returns for a transformation and all others.
    tasks : {"classification", "regression"}
        Which panels.
    """
    chosen = points[points["tasks"] == tasks]
    if chosen.empty:
        raise ValueError(f"there are no points of {tasks!r}, only of {', '.join(points['tasks'].unique())}")
    first = _only(chosen, "first")
    others = list(chosen["second"].unique())
    n_columns = 4 if len(others) > 6 else 3
    n_rows = -(-len(others) // n_columns)
    figure = new_figure(WIDTH, 0.7 + (WIDTH / n_columns + 0.2) * n_rows)
    for axis, name in zip(panel_grid(figure, len(others), n_columns), others, strict=True):
        part = chosen[chosen["second"] == name]
        _scatter(axis, part)
        axis.set_title(_counts(part), fontsize=8)
        axis.set_xlabel(display_name(name), fontsize=8)
        axis.tick_params(labelsize=7)
    value = _VALUES.get(tasks, "value")
    figure.suptitle(
        f"{value[:1].upper()}{value[1:]}: {display_name(first)} upwards, another transformation sideways\n"
        f"▲ wins, ▼ losses and ○ ties of {display_name(first)}",
        fontsize=10,
    )
    return figure


def _scatter(axis: Axes, points: pd.DataFrame) -> None:
    """Draw the points and the diagonal on equal axes, around which the first wins above and loses below."""
    both = points.dropna(subset=["first_value", "second_value"])
    for outcome, form in _OUTCOMES.items():
        part = both[both["outcome"] == outcome]
        axis.scatter(part["second_value"], part["first_value"], **form)
    values = both[["first_value", "second_value"]].to_numpy()
    low, high = (values.min(), values.max()) if values.size else (0.0, 1.0)
    edge = 0.05 * (high - low) or 0.05
    limits = (low - edge, high + edge)
    axis.plot(limits, limits, color="0.4", linewidth=0.8, zorder=0)
    axis.set(xlim=limits, ylim=limits, aspect="equal")
    axis.locator_params(nbins=4)


def _counts(points: pd.DataFrame) -> str:
    wins, losses, ties = (int(np.sum(points["outcome"] == name)) for name in ("win", "loss", "tie"))
    return f"▲ {wins}  ▼ {losses}  ○ {ties}"


def _only(points: pd.DataFrame, column: str) -> str:
    names = points[column].unique()
    if len(names) != 1:
        raise ValueError(f"points must have one {column!r} transformation, got {len(names)}")
    return str(names[0])
