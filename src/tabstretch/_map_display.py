"""Pictures of fitted maps, drawn without data: by value, by rank, and where the target varies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tabstretch._base import BaseStretch
from tabstretch._cells import Column
from tabstretch._display import as_label, bin_colors, draw_map, draw_variations
from tabstretch._extras import import_extra
from tabstretch._monotone import MonotoneMap
from tabstretch._widths import range_shares

# Broken lines, since views may lie on each other.
_VIEW_STYLES: dict[str, dict[str, Any]] = {
    "value": {"color": "C0"},
    "rank": {"color": "C1"},
    "target": {"color": "C2", "linestyle": "--"},
    "min-max": {"color": "grey", "linestyle": ":", "label": "not stretched"},
    "blend": {"color": "black", "label": "stretched"},
}


class MapPicture(NamedTuple):
    """What is shown of one column."""

    name: str
    maps: dict[str, MonotoneMap]
    """By view; "blend" if there are none."""
    ranks: Column
    """Share of the rows below each edge of the bins."""
    by_rank: dict[str, Column]
    """Where these edges go, by view, and under "min-max" where they would go without a stretch."""
    variations: dict[str, Column]
    note: str | None


def map_picture(stretch: BaseStretch, number: int) -> MapPicture:
    """Collect what is shown of one column."""
    column, n_views = stretch._columns[number], len(stretch.views_)
    maps = dict(zip(stretch.views_, stretch.maps_[n_views * number :], strict=False))
    ranks, by_rank = np.empty(0), {}
    if len(column.edges) > 1:
        low, high = (float(end) for end in maps[stretch.views_[-1]].values[[0, -1]])
        ranks = np.concatenate([[0.0], np.cumsum(column.bin_weight)])
        by_rank = {view: map_(column.edges) for view, map_ in maps.items()}
        by_rank["min-max"] = low + (high - low) * np.concatenate(
            [[0.0], np.cumsum(range_shares(column.edges))]
        )
    variations = {} if column.marginal is None else {"marginal": column.marginal}
    if len(column.variation):
        variations["conditional" if variations else "target"] = column.variation
    return MapPicture(str(stretch._input_names[number]), maps, ranks, by_rank, variations, column.fallback)


def draw_maps(pictures: Sequence[MapPicture]) -> Any:
    """Draw one row of panels for each column, and return the figure."""
    figures = import_extra("matplotlib.figure", "plot")
    n_panels = 3 if any(picture.variations for picture in pictures) else 2
    figure = figures.Figure(figsize=(4 * n_panels, 3.4 * len(pictures)), layout="constrained")
    axes = figure.subplots(len(pictures), n_panels, squeeze=False)
    for picture, (left, middle, *right) in zip(pictures, axes, strict=True):
        name = as_label(picture.name)
        _draw_by_value(left, picture, name)
        _draw_by_rank(middle, picture, name)
        for axis in right:
            if picture.variations:
                draw_variations(axis, picture.variations, name)
            else:
                axis.set_axis_off()
    return figure


def _draw_by_value(axis: Any, picture: MapPicture, name: str) -> None:
    for view, map_ in picture.maps.items():
        if view == "blend":
            draw_map(axis, map_, bin_colors(map_))
        else:
            outputs = map_.values[: len(map_.edges)]
            axis.plot(map_.edges, outputs, label=view, marker=".", **_VIEW_STYLES[view])
    if len(picture.maps) > 1:
        axis.legend(fontsize="small", loc="best")
    axis.set(title="the stretch", xlabel=name, ylabel=f"stretched {name}")


def _draw_by_rank(axis: Any, picture: MapPicture, name: str) -> None:
    if not picture.by_rank:
        axis.text(0.5, 0.5, picture.note or "", transform=axis.transAxes, ha="center")
        axis.set_axis_off()
        return
    for view, outputs in picture.by_rank.items():
        axis.plot(picture.ranks, outputs, **{"label": view, "linewidth": 1.5, **_VIEW_STYLES[view]})
    axis.legend(fontsize="small", loc="best")
    axis.set(xlabel=f"share of rows with smaller {name}", ylabel=f"stretched {name}")
    if picture.note:
        axis.set_title(f"by rank: {picture.note}", fontsize="small", wrap=True)
    else:
        axis.set_title("by rank")
    axis.margins(x=0.02, y=0.02)
