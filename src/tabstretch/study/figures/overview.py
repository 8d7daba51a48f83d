"""The overview of one feature under several stretches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.figure import Figure

from tabstretch import StretchDisplay
from tabstretch.study.figures.names import display_name
from tabstretch.study.figures.style import in_house_style, new_figure


@in_house_style
def draw_overview(stretches: Mapping[str, Any], X: Any, y: Any, *, feature: int | str = 0) -> Figure:
    """Draw `StretchDisplay` for each stretch, one below the other.

    Parameters
    ----------
    stretches : mapping of str to fitted transformer
        By name, such as "stretch_unsup" and "stretch_sup".
    X : array-like of shape (n_samples, n_features)
        Data they were fitted on.
    y : array-like of shape (n_samples,)
        Target.
    feature : int or str, default=0
        Position or name of the column to show.
    """
    if not stretches:
        raise ValueError("stretches must hold at least one fitted transformer, got none")
    figure = new_figure(10.5, 3.0 * len(stretches))
    rows = figure.subfigures(len(stretches), 1, squeeze=False)[:, 0]
    for row, (name, stretch) in zip(rows, stretches.items(), strict=True):
        StretchDisplay.from_estimator(stretch, X, y, feature=feature, axes=row.subplots(1, 3))
        row.suptitle(display_name(name), fontweight="bold")
    return figure
