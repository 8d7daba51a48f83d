"""Small studies as material of reports, without a storage."""

from typing import Any

import pandas as pd
from study.results_maker import frame, panel

from tabstretch.study.plan import StudyPlan
from tabstretch.study.report.material import Material, Record, checked_results

EVIL = "<script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'>\"'&\n</td></table>$x_{"
"""A name that tries everything: markup, quotes, a line break, and what matplotlib takes for a formula."""


def material(results: pd.DataFrame, **more: Any) -> Material:
    rows = checked_results(results)
    clean = rows[rows["noise"] == rows["noise"].min()].reset_index(drop=True)
    noise = rows if rows["noise"].nunique() > 1 else None
    return Material(
        **{"title": "example", "results": clean, "commands": ("tabstretch …",), "noise": noise, **more}
    )


def record(**changes: Any) -> Record:
    plan = StudyPlan(
        name="example",
        datasets=("sklearn:wine", "sklearn:diabetes"),
        models=("mlp",),
        transformations=("ple", "minmax", "standard"),
        trials=7,
        seeds=2,
    )
    environment = {"python": "3.11.7", "cores": 2, "packages": {"tabstretch": "0.1.0", "torch": "2.13.0+cpu"}}
    values = {
        "plan": plan,
        "environment": environment,
        "place": "example.db",
        "sources": {"wine": "sklearn:wine", "diabetes": "sklearn:diabetes"},
        "checksums": {},
        "own_split": frozenset(),
        "n_runs": 12,
        "n_trainings": 12 + 42,
        "trainings_done": 54,
    }
    return Record(**{**values, **changes})


def three(name: str, metric: str = "accuracy", **changed: Any) -> list[dict[str, Any]]:
    """A panel in which `ple` is best and `standard` worst."""
    values = {"ple": [0.9, 0.92], "minmax": [0.8, 0.82], "standard": [0.5, 0.52]}
    return panel(name, metric=metric, **{**values, **changed})


STUDIES = {
    "no runs": frame(three("a")).iloc[:0],
    "one transformation": frame(panel("a", ple=[0.9, 0.8])),
    "one run": frame(panel("a", ple=[0.9])),
    "one panel": frame(panel("a", ple=[0.9, 0.8], minmax=[0.7, 0.6])),
    "only regression": frame(*[three(name, "r2") for name in "abc"]),
    "all failed": frame(panel("a", ple=[None, None], minmax=[None])),
    "no pair": frame(panel("a", ple=[0.9]), panel("b", metric="r2", minmax=[0.4])),
    "half done": frame(
        panel("a", ple=[0.9], minmax=[0.8], standard=[None]),
        panel("b", metric="r2", ple=[0.9]),
        panel("c", metric="r2", ple=[-3.0], minmax=[0.2]),
    ),
    "only ties": frame(*[panel(name, ple=[0.9, 0.9], minmax=[0.9, 0.9]) for name in "ab"]),
    "evil names": frame(
        *[panel(name, ple=[0.9, None], minmax=[0.8, 0.7], **{EVIL: [0.3, 0.4]}) for name in (EVIL, "日本")],
        error=EVIL,
        note=EVIL,
    ),
    "noise": pd.concat(
        [frame(panel("a", ple=[0.9, 0.8], minmax=[0.7, 0.6])).assign(noise=level) for level in (0.1, 0.5)]
    ),
}
"""One for each way in which a study may be small, unfinished or strange."""
