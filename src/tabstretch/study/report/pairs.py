"""Sections of pairs: win rates, and wins, losses and ties."""

from __future__ import annotations

from functools import partial

import pandas as pd

from tabstretch.study import statistics
from tabstretch.study.figures import display_name, draw_pairs, draw_win_rates
from tabstretch.study.figures.style import task_groups
from tabstretch.study.report.findings import Findings
from tabstretch.study.report.pictures import Picture, short_names
from tabstretch.study.report.sections import Section
from tabstretch.study.report.sheets import Layout, Sheet, grid_sheet, plain_sheet
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
    text = (
        "Each panel once for every pair, under the same rule. A panel above the diagonal is better under the "
        "transformation that the figure is about. Every pair is drawn: the leader and the paper's stretches "
        "against all others, then what is left.",
    )
    pictures = [
        drawn
        for number, (name, points) in enumerate(_drawn(findings))
        for drawn in _scatters(points, name, number)
    ]
    return Section("pairs", "Wins, losses and ties", text, (*pictures, _pairs_sheet(findings.pairs)))


def _drawn(findings: Findings) -> list[tuple[str, pd.DataFrame]]:
    """Return transformations, the leader first, and the panels of each against those still to be drawn."""
    names = findings.scores["transformation"].unique().tolist()
    stretches = [name for name in _STRETCHES if name in names]
    whole = dict.fromkeys([findings.order[0], *stretches])
    drawn: list[str] = []
    found = []
    for name in dict.fromkeys([*whole, *findings.order, *names]):
        points = statistics.pair_points(findings.rows, name)
        if name not in whole:
            points = points[~points["second"].isin(drawn)]
        drawn.append(name)
        if len(points):
            found.append((name, points))
    return found


def _scatters(points: pd.DataFrame, name: str, number: int) -> list[Picture]:
    against = points["second"].unique().tolist()
    other = display_name(against[0]) if len(against) == 1 else f"{len(against)} others"
    return [
        Picture(
            f"pairs-{number + 1}-{_identifier(name)}-{tasks}",  # letters alone need not be unique
            f"{display_name(name)} against {other}, {tasks}",
            partial(draw_pairs, short_names(points), tasks),
            folded=number > 0,
        )
        for tasks in ("classification", "regression")
        if (points["tasks"] == tasks).any()
    ]


def _identifier(name: str) -> str:
    return "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in name[:40])


def _pairs_sheet(pairs: pd.DataFrame) -> Sheet:
    chosen = pairs[pairs["model"] == ALL]
    return plain_sheet(
        "win_loss_tie",
        "Wins, losses and ties of every pair",
        pairs,
        shown=chosen[["tasks", "first", "second", "wins", "losses", "ties", "win_rate", "n_left_out"]],
        layout=Layout(choose=("tasks", "first", "second"), headings={"second": "Against"}),
        paper={name: chosen[f"{name}_paper"] for name in ("wins", "losses")},
        caption="All networks together; the exported table has each. Left out are panels in which one of the "
        "two was not run or neither has a value.",
    )
