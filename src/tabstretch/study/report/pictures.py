"""A matplotlib figure -> SVG that can stand inside a page beside others."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from io import StringIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pandas as pd
from matplotlib.figure import Figure

from tabstretch._files import written_whole
from tabstretch.study.errors import StudyError
from tabstretch.study.figures.style import plain_texts

_NAMESPACE = re.compile(r"^\{.*\}")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_UNDATED: dict[str, Any] = {
    ".svg": {"Date": None, "Creator": None},
    ".png": {},
    ".pdf": {"CreationDate": None},
}
"""The same figure is the same file."""
_LONGEST = 28
"""Letters of a name in a figure."""
_LEFT_OUT = ("metadata", "style")
_PIXELS = 97
"""Of the page for an inch of a figure, so that its texts are as large as those of tables."""


_LEAST_SCALE = 0.8
"""Letters of a figure are 12 pixels high; smaller than 10 they are hard to read."""


@dataclass(frozen=True, eq=False)
class Picture:
    """A figure on the page, drawn when it is asked for. `name` begins the ids in it and must be unique."""

    name: str
    title: str
    """What it shows, for those who do not see it."""
    draw: Callable[[], Figure]
    caption: str = ""
    folded: bool = False

    @cached_property
    def figure(self) -> Figure:
        """What was drawn."""
        return self.draw()

    @property
    def width(self) -> int:
        """In pixels."""
        return round(_PIXELS * self.figure.get_figwidth())

    @property
    def least_width(self) -> int:
        """In pixels, below which letters are too small."""
        return round(_LEAST_SCALE * self.width)

    @property
    def svg(self) -> str:
        """The element of the page."""
        return inline_svg(svg_text(self.figure), self.name)


def short_names(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table to draw: names of transformations and data sets that would fill a figure are cut."""
    named = [name for name in ("transformation", "first", "second", "dataset") if name in table.columns]
    names = [str(name) for column in named for name in table[column].unique()]
    names += [str(name) for name in (*table.index, *table.columns) if isinstance(name, str)]
    cut: dict[str, str] = {}
    for name in dict.fromkeys(names):
        cut[name] = cut_name(name)
        while list(cut.values()).count(cut[name]) > 1:  # two that begin alike
            cut[name] += "'"
    shown = table.assign(**{column: table[column].map(cut) for column in named})
    return shown.rename(index=cut, columns=cut)


def cut_name(name: str) -> str:
    """Return a name as figures have room for it: in one line, its end left out if it is long."""
    plain = " ".join(name.split())
    return plain if len(plain) <= _LONGEST else f"{plain[: _LONGEST - 1]}…"


def svg_text(figure: Figure) -> str:
    """Return a figure as an SVG file."""
    out = StringIO()
    with plain_texts(figure):
        figure.savefig(out, format="svg", metadata=_UNDATED[".svg"])
    return out.getvalue()


def write_figure(figure: Figure, path: Path) -> None:
    """Write a figure as SVG, PNG or PDF, by the name of the file, which appears whole or not at all."""
    if path.suffix not in (".svg", ".png", ".pdf"):
        raise StudyError(f"the name of {path} must end in .svg, .png or .pdf, got {path.suffix!r}")
    try:
        with written_whole(path) as temporary, plain_texts(figure):
            figure.savefig(temporary, format=path.suffix[1:], metadata=_UNDATED[path.suffix])
    except OSError as error:
        raise StudyError(f"{path} cannot be written: {error}") from error


def inline_svg(svg: str, name: str) -> str:
    """Return the root element of an SVG file for use in a page: without namespaces, with ids of its own."""
    # Comments hold the texts, in which XML does not allow every character.
    root = ElementTree.fromstring(_COMMENT.sub("", svg))
    for parent in list(root.iter()):
        for child in list(parent):
            if _local(child.tag) in _LEFT_OUT:
                parent.remove(child)
    for element in root.iter():
        element.tag = _local(element.tag)
        element.attrib = {
            _local(key): _own(_local(key), value, name) for key, value in element.attrib.items()
        }
        element.tail = None
        if element.text is not None and not element.text.strip():
            element.text = None
    root.attrib = {"viewBox": root.attrib["viewBox"], "aria-hidden": "true"}
    return ElementTree.tostring(root, encoding="unicode")


def _local(name: str) -> str:
    return _NAMESPACE.sub("", name)


def _own(key: str, value: str, name: str) -> str:
    """Return the value of an attribute, with ids that no other picture has."""
    if key == "id":
        return f"{name}-{value}"
    if key == "href" and value.startswith("#"):
        return f"#{name}-{value[1:]}"
    return value.replace("url(#", f"url(#{name}-")
