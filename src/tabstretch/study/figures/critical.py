"""Mean ranks on a line, with bars over those that Nemenyi's test does not tell apart."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tabstretch.study.figures.names import display_name
from tabstretch.study.figures.style import WIDTH, Look, in_house_style, look_of, new_figure


@in_house_style
def draw_critical_difference(ranks: pd.DataFrame, critical_difference: float, *, title: str = "") -> Figure:
    """Draw the critical difference diagram of Demšar.

    Parameters
    ----------
    ranks : DataFrame
        What `tabstretch.study.statistics.block_ranks` returns: data sets down, transformations across.
    critical_difference : float
        Mean ranks that differ by less are joined by a bar; NaN, for too few data sets, joins all.
    title : str, default=""
        Above the diagram.
    """
    if ranks.empty:
        raise ValueError("no data set has all transformations: there are no ranks to draw")
    means = ranks.mean().sort_values(kind="stable")
    groups = joined_groups(means, critical_difference)
    half = -(-len(means) // 2)
    height = 1.2 + 0.2 * len(groups) + 0.27 * half
    figure = new_figure(WIDTH, height)
    axis = figure.add_subplot()
    low, high = 1, max(len(means), 2)
    axis.plot([low, high], [0, 0], color="black", linewidth=1)
    for tick in range(low, high + 1):
        axis.plot([tick, tick], [0, 0.12], color="black", linewidth=1)
        axis.text(tick, 0.2, str(tick), ha="center", va="bottom")
    bars = -0.3 - 0.28 * np.arange(len(groups))
    for level, (first, last) in zip(bars, groups, strict=True):
        axis.plot(
            [means.iloc[first] - 0.06, means.iloc[last] + 0.06],
            [level, level],
            color="black",
            linewidth=3,
            solid_capstyle="butt",
        )
    below = (bars[-1] if len(bars) else 0.0) - 0.45
    edge = 0.35 * (high - low) / 6
    looks = {str(name): look_of(str(name), map(str, means.index)) for name in means.index}
    _labels(axis, means.iloc[:half], looks, below, low - edge, "right")
    _labels(axis, means.iloc[half:][::-1], looks, below, high + edge, "left")
    if np.isfinite(critical_difference):
        _ruler(axis, low, critical_difference)
    # Room for the names beside the axis.
    reach = 0.62 * (high - low)
    axis.set(xlim=(low - reach, high + reach), ylim=(below - 0.42 * half, 1.3))
    axis.set_axis_off()
    n = len(ranks)
    note = f"mean rank over {n} data set{'s' if n != 1 else ''}; 1 is best"
    axis.set_title(f"{title}: {note}" if title else note, loc="left")
    return figure


def joined_groups(means: pd.Series, critical_difference: float) -> list[tuple[int, int]]:
    """Return first and last place of each largest group, of two or more, whose mean ranks differ by less."""
    values = means.to_numpy(dtype=np.float64)
    limit = critical_difference if np.isfinite(critical_difference) else np.inf
    # Ranks are sorted, so a group is a stretch of places; its end never moves back.
    ends = [int(np.nonzero(values - value < limit)[0][-1]) for value in values]
    return [
        (start, end)
        for start, end in enumerate(ends)
        if end > start and (start == 0 or end > ends[start - 1])
    ]


def _labels(axis: Axes, means: pd.Series, looks: dict[str, Look], below: float, x: float, side: str) -> None:
    for number, (name, mean) in enumerate(means.items()):
        look = looks[str(name)]
        y = below - 0.42 * number
        axis.plot([mean, mean, x], [0, y, y], color=look.color, linestyle=look.dash, linewidth=1.0, zorder=1)
        axis.plot(mean, 0, look.marker, color=look.color, markerfacecolor=look.face, zorder=3, clip_on=False)
        text = display_name(str(name))
        label = f"{text}  {mean:.2f} " if side == "right" else f" {mean:.2f}  {text}"
        axis.text(x, y, label, ha=side, va="center")


def _ruler(axis: Axes, start: float, length: float) -> None:
    axis.plot([start, start + length], [0.95, 0.95], color="black", linewidth=1, marker="|")
    axis.text(start + length + 0.15, 0.95, f"critical difference {length:.2f}", ha="left", va="center")
