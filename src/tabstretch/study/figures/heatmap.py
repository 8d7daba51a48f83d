"""How often each transformation wins against each other, as a square of percentages."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from tabstretch.study.figures.names import display_name
from tabstretch.study.figures.style import in_house_style, new_figure


@in_house_style
def draw_win_rates(matrix: pd.DataFrame, *, title: str = "") -> Figure:
    """Draw `tabstretch.study.statistics.win_rate_matrix`, the strongest on top, with the mean of each row.

    Parameters
    ----------
    matrix : DataFrame
        Share of panels that the row wins against the column, ties as half.
    title : str, default=""
        Above the square.
    """
    means = matrix.mean(axis=1).sort_values(ascending=False, kind="stable")
    names = list(means.index)
    shares = matrix.reindex(index=names, columns=names).to_numpy(dtype=np.float64)
    shown = np.column_stack([shares, np.full(len(names), np.nan), means.to_numpy()])
    n = len(names)
    figure = new_figure(2.4 + 0.39 * (n + 2), 1.7 + 0.36 * n)
    axis = figure.add_subplot()
    # One lightness per share, so that it can be read without colour; the figures say the rest.
    image = axis.imshow(shown, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    for i, j in np.argwhere(~np.isnan(shown)):
        axis.text(
            j,
            i,
            f"{100 * shown[i, j]:.0f}",
            ha="center",
            va="center",
            color=_readable_on(image.cmap(shown[i, j])),
            fontsize=8,
            fontweight="bold" if j > n else "normal",
        )
    labels = [display_name(name) for name in names]
    axis.set_xticks([*range(n), n + 1], [*labels, "mean"], rotation=45, ha="right", rotation_mode="anchor")
    axis.set_yticks(range(n), labels)
    axis.set_ylabel("wins of")
    axis.set_xlabel("against")
    axis.tick_params(length=0)
    axis.grid(visible=False)
    axis.spines[:].set_visible(False)
    bar = figure.colorbar(image, ax=axis, shrink=0.8, aspect=30, pad=0.02, ticks=[0, 0.25, 0.5, 0.75, 1])
    bar.ax.set_yticklabels(["0 %", "25 %", "50 %", "75 %", "100 %"])
    bar.outline.set_visible(False)
    if title:
        axis.set_title(title, loc="left")
    return figure


def _readable_on(background: tuple[float, float, float, float]) -> str:
    """Return black or white, whichever stands out more by the contrast of WCAG."""
    channels = np.array(background[:3])
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    luminance = float(linear @ [0.2126, 0.7152, 0.0722])
    return "black" if (luminance + 0.05) ** 2 > 1.05 * 0.05 else "white"
