"""Intervals over data sets."""

import numpy as np
import pandas as pd
import pytest
from study.results_maker import frame, panel

from tabstretch.study.statistics import (
    bootstrap_differences,
    bootstrap_ranks,
    bootstrap_scores,
    mean_ranks,
    normalised_scores,
    table1,
)

KEYS = ["tasks", "model", "transformation"]


def study(n: int = 12, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    names = ("ple", "minmax", "standard")
    return frame(
        *[
            panel(f"d{i}", model=model, metric="r2" if i % 3 == 0 else "accuracy",
                  **{name: list(0.5 + 0.1 * rng.random(3)) for name in names})
            for i in range(n) for model in ("mlp", "ftt")
        ]
    )  # fmt: skip


def test_the_value_is_the_mean_of_the_tables() -> None:
    results = study()
    scores = (
        table1(results).query("statistic == 'overall_score'").set_index(["model", "transformation"])["value"]
    )
    found = (
        bootstrap_scores(results, n_resamples=50)
        .query("tasks == 'all'")
        .set_index(["model", "transformation"])
    )
    assert found["value"].to_dict() == pytest.approx(scores.to_dict())
    ranks = mean_ranks(results).set_index(KEYS)["mean_rank"].to_dict()
    assert bootstrap_ranks(results, n_resamples=50).set_index(KEYS)["value"].to_dict() == pytest.approx(ranks)


def test_bounds_are_those_of_resampling_one_by_one() -> None:
    """The slow way, for one row: draw data sets, keep all their panels, average."""
    results = study()
    found = bootstrap_scores(results, n_resamples=400, random_state=3).set_index(KEYS)
    scored = normalised_scores(results).query("transformation == 'ple' and tasks == 'regression'")
    groups = [group["score"].to_numpy() for _, group in scored.groupby("dataset", sort=False)]
    times = np.random.default_rng(3).multinomial(len(groups), [1 / len(groups)] * len(groups), size=400)
    means = [
        np.mean(np.concatenate([np.tile(group, n) for group, n in zip(groups, row, strict=True)]))
        for row in times
    ]
    row = found.loc[("regression", "all", "ple")]
    assert (row["low"], row["high"]) == pytest.approx(tuple(np.quantile(means, [0.025, 0.975])))
    assert row["n_datasets"] == 4


def test_data_sets_that_agree_leave_no_doubt() -> None:
    results = frame(*[panel(name, ple=[0.9], minmax=[0.8]) for name in "abc"])
    row = bootstrap_scores(results, n_resamples=20).set_index(KEYS).loc[("all", "all", "ple")]
    assert row[["value", "low", "high"]].tolist() == [1, 1, 1]


def test_one_data_set_has_no_interval() -> None:
    """However many models it was run with."""
    results = frame(panel("a", ple=[0.9], minmax=[0.8]), panel("a", model="ftt", ple=[0.9], minmax=[0.8]))
    table = bootstrap_scores(results, n_resamples=20)
    assert table[["low", "high"]].isna().all(axis=None)
    assert (table["n_datasets"] == 1).all()


def test_missing_cells_and_failures() -> None:
    results = frame(
        panel("a", ple=[0.9], minmax=[0.8], standard=[None]),
        panel("b", ple=[0.7], minmax=[0.8]),
        panel("c", ple=[0.7], minmax=[0.8]),
        panel("d", standard=[0.3]),
    )
    table = bootstrap_scores(results, n_resamples=200).set_index(KEYS).loc[("all", "all")]
    assert table["n_datasets"].to_dict() == {"minmax": 3, "ple": 3, "standard": 1}
    assert table["value"].to_dict() == pytest.approx({"minmax": 2 / 3, "ple": 1 / 3, "standard": 0})
    assert 0 <= table.loc["ple", "low"] < 1 / 3 < table.loc["ple", "high"] <= 1


def test_a_transformation_without_scores_has_no_value() -> None:
    table = bootstrap_scores(frame(panel("a", ple=[0.9]), panel("b", ple=[0.8])), n_resamples=20)
    assert table[["value", "low", "high"]].isna().all(axis=None)


def test_differences_are_paired() -> None:
    """`ple` is always 1 above `minmax`; `standard` was run in one panel only, where it ties with `ple`."""
    results = frame(
        panel("a", ple=[0.9], minmax=[0.1]), panel("b", ple=[0.9], minmax=[0.1], standard=[0.9]),
        panel("c", ple=[0.9], minmax=[0.1]),
    )  # fmt: skip
    table = bootstrap_differences(results, "ple", n_resamples=50).set_index(KEYS).loc[("all", "all")]
    assert table.loc["minmax", ["value", "low", "high"]].tolist() == [1, 1, 1]
    assert table.loc["standard", "value"] == 0
    assert np.isnan(table.loc["standard", "low"])
    assert (table["reference"] == "ple").all()


def test_the_same_seed_gives_the_same_table() -> None:
    results = study()
    first, again, other = (bootstrap_scores(results, n_resamples=50, random_state=seed) for seed in (1, 1, 2))
    pd.testing.assert_frame_equal(first, again)
    assert not first["low"].equals(other["low"])


def test_intervals_grow_with_the_level() -> None:
    results = study()
    narrow, wide = (bootstrap_scores(results, n_resamples=300, level=level) for level in (0.5, 0.99))
    assert (wide["high"] - wide["low"] >= narrow["high"] - narrow["low"]).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_resamples": 0}, "n_resamples must be at least 1, got 0"),
        ({"level": 1.0}, r"level must be between 0 and 1, got 1\.0"),
    ],
)
def test_what_cannot_be_drawn_is_refused(options: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        bootstrap_scores(study(2), **options)


def test_the_reference_must_be_there() -> None:
    with pytest.raises(ValueError, match="no transformation 'quantile', there are minmax, ple, standard"):
        bootstrap_differences(study(2), "quantile")
