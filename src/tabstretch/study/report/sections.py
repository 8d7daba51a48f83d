"""`Section`: a part of the page."""

from __future__ import annotations

from dataclasses import dataclass

from tabstretch.study.report.pictures import Picture
from tabstretch.study.report.sheets import Sheet


@dataclass(frozen=True)
class Section:
    """A heading, what is to be said, then tables and figures in their order."""

    key: str
    title: str
    text: tuple[str, ...] = ()
    items: tuple[Sheet | Picture, ...] = ()
    code: str = ""
    """Commands or a file, shown as they are."""

    @property
    def sheets(self) -> list[Sheet]:
        """The tables."""
        return [item for item in self.items if isinstance(item, Sheet)]

    @property
    def pictures(self) -> list[Picture]:
        """The figures."""
        return [item for item in self.items if isinstance(item, Picture)]


def counted(number: int, one: str, many: str | None = None) -> str:
    """Say how many.

    >>> counted(1, "data set"), counted(0, "data set"), counted(25650, "run")
    ('1 data set', '0 data sets', '25,650 runs')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def listed(names: list[str], most: int = 6) -> str:
    """Write a list of names, the first few of many.

    >>> listed(["a"]), listed(["a", "b", "c"]), listed(list("abcdefgh"), most=3)
    ('a', 'a, b and c', 'a, b, c and 5 more')
    """
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
