"""Findings -> sentences: who leads, by how much, on how much evidence, and at what cost."""

from __future__ import annotations

import pandas as pd

from tabstretch.study import statistics
from tabstretch.study.figures.names import display_name
from tabstretch.study.paper import paper_table
from tabstretch.study.report.comparison import replication
from tabstretch.study.report.findings import Findings
from tabstretch.study.report.material import Material
from tabstretch.study.report.sections import Section, counted, listed
from tabstretch.study.statistics.panels import ALL

ALPHA = 0.05


def warnings_of(material: Material, findings: Findings | None) -> list[str]:
    """Return what a reader must know before anything else."""
    said = []
    record = material.record
    if record is not None and material.n_missing:
        said.append(
            f"This study is not finished: {len(material.results):,} of {counted(record.n_runs, 'run')} are "
            "stored. Everything below may change."
        )
    if record is None:
        said.append(
            "These results come from a file: which plan, versions and machine they were computed with is "
            "not known here."
        )
    if findings is not None and findings.n_complete < findings.n_begun:
        panels = f"{findings.n_complete} of {counted(findings.n_begun, 'panel')}"
        said.append(
            f"Every transformation has run in {panels} (a panel is a data set and a network). Only these are "
            "compared; results by data set show all."
            if findings.restricted
            else f"Every transformation has run in only {panels} (a panel is a data set and a network). All "
            "are used, so means of different transformations are over different panels."
        )
    level = material.results["noise"].min() if len(material.results) else 0
    if level:
        said.append(f"There is no clean run: everything but the noise section is at label noise {level:g}.")
    return said


def summary(material: Material, findings: Findings | None) -> Section:
    """Say what was found in plain words."""
    text = [_budget(material)]
    if findings is None:
        text.append("No run is stored yet, so there is nothing to compare.")
    elif not findings.comparable:
        text.append(_why_not(findings))
    else:
        text += [
            _leader(findings),
            _evidence(findings),
            _by_tasks(findings),
            _ties(findings),
            _paper(findings),
        ]
    return Section("summary", "Summary", tuple(part for part in text if part))


def _budget(material: Material) -> str:
    results, record = material.results, material.record
    plan = record.plan if record else None
    names = {
        one: len(getattr(plan, f"{one}s")) if plan else results[one].nunique()
        for one in ("dataset", "model", "transformation")
    }
    tasks = results.drop_duplicates("dataset")["task"]
    if len(tasks) < names["dataset"]:  # of those that have no run yet the task is not known here
        tasks = tasks.iloc[:0]
    kinds = [
        f"{number} of {kind}"
        for kind, number in (
            ("classification", int((tasks != "regression").sum())),
            ("regression", int((tasks == "regression").sum())),
        )
        if number
    ]
    what = (
        f"{counted(names['dataset'], 'data set')}{f' ({listed(kinds)})' if len(kinds) > 1 else ''}, "
        f"{counted(names['model'], 'network')} and {counted(names['transformation'], 'transformation')}"
    )
    failed = int((results["status"] != "ok").sum())
    runs = f"{counted(len(results), 'run')}, of which {failed:,} failed"
    return f"{what}; {_tuning(material)}: {runs}."


def _tuning(material: Material) -> str:
    results, record = material.results, material.record
    seeds = record.plan.seeds if record else int(results["seed"].nunique())
    if record:
        trials = record.plan.trials
    elif "trials" in results.columns and results["trials"].notna().any():
        trials = int(results["trials"].max())
    else:
        return f"{counted(seeds, 'seed')} each"
    tuned = f"tuned in {counted(trials, 'trial')}" if trials else "with its published defaults, untuned,"
    return f"each network {tuned} and trained with {counted(seeds, 'seed')}"


def _why_not(findings: Findings) -> str:
    names = findings.scores["transformation"].unique().tolist()
    if (findings.scores["state"] != "ok").all():
        return "Every run failed; what failed, and how, is listed below."
    if len(names) == 1:
        return f"{display_name(names[0])} is the only transformation, so there is nothing to compare it with."
    return "No panel has two transformations to compare."


def _leader(findings: Findings) -> str:
    values = _overall(findings.intervals).set_index("transformation")["value"]
    first, *others = findings.order
    said = f"{display_name(first)} has the highest mean normalised score: {values[first]:.3f}"
    level = [display_name(name) for name in others if abs(values[name] - values[first]) < 5e-4]
    if level:
        said += f", as has {listed(level)}"
    elif others:
        said += f", against {values[others[0]]:.3f} of {display_name(others[0])}, the next"
    scale = "for each data set and network, the worst transformation scores 0 and the best 1"
    return f"{said}. In each panel, that is {scale}."


def _evidence(findings: Findings) -> str:
    said = []
    lead = _overall(findings.lead).set_index("transformation") if len(findings.order) > 1 else pd.DataFrame()
    if len(lead):
        row = lead.loc[findings.order[1]]
        n = f"{row['n_datasets']:.0f}"
        if row["low"] == row["low"]:
            verdict = (
                "it would probably lead on other data sets like these"
                if row["low"] > 0
                else "0 is among these, so the data sets do not decide between the two"
            )
            said.append(
                f"Resampling the {n} data sets puts its lead over {display_name(findings.order[1])} between "
                f"{row['low']:.3f} and {row['high']:.3f} (95 %): {verdict}. The leader was chosen from these "
                "same results, which favours it a little."
            )
        else:
            said.append("One data set alone cannot tell how far this holds for others.")
    said += [_friedman(findings)]
    return " ".join(part for part in said if part)


def _friedman(findings: Findings) -> str:
    row = findings.friedman.set_index("tasks").loc[ALL]
    if row["f_p_value"] != row["f_p_value"]:
        return ""
    blocks = findings.blocks.get(ALL)
    if blocks is None:
        blocks = next(iter(findings.blocks.values()))
    p_value = "p < 0.001" if row["f_p_value"] < 0.001 else f"p = {row['f_p_value']:.3f}"
    n = counted(len(blocks), "data set")
    if row["f_p_value"] >= ALPHA:
        said = f"By ranks over {n}, Friedman's test finds no difference between transformations ({p_value})."
    else:
        means = blocks.mean().sort_values(kind="stable")
        apart = statistics.nemenyi_test(blocks)[means.index[0]].drop(means.index[0]) < ALPHA
        close = [display_name(str(name)) for name in means.index[1:] if not apart[name]]
        said = (
            f"By ranks over {n}, transformations differ (Friedman, {p_value}); "
            f"{display_name(str(means.index[0]))} ranks best ({means.iloc[0]:.2f}), and Nemenyi's test "
            + (
                f"does not tell it apart from {listed(close)}."
                if close
                else "tells it apart from all others."
            )
        )
    return f"{said} {row['note'][:1].upper()}{row['note'][1:]}." if row["note"] else said


def _by_tasks(findings: Findings) -> str:
    said = []
    chosen = findings.intervals[(findings.intervals["model"] == ALL) & (findings.intervals["tasks"] != ALL)]
    for tasks, group in chosen.dropna(subset="value").groupby("tasks", sort=False):
        best = group.sort_values("value", ascending=False, kind="stable").iloc[0]
        said.append(f"on {tasks} {display_name(best['transformation'])} leads ({best['value']:.3f})")
    return f"{listed(said)[:1].upper()}{listed(said)[1:]}." if len(said) > 1 else ""


def _ties(findings: Findings) -> str:
    panels = findings.scores[findings.scores["compared"]].drop_duplicates(["dataset", "model"])
    n_ties = int(panels["tie"].sum())
    if not n_ties:
        return ""
    return (
        f"In {n_ties:,} of {counted(len(panels), 'panel')} transformations differ by less than seeds "
        f"do: these "
        "are ties and score 0.5 for all."
    )


def _paper(findings: Findings) -> str:
    ours = findings.rows.drop_duplicates("dataset")
    shared = len(shared_datasets(ours))
    agreement = replication(findings.table1)
    overall = agreement[agreement["statistic"] == "overall_score"].dropna(subset="rank_correlation")
    if overall.empty:
        return ""
    mean = overall["rank_correlation"].mean()
    return (
        "Where the paper prints the same cell, its figure stands in grey under ours. Its means are over 38 "
        f"data sets, {shared or 'none'} of which {'is' if shared < 2 else 'are'} among the {len(ours)} here. "
        f"The order of transformations by overall score correlates with the paper's by {mean:.2f} "
        f"(1 is the same order, 0 none; mean over {counted(len(overall), 'network')})."
    )


def shared_datasets(ours: pd.DataFrame) -> list[str]:
    """Return the data sets that are the paper's: the same name, task and, where known, number of columns."""
    counts = [name for name in ("n_numeric", "n_categorical") if name in ours.columns]
    both = ours[["dataset", "task", *counts]].merge(
        paper_table("datasets"), on=["dataset", "task"], suffixes=("", "_paper")
    )
    if len(counts) == 2:
        both = both[both[counts].sum(axis=1) == both[["n_numeric_paper", "n_categorical_paper"]].sum(axis=1)]
    return both["dataset"].tolist()


def _overall(table: pd.DataFrame) -> pd.DataFrame:
    return table[(table["tasks"] == ALL) & (table["model"] == ALL)]
