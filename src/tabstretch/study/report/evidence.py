"""Sections of evidence: ranks with Friedman's test, and intervals over data sets."""

from __future__ import annotations

from functools import partial

import pandas as pd

from tabstretch.study import statistics
from tabstretch.study.figures import display_name, draw_critical_difference, draw_scores
from tabstretch.study.report.findings import Findings
from tabstretch.study.report.pictures import Picture, short_names
from tabstretch.study.report.sections import Section
from tabstretch.study.report.sheets import Cell, Column, Layout, Sheet, grid_sheet, number_cell, plain_sheet


def ranks_section(findings: Findings) -> Section:
    """Mean ranks, Friedman's test and the critical difference."""
    text = (
        "Rank 1 is the best of a panel. Only panels in which every transformation was run have ranks. "
        "The tests count a "
        "data set once, by its mean ranks over networks: panels of one data set resemble each other.",
    )
    items: list[Sheet | Picture] = [
        Picture(
            f"critical-{tasks}",
            f"Critical difference diagram, {tasks}",
            partial(
                draw_critical_difference,
                short_names(ranks),
                statistics.critical_difference(ranks),
                title=display_name(tasks),
            ),
            caption="Nemenyi's test at 5 % does not tell apart what a bar joins."
            if len(ranks) > 1
            else "One data set is too few for a test: nothing is told apart.",
            folded=number > 0,
        )
        for number, (tasks, ranks) in enumerate(findings.blocks.items())
    ]
    items += [_ranks_sheet(findings.ranks), _friedman_sheet(findings.friedman)]
    items += [_nemenyi_sheet(ranks, tasks) for tasks, ranks in findings.blocks.items() if len(ranks) > 1]
    return Section("ranks", "Mean ranks and tests", text, tuple(items))


def _ranks_sheet(ranks: pd.DataFrame) -> Sheet:
    rows = [ranks[key] for key in ("tasks", "model")]
    rounded = ranks["mean_rank"].round(2)
    shown = ranks.assign(
        std=ranks["std_rank"], best=rounded == rounded.groupby(rows, observed=True).transform("min")
    )
    return grid_sheet(
        "mean_ranks",
        "Mean ranks over panels",
        ranks,
        ["tasks", "model"],
        value="mean_rank",
        digits=2,
        shown=shown,
        caption="± is the standard deviation over panels.",
    )


def _friedman_sheet(friedman: pd.DataFrame) -> Sheet:
    layout = Layout(
        digits={"p_value": 4, "f_p_value": 4, "statistic": 2, "f_statistic": 2, "critical_difference": 2}
    )
    shown = friedman.drop(columns="note") if (friedman["note"] == "").all() else friedman
    return plain_sheet(
        "friedman",
        "Friedman's test",
        friedman,
        shown=shown.rename(columns={"statistic": "chi_square"}),
        layout=Layout(digits={**layout.digits, "chi_square": 2}, headings={"chi_square": "χ²"}),
        caption="Whether some transformations rank better than others at all; F is Iman and Davenport's "
        "correction.",
    )


def _nemenyi_sheet(ranks: pd.DataFrame, tasks: str) -> Sheet:
    p_values = statistics.nemenyi_test(ranks)
    names = [str(name) for name in p_values.columns]
    rows = [
        (
            Cell(display_name(name), display_name(name).casefold()),
            *(_p_cell(name, other, p_values) for other in names),
        )
        for name in names
    ]
    return Sheet(
        f"nemenyi_{tasks}",
        f"Nemenyi's test, {display_name(tasks).lower()}",
        (Column("p", "text"), *(Column(display_name(name)) for name in names)),
        rows,
        p_values.rename_axis("transformation").reset_index(),
        caption="p-values of all pairs; bold below 0.05.",
        folded=True,
    )


def _p_cell(first: str, second: str, p_values: pd.DataFrame) -> Cell:
    if first == second:
        return Cell("")
    value = float(p_values.loc[first, second])  # type: ignore[arg-type]
    cell = number_cell(value)
    return Cell("< .001" if value < 0.001 else cell.text, value, best=value < 0.05)


def bootstrap_section(findings: Findings) -> Section:
    """Intervals over data sets, of scores and of the leader's lead."""
    layout = Layout(choose=("tasks", "model"), headings={"value": "Score", "low": "From", "high": "To"})
    items: list[Sheet | Picture] = [
        Picture(
            "scores",
            "Mean normalised scores with 95 % intervals",
            lambda: draw_scores(short_names(findings.intervals), short_names(findings.scores)),
            caption="A grey dot is a data set, its mean over networks.",
        ),
        plain_sheet(
            "score_intervals", "Mean scores and their 95 % intervals", findings.intervals, layout=layout
        ),
    ]
    if len(findings.order) > 1:
        lead, first = findings.lead, display_name(findings.order[0])
        shown = lead.drop(columns="reference").rename(columns={"value": "lead", "transformation": "over"})
        shown["over"] = shown["over"].map(display_name)
        items.append(
            plain_sheet(
                "lead_intervals",
                f"By how much {first} leads",
                lead,
                shown=shown,
                layout=Layout(
                    choose=("tasks", "model", "over"), headings={**layout.headings, "over": "Over"}
                ),
                caption="Difference of mean scores over panels that have both. An interval above 0 says that "
                f"{first} is better on data sets like these, below 0 that it is worse.",
            )
        )
    text = (
        "How far would the means move with other data sets? Data sets are drawn anew 2,000 times, with "
        "replacement, each "
        "with all its networks; an interval holds 95 % of the means. It needs two data sets.",
    )
    return Section("intervals", "Intervals over data sets", text, tuple(items))
