"""What commands print, in a terminal of eighty columns."""

import io
from pathlib import Path

import pandas as pd
import pytest
from rich.console import Console
from study.results_maker import full_study

from tabstretch.study.comparison import Comparison
from tabstretch.study.views import print_comparison, print_summary


@pytest.fixture
def console():
    return Console(file=io.StringIO(), width=80)


def printed(console):
    return console.file.getvalue()


def test_many_panels_become_one_table(console):
    results = full_study().assign(noise=0.0)
    print_summary(results, console)
    lines = printed(console).splitlines()
    n_panels = results.groupby(["dataset", "model"]).ngroups
    assert f"{n_panels} panels (data set and network)" in lines[0]
    scores = [float(line.split()[1]) for line in lines[2 : 2 + results["transformation"].nunique()]]
    assert scores == sorted(scores, reverse=True)


def test_few_panels_are_columns_and_failures_are_named(console):
    results = full_study().assign(noise=0.0)
    one = results["dataset"] == results["dataset"].iloc[0]
    some = results[one & (results["model"] == "mlp")].copy()
    worst = some.index[some["transformation"] == "minmax"]
    some.loc[worst, ["accuracy", "r2"]] = float("nan")
    some.loc[worst, ["status", "error"]] = ["failed", "ValueError: [bold]no[/bold] luck"]
    print_summary(some, console)
    rows = {line.split()[0]: line for line in printed(console).splitlines() if line.strip()}
    assert rows["minmax"].split()[1:] == ["–"]
    assert "±" in rows["standard"]
    assert f"{len(worst)} of {len(some)} runs failed" in printed(console)
    assert "[bold]no[/bold] luck" in printed(console)


def test_a_comparison_fits(console):
    """The longest names and every verdict, a line for each row."""
    rows = [
        (name, verdict, 0.0 if verdict == "chosen" else -0.123)
        for name, verdict in (
            ("stretch_conditional", "chosen"),
            ("stretch_unsup", "within noise"),
            ("standard", "worse"),
            ("stretch_anchored", "better"),
        )
    ]
    table = pd.DataFrame(rows, columns=["transformation", "verdict", "difference"])
    table = table.assign(model="realmlp", mean=0.8765, std=0.0123, seeds=5, error=0.0456, validation=12345.6)
    results = pd.DataFrame({"status": ["ok"]})
    print_comparison(Comparison(table, results, "r2", None, Path("x/pipeline.joblib")), console)
    lines = [line.rstrip() for line in printed(console).splitlines()]
    assert lines[3] == "stretch_unsup        realmlp   1.235e+04  0.876 ±0.012  -0.123 ±0.046  in noise"
    assert lines[2].split()[0] == "stretch_conditional"
    assert [line.split()[-1] for line in lines[2:6]] == ["chosen", "noise", "worse", "better"]
