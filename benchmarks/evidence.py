"""The tables of docs/evidence.md, from the results of the studies behind it.

    python benchmarks/evidence.py docs/data/evidence.parquet docs/data/evidence-realmlp.parquet

Scores and ranks are those of `tabstretch.study.statistics`, over the panels (data set and network) in which
every transformation was run.
"""

import argparse
from pathlib import Path

import pandas as pd

from tabstretch.study.names import TRANSFORMATIONS
from tabstretch.study.statistics import cell_table, complete_panels, normalised_scores, panel_ranks

SEVERAL_INPUTS = ("ple", "ple_t", "stretch_views")
DEFAULT = "stretch_conditional"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("results", nargs="+", type=Path, help="FILE.parquet or .csv of tabstretch results")
    parser.add_argument("--per-dataset", action="store_true", help="also the score of each data set")
    arguments = parser.parse_args()
    for path in arguments.results:
        results = pd.read_csv(path) if path.suffix == ".csv" else pd.read_parquet(path)
        for model, rows in complete_panels(results).groupby("model", sort=False):
            print(f"\n### {model}: {budget(rows)}\n")
            print(as_markdown(overview(rows)))
            print(f"\n{DEFAULT} against each other one: data sets won, tied within seed noise, lost\n")
            print(as_markdown(duels(rows)))
            if arguments.per_dataset:
                print(f"\nMean test score of `{model}` on each data set\n")
                print(as_markdown(by_dataset(rows)))


def budget(rows: pd.DataFrame) -> str:
    trials, seeds = rows["trials"].max(), rows["seed"].nunique()
    tuned = f"{trials} trials" if trials else "untuned"
    most = rows["n_train"].max()
    return f"{rows['dataset'].nunique()} data sets, {tuned}, {seeds} seeds, at most {most} training rows"


def overview(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the score and the mean rank of each transformation, over all data sets and by task."""
    scores = normalised_scores(rows).pivot(index="transformation", columns="dataset", values="score")
    ranks = panel_ranks(rows).pivot(index="transformation", columns="dataset", values="rank")
    regression = set(rows.loc[rows["task"] == "regression", "dataset"])
    classes = set(rows["dataset"]) - regression
    table = pd.DataFrame(
        {
            "inputs": ["several" if name in SEVERAL_INPUTS else "one" for name in scores.index],
            "score": scores.mean(axis=1),
            "mean rank": ranks.mean(axis=1),
            "score, regression": scores[sorted(regression)].mean(axis=1),
            "rank, regression": ranks[sorted(regression)].mean(axis=1),
            "score, classes": scores[sorted(classes)].mean(axis=1),
            "rank, classes": ranks[sorted(classes)].mean(axis=1),
        }
    )
    return table.sort_values("score", ascending=False)


def duels(rows: pd.DataFrame) -> pd.DataFrame:
    """Count the data sets on which the default's mean is beyond two standard errors of another's."""
    cells = cell_table(rows)
    mean = cells.pivot(index="transformation", columns="dataset", values="value")
    error = (
        cells.pivot(index="transformation", columns="dataset", values="std") / rows["seed"].nunique() ** 0.5
    )
    difference = mean.loc[DEFAULT] - mean.drop(index=DEFAULT)
    threshold = 2 * (error.loc[DEFAULT] ** 2 + error.drop(index=DEFAULT) ** 2) ** 0.5
    table = pd.DataFrame(
        {
            "won": (difference > threshold).sum(axis=1),
            "tied": (difference.abs() <= threshold).sum(axis=1),
            "lost": (difference < -threshold).sum(axis=1),
        }
    )
    return table.loc[[name for name in TRANSFORMATIONS if name in table.index]]


def by_dataset(rows: pd.DataFrame) -> pd.DataFrame:
    table = cell_table(rows).pivot(index="dataset", columns="transformation", values="value")
    return table[[name for name in TRANSFORMATIONS if name in table.columns]]


def as_markdown(table: pd.DataFrame) -> str:
    def shown(value: object) -> str:
        return f"{value:.3f}" if isinstance(value, float) else str(value)

    lines = [f"| {' | '.join(['', *table.columns])} |", "|---" * (len(table.columns) + 1) + "|"]
    lines += [f"| {' | '.join([str(name), *map(shown, row)])} |" for name, *row in table.itertuples()]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
