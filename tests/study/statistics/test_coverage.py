"""What was run, what failed, what is complete; tables as printed."""

import numpy as np
import pandas as pd
import pytest
from study.results_maker import frame, panel

from tabstretch.study.statistics import as_grid, complete_panels, coverage, printed, table1, troubles

HALF = frame(
    panel("a", ple=[0.9, None, 0.8], minmax=[None, None]),
    panel("b", ple=[0.9]),
    panel("b", model="ftt", ple=[0.9], minmax=[0.8]),
)
HALF.loc[HALF.index[-1], "note"] = "fell back"


def test_counts() -> None:
    table = coverage(HALF).set_index(["model", "transformation"])
    columns = [
        "n_panels",
        "n_ok",
        "n_partial",
        "n_failed",
        "n_missing",
        "n_noted",
        "n_seeds",
        "n_failed_seeds",
    ]
    assert table.loc[("all", "ple"), columns].tolist() == [3, 3, 1, 0, 0, 0, 5, 1]
    assert table.loc[("all", "minmax"), columns].tolist() == [3, 1, 0, 1, 1, 1, 3, 2]
    assert table.loc[("ftt", "minmax"), columns].tolist() == [1, 1, 0, 0, 0, 1, 1, 0]


def test_troubles_say_what_happened() -> None:
    table = troubles(HALF)
    assert table.to_numpy().tolist() == [
        ["a", "mlp", "minmax", "failed", 2, 2, "ValueError: it diverged", ""],
        ["a", "mlp", "ple", "ok", 3, 1, "ValueError: it diverged", ""],
        ["b", "mlp", "minmax", "missing", 0, 0, "", ""],
        ["b", "ftt", "minmax", "ok", 1, 0, "", "fell back"],
    ]


def test_a_study_without_troubles() -> None:
    assert troubles(frame(panel(ple=[0.9], minmax=[0.8]))).empty


def test_complete_panels() -> None:
    """A failure was run, so its panel is complete."""
    kept = complete_panels(HALF)
    assert kept[["dataset", "model"]].drop_duplicates().to_numpy().tolist() == [["a", "mlp"], ["b", "ftt"]]
    assert complete_panels(frame(panel("a", ple=[0.9]), panel("b", minmax=[0.9]))).empty


def test_grids_have_transformations_across() -> None:
    table = table1(
        frame(panel("b", ple=[0.9], minmax=[0.8]), panel("a", model="ftt", ple=[0.7], minmax=[0.8]))
    )
    grid = as_grid(table, ["statistic", "model"])
    assert grid.columns.tolist() == ["minmax", "ple"]
    assert grid.index.tolist()[:3] == [
        ("overall_score", "all"),
        ("overall_score", "mlp"),
        ("overall_score", "ftt"),
    ]
    assert grid.loc[("overall_score", "mlp")].tolist() == [0, 1]
    counts = as_grid(table[table["statistic"] == "accuracy"], ["model"], values="n_panels")
    assert counts.loc["all"].tolist() == [2, 2]


def test_figures_are_printed_as_in_the_paper() -> None:
    table = pd.DataFrame(
        {
            "value": [0.8271, 0.545, 30.84, np.nan],
            "sem": [0.0041, 0.3, np.nan, np.nan],
            "flagged": [False, True, False, True],
        }
    )
    assert printed(table).tolist() == ["0.827 ± .004", "0.545 ± > .05", "30.840", "-"]
    assert printed(table[["value"]], digits=1).tolist() == ["0.8", "0.5", "30.8", "-"]


@pytest.mark.parametrize("sem", [0.9996, 1.5])
def test_large_errors_are_printed_whole(sem: float) -> None:
    table = pd.DataFrame({"value": [0.5], "sem": [sem], "flagged": [False]})
    assert printed(table).tolist() == [f"0.500 ± {sem:.3f}"]
