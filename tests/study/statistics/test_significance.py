"""Friedman's and Nemenyi's tests on tables whose answer is known."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from study.results_maker import frame, panel

from tabstretch.study.statistics import block_ranks, critical_difference, friedman_test, nemenyi_test


def agreeing(n: int, **changed: list[float]) -> pd.DataFrame:
    """`ple` before `minmax` before `standard` on each of n data sets."""
    return frame(*[panel(f"d{i}", ple=[0.9], minmax=[0.8], standard=[0.7], **changed) for i in range(n)])


def test_data_sets_that_all_agree() -> None:
    """Sums of ranks 4, 8 and 12: 12 / (4·3·4) · (16 + 64 + 144) - 3·4·4 = 8, and exp(-8 / 2) is its tail."""
    row = friedman_test(agreeing(4)).iloc[0]
    assert row["tasks"] == "all"
    assert row["statistic"] == pytest.approx(8)
    assert row["p_value"] == pytest.approx(np.exp(-4))
    assert (row["f_statistic"], row["f_p_value"]) == (np.inf, 0)
    assert row["critical_difference"] == pytest.approx(
        2.343 * np.sqrt(3 * 4 / (6 * 4)), abs=1e-3
    )  # Demšar's table
    assert row["note"] == "4 data sets are few: take p-values as rough"


def test_iman_and_davenport() -> None:
    """One data set of eleven disagrees: sums 13, 22, 31; chi-square 12/132 · 1614 - 132 = 14.727."""
    results = pd.concat([agreeing(10), frame(panel("other", ple=[0.1], minmax=[0.2], standard=[0.3]))])
    row = friedman_test(results).iloc[0]
    chi = 12 / (11 * 12) * (13**2 + 22**2 + 31**2) - 3 * 11 * 4
    assert row["statistic"] == pytest.approx(chi)
    f = 10 * chi / (22 - chi)
    assert row["f_statistic"] == pytest.approx(f)
    assert row["f_p_value"] == pytest.approx(stats.f.sf(f, 2, 20))
    assert row["note"] == ""


def test_a_data_set_counts_once_however_many_models() -> None:
    """`ple` is first for two of three models: mean ranks 4/3 and 5/3, so ranks 1 and 2."""
    runs = [
        panel("a", model=model, ple=[ple], minmax=[0.5])
        for model, ple in (("mlp", 0.6), ("ftt", 0.6), ("resnet", 0.4))
    ]
    ranks = block_ranks(frame(*runs))
    assert ranks.to_dict("list") == {"minmax": [2.0], "ple": [1.0]}


def test_incomplete_panels_are_left_out() -> None:
    results = pd.concat([agreeing(3), frame(panel("half", ple=[0.9], minmax=[0.8]))])
    assert block_ranks(results).index.tolist() == ["d0", "d1", "d2"]
    assert friedman_test(results).iloc[0]["n_datasets"] == 3


def test_failures_rank_last() -> None:
    ranks = block_ranks(agreeing(2, quantile=[None]))
    assert ranks["quantile"].tolist() == [4, 4]


def test_groups_of_tasks() -> None:
    results = pd.concat(
        [
            agreeing(3),
            frame(*[panel(f"r{i}", metric="r2", ple=[0.1], minmax=[0.5], standard=[0.3]) for i in range(2)]),
        ]
    )
    table = friedman_test(results).set_index("tasks")
    assert table["n_datasets"].to_dict() == {"all": 5, "classification": 3, "regression": 2}
    assert block_ranks(results, tasks="regression").iloc[0].to_dict() == {
        "minmax": 1,
        "ple": 3,
        "standard": 2,
    }


@pytest.mark.parametrize(
    "results",
    [agreeing(1), frame(*[panel(name, ple=[0.9], minmax=[0.8]) for name in "abcd"]), frame(panel(ple=[0.9]))],
    ids=["one data set", "two transformations", "one of each"],
)
def test_too_little_to_test(results: pd.DataFrame) -> None:
    row = friedman_test(results).iloc[0]
    assert np.isnan(row["p_value"])
    assert row["note"].startswith("the test needs two data sets and three transformations, there are")


def test_no_complete_panel() -> None:
    results = frame(panel("a", ple=[0.9], minmax=[0.8]), panel("b", ple=[0.9], standard=[0.8]))
    row = friedman_test(results).iloc[0]
    assert (row["n_datasets"], row["n_transformations"]) == (0, 3)
    assert np.isnan(row["critical_difference"])


def test_if_all_tie_nothing_differs() -> None:
    row = friedman_test(
        frame(*[panel(name, ple=[0.9], minmax=[0.9], standard=[0.9]) for name in "abc"])
    ).iloc[0]
    assert (row["statistic"], row["p_value"], row["note"]) == (
        0,
        1,
        "all transformations tie on every data set",
    )


def test_nemenyi_and_the_critical_difference_agree() -> None:
    """A pair differs at 5 % where its mean ranks are further apart than the critical difference."""
    pytest.importorskip("scikit_posthocs")
    rng = np.random.default_rng(0)
    names = ("ple", "minmax", "standard", "quantile", "rs_sc")
    runs = [
        panel(f"d{i}", **{name: [rng.normal(place / 2)] for place, name in enumerate(names)})
        for i in range(15)
    ]
    results = frame(*runs)
    ranks = block_ranks(results)
    p_values = nemenyi_test(ranks)
    means = ranks.mean().to_numpy()
    apart = np.abs(means[:, None] - means) > critical_difference(ranks)
    assert apart.any()
    np.testing.assert_array_equal(p_values.to_numpy() < 0.05, apart)
    assert (np.diag(p_values) == 1).all()


def test_nemenyi_of_too_little_is_1() -> None:
    assert (nemenyi_test(block_ranks(agreeing(1))) == 1).all(axis=None)


def test_alpha_is_checked() -> None:
    with pytest.raises(ValueError, match="alpha must be between 0 and 1, got 5"):
        friedman_test(agreeing(3), alpha=5)
