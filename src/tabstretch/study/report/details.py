"""Sections of details: results by data set, and what runs cost."""

from __future__ import annotations

import pandas as pd

from tabstretch.study import statistics
from tabstretch.study.metrics import main_metric
from tabstretch.study.report.sections import Section, counted
from tabstretch.study.report.sheets import Layout, grid_sheet, plain_sheet
from tabstretch.study.statistics.panels import PANEL

_COSTS = {"seconds": 2, "fit_seconds": 3, "peak_memory_mb": 0, "epochs": 0}


def datasets_section(results: pd.DataFrame) -> Section:
    """Every cell, those of incomplete panels too."""
    scored = statistics.normalised_scores(results)
    scored = scored.sort_values("dataset", kind="stable", key=lambda names: names.str.casefold())
    rounded = scored["value"].round(3)
    best = rounded == rounded.groupby([scored[key] for key in PANEL], observed=True).transform("max")
    shown = scored.assign(
        metric=scored["task"].map(main_metric),
        tie=scored["tie"].map({True: "tie", False: ""}),
        best=best & ~scored["tie"],
        hint=[
            _hint(state, seeds, failed, noted)
            for state, seeds, failed, noted in zip(
                scored["state"], scored["n_seeds"], scored["n_failed_seeds"], scored["noted"], strict=True
            )
        ],
    ).drop(columns="sem")
    sheet = grid_sheet(
        "datasets",
        "Accuracy or R² on the test part, mean over seeds",
        scored,
        ["dataset", "model", "metric", *["tie"] * bool(scored["tie"].any())],
        shown=shown,
        layout=Layout(choose=("dataset", "model", "metric", "tie"), headings={"tie": "Tie"}),
        caption="± is the standard deviation over seeds. R² is clipped to [0, 1]. The best of a panel "
        "is bold, unless the panel "
        "is a tie: best and worst differ by no more than the median of these standard deviations.",
    )
    return Section("datasets", "Results by data set", (), (sheet,))


def _hint(state: str, n_seeds: int, n_failed: int, noted: bool) -> str:
    if state == "missing":
        return "not run"
    parts = [
        counted(n_seeds, "seed"),
        f"{n_failed} failed" if n_failed else "",
        "with a note" if noted else "",
    ]
    return ", ".join(part for part in parts if part)


def costs_section(results: pd.DataFrame) -> Section | None:
    """Time and memory of a run, where the results have them."""
    known = [name for name in _COSTS if name in results.columns and results[name].notna().any()]
    if not known:
        return None
    groups = results[results["status"] == "ok"].groupby(
        ["model", "transformation"], sort=False, observed=True
    )
    medians = groups[known].median().astype("float64").reset_index()
    layout = Layout(
        digits=_COSTS,
        choose=("model", "transformation"),
        headings={
            "seconds": "Seconds",
            "fit_seconds": "Seconds to fit the transformation",
            "peak_memory_mb": "Peak memory, MB",
            "epochs": "Epochs",
        },
    )
    sheet = plain_sheet(
        "costs", "Time and memory", medians, layout=layout, caption="Medians over data sets and seeds."
    )
    total = results["seconds"].sum() if "seconds" in known else 0.0
    text = (f"All runs together trained for {_duration(float(total))}, trials not counted.",) if total else ()
    return Section("costs", "What it cost", text, (sheet,))


def _duration(seconds: float) -> str:
    """Write a time.

    >>> [_duration(seconds) for seconds in (42, 600, 7200, 200000)]
    ['42 seconds', '10.0 minutes', '2.0 hours', '55.6 hours']
    """
    if seconds < 120:
        return f"{seconds:.0f} seconds"
    return f"{seconds / 60:.1f} minutes" if seconds < 7200 else f"{seconds / 3600:.1f} hours"
