"""Sheets -> files: data as CSV or Parquet, tables as they are read as LaTeX or Markdown."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tabstretch._files import written_whole
from tabstretch.study.errors import StudyError
from tabstretch.study.report.sheets import Cell, Sheet

_LONG = 40
"""Rows of a table in LaTeX that no longer fit on a page."""

_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",
    "[": "{[}",  # after \\ it would be taken for an option
    "]": "{]}",
    "±": r"$\pm$",
    "²": r"$^2$",
    "−": r"$-$",
    "χ": r"$\chi$",
    "Δ": r"$\Delta$",
    "‖": r"$\Vert$",
    "“": "``",
    "”": "''",
    "’": "'",
    "δ": r"$\delta$",
    "η": r"$\eta$",
    "×": r"$\times$",
    "–": "--",
    "…": r"\ldots{}",
    "\u202f": r"\,",
}
_SPACES = re.compile(r"[\s\x00-\x1f\x7f]+")
_MARKDOWN = re.compile(r"([\\`*|\[\]<>])|(?<!\w)_|_(?!\w)")


def write_data(sheet: Sheet, path: Path) -> None:
    """Write the data of a sheet as CSV or Parquet, by the name of the file."""
    if path.suffix not in (".csv", ".parquet"):
        raise StudyError(f"the name of {path} must end in .csv or .parquet, got {path.suffix!r}")
    with _writing(path) as temporary:
        if path.suffix == ".csv":
            sheet.data.to_csv(temporary, index=False)
        else:
            sheet.data.to_parquet(temporary, index=False)


def write_text(text: str, path: Path) -> None:
    """Write a text; the file appears whole or not at all."""
    with _writing(path) as temporary:
        temporary.write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")


@contextmanager
def _writing(path: Path) -> Generator[Path]:
    try:
        with written_whole(path) as temporary:
            yield temporary
    except OSError as error:
        raise StudyError(f"{path} cannot be written: {error}") from error


def latex(sheet: Sheet) -> str:
    """Return a sheet as a LaTeX table with booktabs; a long one as a longtable."""
    sides = "".join("r" if column.kind == "number" else "l" for column in sheet.columns)
    head = " & ".join(rf"\textbf{{{latex_text(column.title)}}}" for column in sheet.columns) + r" \\"
    rows = [" & ".join(map(_latex_cell, row)) + r" \\" for row in sheet.rows]
    caption = rf"\caption{{{latex_text(_caption(sheet))}}}\label{{tab:{sheet.name.replace('_', '-')}}}"
    packages = "booktabs and longtable" if len(rows) > _LONG else "booktabs"
    body = [r"\toprule", head, r"\midrule", *rows, r"\bottomrule"]
    if len(rows) > _LONG:
        body = [
            caption + r" \\",
            r"\toprule",
            head,
            r"\midrule",
            r"\endfirsthead",
            r"\toprule",
            head,
            r"\midrule",
        ]
        body += [r"\endhead", r"\bottomrule", r"\endlastfoot", *rows]
        lines = [r"{\footnotesize\setlength{\tabcolsep}{3pt}", rf"\begin{{longtable}}{{{sides}}}", *body]
        lines += [r"\end{longtable}", "}"]
    else:
        lines = [r"\begin{table}", r"\centering\footnotesize\setlength{\tabcolsep}{3pt}", caption]
        lines += [rf"\begin{{tabular}}{{{sides}}}", *body, r"\end{tabular}", r"\end{table}"]
    return "\n".join([f"% needs \\usepackage for {packages}", *lines, ""])


def latex_text(text: str) -> str:
    r"""Return a text as LaTeX prints it.

    >>> print(latex_text("50 % of a_b\n{x} & R²"))
    50 \% of a\_b \{x\} \& R$^2$
    """
    return "".join(_LATEX.get(letter, letter) for letter in _SPACES.sub(" ", text))


def markdown(sheet: Sheet) -> str:
    """Return a sheet as a pipe table, its columns aligned, below its title and above its caption."""
    table = "\n".join(pipe_table(sheet))
    caption = markdown_text(_caption(sheet))
    return f"**{markdown_text(sheet.title)}**\n\n{table}\n" + (f"\n{caption}\n" if caption else "")


def pipe_table(sheet: Sheet) -> list[str]:
    """Return the lines of a pipe table."""
    right = [column.kind == "number" for column in sheet.columns]
    head = [markdown_text(column.title) for column in sheet.columns]
    rows = [[_markdown_cell(cell) for cell in row] for row in sheet.rows]
    widths = [max(3, *map(len, column)) for column in zip(head, *rows, strict=True)]
    rule = [
        "-" * (width - 1) + ":" if side else "-" * width for side, width in zip(right, widths, strict=True)
    ]
    return [_pipes(line, widths, right) for line in (head, rule, *rows)]


def _pipes(entries: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    padded = [
        entry.rjust(width) if side else entry.ljust(width)
        for entry, width, side in zip(entries, widths, right, strict=True)
    ]
    return f"| {' | '.join(padded)} |"


def markdown_text(text: str) -> str:
    r"""Return a text as Markdown shows it.

    >>> print(markdown_text("a|b\n<c> d_e"))
    a\|b \<c\> d_e
    """
    return _MARKDOWN.sub(lambda found: "\\" + found.group(), _SPACES.sub(" ", text).replace("&", "&amp;"))


def _caption(sheet: Sheet) -> str:
    paper = "In parentheses what the paper prints." if sheet.has_paper else ""
    return " ".join(part for part in (f"{sheet.title}.", sheet.caption, paper) if part)


def _latex_cell(cell: Cell) -> str:
    return _cell(cell, latex_text, r"\textbf{", "}")


def _markdown_cell(cell: Cell) -> str:
    return _cell(cell, markdown_text, "**", "**")


def _cell(cell: Cell, escape: Callable[[str], str], begin: str, end: str) -> str:
    own = f"{begin}{escape(cell.text)}{end}" if cell.best else escape(cell.text)
    return " ".join(
        [
            own,
            *([escape(cell.error)] if cell.error else []),
            *([escape(f"({cell.paper})")] if cell.paper else []),
        ]
    )
