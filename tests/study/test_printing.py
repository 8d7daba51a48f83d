"""What commands print, in a terminal of eighty columns."""

import io

import pytest
from rich.console import Console
from study.results_maker import full_study

from tabstretch.study.views import print_summary


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
