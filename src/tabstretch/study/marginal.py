"""How unevenly a target changes along each numeric column: the paper's appendix on marginal signals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator
from numpy.typing import NDArray
from scipy import stats

from tabstretch.study.datasets import Dataset, load_dataset
from tabstretch.study.errors import StudyError
from tabstretch.study.figures.style import WIDTH, in_house_style, new_figure
from tabstretch.study.paper import beside_paper

Variant = Literal["printed", "published"]
VARIANTS: tuple[Variant, ...] = ("printed", "published")

_STEEPEST = 1e300
"""A slope over a gap as narrow as numbers can be would be infinite."""


@dataclass(frozen=True, eq=False)
class Marginal:
    """The slopes of one data set, those of all numeric columns together; their mean is 1 in each column."""

    dataset: str
    source: str
    task: str
    variant: Variant
    slopes: NDArray[np.float64]
    n_columns: int
    n_flat: int
    """Columns of one value, or along which the target does not change: they have no slopes."""


def marginal_slopes(dataset: Dataset, variant: Variant = "printed") -> Marginal:
    """Measure how steep the mean target is between neighbouring values of each numeric column.

    Parameters
    ----------
    dataset : Dataset
        Its training part is used.
    variant : {"printed", "published"}, default="printed"
        - "printed": |Δf / Δx|, the formula in the paper;
        - "published": what its table holds: the same for regression, ‖Δf‖ alone for classification.

    Notes
    -----
    NOTE[DIFF]: the paper's formula divides by Δx always, its table does not where the target is a class. The
    formula is our default; "published" is there to check the table.
    """
    if variant not in VARIANTS:
        raise ValueError(f"variant must be one of {', '.join(VARIANTS)}, got {variant!r}")
    y = dataset.y["train"]
    target = (
        _scaled(y.astype(np.float64))[:, None] if dataset.classes is None else np.eye(dataset.n_outputs)[y]
    )
    by_distance = variant == "printed" or dataset.classes is None
    columns = dataset.numeric["train"].T
    found = [relative_slopes(column, target, by_distance=by_distance) for column in columns]
    return Marginal(
        dataset=dataset.name,
        source=dataset.source,
        task=dataset.task,
        variant=variant,
        slopes=np.concatenate([np.empty(0), *found]),
        n_columns=len(found),
        n_flat=sum(not len(slopes) for slopes in found),
    )


def measured(sources: Iterable[str], folder: Path, variant: Variant = "printed") -> list[Marginal]:
    """Read data sets, see `load_dataset`, and measure each; all that cannot be read are named at once."""
    found, problems = [], []
    for source in sources:
        try:
            found.append(marginal_slopes(load_dataset(source, folder), variant))
        except (ValueError, OSError) as error:
            problems.append(str(error))
    if problems:
        raise StudyError("\n".join(problems))
    return found


def relative_slopes(
    x: NDArray[np.float64], target: NDArray[np.float64], *, by_distance: bool = True
) -> NDArray[np.float64]:
    """Return the slopes of the mean target between neighbouring values of `x`, divided by their mean.

    Parameters
    ----------
    x : array of shape (n_samples,)
        One column. Its unit does not matter.
    target : array of shape (n_samples, n_outputs)
        A quantity, or an indicator for each class.
    by_distance : bool, default=True
        Whether the change of the target is divided by the distance of the values.

    Returns
    -------
    array of shape (n_values - 1,)
        Empty if there is one value only or the target never changes.

    Examples
    --------
    >>> relative_slopes(np.array([0.0, 1.0, 3.0]), np.array([[0.0], [1.0], [1.0]]))
    array([2., 0.])
    """
    values, place = np.unique(_scaled(x), return_inverse=True)
    counts = np.bincount(place)
    means = np.column_stack([np.bincount(place, output) / counts for output in target.T])
    slopes = np.linalg.norm(np.diff(means, axis=0), axis=1)
    if by_distance:
        with np.errstate(over="ignore"):
            slopes = np.minimum(slopes / np.diff(values), _STEEPEST)
    if not slopes.any():
        return np.empty(0)
    slopes = slopes / slopes.max()  # before the mean, which might overflow
    return slopes / slopes.mean()


def _scaled(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Bring numbers between -1 and 1: slopes are relative, so this stands for the paper's standardisation."""
    largest = np.abs(x).max(initial=0.0)
    return x / largest if largest > 0 else x


def marginal_table(marginals: Iterable[Marginal]) -> pd.DataFrame:
    """Return spread and skewness of the slopes of each data set, beside the paper's.

    Returns
    -------
    DataFrame
        dataset, source, task, variant, n_columns, n_flat, n_slopes, std, skewness (NaN where there are no
        slopes, or all are alike), std_paper, skewness_paper (NaN where the paper has no such data set).
    """
    rows = [
        {
            "dataset": each.dataset,
            "source": each.source,
            "task": each.task,
            "variant": each.variant,
            "n_columns": each.n_columns,
            "n_flat": each.n_flat,
            "n_slopes": len(each.slopes),
            "std": float(each.slopes.std()) if len(each.slopes) else np.nan,
            "skewness": _skewness(each.slopes),
        }
        for each in marginals
    ]
    table = pd.DataFrame(rows)
    beside = beside_paper(table[["dataset", "std", "skewness"]], "marginal")
    # Another data set may have the same name: the wine of scikit-learn is not the paper's.
    same = (beside["task_paper"] == table["task"]).to_numpy()
    return table.assign(**{name: beside[name].where(same) for name in ("std_paper", "skewness_paper")})


def _skewness(slopes: NDArray[np.float64]) -> float:
    if not len(slopes) or np.ptp(slopes) < 1e-12 * slopes.max():
        return float("nan")  # of rounding errors, there would be a figure
    return float(stats.skew(slopes))


def with_slopes(marginals: Iterable[Marginal]) -> list[Marginal]:
    """Return the data sets that can be drawn; none is an error."""
    found = [each for each in marginals if len(each.slopes)]
    if not found:
        raise StudyError(
            "there is nothing to draw: no data set has a numeric column along which its target changes"
        )
    return found


@in_house_style
def draw_marginal(marginals: Sequence[Marginal]) -> Figure:
    """Draw how the slopes of each data set are spread, and their standard deviation beside the paper's.

    Parameters
    ----------
    marginals : sequence of Marginal
        Each with slopes, see `with_slopes`.
    """
    shown = sorted(marginals, key=lambda each: float(each.slopes.std()))
    figure = new_figure(WIDTH, 1.3 + 0.26 * len(shown))
    left, right = figure.subplots(1, 2, sharey=True, width_ratios=[3, 2])
    _draw_spread(left, shown)
    _draw_std(right, marginal_table(shown))
    left.set_yticks(range(len(shown)), [_short(each.dataset) for each in shown])
    left.set_ylim(-0.6, len(shown) - 0.4)
    return figure


def _draw_spread(axis: Axes, marginals: Sequence[Marginal]) -> None:
    for place, each in enumerate(marginals):
        low, first, middle, third, high = np.quantile(each.slopes, [0.05, 0.25, 0.5, 0.75, 0.95])
        axis.plot([low, high], [place, place], color="#0072B2", linewidth=1)
        axis.plot([first, third], [place, place], color="#0072B2", linewidth=5, solid_capstyle="butt")
        axis.plot(middle, place, "|", color="black", markersize=9, markeredgewidth=1.5)
    axis.axvline(1.0, color="0.4", linewidth=0.8, zorder=0)
    axis.set_xlim(left=-0.05)
    axis.set_xlabel("slope relative to its column's mean")
    axis.set_title("line: 90 % of slopes, bar: 50 %, tick: median", loc="left")


def _draw_std(axis: Axes, table: pd.DataFrame) -> None:
    places = np.arange(len(table))
    axis.plot(table["std"], places, "o", color="#D55E00", label="here")
    if table["std_paper"].notna().any():
        axis.plot(table["std_paper"], places, "D", color="black", markerfacecolor="none", label="paper")
        axis.legend(loc="lower right")
    axis.set_xscale("log")
    axis.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.xaxis.set_major_formatter("{x:g}")
    axis.xaxis.set_minor_formatter("")
    axis.set_xlabel("standard deviation of the slopes")


def _short(name: str, length: int = 34) -> str:
    return name if len(name) <= length else name[: length - 1] + "…"
