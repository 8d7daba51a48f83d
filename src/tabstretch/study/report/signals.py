"""The section on data: how unevenly targets change along columns, and one column as stretches see it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray

from tabstretch import StretchTransformer, SupervisedStretchTransformer
from tabstretch.study.datasets import Dataset, load_dataset
from tabstretch.study.figures import draw_overview
from tabstretch.study.marginal import (
    VARIANTS,
    Marginal,
    Variant,
    draw_marginal,
    marginal_slopes,
    marginal_table,
    with_slopes,
)
from tabstretch.study.report.pictures import Picture, cut_name
from tabstretch.study.report.sections import Section, listed
from tabstretch.study.report.sheets import Layout, Sheet, plain_sheet

_BINS = 8
"""Of the overview: more could not be told apart."""
_FEWEST_VALUES = 50
"""Of the column in the overview; fewer make steps, not a curve."""

_CAPTIONS = {
    "printed": "Slopes as the paper's formula has them, |Δf / Δx|. Its table does not divide by Δx where the "
    "target is a class.",
    "published": "Slopes as in the paper's table: |Δf / Δx| for regression, ‖Δf‖ where the target is a "
    "class. Its formula always divides.",
}
_TITLES = {
    "printed": "Marginal non-uniformity, by the paper's formula",
    "published": "Marginal non-uniformity, as in the paper's table",
}


@dataclass(frozen=True, eq=False)
class Example:
    """One numeric column, and its target, to draw."""

    dataset: str
    column: str
    x: NDArray[np.float64]
    y: NDArray[np.float64] | NDArray[np.str_]
    """Labels, or a quantity in standard deviations: whole numbers would look like labels."""


@dataclass(frozen=True, eq=False)
class Signals:
    """What the data themselves tell, without any network."""

    marginals: Mapping[Variant, Sequence[Marginal]]
    imbalance: Mapping[str, float] = field(default_factory=dict)
    """Of each data set with classes, how often the largest has the rows of the smallest."""
    example: Example | None = None
    unread: Sequence[str] = ()
    """Data sets that cannot be read here, or are not what the study ran on."""


def read_signals(sources: Mapping[str, str], checksums: Mapping[str, str], folder: Path) -> Signals:
    """Read the data of a study again and measure them.

    Parameters
    ----------
    sources : mapping of str to str
        From names to sources, see `load_dataset`.
    checksums : mapping of str to str
        Of the data that the study ran on; others are not measured.
    folder : Path
        Where relative paths begin.
    """
    marginals: dict[Variant, list[Marginal]] = {variant: [] for variant in VARIANTS}
    imbalance: dict[str, float] = {}
    best: tuple[float, Example | None] = (-1.0, None)
    unread = []
    for name, source in sources.items():
        try:
            dataset = load_dataset(source, folder)
        except Exception:  # readers of all kinds; a report is written whatever became of the data
            unread.append(name)
            continue
        if checksums.get(name, dataset.checksum) != dataset.checksum:
            unread.append(name)
            continue
        for variant in VARIANTS:
            marginals[variant].append(marginal_slopes(dataset, variant))
        if dataset.classes is not None:
            imbalance[name] = imbalance_ratio(dataset)
        best = max(best, _clearest(dataset), key=lambda found: found[0])
    return Signals(marginals, imbalance, best[1], tuple(unread))


def imbalance_ratio(dataset: Dataset) -> float:
    """Return how often the largest class has the rows of the smallest, over all parts."""
    counts = np.bincount(np.concatenate([dataset.y[part] for part in dataset.y]).astype(np.int64))
    return float(counts.max() / counts[counts > 0].min())


def _clearest(dataset: Dataset) -> tuple[float, Example | None]:
    """Return the column that alone explains most of the target, and how much; many values make a curve."""
    y = dataset.y["train"]
    scaled = (y - y.mean()) / (y.std() or 1.0)
    target = scaled[:, None] if dataset.classes is None else np.eye(dataset.n_outputs)[y]
    columns = dataset.numeric["train"].T
    shares = [_explained(x, target) if len(np.unique(x)) >= _FEWEST_VALUES else -1.0 for x in columns]
    place = int(np.argmax(shares)) if shares else 0
    if not shares or shares[place] < 0:
        return -1.0, None
    shown = scaled if dataset.classes is None else np.array(dataset.classes)[y]
    example = Example(dataset.name, dataset.numeric_names[place], columns[place].copy(), shown)
    return shares[place], example


def _explained(x: NDArray[np.float64], target: NDArray[np.float64]) -> float:
    """Return which share of the target's variance the means of 20 equal parts of a column explain."""
    parts = np.array_split(target[np.argsort(x, kind="stable")], 20)
    total = ((target - target.mean(axis=0)) ** 2).sum()
    means = np.array([part.mean(axis=0) for part in parts])
    sizes = np.array([len(part) for part in parts])
    explained = (sizes[:, None] * (means - target.mean(axis=0)) ** 2).sum()
    return float(explained / total) if total > 0 else 0.0


def signals_section(signals: Signals) -> Section | None:
    """Return the paper's overview and its table of marginals, of the data of this study."""
    items: list[Sheet | Picture] = []
    text = []
    if signals.example is not None:
        text.append(_said_of(signals.example))
        items.append(
            Picture(
                "overview",
                f"One column under both stretches: {signals.example.column} of {signals.example.dataset}",
                partial(_overview, signals.example),
                caption=f"{signals.example.column} of {signals.example.dataset}, training part, {_BINS} "
                "bins. A bin has one colour in all panels.",
            )
        )
    printed = signals.marginals["printed"]
    if printed:
        text.append(
            "How unevenly do targets change along numeric columns? A slope is the change of the mean target "
            "between neighbouring values, relative to the mean of its column: all are 1 where the target "
            "follows a straight line. Spread and skewness say how much there is for a stretch to even out."
        )
        items += _marginal_items(signals)
    if signals.unread:
        text.append(
            "Not shown, because the data cannot be read here or have changed: "
            f"{listed(list(signals.unread))}."
        )
    return Section("signals", "What the data show", tuple(text), tuple(items)) if text else None


def _said_of(example: Example) -> str:
    return (
        "What a stretch does to one column: left the smoothed target along it, in the middle the map, right "
        "the same target along the stretched column. The unsupervised stretch gives all bins the same width, "
        "the supervised one gives room to bins in which the target changes. Shown is the column that alone "
        f"explains most of its target: {example.column} of {example.dataset}."
    )


def _overview(example: Example) -> Figure:
    table, y = pd.DataFrame({cut_name(example.column): example.x}), example.y
    kind = "continuous" if y.dtype.kind == "f" else "multiclass"
    stretches = {
        "stretch_unsup": StretchTransformer(_BINS, value_weight=0.0).fit(table),
        "stretch_sup": SupervisedStretchTransformer(
            _BINS,
            variation="pooled",
            shrinkage=0.0,
            rank_weight=0.0,
            value_weight=0.0,
            target_type=kind,
        ).fit(table, y),
    }
    return draw_overview(stretches, table, y)


def _marginal_items(signals: Signals) -> list[Sheet | Picture]:
    printed, published = (signals.marginals[variant] for variant in VARIANTS)
    items: list[Sheet | Picture] = []
    if any(len(each.slopes) for each in printed):
        items.append(
            Picture(
                "marginal",
                "Slopes of the mean target along numeric columns, and their standard deviation",
                lambda: draw_marginal(with_slopes(printed)),
                caption="Slopes by the paper's formula, which its own figures follow for regression only.",
            )
        )
    items.append(marginal_sheet(printed))
    if any(each.task != "regression" for each in printed):  # otherwise both are the same
        items.append(marginal_sheet(published, folded=True))
    return items


def marginal_sheet(marginals: Sequence[Marginal], *, folded: bool = False) -> Sheet:
    """Return `marginal_table` as it is read."""
    variant = marginals[0].variant
    table = marginal_table(marginals)
    shown = table[["dataset", "task", "n_columns", "n_slopes", "std", "skewness"]]
    if table["std_paper"].notna().any():
        shown = shown.assign(std_paper=table["std_paper"], skewness_paper=table["skewness_paper"])
    layout = Layout(
        digits=dict.fromkeys(("std", "skewness", "std_paper", "skewness_paper"), 2),
        choose=("task",),
        headings={"n_columns": "Columns", "std_paper": "Std, paper", "skewness_paper": "Skewness, paper"},
    )
    return plain_sheet(
        f"marginal_{variant}",
        _TITLES[variant],
        table,
        shown=shown,
        layout=layout,
        caption=_CAPTIONS[variant],
        folded=folded,
    )
