"""Pictures: the target along a column, along the stretched column, and the map between the two."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from tabstretch._cells import Column, cut_into_cells
from tabstretch._column import ColumnFit
from tabstretch._conditional import Curves
from tabstretch._extras import import_extra
from tabstretch._folds import make_folds
from tabstretch._interactions import CURVES_SHOWN
from tabstretch._lessons import MANY_CLASSES
from tabstretch._monotone import MonotoneMap
from tabstretch._target import REGRESSION, Target, encode_target, resolve_target_type
from tabstretch._validation import check_matrix, check_target
from tabstretch._variation import SmoothedColumn, mean_curve


class StretchDisplay:
    """The overview of one stretched column, in three panels or four.

    Left, the target over the column; middle, the map; right, the same target over the stretched column. A
    bin has the same colour in all three. The target is smoothed along the column or, for
    `variation="conditional"`, what the teachers predict when only this column moves: the mean over rows and,
    as a band, one standard deviation of the rows' own curves around it. A fourth panel then compares the
    variation in each bin with that of the target along this column alone.

    Use `from_estimator` to compute what is shown.

    Parameters
    ----------
    feature_name : str
        Name of the column.
    positions : array of shape (n_points,)
        Increasing values of the column.
    target : array of shape (n_points, n_curves)
        Smoothed target or mean prediction there.
    curve_names : list of str
        Names of the curves: one for a scalar target, a class or an output each otherwise.
    stretch : MonotoneMap
        The column's map.
    spread : array of shape (n_points, n_curves), default=None
        Standard deviation of the rows' own curves.
    variations : dict of str to array of shape (n_bins,), default=None
        Variations to compare in a fourth panel, by name.

    Attributes
    ----------
    figure_, axes_
        The figure and its axes, once drawn.
    """

    def __init__(
        self,
        *,
        feature_name: str,
        positions: Column,
        target: Column,
        curve_names: list[str],
        stretch: MonotoneMap,
        spread: Column | None = None,
        variations: dict[str, Column] | None = None,
    ) -> None:
        self.feature_name = feature_name
        self.positions = positions
        self.target = target
        self.curve_names = curve_names
        self.stretch = stretch
        self.spread = spread
        self.variations = variations

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, feature: int | str = 0, axes: Any = None
    ) -> StretchDisplay:
        """Smooth the target along one column and draw the overview.

        Parameters
        ----------
        estimator : fitted StretchTransformer, SupervisedStretchTransformer or TableStretch
        X : array-like of shape (n_samples, n_features)
            Data, usually that of `fit`. The curves of teachers are those of `fit`, whatever is passed.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Target.
        feature : int or str, default=0
            Position or name of the column to show.
        axes : three matplotlib axes, or four, default=None
            Where to draw; by default a new figure.
        """
        check_is_fitted(estimator)
        if hasattr(estimator, "stretch_"):  # TableStretch
            estimator, X = estimator.stretch_, X[estimator.numeric_columns_]
        names = estimator._input_names
        number = _find_feature(names, feature)
        matrix = check_matrix(estimator, X, reset=False)
        y = check_target(estimator, X, y)
        column: ColumnFit = estimator._columns[number]
        shown: dict[str, Any] = {}
        if column.curves is None:
            positions, target, curve_names = smoothed_target(estimator, matrix[:, number], y)
        else:
            positions = column.curves.places
            target, shown["spread"], curve_names = teacher_curves(estimator, column.curves)
            marginal = {} if column.marginal is None else {"marginal": column.marginal}
            shown["variations"] = {**marginal, "conditional": column.variation}
        display = cls(
            feature_name=str(names[number]),
            positions=positions,
            target=target,
            curve_names=curve_names,
            # Of views, the last follows the target.
            stretch=estimator.maps_[(number + 1) * len(estimator.views_) - 1],
            **shown,
        )
        return display.plot(axes)

    def plot(self, axes: Any = None) -> StretchDisplay:
        """Draw the panels.

        Parameters
        ----------
        axes : three matplotlib axes, or four, default=None
            Where to draw; by default a new figure.
        """
        pyplot = import_extra("matplotlib.pyplot", "plot")
        n_panels = 3 if self.variations is None else 4
        if axes is None:
            _, axes = pyplot.subplots(1, n_panels, figsize=(4 * n_panels, 3.6), layout="constrained")
        left, middle, right, *more = axes
        stretched = self.stretch(self.positions)
        colors = bin_colors(self.stretch)
        self._draw_target(left, self.positions, self.stretch.edges, colors)
        draw_map(middle, self.stretch, colors)
        self._draw_target(right, stretched, self.stretch.values, colors)
        what = "target" if self.spread is None else "prediction"
        name = as_label(self.feature_name)
        left.set(title=f"{what} over the column", xlabel=name, ylabel=self._target_label())
        middle.set(title="the stretch", xlabel=name, ylabel=f"stretched {name}")
        right.set(title=f"{what} over the stretched column", xlabel=f"stretched {name}")
        right.sharey(left)
        if len(self.curve_names) > 1:
            right.legend(fontsize="small", loc="best")
        if more and self.variations is not None:
            draw_variations(more[0], self.variations, name)
        self.figure_, self.axes_ = left.figure, np.array([left, middle, right, *more])
        return self

    def _target_label(self) -> str:
        if len(self.curve_names) == 1:
            return as_label(self.curve_names[0])
        return "smoothed target" if self.spread is None else "mean prediction"

    def _draw_target(self, axis: Any, place: Column, edges: Column, colors: Column) -> None:
        for start, stop, color in zip(edges[:-1], edges[1:], colors, strict=True):
            axis.axvspan(start, stop, color=color, alpha=0.25, linewidth=0)
        styles = ["-", "--", ":", "-."]
        alpha = 0.18 / len(self.curve_names)
        for number, name in enumerate(self.curve_names):
            color = "black" if len(self.curve_names) == 1 else f"C{number}"
            curve = self.target[:, number]
            axis.plot(place, curve, styles[number % 4], color=color, linewidth=1.5, label=as_label(name))
            if self.spread is not None:
                own = self.spread[:, number]
                axis.fill_between(place, curve - own, curve + own, color=color, alpha=alpha, linewidth=0)
        axis.margins(x=0)


def as_label(name: str) -> str:
    r"""Return a name as matplotlib prints it: no formula begins in it, and what has no letter is spelt out.

    >>> print(as_label("US$"), as_label("two\nlines"))
    US\$ two\nlines
    """
    spelt = (letter if letter.isprintable() else ascii(letter)[1:-1] for letter in name)
    return "".join(spelt).replace("$", r"\$")


def bin_colors(stretch: MonotoneMap) -> Column:
    """Return a colour for each bin, at least one."""
    colormaps = import_extra("matplotlib", "plot").colormaps
    return np.asarray(colormaps["viridis"](np.linspace(0.0, 0.92, max(len(stretch.edges) - 1, 1))))


def draw_variations(axis: Any, variations: dict[str, Column], feature_name: str) -> None:
    """Draw the variation in each bin, all bins equally wide, so that dense regions can be seen."""
    for name, variation in variations.items():
        edges = np.linspace(0.0, 1.0, len(variation) + 1)
        color, style = ("C1", "--") if name == "marginal" else ("black", "-")
        axis.stairs(variation, edges, label=name, linestyle=style, color=color, linewidth=1.5)
    axis.set(title="variation in each bin", xlabel=f"{feature_name}, by rank", ylabel="variation")
    axis.margins(x=0)
    axis.set_ylim(bottom=0)
    if len(variations) > 1:
        axis.legend(fontsize="small", loc="best")


def draw_map(axis: Any, stretch: MonotoneMap, colors: Column) -> None:
    """Draw a map, each bin in its colour."""
    edges, values = stretch.edges, stretch.values
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
    folds = make_folds(10, target, 0)
    smoothed = SmoothedColumn(cells, target, folds, None, None if neighbors == "auto" else neighbors)
    curves = mean_curve(smoothed)
    curves, names = _in_own_units(curves, target, y)
    busiest = np.sort(np.argsort(-np.ptp(curves, axis=0), kind="stable")[:CURVES_SHOWN])
    return cells.mean, curves[:, busiest], [names[number] for number in busiest]


def teacher_curves(estimator: Any, curves: Curves) -> tuple[Column, Column, list[str]]:
    """Return the mean and the spread of the teachers' curves in the target's units, and their names.

    Of many classes or outputs, those that vary most were kept when fitting.
    """
    kind, classes = estimator.target_type_, estimator.classes_
    if kind in REGRESSION:
        shift, scale = (units[curves.outputs] for units in estimator._target_units)
        names = ["mean prediction"]
        if kind == "continuous-multioutput":
            names = [f"output {j}" for j in curves.outputs]
        return curves.mean * scale + shift, curves.spread * scale, names
    if kind == "multilabel-indicator":
        names = [f"label {j}" for j in curves.outputs]
    elif kind == "multiclass-multioutput":
        every = [f"output {j}: {label}" for j, labels in enumerate(classes) for label in labels]
        names = [every[j] for j in curves.outputs]
    elif len(classes) == 2:
        return curves.mean[:, 1:], curves.spread[:, 1:], [f"mean probability of {classes[1]}"]
    elif estimator.teacher is None and len(classes) > MANY_CLASSES:
        names = [f"projection {j}" for j in curves.outputs]
    else:
        names = [str(classes[j]) for j in curves.outputs]
    return curves.mean, curves.spread, names


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
