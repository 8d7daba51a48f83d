"""Scores within a panel, ties, and the sweep of thresholds: every figure is worked out by hand."""

import numpy as np
import pandas as pd
import pytest
from study.results_maker import NAN, frame, panel

from tabstretch.study.statistics import delta_sweep, normalised_scores


def scores(results: pd.DataFrame, dataset: str = "d", **options: float) -> dict[str, float]:
    scored = normalised_scores(results, **options)
    return scored[scored["dataset"] == dataset].set_index("transformation")["score"].round(9).to_dict()


def spread(middle: float, std: float) -> list[float]:
    """Two seeds with this mean and sample standard deviation."""
    return [middle - std / np.sqrt(2), middle + std / np.sqrt(2)]


def test_the_best_is_1_the_worst_0() -> None:
    assert scores(frame(panel(ple=[0.9], minmax=[0.7], standard=[0.75]))) == {
        "ple": 1,
        "minmax": 0,
        "standard": 0.25,
    }


def test_panels_are_scored_alone() -> None:
    results = frame(panel("a", ple=[0.9], minmax=[0.7]), panel("b", ple=[0.1], minmax=[0.2]))
    assert scores(results, "a") == {"ple": 1, "minmax": 0}
    assert scores(results, "b") == {"ple": 0, "minmax": 1}


def test_errors_score_best_where_they_are_lowest() -> None:
    results = frame(panel(metric="mae", ple=[30.0], minmax=[10.0], standard=[15.0]))
    assert scores(results, metric="mae") == {"ple": 0, "minmax": 1, "standard": 0.75}


@pytest.mark.parametrize(
    ("best", "tie"),
    [
        (0.72, True),
        (0.7199, True),
        (0.7201, False),
    ],  # the worst is 0.70, the median of 0.01, 0.02, 0.03 is 0.02
    ids=["equal", "below", "above"],
)
def test_a_gap_no_larger_than_the_median_spread_is_a_tie(best: float, tie: bool) -> None:
    results = frame(panel(ple=spread(best, 0.01), minmax=spread(0.70, 0.03), standard=spread(0.71, 0.02)))
    table = normalised_scores(results)
    assert table["delta"].to_numpy() == pytest.approx(0.02)
    assert table["tie"].tolist() == [tie] * 3
    assert (scores(results) == dict.fromkeys(("ple", "minmax", "standard"), 0.5)) == tie


def test_with_one_seed_only_equal_values_tie() -> None:
    results = frame(panel("a", ple=[0.9], minmax=[0.9]), panel("b", ple=[0.9], minmax=[0.8999]))
    assert scores(results, "a") == {"ple": 0.5, "minmax": 0.5}
    assert scores(results, "b") == {"ple": 1, "minmax": 0}
    assert (normalised_scores(results)["delta"] == 0).all()


def test_the_median_is_over_those_that_have_a_spread() -> None:
    """`ple` has one seed left: the spreads are 0.01 and 0.03, their median 0.02."""
    results = frame(panel(ple=[0.72, None], minmax=spread(0.70, 0.01), standard=spread(0.70, 0.03)))
    assert normalised_scores(results)["delta"].to_numpy() == pytest.approx(0.02)
    assert scores(results) == {"ple": 0.5, "minmax": 0.5, "standard": 0.5}


def test_clipped_r2_ties() -> None:
    """Both means are below 0 and become 0; the spread does not matter."""
    results = frame(panel(metric="r2", ple=[-3.0, -2.0], minmax=[-0.5, -0.1]))
    assert scores(results) == {"ple": 0.5, "minmax": 0.5}


def test_what_was_not_run_has_no_score() -> None:
    results = frame(panel("a", ple=[0.9], minmax=[0.7], standard=[0.8]), panel("d", ple=[0.9], minmax=[0.7]))
    found = scores(results)
    assert np.isnan(found.pop("standard"))
    assert found == {"ple": 1, "minmax": 0}


def test_a_transformation_alone_has_no_score() -> None:
    results = frame(panel("a", ple=[0.9], minmax=[0.7]), panel("d", ple=[0.9]))
    assert np.isnan(list(scores(results).values())).all()
    table = normalised_scores(results).query("dataset == 'd'")
    assert not table["compared"].any()
    assert not table["tie"].any()


@pytest.mark.parametrize(
    ("runs", "expected"),
    [
        ({"ple": [0.9], "minmax": [0.7], "standard": [None]}, {"ple": 1, "minmax": 0, "standard": 0}),
        ({"ple": [0.9], "minmax": [0.9], "standard": [None]}, {"ple": 0.5, "minmax": 0.5, "standard": 0}),
        ({"ple": [0.9], "minmax": [NAN], "standard": [None]}, {"ple": 0.5, "minmax": 0, "standard": 0}),
    ],
    ids=["others differ", "others tie", "one is left"],
)
def test_what_failed_scores_0_and_the_others_among_themselves(
    runs: dict[str, list[float]], expected: object
) -> None:
    assert scores(frame(panel(**runs))) == expected


def test_if_all_failed_there_is_nothing_to_compare() -> None:
    assert np.isnan(list(scores(frame(panel(ple=[None], minmax=[None, None]))).values())).all()


def test_some_failed_seeds_do_not_matter() -> None:
    results = frame(panel(ple=[0.9, None, 0.9], minmax=[0.7, 0.7, 0.7]))
    assert scores(results) == {"ple": 1, "minmax": 0}


def test_fixed_thresholds() -> None:
    """Gaps 0.1 and 0.02: no tie up to 0.02, then one, then both."""
    results = frame(panel("a", ple=[0.9], minmax=[0.8]), panel("b", ple=[0.50], minmax=[0.52]))
    sweep = delta_sweep(results, [0.0, 0.01, 0.02, 0.05, 0.1])
    chosen = sweep.query("tasks == 'all' and model == 'all' and transformation == 'ple'")
    assert chosen["score"].tolist() == [0.5, 0.5, 0.75, 0.75, 0.5]  # (1 + 0) / 2, then (1 + 0.5) / 2
    assert chosen["tie_share"].tolist() == [0, 0, 0.5, 0.5, 1]
    assert sweep["n_panels"].unique().tolist() == [2]


def test_the_sweep_is_the_fixed_threshold_at_every_step() -> None:
    rng = np.random.default_rng(0)
    runs = [
        panel(name, ple=list(rng.random(3)), minmax=[None], standard=list(rng.random(3))) for name in "abcd"
    ]
    results = frame(*runs, panel("e", metric="r2", ple=[0.3], standard=[0.4]))
    for delta in (0.0, 0.1, 0.3):
        means = normalised_scores(results, delta=delta).groupby("transformation")["score"].mean()
        swept = delta_sweep(results, [delta]).query("tasks == 'all' and model == 'all'")
        assert swept.set_index("transformation")["score"].to_dict() == pytest.approx(means.to_dict())


def test_the_sweep_has_every_group_of_tasks_and_every_model() -> None:
    results = frame(
        panel("a", metric="r2", ple=[0.9], minmax=[0.8]), panel("b", model="ftt", ple=[0.5], minmax=[0.52])
    )
    sweep = delta_sweep(results, [0.0])
    assert sweep[["tasks", "model"]].drop_duplicates().to_numpy().tolist() == [
        ["all", "all"],
        ["all", "mlp"],
        ["all", "ftt"],
        ["classification", "all"],
        ["classification", "ftt"],
        ["regression", "all"],
        ["regression", "mlp"],
    ]


def test_negative_thresholds_are_refused() -> None:
    results = frame(panel(ple=[0.9], minmax=[0.7]))
    with pytest.raises(ValueError, match=r"delta must be at least 0, got -0\.1"):
        delta_sweep(results, [0.0, -0.1])
    with pytest.raises(ValueError, match="delta must be at least 0, got nan"):
        normalised_scores(results, delta=NAN)
