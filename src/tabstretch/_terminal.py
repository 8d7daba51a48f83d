"""What names may do to a terminal: nothing."""

from __future__ import annotations

import sys
from typing import TextIO


def printable(text: str) -> str:
    r"""Return a text in one line, with what a terminal would obey instead of showing spelled out.

    Names of columns and files may hold anything: escape sequences that colour, clear or rename a terminal,
    line breaks, and marks that turn the direction of what follows.

    >>> print(printable("price\n\x1b[31m"))
    price\n\x1b[31m
    """
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in text)


def tell(text: str, file: TextIO | None = None) -> None:
    """Print lines for a person, to standard output if nothing else is said."""
    print("\n".join(map(printable, text.split("\n"))), file=file or sys.stdout, flush=file is not None)
