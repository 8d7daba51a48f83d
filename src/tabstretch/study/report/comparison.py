"""Sections of means: Table 1, thresholds, composition, single metrics."""

from __future__ import annotations

import pandas as pd

from tabstretch.study.figures import display_name, draw_delta_sweep
from tabstretch.study.report.findings import Findings
from tabstretch.study.report.pictures import Picture, short_names
from tabstretch.study.report.sections import Section, counted
from tabstretch.study.report.sheets import Layout, Sheet, grid_sheet, plain_sheet
from tabstretch.study.statistics.panels import ALL, LOWER_IS_BETTER

_SCORES = ("overall_score", "classification_score", "regression_score")


def scores_section(findings: Findings) -> Section:
    """Table 1 and how it agrees with the paper's."""
    table = _hinted(findings.table1)
    sheet = grid_sheet(
        "table1",
        "Scores, and means of accuracy and R²",
        table,
        ["statistic", "model"],
        digits=lambda row: 4 if row["statistic"] in _SCORES else 3,
        caption="Means over panels; accuracy and R² without the panels that are ties. ± is the mean standard "
        "error over seeds, “> .05” marks a panel whose seeds differ by more than 0.20.",
    )
    agreement = replication(findings.table1)
    items = [sheet]
    if len(agreement):
        items.append(_replication_sheet(agreement))
    return Section("table1", "Scores (Table 1)", (), tuple(items))


def replication(table: pd.DataFrame) -> pd.DataFrame:
    """Compare rows of `table1`, beside the paper's, with what the paper prints.

    Returns
    -------
    DataFrame
        statistic, model, n_cells (in both), mean_difference (absolute), rank_correlation (Spearman's, NaN for
        fewer than three), best_here, best_paper.
    """
    both = table.dropna(subset=["value", "value_paper"])
    rows = []
    for (statistic, model), group in both.groupby(["statistic", "model"], sort=False, observed=True):
        varies = len(group) > 2 and group["value"].nunique() > 1
        rows.append(
            {
                "statistic": statistic,
                "model": model,
                "n_cells": len(group),
                "mean_difference": (group["value"] - group["value_paper"]).abs().mean(),
                "rank_correlation": group["value"].rank().corr(group["value_paper"].rank())
                if varies
                else float("nan"),
                "best_here": _best(group, "value"),
                "best_paper": _best(group, "value_paper"),
            }
        )
    columns = [
        "statistic",
        "model",
        "n_cells",
        "mean_difference",
        "rank_correlation",
        "best_here",
        "best_paper",
    ]
    return pd.DataFrame(rows, columns=columns)


def _best(group: pd.DataFrame, column: str) -> str:
    best = group.loc[group[column] == group[column].max(), "transformation"]
    return ", ".join(display_name(name) for name in best)


def _replication_sheet(agreement: pd.DataFrame) -> Sheet:
    layout = Layout(
        digits={"mean_difference": 3, "rank_correlation": 2},
        choose=("statistic", "model"),
        headings={
            "n_cells": "Cells in both",
            "mean_difference": "Mean |difference|",
            "rank_correlation": "Rank correlation",
            "best_here": "Best here",
            "best_paper": "Best in the paper",
        },
    )
    return plain_sheet(
        "replication",
        "Agreement with the paper",
        agreement,
        layout=layout,
        caption="Over the transformations that both have. A rank correlation of 1 is the paper's order of "
        "transformations, −1 its reverse.",
    )


def sweep_section(findings: Findings) -> Section:
    """Scores under fixed thresholds."""
    sweep = findings.sweep
    text = (
        "Would other thresholds below which a panel counts as a tie change who leads? At δ = 0 only "
        "equal means "
        "tie; far to the right everything does, at 0.5.",
    )
    sheet = grid_sheet(
        "delta_sweep",
        "Mean scores by threshold",
        sweep,
        ["tasks", "delta"],
        value="score",
        shown=sweep[sweep["model"] == ALL],
        layout=Layout(digits={"delta": 5}, choose=("tasks",)),
        caption="All networks together; the exported table has each.",
        folded=True,
    )
    drawn = Picture(
        "delta", "Mean normalised score along the threshold δ", lambda: draw_delta_sweep(short_names(sweep))
    )
    return Section("delta", "Fixed thresholds", text, (drawn, sheet))


def breakdown_section(findings: Findings) -> Section:
    """Means by composition of the data sets."""
    table = findings.breakdown
    if table is None:
        return Section(
            "composition",
            "Feature composition",
            ("The results do not say how many numeric and categorical columns each data set has.",),
        )
    best = table["value"].round(4)
    rows = [table[key] for key in ("composition", "tasks", "model")]
    table = _hinted(table.assign(best=best == best.groupby(rows, observed=True).transform("max")))
    sheet = grid_sheet(
        "breakdown",
        "Accuracy and R² by feature composition",
        table.drop(columns="sem"),
        ["composition", "tasks", "model"],
        digits=4,
        caption="A kind of column dominates where it outnumbers the other by more than two to one. Ties "
        "count.",
    )
    return Section("composition", "Feature composition", (), (sheet,))


def metrics_section(findings: Findings) -> Section:
    """One table for each metric."""
    table = _hinted(findings.metrics)
    sheets = [
        grid_sheet(
            f"metric_{metric}",
            display_name(str(metric)),
            part,
            ["model"],
            digits=2 if metric in LOWER_IS_BETTER else 3,
            caption="Lower is better. In the units of each target: a few data sets decide the mean."
            if metric in LOWER_IS_BETTER
            else "",
            layout=Layout(),
        )
        for metric, part in table.groupby("metric", sort=False, observed=True)
    ]
    text = ("Means over the panels that are not ties under that metric.",)
    return Section("metrics", "Each metric", text, tuple(sheets))


def _hinted(table: pd.DataFrame) -> pd.DataFrame:
    """Say in words how many panels a figure stands for."""
    counts = {"n_ties": "ties", "n_failed": "failed", "n_missing": "not run", "n_noted": "with a note"}
    columns = [table[name] for name in ("n_panels", *counts)]
    hints = [
        ", ".join(
            [
                counted(int(panels), "panel"),
                *(f"{n} {word}" for n, word in zip(rest, counts.values(), strict=True) if n),
            ]
        )
        for panels, *rest in zip(*columns, strict=True)
    ]
    return table.assign(hint=hints)
