"""Sections of pairs: win rates, and wins, losses and ties."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Any

import pandas as pd

from tabstretch.study import statistics
from tabstretch.study.figures import display_name, draw_pairs, draw_win_rates
from tabstretch.study.figures.style import task_groups
from tabstretch.study.report.findings import Findings
from tabstretch.study.report.pictures import Picture, short_names
from tabstretch.study.report.sections import Section
from tabstretch.study.report.sheets import Cell, Column, Layout, Sheet, grid_sheet
from tabstretch.study.statistics.panels import ALL

_STRETCHES = ("stretch_sup", "stretch_unsup")
"""The paper's, which are drawn against all others whoever leads."""


def win_rates_section(findings: Findings) -> Section:
    """How often each transformation wins against each other."""
    groups = task_groups(findings.pairs)
    counted = findings.pairs[["tasks", "n_panels"]].groupby("tasks")["n_panels"].sum()
    pictures = [
        Picture(
            f"winrates-{tasks}",
            f"Win rates of all pairs, {tasks}",
            partial(
                draw_win_rates,
                short_names(statistics.win_rate_matrix(findings.pairs, tasks=tasks)),
                title=display_name(tasks),
            ),
            folded=number > 0,
        )
        for number, tasks in enumerate(groups)
        if counted[tasks]
    ]
    text = (
        "How often, in percent of panels, the transformation at the left beats the one below. It wins a "
        "panel if its "
        "mean is better by more than the larger of both standard deviations over seeds; a tie counts as "
        "half.",
    )
    return Section("winrates", "Win rates", text, (*pictures, _rates_sheet(findings.pairs)))


def _rates_sheet(pairs: pd.DataFrame) -> Sheet:
    rates = pairs[["tasks", "model", "first", "second", "win_rate"]]
    return grid_sheet(
        "win_rates",
        "Win rates as a table",
        rates,
        ["tasks", "model", "first"],
        value="win_rate",
        shown=rates.rename(columns={"second": "transformation"}),
        layout=Layout(choose=("tasks", "model", "first"), headings={"first": "Wins of"}),
        caption="Wins of the row against the column, ties as half, as a share of panels.",
        folded=True,
    )


def pairs_section(findings: Findings) -> Section:
    """Wins, losses and ties of every pair, and the panels behind them."""
    text = ("Each panel once for every pair, under the same rule.",)
    pictures = [
        drawn
        for number, name in enumerate(_drawn(findings))
        for drawn in _scatters(findings.rows, name, folded=number > 0)
    ]
    return Section("pairs", "Wins, losses and ties", text, (*pictures, _pairs_sheet(findings.pairs)))


def _drawn(findings: Findings) -> list[str]:
    """Return the leader, and the paper's stretches where there are any."""
    names = findings.scores["transformation"].unique().tolist()
    return list(dict.fromkeys([findings.order[0], *[name for name in _STRETCHES if name in names]]))


def _scatters(rows: pd.DataFrame, name: str, folded: bool) -> list[Picture]:
    points = statistics.pair_points(rows, name)
    return [
        Picture(
            f"pairs-{_identifier(name)}-{tasks}",
            f"{display_name(name)} against each other transformation, {tasks}",
            partial(draw_pairs, short_names(points), tasks),
            folded=folded,
        )
        for tasks in ("classification", "regression")
        if (points["tasks"] == tasks).any()
    ]


def _identifier(name: str) -> str:
    return "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in name)


def _pairs_sheet(pairs: pd.DataFrame) -> Sheet:
    shown = pairs[pairs["model"] == ALL]
    layout = Layout(digits={"win_rate": 3}, choose=("tasks", "first", "second"))
    columns = ["tasks", "first", "second", "wins", "losses", "ties", "win_rate", "n_left_out"]
    heads = tuple(layout.column(name, shown[name]) for name in columns)
    rows = [
        tuple(_pair_cell(layout, record, name) for name in columns) for record in shown.to_dict("records")
    ]
    heads = tuple(Column("Against", "text", True) if head.title == "Second" else head for head in heads)
    return Sheet(
        "win_loss_tie",
        "Wins, losses and ties of every pair",
        heads,
        rows,
        pairs,
        caption="All networks together; the exported table has each. Left out are panels in which one of the "
        "two was not run or neither has a value.",
    )


def _pair_cell(layout: Layout, record: Mapping[Any, Any], name: str) -> Cell:
    cell = layout.cell(name, record[name])
    printed = record.get(f"{name}_paper")
    if printed is None or math.isnan(printed):
        return cell
    return Cell(cell.text, cell.value, paper=str(int(printed)))
