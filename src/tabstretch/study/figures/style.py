"""One look for all figures: colour, marker and dash of each transformation, and how files are written."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec

import matplotlib as mpl
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text

from tabstretch.study.figures.names import display_name
from tabstretch.study.names import TRANSFORMATIONS

P = ParamSpec("P")

SETTINGS: Any = {
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "0.9",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "lines.linewidth": 1.4,
    "lines.markersize": 5,
    "savefig.dpi": 200,
    "svg.hashsalt": "tabstretch",  # the same figure is the same file
}
WIDTH = 7.2
"""Inches, about the text width of A4: fonts are then printed at their size."""


@dataclass(frozen=True)
class Look:
    """How a transformation is drawn everywhere: stretches filled and solid, the others open and dashed."""

    color: str
    marker: str
    dash: Any
    filled: bool

    @property
    def face(self) -> str:
        """Colour inside a marker."""
        return self.color if self.filled else "white"


# Okabe and Ito's colours, without yellow, which is too light for lines on white.
_BLACK, _ORANGE, _SKY, _GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
_BLUE, _VERMILION, _PURPLE, _GREY = "#0072B2", "#D55E00", "#CC79A7", "#777777"
_SOLID, _DASHED, _DOTTED, _DASHDOT = "-", (0, (5, 2)), (0, (1, 1.2)), (0, (5, 1.5, 1, 1.5))
_LOOKS = {
    "stretch_sup": Look(_VERMILION, "o", _SOLID, True),
    "stretch_unsup": Look(_ORANGE, "s", _SOLID, True),
    "stretch_within": Look(_BLUE, "^", _SOLID, True),
    "stretch_anchored": Look(_GREEN, "v", _SOLID, True),
    "stretch_conditional": Look(_PURPLE, "D", _SOLID, True),
    "stretch_views": Look(_BLACK, "P", _SOLID, True),
    "ple": Look(_BLUE, "s", _DASHED, False),
    "ple_t": Look(_SKY, "D", _DASHED, False),
    "standard": Look(_BLACK, "o", _DASHDOT, False),
    "minmax": Look(_GREY, "^", _DASHDOT, False),
    "quantile": Look(_GREEN, "v", _DASHED, False),
    "rs_sc": Look(_PURPLE, "X", _DOTTED, False),
    "yeo_johnson": Look(_ORANGE, "P", _DOTTED, False),
}
_FREE = {
    "<": _BLACK,
    ">": _BLUE,
    "p": _VERMILION,
    "*": _GREEN,
    "h": _PURPLE,
    "d": _SKY,
    "8": _ORANGE,
    "H": _GREY,
}
_OTHERS = [
    Look(color, marker, dash, False)
    for dash in (_DASHED, _DOTTED, _DASHDOT)
    for marker, color in _FREE.items()
]


def look_of(name: str, among: Iterable[str] = ()) -> Look:
    """Return the look of a transformation; those of one's own get theirs by their place among all."""
    if name in _LOOKS:
        return _LOOKS[name]
    own = [other for other in dict.fromkeys(among) if other not in TRANSFORMATIONS]
    return _OTHERS[own.index(name) % len(_OTHERS) if name in own else 0]


def in_house_style(draw: Callable[P, Figure]) -> Callable[P, Figure]:
    """Draw with `SETTINGS`, whatever the caller's are, and leave those alone."""

    @wraps(draw)
    def styled(*args: P.args, **kwargs: P.kwargs) -> Figure:
        with mpl.rc_context():
            mpl.rcdefaults()
            mpl.rcParams.update(SETTINGS)
            return draw(*args, **kwargs)

    return styled


def new_figure(width: float, height: float) -> Figure:
    """Return a figure that no window and no global list knows of."""
    return Figure(figsize=(width, height), layout="constrained")


def panel_grid(figure: Figure, n_panels: int, n_columns: int, **options: Any) -> list[Axes]:
    """Return as many axes as there are panels, in rows; empty places stay empty."""
    n_columns = min(n_columns, n_panels)
    axes = figure.subplots(math.ceil(n_panels / n_columns), n_columns, squeeze=False, **options).ravel()
    for empty in axes[n_panels:]:
        empty.remove()
    return list(axes[:n_panels])


def task_groups(table: pd.DataFrame) -> list[str]:
    """Return the groups of tasks to draw: all, then each kind; the one kind alone if there is no other."""
    found = set(table["tasks"].unique())
    kinds = [name for name in ("classification", "regression") if name in found]
    return ["all", *kinds] if "all" in found and len(kinds) > 1 else kinds


def place_legend(figure: Figure, names: Sequence[str], axis: Axes, n_columns: int = 1) -> None:
    """List what `axis` has drawn, in the order of names, beside (one column) or below the panels."""
    handles, labels = axis.get_legend_handles_labels()
    found = dict(zip(labels, handles, strict=True))
    shown = [display_name(name) for name in names]
    figure.legend(
        [found[label] for label in shown],
        shown,
        loc="outside right center" if n_columns == 1 else "outside lower center",
        ncols=n_columns,
        fontsize=9 if n_columns == 1 else 8,
        handlelength=3,
        columnspacing=1.2,
    )


def save_figure(figure: Figure, path: str | Path, formats: Sequence[str] = ("svg", "png")) -> list[Path]:
    """Write a figure in several formats and return the files.

    Parameters
    ----------
    figure : Figure
        What a function of this package returned.
    path : str or Path
        Without the ending; the folder is made if it does not exist.
    formats : sequence of str, default=("svg", "png")
        Endings that matplotlib knows.
    """
    stem = Path(path)
    stem.parent.mkdir(parents=True, exist_ok=True)
    written = [stem.with_name(f"{stem.name}.{ending}") for ending in formats]
    with plain_texts(figure):
        for file in written:
            # No date: the same figure is the same file.
            figure.savefig(file, metadata={"Date": None} if file.suffix == ".svg" else None)
    return written


@contextmanager
def plain_texts(figure: Figure) -> Generator[None]:
    """Save with names as they are: a dollar sign begins no formula, a letter the font lacks is a box."""
    for text in figure.findobj(Text):
        text.set_parse_math(False)
    with mpl.rc_context({**SETTINGS, "text.parse_math": False}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from")
        warnings.filterwarnings("ignore", "constrained_layout not applied")  # there are too many names
        yield
