"""Slow and obvious code, written from the paper's formulas, against the fast one."""

from itertools import permutations
from statistics import fmean, median, stdev
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from study.results_maker import NAN, frame, full_study, panel

from tabstretch.study import statistics

NAMES = ("stretch_sup", "ple", "minmax", "standard")
Panel = dict[str, list[float]]  # the values of the seeds that did not fail


def ragged_study(seed: int) -> tuple[pd.DataFrame, dict[tuple[str, str], Panel]]:
    """Random panels in which some cells were not run, some failed in part and some in all."""
    rng = np.random.default_rng(seed)
    runs, panels = [], {}
    for dataset, model in [(f"d{i}", model) for i in range(7) for model in ("mlp", "ftt")]:
        metric = "r2" if int(dataset[1:]) % 3 == 0 else "accuracy"
        cells: dict[str, list[Any]] = {}
        for name in NAMES:
            if rng.random() < 0.15:
                continue
            values = list(np.round(0.6 + 0.1 * rng.random() + 0.05 * rng.normal(size=4), 2))
            failed = rng.random(4) < (1.0 if rng.random() < 0.1 else 0.1)
            cells[name] = [
                rng.choice([None, NAN]) if bad else value for bad, value in zip(failed, values, strict=True)
            ]
        if cells:
            runs.append(panel(dataset, model=model, metric=metric, **cells))
            panels[dataset, model] = {
                name: [value for value in seeds if value is not None and value == value]
                for name, seeds in cells.items()
            }
    return frame(*runs), panels


def spread(values: list[float]) -> float:
    return stdev(values) if len(values) > 1 else NAN


def slow_scores(cells: Panel) -> tuple[dict[str, float], bool]:
    means = {name: fmean(seeds) for name, seeds in cells.items() if seeds}
    if len(cells) < 2 or not means:
        return {}, False
    spreads = [spread(seeds) for seeds in cells.values() if len(seeds) > 1]
    gap = max(means.values()) - min(means.values())
    tie = gap <= (median(spreads) if spreads else 0.0) + 1e-9
    scores = {name: 0.5 if tie else (mean - min(means.values())) / gap for name, mean in means.items()}
    return {**dict.fromkeys(cells, 0.0), **scores}, tie


def slow_outcome(cells: Panel, first: str, second: str) -> str | None:
    if first not in cells or second not in cells or not (cells[first] or cells[second]):
        return None
    if not cells[second]:
        return "wins"
    if not cells[first]:
        return "losses"
    margin = max((spread(cells[name]) for name in (first, second) if len(cells[name]) > 1), default=0.0)
    difference = fmean(cells[first]) - fmean(cells[second])
    return "wins" if difference > margin + 1e-9 else "losses" if difference < -margin - 1e-9 else "ties"


@pytest.mark.parametrize("seed", range(5))
def test_scores_and_table_1(seed: int) -> None:
    results, panels = ragged_study(seed)
    expected = {key: slow_scores(cells) for key, cells in panels.items()}
    scored = statistics.normalised_scores(results).set_index(["dataset", "model", "transformation"])
    for (dataset, model), (scores, tie) in expected.items():
        for name in NAMES:
            found = scored.loc[(dataset, model, name)]
            assert found["score"] == pytest.approx(scores.get(name, NAN), nan_ok=True)
            assert found["tie"] == tie
    table = statistics.table1(results).set_index(["statistic", "model", "transformation"])
    for model, name in [(model, name) for model in ("mlp", "ftt") for name in NAMES]:
        own = {key: value for key, value in expected.items() if key[1] == model}
        scores = [scores[name] for scores, _ in own.values() if name in scores]
        assert table.loc[("overall_score", model, name), "value"] == pytest.approx(fmean(scores))
        used = [
            panels[key][name]
            for key, (_, tie) in own.items()
            if int(key[0][1:]) % 3 and not tie and panels[key].get(name)
        ]
        row = table.loc[("accuracy", model, name)]
        assert row["n_panels"] == len(used)
        assert row["value"] == pytest.approx(fmean(map(fmean, used)) if used else NAN, nan_ok=True)
        errors = [spread(seeds) / len(seeds) ** 0.5 for seeds in used if len(seeds) > 1]
        assert row["sem"] == pytest.approx(fmean(errors) if errors else NAN, nan_ok=True)


@pytest.mark.parametrize("seed", range(5))
def test_pairs(seed: int) -> None:
    results, panels = ragged_study(seed)
    counts = statistics.pairwise_counts(results).query("tasks == 'all' and model == 'all'")
    counts = counts.set_index(["first", "second"])
    for first, second in permutations(NAMES, 2):
        outcomes = [slow_outcome(cells, first, second) for cells in panels.values()]
        row = counts.loc[(first, second)]
        for name in ("wins", "losses", "ties"):
            assert row[name] == outcomes.count(name)
        assert row["n_left_out"] == outcomes.count(None)


@pytest.mark.parametrize("seed", range(3))
def test_the_sweep_of_thresholds(seed: int) -> None:
    results, panels = ragged_study(seed)
    sweep = statistics.delta_sweep(results, [0.0, 0.03, 0.2]).query("tasks == 'all' and model == 'all'")
    sweep = sweep.set_index(["delta", "transformation"])
    for delta, name in [(delta, name) for delta in (0.0, 0.03, 0.2) for name in NAMES]:
        scores = []
        for cells in panels.values():
            means = {other: fmean(seeds) for other, seeds in cells.items() if seeds}
            if name not in cells or len(cells) < 2 or not means:
                continue
            gap = max(means.values()) - min(means.values())
            if name not in means:
                scores.append(0.0)
            elif gap <= delta + 1e-9:
                scores.append(0.5)
            else:
                scores.append((means[name] - min(means.values())) / gap)
        row = sweep.loc[(delta, name)]
        assert row["score"] == pytest.approx(fmean(scores))
        assert row["n_panels"] == len(scores)


@pytest.mark.parametrize("seed", range(3))
def test_ranks_and_friedman(seed: int) -> None:
    results, panels = ragged_study(seed)
    blocks: dict[str, list[list[float]]] = {}
    for (dataset, _), cells in panels.items():
        means = [fmean(cells[name]) if cells[name] else -1.0 for name in NAMES if name in cells]
        if len(means) == len(NAMES) and max(means) > -1:
            ranks = [
                1
                + sum(other > mean + 1e-12 for other in means)
                + (sum(abs(o - mean) < 1e-12 for o in means) - 1) / 2
                for mean in means
            ]
            blocks.setdefault(dataset, []).append(ranks)
    every = [ranks for own in blocks.values() for ranks in own]
    table = statistics.mean_ranks(results).query("tasks == 'all' and model == 'all'")
    found = table.set_index("transformation")
    np.testing.assert_allclose(found.loc[list(NAMES), "mean_rank"], np.mean(every, axis=0))
    np.testing.assert_allclose(found.loc[list(NAMES), "std_rank"], np.std(every, axis=0, ddof=1))
    test = statistics.friedman_test(results).set_index("tasks").loc["all"]
    means = np.array([np.mean(own, axis=0) for own in blocks.values()])
    expected = stats.friedmanchisquare(*means.T)
    assert test["n_datasets"] == len(means)
    assert test["statistic"] == pytest.approx(expected.statistic)
    assert test["p_value"] == pytest.approx(expected.pvalue)


@pytest.mark.parametrize("seed", range(3))
def test_breakdown_counts_ties(seed: int) -> None:
    results, panels = ragged_study(seed)
    categorical = results["dataset"].map(lambda name: 20 if name in ("d1", "d2") else 0)
    table = statistics.breakdown(results.assign(n_categorical=categorical))
    table = table.set_index(["composition", "tasks", "model", "transformation"])
    for name in NAMES:
        cells = [
            cells[name] for (data, _), cells in panels.items() if data in ("d1", "d2") and cells.get(name)
        ]
        expected = fmean(map(fmean, cells)) if cells else NAN
        found = table.loc[("category_dominant", "classification", "all", name), "value"]
        assert found == pytest.approx(expected, nan_ok=True)


def test_a_study_of_the_paper_s_size() -> None:
    """190 panels, 13 transformations, 15 seeds; benchmarks/report.py tells how long it takes."""
    results = full_study()
    assert len(results) == 190 * 13 * 15
    table = statistics.table1(results)
    assert table["value"].notna().all()
    assert table.query("statistic == 'overall_score' and model == 'mlp'")["n_panels"].eq(38).all()
    pairs = statistics.pairwise_counts(results).query("tasks == 'all' and model == 'all'")
    assert (pairs["wins"] + pairs["losses"] + pairs["ties"]).eq(190).all()
