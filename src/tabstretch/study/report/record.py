"""Sections of record: what was run, on what, what failed, and how to run it again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from tabstretch.study import statistics
from tabstretch.study.figures import display_name
from tabstretch.study.paper import paper_table
from tabstretch.study.plan_text import plan_text
from tabstretch.study.report.material import Material, Record
from tabstretch.study.report.sections import Section, counted, listed
from tabstretch.study.report.sheets import Layout, Sheet, entries_sheet, plain_sheet
from tabstretch.study.report.summary import shared_datasets
from tabstretch.study.statistics.composition import composition_of
from tabstretch.study.statistics.panels import PANEL

_FACTS = ("task", "n_numeric", "n_categorical", "n_classes", "n_train", "n_val", "n_test", "checksum")


def run_section(material: Material) -> Section:
    """Plan, data sets, versions and machine."""
    record = material.record
    items: list[Sheet] = []
    text: tuple[str, ...] = ()
    if record is None:
        text = ("The file holds results only: neither plan nor versions nor machine are known.",)
    else:
        items.append(entries_sheet("plan", "Plan", _plan_entries(record)))
    if len(material.results):
        items.append(_datasets_sheet(material))
    if record is not None:
        items.append(
            entries_sheet(
                "versions",
                "Versions and machine",
                _environment_entries(record.environment),
                caption="Of the command that started the study.",
            )
        )
    return Section("run", "What was run", text, tuple(items))


def _plan_entries(record: Record) -> list[tuple[str, str]]:
    plan = record.plan
    runs = f"{record.n_runs:,} runs and {record.n_trainings - record.n_runs:,} trials"
    return [
        ("Study", plan.name),
        ("Storage", record.place),
        ("Planned", runs),
        ("Networks", ", ".join(plan.models)),
        ("Transformations", ", ".join(plan.transformations)),
        ("Trials of each search", str(plan.trials) if plan.trials else "0: published defaults"),
        ("Seeds", str(plan.seeds)),
        ("Training rows", f"at most {plan.train_rows:,}" if plan.train_rows else "all"),
        ("Epochs, patience, batch size", f"{plan.epochs}, {plan.patience}, {plan.batch_size}"),
        ("Memory limit", f"{plan.memory_limit_gb:g} GB"),
        ("Label noise", ", ".join(f"{level:g}" for level in plan.noise)),
    ]


def _environment_entries(environment: Mapping[str, Any]) -> list[tuple[str, str]]:
    packages = dict(environment.get("packages") or {})
    others = [(str(name), str(value)) for name, value in environment.items() if name != "packages"]
    return others + [(name, version or "not installed") for name, version in packages.items()]


def _datasets_sheet(material: Material) -> Sheet:
    results, record = material.results, material.record
    known = [name for name in _FACTS if name in results.columns]
    table = results[["dataset", *known]].drop_duplicates("dataset").reset_index(drop=True)
    if {"n_numeric", "n_categorical"} <= set(known) and table[["n_numeric", "n_categorical"]].notna().all(
        axis=None
    ):
        table.insert(
            2, "composition", composition_of(table["n_numeric"], table["n_categorical"]).astype(object)
        )
    if record is not None:
        table.insert(1, "source", [record.sources.get(name, "") for name in table["dataset"]])
        own = ["its own" if name in record.own_split else "ours" for name in table["dataset"]]
        table.insert(len(table.columns) - ("checksum" in known), "split", own)
    for name in known:
        if name.startswith("n_"):  # a file may have gaps, which make floats of all
            table[name] = pd.to_numeric(table[name]).astype("Int64")
    if {"n_train", "n_val", "n_test"} <= set(known):
        rows = table[["n_train", "n_val", "n_test"]].sum(axis=1, skipna=False)
        table.insert(table.columns.tolist().index("n_train"), "n_rows", rows)
    if material.signals is not None:
        ratios = table["dataset"].map(dict(material.signals.imbalance)).astype("float64")
        table.insert(len(table.columns) - ("checksum" in known), "imbalance_ratio", ratios)
    layout = Layout(
        digits={"imbalance_ratio": 3},
        choose=("task", "composition"),
        code=("source", "checksum"),
        headings={"checksum": "SHA-256"},
    )
    ratio = " The imbalance ratio is that of the largest class to the smallest."
    return plain_sheet(
        "data",
        "Data sets",
        table,
        layout=layout,
        paper=_facts_in_paper(table),
        caption=f"Train, validation and test are numbers of rows."
        f"{ratio if 'imbalance_ratio' in table.columns else ''}",
    )


def _facts_in_paper(table: pd.DataFrame) -> dict[str, pd.Series]:
    """Return what the paper prints of the same data sets, by column."""
    printed = paper_table("datasets").set_index("dataset")
    printed = printed.reindex(table["dataset"].where(table["dataset"].isin(shared_datasets(table))))
    columns = ("n_numeric", "n_categorical", "n_rows", "imbalance_ratio", "n_classes")
    return {name: printed[name] for name in columns if name in table.columns}


def failures_section(material: Material) -> Section:
    """List what is missing, failed or has a note."""
    results, record = material.results, material.record
    items: list[Sheet] = []
    text: list[str] = []
    if record is not None and material.n_missing:
        text += _not_begun(results, record)
        items.append(_progress_sheet(results, record))
    if len(results):
        failed = int((results["status"] != "ok").sum())
        noted = int((results["note"] != "").sum())
        text.append(
            f"{failed:,} of {counted(len(results), 'run')} failed; {noted:,} "
            f"{'has' if noted == 1 else 'have'} a note, such as a fallback to another transformation. A cell "
            "whose seeds all failed is counted as the worst of its panel."
            if failed or noted
            else "No run failed, and none has a note."
        )
        items += _trouble_sheets(results)
    return Section("failed", "What failed, and notes", tuple(text), tuple(items))


def _trouble_sheets(results: pd.DataFrame) -> list[Sheet]:
    troubles = statistics.troubles(results)
    if troubles.empty:
        return []
    states = {"ok": "has values", "failed": "all seeds failed", "missing": "not run"}
    said = ["\n".join(filter(None, both)) for both in zip(troubles["errors"], troubles["notes"], strict=True)]
    shown = troubles.assign(state=troubles["state"].map(states), said=said)
    shown = shown.sort_values("n_failed_seeds", ascending=False, kind="stable")
    listing = plain_sheet(
        "troubles",
        "Cells that were not run, failed or have a note",
        troubles,
        shown=shown.drop(columns=["errors", "notes"]),
        layout=Layout(
            choose=("dataset", "model", "transformation", "state"),
            code=("said",),
            headings={"said": "Errors and notes"},
        ),
    )
    layout = Layout(choose=("model", "transformation"))
    return [
        listing,
        plain_sheet(
            "coverage", "By transformation", statistics.coverage(results), layout=layout, folded=True
        ),
    ]


def _not_begun(results: pd.DataFrame, record: Record) -> list[str]:
    said = []
    lacking = [name for name in record.plan.transformations if name not in set(results["transformation"])]
    if lacking and len(results):
        said.append(f"Not begun: {listed([display_name(name) for name in lacking], most=20)}.")
    unknown = len(record.plan.datasets) - len(record.sources)
    if unknown > 0:
        said.append(
            f"{counted(unknown, 'data set')} of the plan was never read."
            if unknown == 1
            else f"{counted(unknown, 'data set')} of the plan were never read."
        )
    return said


def _progress_sheet(results: pd.DataFrame, record: Record) -> Sheet:
    plan = record.plan
    panels = pd.MultiIndex.from_product([list(record.sources), plan.models], names=PANEL)
    runs = results.assign(failed=results["status"] != "ok").groupby(PANEL)["failed"].agg(["size", "sum"])
    table = runs.reindex(panels, fill_value=0).astype(int).reset_index()
    table.columns = pd.Index([*PANEL, "stored", "failed"])
    table.insert(2, "planned", len(plan.transformations) * plan.seeds)
    return plain_sheet(
        "progress",
        "Runs by panel",
        table,
        layout=Layout(choose=PANEL),
        caption="At the lowest level of noise.",
        folded=True,
    )


def rerun_section(material: Material) -> Section:
    """Commands, and the plan they need."""
    record = material.record
    if record is None:
        return Section(
            "rerun",
            "How to make this page again",
            ("How the results were computed is not known; the page is made from them by",),
            code="\n".join(material.commands),
        )
    text = (
        "In an environment with the versions above. Paths in the plan are relative to its folder; the "
        "data must have the "
        "checksums above. The same plan gives the same figures, apart from times, with the same "
        "versions and number of "
        "threads on the same kind of machine; what is stored already is not run again.",
    )
    code = f"{_install(record.environment)}\n" + "\n".join(material.commands)
    return Section(
        "rerun", "How to run it again", text, (), f"{code}\n\n# The plan\n{plan_text(record.plan)}"
    )


def _install(environment: Mapping[str, Any]) -> str:
    # The part after "+" says how a package was built, which its index may not offer.
    found = (environment.get("packages") or {}).items()
    packages = {name: version.partition("+")[0] for name, version in found if version}
    own = packages.pop("tabstretch", None)
    first = f"'tabstretch[study,report]{f'=={own}' if own else ''}'"
    return " ".join(["pip install", first, *(f"'{name}=={version}'" for name, version in packages.items())])
