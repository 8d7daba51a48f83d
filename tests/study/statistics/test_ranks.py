"""Ranks by hand, with and without label noise."""

import numpy as np
import pandas as pd
import pytest
from study.results_maker import frame, panel

from tabstretch.study.statistics import mean_ranks, noise_ranks, panel_ranks


def ranks(results: pd.DataFrame, dataset: str = "d", **options: str) -> dict[str, float]:
    table = panel_ranks(results, **options)
    return table[table["dataset"] == dataset].set_index("transformation")["rank"].to_dict()


def test_the_best_is_first_and_equals_share() -> None:
    results = frame(panel(ple=[0.9], minmax=[0.7], standard=[0.7], quantile=[0.8]))
    assert ranks(results) == {"ple": 1, "quantile": 2, "minmax": 3.5, "standard": 3.5}


def test_the_lowest_error_is_first() -> None:
    assert ranks(frame(panel(metric="mae", ple=[9.0], minmax=[7.0])), metric="mae") == {"ple": 2, "minmax": 1}


def test_what_failed_is_last() -> None:
    results = frame(panel(ple=[None], minmax=[0.1], standard=[None], quantile=[0.2]))
    assert ranks(results) == {"quantile": 1, "minmax": 2, "ple": 3.5, "standard": 3.5}


def test_panels_that_lack_a_method_or_any_value_have_no_ranks() -> None:
    results = frame(
        panel("a", ple=[0.9], minmax=[0.8]), panel("b", ple=[0.9]), panel("c", ple=[None], minmax=[None])
    )
    assert np.isnan(list(ranks(results, "b").values())).all()
    assert np.isnan(list(ranks(results, "c").values())).all()
    table = mean_ranks(results).query("tasks == 'all' and model == 'all'").set_index("transformation")
    assert table["mean_rank"].to_dict() == {"ple": 1, "minmax": 2}
    assert table[["n_panels", "n_incomplete", "n_failed"]].to_numpy().tolist() == [[1, 2, 1], [1, 2, 1]]


def test_mean_ranks() -> None:
    results = frame(
        panel("a", ple=[0.9], minmax=[0.8]),
        panel("a", model="ftt", ple=[0.9], minmax=[0.8]),
        panel("b", metric="r2", ple=[0.1], minmax=[0.2]),
    )
    table = mean_ranks(results).set_index(["tasks", "model", "transformation"])
    assert table.loc[("all", "all", "ple"), "mean_rank"] == pytest.approx(4 / 3)
    assert table.loc[("all", "all", "ple"), "std_rank"] == pytest.approx(np.sqrt(1 / 3))
    assert table.loc[("all", "mlp", "ple"), "mean_rank"] == 1.5
    assert table.loc[("regression", "mlp", "ple"), "mean_rank"] == 2
    assert np.isnan(table.loc[("regression", "mlp", "ple"), "std_rank"])


def test_ranks_under_noise() -> None:
    clean = frame(
        panel("a", ple=[0.9], minmax=[0.8]), panel("a", model="ftt", ple=[0.9], minmax=[0.8]),
        panel("b", metric="r2", ple=[0.5], minmax=[0.4]), noise=0.0,
    )  # fmt: skip
    noisy = frame(
        panel("a", ple=[0.7], minmax=[0.8]), panel("a", model="ftt", ple=[0.9], minmax=[0.8]),
        panel("b", metric="r2", ple=[0.5], minmax=[None]), noise=0.5,
    )  # fmt: skip
    table = noise_ranks(pd.concat([noisy, clean]))
    assert table[["dataset", "noise"]].drop_duplicates().to_numpy().tolist() == [
        ["all", 0.0], ["all", 0.5], ["a", 0.0], ["a", 0.5], ["b", 0.0], ["b", 0.5],
    ]  # fmt: skip
    found = table.set_index(["dataset", "noise", "transformation"])
    assert found.loc[("all", 0.0, "ple"), ["mean_rank", "std_rank", "n_panels"]].tolist() == [1, 0, 3]
    assert found.loc[("all", 0.5, "ple"), "mean_rank"] == pytest.approx((2 + 1 + 1) / 3)
    assert found.loc[("all", 0.5, "ple"), "std_rank"] == pytest.approx(np.sqrt(1 / 3))
    assert found.loc[("a", 0.5, "minmax"), "mean_rank"] == 1.5
    assert found.loc[("b", 0.5, "minmax"), ["mean_rank", "n_failed"]].tolist() == [2, 1]


def test_noise_needs_its_column() -> None:
    with pytest.raises(ValueError, match="lack the columns noise"):
        noise_ranks(frame(panel(ple=[0.9])))
