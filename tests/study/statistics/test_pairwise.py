"""Wins, losses and ties by hand."""

import numpy as np
import pandas as pd
import pytest
from study.results_maker import frame, panel

from tabstretch.study.statistics import pair_points, pairwise_counts, win_rate_matrix


def record(results: pd.DataFrame, first: str = "ple", second: str = "minmax", **options: str) -> list[float]:
    """Wins, losses, ties, panels, panels left out, win rate."""
    counts = pairwise_counts(results, **options)
    row = counts.query("tasks == 'all' and model == 'all' and first == @first and second == @second").iloc[0]
    return row[["wins", "losses", "ties", "n_panels", "n_left_out", "win_rate"]].tolist()


WIDE = [0.7, 0.9]  # mean 0.8, standard deviation 0.1414


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ([0.95, 0.95], WIDE, [1, 0, 0]),  # 0.15 apart
        ([0.94, 0.94], WIDE, [0, 0, 1]),  # 0.14 apart: within the larger of the two
        ([0.66, 0.66], WIDE, [0, 0, 1]),
        ([0.65, 0.65], WIDE, [0, 1, 0]),
        ([0.90], [0.80], [1, 0, 0]),  # one seed: no spread
        ([0.80], [0.80], [0, 0, 1]),
    ],
)
def test_a_win_exceeds_the_larger_spread(
    first: list[float], second: list[float], expected: list[int]
) -> None:
    results = frame(panel(ple=first, minmax=second))
    assert record(results)[:3] == expected
    assert record(results, "minmax", "ple")[:3] == [expected[1], expected[0], expected[2]]


def test_a_difference_equal_to_the_spread_is_a_tie() -> None:
    apart = 0.1 / np.sqrt(2)
    assert record(frame(panel(ple=[0.9, 0.9], minmax=[0.8 - apart, 0.8 + apart])))[:3] == [0, 0, 1]


def test_ties_are_half_a_win() -> None:
    results = frame(
        panel("a", ple=[0.9], minmax=[0.8]),
        panel("b", ple=[0.8], minmax=[0.8]),
        panel("c", metric="r2", ple=[0.3], minmax=[0.8]),
        panel("d", ple=[0.9], minmax=[0.7]),
    )
    assert record(results) == [2, 1, 1, 4, 0, 2.5 / 4]
    matrix = win_rate_matrix(pairwise_counts(results))
    assert matrix.loc["ple", "minmax"] == 2.5 / 4
    assert matrix.loc["minmax", "ple"] == 1.5 / 4
    assert np.isnan(np.diag(matrix)).all()
    by_task = pairwise_counts(results)
    assert win_rate_matrix(by_task, tasks="regression").loc["ple", "minmax"] == 0
    assert win_rate_matrix(by_task, tasks="classification", model="mlp").loc["ple", "minmax"] == 2.5 / 3


def test_what_failed_loses_and_what_was_not_run_is_left_out() -> None:
    results = frame(
        panel("a", ple=[0.9], minmax=[None], standard=[None]),
        panel("b", ple=[0.9], minmax=[0.8]),
        panel("c", ple=[0.9], standard=[0.7]),
    )
    assert record(results, "ple", "minmax") == [2, 0, 0, 2, 1, 1.0]
    assert record(results, "minmax", "ple") == [0, 2, 0, 2, 1, 0.0]
    # a: neither has a value; b, c: one of them was not run
    never = record(results, "minmax", "standard")
    assert never[:5] == [0, 0, 0, 0, 3]
    assert np.isnan(never[5])


def test_errors_win_where_they_are_lower() -> None:
    assert record(frame(panel(metric="rmse", ple=[10.0], minmax=[11.0])), metric="rmse")[:3] == [1, 0, 0]


def test_points_of_a_pair() -> None:
    results = frame(
        panel("a", ple=[0.95, 0.95], minmax=WIDE, standard=[0.1]),
        panel("b", ple=[0.8], minmax=[None], standard=[0.9]),
        panel("c", ple=[0.8], standard=[0.8]),
    )
    points = pair_points(results, "ple", "minmax")
    assert points["dataset"].tolist() == ["a", "b"]
    assert points["outcome"].tolist() == ["win", "win"]
    assert points["margin"].tolist() == pytest.approx([0.1 * np.sqrt(2), 0.0])
    assert points["first_value"].tolist() == pytest.approx([0.95, 0.8])
    assert np.isnan(points.loc[1, "second_value"])
    every = pair_points(results, "ple")
    assert every["second"].tolist() == ["minmax"] * 2 + ["standard"] * 3
    assert every["outcome"].tolist()[2:] == ["win", "loss", "tie"]


def test_points_and_counts_agree() -> None:
    rng = np.random.default_rng(1)
    results = frame(
        *[panel(name, ple=list(rng.random(3)), minmax=list(rng.random(3))) for name in "abcdefgh"]
    )
    outcomes = pair_points(results, "ple", "minmax")["outcome"].value_counts()
    assert record(results)[:3] == [outcomes.get(name, 0) for name in ("win", "loss", "tie")]


def test_unknown_names_are_refused() -> None:
    results = frame(panel(ple=[0.9], minmax=[0.8]))
    with pytest.raises(ValueError, match="no transformation 'plee', there are minmax, ple"):
        pair_points(results, "ple", "plee")
    with pytest.raises(ValueError, match="no panels of tasks='regression'"):
        win_rate_matrix(pairwise_counts(results), tasks="regression")
    with pytest.raises(ValueError, match="'ple' has no other"):
        pair_points(frame(panel(ple=[0.9])), "ple")


def test_one_transformation_has_no_pairs() -> None:
    assert pairwise_counts(frame(panel(ple=[0.9]))).empty
