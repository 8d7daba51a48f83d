"""docs/evidence_tables.md, from the results of the studies behind docs/evidence.md.

    python benchmarks/evidence.py docs/data/*.parquet -o docs/evidence_tables.md

Scores and ranks are those of `tabstretch.study.statistics`, over the panels (data set and network) in which
every transformation was run. Where a network was run both tuned and not on the same data, a further table
ranks both together. First come all untuned runs of a network on any data with all transformations.
"""

import argparse
import json
from pathlib import Path

import numpy as np
import pandas as pd

from tabstretch.study.names import TRANSFORMATIONS
from tabstretch.study.statistics import cell_table, complete_panels, normalised_scores, panel_ranks

SEVERAL_INPUTS = ("ple", "ple_t", "stretch_views")
DEFAULT = "stretch_conditional"
TUNED = ", tuned"
STRANGERS = ("strangers", "strangers_realmlp")
N_RESAMPLES = 10_000
LEADS = f"In how many of {N_RESAMPLES:,} resamples of these data sets each has the best mean rank"
HEAD = """\
# Tables of the evidence

Written by `python benchmarks/evidence.py docs/data/*.parquet -o docs/evidence_tables.md`;
[what they mean](evidence.md)."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("results", nargs="+", type=Path, help="FILE.parquet or .csv of tabstretch results")
    parser.add_argument("-o", "--output", type=Path, help="the page (default: print it)")
    arguments = parser.parse_args()
    text = page({path.stem: read(path) for path in sorted(arguments.results)})
    if arguments.output is None:
        print(text)
    else:
        arguments.output.write_text(text, encoding="utf-8")


def read(path: Path) -> pd.DataFrame:
    return pd.read_csv(path) if path.suffix == ".csv" else pd.read_parquet(path)


def page(studies: dict[str, pd.DataFrame]) -> str:
    parts = [HEAD]
    for model, rows in together(studies).groupby("model", sort=False):
        n_sets = rows["dataset"].nunique()
        parts += [f"## All together: {model}, {n_sets} data sets, untuned", as_markdown(overview(rows))]
        parts += [LEADS, as_markdown(leads(rows))]
    for name, results in studies.items():
        for model, rows in complete_panels(results).groupby("model", sort=False):
            parts += [f"## {name}: {model}, {budget(rows)}", as_markdown(overview(rows))]
            if name in STRANGERS:
                parts += [LEADS, as_markdown(leads(rows))]
            parts += [
                f"`{DEFAULT}` against each other one: data sets won, tied within seed noise, lost",
                as_markdown(duels(rows)),
            ] * (rows["seed"].nunique() > 1)
            parts += [f"Mean test score of `{model}` on each data set", as_markdown(by_dataset(rows))]
            if rows["trials"].max() > 0:
                parts += tuning(name, rows, studies)
    return "\n\n".join(parts) + "\n"


def together(studies: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the untuned runs of all studies that have all transformations."""
    every = [rows for rows in studies.values() if set(rows["transformation"]) == set(TRANSFORMATIONS)]
    rows = pd.concat(every, ignore_index=True)
    return complete_panels(rows[rows["trials"] == 0])


def budget(rows: pd.DataFrame) -> str:
    trials, seeds = rows["trials"].max(), rows["seed"].nunique()
    tuned = f"{trials} trials" if trials else "untuned"
    most, many = rows["n_train"].max(), f"{seeds} seed{'s' * (seeds > 1)}"
    return f"{rows['dataset'].nunique()} data sets, {tuned}, {many}, at most {most} training rows"


def tuning(name: str, tuned: pd.DataFrame, studies: dict[str, pd.DataFrame]) -> list[str]:
    """Return a table of both budgets together, and the numbers of bins that tuning chose."""
    names = ["dataset", "model", "transformation"]
    untuned = pd.concat(
        [rows[rows["trials"] == 0].merge(tuned[names].drop_duplicates()) for rows in studies.values()]
    )
    if untuned.empty:
        return []
    both = pd.concat([untuned, tuned.assign(transformation=tuned["transformation"] + TUNED)])
    bins = tuned[tuned["seed"] == 0].assign(
        n_bins=[json.loads(p).get("n_bins") for p in tuned.loc[tuned["seed"] == 0, "params"]]
    )
    chosen = bins.dropna(subset="n_bins").astype({"n_bins": int})
    return [
        f"### {name}: tuned and untuned together",
        as_markdown(overview(complete_panels(both))),
        "Bins that tuning chose",
        as_markdown(
            in_order(chosen.pivot(index="dataset", columns="transformation", values="n_bins").astype(object))
        ),
    ]


def overview(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the score and the mean rank of each transformation, over all data sets and by task."""
    scores = normalised_scores(rows).pivot(index="transformation", columns="dataset", values="score")
    ranks = panel_ranks(rows).pivot(index="transformation", columns="dataset", values="rank")
    regression = set(rows.loc[rows["task"] == "regression", "dataset"])
    classes = set(rows["dataset"]) - regression
    table = pd.DataFrame(
        {
            "inputs": [
                "several" if name.removesuffix(TUNED) in SEVERAL_INPUTS else "one" for name in scores.index
            ],
            "score": scores.mean(axis=1),
            "mean rank": ranks.mean(axis=1),
            "score, regression": scores[sorted(regression)].mean(axis=1),
            "rank, regression": ranks[sorted(regression)].mean(axis=1),
            "score, classes": scores[sorted(classes)].mean(axis=1),
            "rank, classes": ranks[sorted(classes)].mean(axis=1),
        }
    )
    return table.sort_values("score", ascending=False)


def leads(rows: pd.DataFrame) -> pd.DataFrame:
    """Return how often a transformation ranks best if other data sets like these had been at hand.

    Data sets are drawn with replacement. What is never best is left out.
    """
    ranks = panel_ranks(rows).pivot(index="transformation", columns="dataset", values="rank")
    n = ranks.shape[1]
    times = np.random.default_rng(0).multinomial(n, np.full(n, 1 / n), size=N_RESAMPLES)
    means = pd.DataFrame(ranks.to_numpy() @ times.T, index=ranks.index)
    one = means.drop(index=list(SEVERAL_INPUTS))
    table = pd.DataFrame({"of all": shares_best(means), "of those with one input": shares_best(one)})
    table = table[(table > 0).any(axis=1)].sort_values("of all", ascending=False)
    return table.map(lambda share: "" if np.isnan(share) else f"{share:.0%}")


def shares_best(means: pd.DataFrame) -> pd.Series:
    """Return the share of the columns in which each row is the lowest; equal ones share it."""
    lowest = means == means.min()
    return (lowest / lowest.sum()).mean(axis=1)


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
    return in_order(table.T).T


def by_dataset(rows: pd.DataFrame) -> pd.DataFrame:
    return in_order(cell_table(rows).pivot(index="dataset", columns="transformation", values="value"))


def in_order(table: pd.DataFrame) -> pd.DataFrame:
    return table[[name for name in TRANSFORMATIONS if name in table.columns]]


def as_markdown(table: pd.DataFrame) -> str:
    def shown(value: object) -> str:
        return f"{value:.3f}" if isinstance(value, float) else str(value)

    lines = [f"| {' | '.join(['', *table.columns])} |", "|---" * (len(table.columns) + 1) + "|"]
    lines += [f"| {' | '.join([str(name), *map(shown, row)])} |" for name, *row in table.itertuples()]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
