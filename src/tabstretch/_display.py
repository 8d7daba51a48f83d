"""Pictures: the target along a column, along the stretched column, and the map between the two."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from tabstretch._cells import Column, cut_into_cells
from tabstretch._extras import import_extra
from tabstretch._folds import make_folds
from tabstretch._monotone import MonotoneMap
from tabstretch._target import REGRESSION, Target, encode_target, resolve_target_type
from tabstretch._transformers import SupervisedStretchTransformer
from tabstretch._validation import check_matrix, check_target
from tabstretch._variation import SmoothedColumn, mean_curve

_MAX_CURVES = 8


class StretchDisplay:
    """The overview of one stretched column, in three panels.

    Left, the smoothed target over the column; middle, the map; right, the same target over the stretched
    column. A bin has the same colour in all three.

    Use `from_estimator` to compute what is shown.

    Parameters
    ----------
    feature_name : str
        Name of the column.
    positions : array of shape (n_points,)
        Increasing values of the column.
    target : array of shape (n_points, n_curves)
        Smoothed target there.
    curve_names : list of str
        Names of the curves: one for a scalar target, a class or an output each otherwise.
    stretch : MonotoneMap
        The column's map.

    Attributes
    ----------
    figure_, axes_
        The figure and its three axes, once drawn.
    """

    def __init__(
        self,
        *,
        feature_name: str,
        positions: Column,
        target: Column,
        curve_names: list[str],
        stretch: MonotoneMap,
    ) -> None:
        self.feature_name = feature_name
        self.positions = positions
        self.target = target
        self.curve_names = curve_names
        self.stretch = stretch

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, feature: int | str = 0, axes: Any = None
    ) -> StretchDisplay:
        """Smooth the target along one column and draw the overview.

        Parameters
        ----------
        estimator : fitted StretchTransformer or SupervisedStretchTransformer
        X : array-like of shape (n_samples, n_features)
            Data, usually that of `fit`.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Target.
        feature : int or str, default=0
            Position or name of the column to show.
        axes : three matplotlib axes, default=None
            Where to draw; by default a new figure.
        """
        check_is_fitted(estimator)
        names = list(estimator.get_feature_names_out())
        column = _find_feature(names, feature)
        matrix = check_matrix(estimator, X, reset=False)
        positions, target, curve_names = smoothed_target(
            estimator, matrix[:, column], check_target(estimator, X, y)
        )
        display = cls(
            feature_name=str(names[column]),
            positions=positions,
            target=target,
            curve_names=curve_names,
            stretch=estimator.maps_[column],
        )
        return display.plot(axes)

    def plot(self, axes: Any = None) -> StretchDisplay:
        """Draw the three panels."""
        pyplot = import_extra("matplotlib.pyplot", "plot")
        if axes is None:
            _, axes = pyplot.subplots(1, 3, figsize=(12, 3.6), layout="constrained")
        left, middle, right = axes
        stretched = self.stretch(self.positions)
        colors = pyplot.get_cmap("viridis")(np.linspace(0.0, 0.92, max(len(self.stretch.edges) - 1, 1)))
        self._draw_target(left, self.positions, self.stretch.edges, colors)
        self._draw_map(middle, colors)
        self._draw_target(right, stretched, self.stretch.values, colors)
        left.set(title="target over the column", xlabel=self.feature_name, ylabel=self._target_label())
        middle.set(title="the stretch", xlabel=self.feature_name, ylabel=f"stretched {self.feature_name}")
        right.set(title="target over the stretched column", xlabel=f"stretched {self.feature_name}")
        right.sharey(left)
        if len(self.curve_names) > 1:
            right.legend(fontsize="small", loc="best")
        self.figure_, self.axes_ = left.figure, np.array([left, middle, right])
        return self

    def _target_label(self) -> str:
        return self.curve_names[0] if len(self.curve_names) == 1 else "smoothed target"

    def _draw_target(self, axis: Any, place: Column, edges: Column, colors: Column) -> None:
        for start, stop, color in zip(edges[:-1], edges[1:], colors, strict=True):
            axis.axvspan(start, stop, color=color, alpha=0.25, linewidth=0)
        styles = ["-", "--", ":", "-."]
        for number, name in enumerate(self.curve_names):
            color = "black" if len(self.curve_names) == 1 else f"C{number}"
            axis.plot(
                place, self.target[:, number], styles[number % 4], color=color, linewidth=1.5, label=name
            )
        axis.margins(x=0)

    def _draw_map(self, axis: Any, colors: Column) -> None:
        edges, values = self.stretch.edges, self.stretch.values
        for bin_, color in enumerate(colors[: max(len(edges) - 1, 0)]):
            axis.plot(edges[bin_ : bin_ + 2], values[bin_ : bin_ + 2], color=color, linewidth=2.5)
        marker = "o" if len(edges) <= 20 else "|"
        axis.plot(edges, values[: len(edges)], marker, color="black", markersize=4, linestyle="none")
        axis.margins(x=0.02, y=0.02)


def smoothed_target(estimator: Any, x: NDArray[Any], y: NDArray[Any]) -> tuple[Column, Column, list[str]]:
    """Return positions along a column, the smoothed target there and the names of its curves.

    A scalar target comes back in its own units, classes as probabilities. Of many classes or outputs,
    those that vary most are kept.
    """
    kind = resolve_target_type(y, getattr(estimator, "target_type_", "auto"))
    target = encode_target(y, kind)
    cells = cut_into_cells(np.asarray(x, dtype=np.float64))
    if cells.n_cells < 2:
        raise ValueError(
            f"the column has {cells.n_cells} distinct values, at least two are needed for a picture"
        )
    neighbors: Any = getattr(estimator, "n_neighbors", "auto")
    folds = make_folds(SupervisedStretchTransformer().cv, target, 0)
    smoothed = SmoothedColumn(cells, target, folds, None, None if neighbors == "auto" else neighbors)
    curves = mean_curve(smoothed)
    curves, names = _in_own_units(curves, target, y)
    busiest = np.sort(np.argsort(-np.ptp(curves, axis=0), kind="stable")[:_MAX_CURVES])
    return cells.mean, curves[:, busiest], [names[number] for number in busiest]


def _in_own_units(curves: Column, target: Target, y: NDArray[Any]) -> tuple[Column, list[str]]:
    """Undo the target's encoding and name its outputs."""
    if target.kind in REGRESSION:
        values = y.reshape(len(y), -1).astype(np.float64)
        names = (
            ["smoothed target"] if values.shape[1] == 1 else [f"output {j}" for j in range(values.shape[1])]
        )
        return curves * np.std(values, axis=0) + np.mean(values, axis=0), names
    if target.kind == "multilabel-indicator":
        return curves, [f"label {j}" for j in range(curves.shape[1])]
    if target.kind == "multiclass-multioutput":
        return curves, [f"output {j}: {label}" for j, labels in enumerate(target.classes) for label in labels]
    if len(target.classes) == 2:
        return curves / np.sqrt(2.0), [f"share of {target.classes[1]}"]
    return curves, [str(label) for label in target.classes]


def _find_feature(names: list[str], feature: int | str) -> int:
    if isinstance(feature, str):
        if feature not in names:
            raise ValueError(f"feature must be one of the columns {names}, got {feature!r}")
        return names.index(feature)
    if not 0 <= feature < len(names):
        raise ValueError(f"feature must be a position from 0 to {len(names) - 1}, got {feature}")
    return int(feature)
