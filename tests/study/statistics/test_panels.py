"""Seeds of a cell -> mean, spread and state."""

from io import StringIO

import numpy as np
import pandas as pd
import pytest
from study.results_maker import NAN, frame, panel, row

from tabstretch.study.statistics import cell_table


def one(cells: pd.DataFrame, transformation: str) -> pd.Series:
    chosen = cells[cells["transformation"] == transformation]
    assert len(chosen) == 1
    return chosen.iloc[0]


def test_mean_and_spread_over_seeds() -> None:
    cell = one(cell_table(frame(panel(ple=[0.8, 0.9]))), "ple")
    assert cell["value"] == pytest.approx(0.85)
    assert cell["std"] == pytest.approx(0.1 / np.sqrt(2))  # n - 1 in the denominator
    assert cell["sem"] == pytest.approx(0.05)
    assert (cell["n_seeds"], cell["n_failed_seeds"], cell["state"], cell["tasks"]) == (
        2,
        0,
        "ok",
        "classification",
    )


def test_equal_means_are_equal_in_whatever_order_their_seeds_were_added() -> None:
    seeds = [0.1, 0.2, 0.3, 0.7]
    cells = cell_table(frame(panel(ple=seeds, quantile=seeds[::-1], minmax=[0.325] * 4)))
    assert cells["value"].nunique() == 1
    assert one(cells, "ple")["std"] == one(cells, "quantile")["std"]
    assert one(cells, "minmax")["std"] == 0.0


def test_one_seed_has_no_spread() -> None:
    cell = one(cell_table(frame(panel(ple=[0.8]))), "ple")
    assert cell["value"] == 0.8
    assert np.isnan(cell["std"])
    assert np.isnan(cell["sem"])


def test_the_metric_is_accuracy_or_r2() -> None:
    results = frame(panel("a", ple=[0.8]), panel("b", metric="r2", ple=[0.6]))
    cells = cell_table(results).set_index("dataset")
    assert cells["value"].to_dict() == {"a": 0.8, "b": 0.6}
    assert cells["tasks"].to_dict() == {"a": "classification", "b": "regression"}


def test_r2_is_clipped_after_the_mean() -> None:
    cells = cell_table(frame(panel(metric="r2", ple=[-1.0, 0.5], minmax=[-0.2, 0.8])))
    assert one(cells, "ple")["value"] == 0.0  # the mean is -0.25; of clipped seeds it would be 0.25
    assert one(cells, "ple")["std"] == pytest.approx(1.5 / np.sqrt(2))
    assert one(cells, "minmax")["value"] == pytest.approx(0.3)


@pytest.mark.parametrize("metric", ["mae", "rmse"])
def test_errors_are_not_clipped_and_gain_when_they_shrink(metric: str) -> None:
    cell = one(cell_table(frame(panel(metric=metric, ple=[30.0, 32.0])), metric), "ple")
    assert (cell["value"], cell["gain"]) == (31.0, -31.0)


def test_a_metric_keeps_the_panels_it_applies_to() -> None:
    results = frame(panel("a", metric="f1", ple=[0.8]), panel("b", metric="mae", ple=[2.0]))
    assert cell_table(results, "f1")["dataset"].tolist() == ["a"]
    assert cell_table(results, "mae")["dataset"].tolist() == ["b"]
    assert cell_table(results[results["dataset"] == "a"], "mae").empty


def test_seeds_that_failed_are_left_out_of_the_mean() -> None:
    cell = one(cell_table(frame(panel(ple=[0.8, None, 0.9]))), "ple")
    assert cell["value"] == pytest.approx(0.85)
    assert cell["sem"] == pytest.approx(0.05)
    assert (cell["state"], cell["n_seeds"], cell["n_failed_seeds"]) == ("ok", 3, 1)


def test_without_a_finite_value_a_cell_has_failed() -> None:
    cells = cell_table(frame(panel(ple=[None, None], minmax=[NAN, np.inf], standard=[0.5, NAN])))
    assert one(cells, "ple")["state"] == one(cells, "minmax")["state"] == "failed"
    assert np.isnan(one(cells, "minmax")["value"])
    assert (one(cells, "standard")["state"], one(cells, "standard")["n_failed_seeds"]) == ("ok", 1)


def test_a_failed_run_does_not_count_whatever_its_metrics_say() -> None:
    results = frame([row("d", "ple", 0, status="failed", accuracy=0.1), row("d", "ple", 1, accuracy=0.9)])
    assert one(cell_table(results), "ple")["value"] == 0.9


def test_cells_that_were_not_run_are_listed() -> None:
    cells = cell_table(frame(panel("a", ple=[0.8], minmax=[0.7]), panel("b", ple=[0.9])))
    assert len(cells) == 4
    missing = cells[cells["state"] == "missing"]
    assert missing[["dataset", "transformation", "n_seeds", "noted"]].to_numpy().tolist() == [
        ["b", "minmax", 0, False]
    ]


def test_notes_are_seen() -> None:
    results = frame(panel(ple=[0.8, 0.8], minmax=[0.7, 0.7]))
    results.loc[1, "note"] = "encoded width 9000 is above the limit: standardised instead"
    cells = cell_table(results)
    assert cells.set_index("transformation")["noted"].to_dict() == {"minmax": False, "ple": True}


def test_order_is_that_of_plans_and_own_names_come_last() -> None:
    runs = [
        panel("z", model=model, mine=[0.1], ple=[0.2], stretch_sup=[0.3]) for model in ("ftt", "mine", "mlp")
    ]
    cells = cell_table(frame(*runs))
    assert cells["model"].unique().tolist() == ["mlp", "ftt", "mine"]
    assert cells["transformation"].tolist()[:3] == ["stretch_sup", "ple", "mine"]


def test_results_may_come_from_a_file_or_hold_categories() -> None:
    results = frame(panel("a", ple=[0.8, None], minmax=[0.7, 0.6]))
    read = pd.read_csv(StringIO(results.to_csv(index=False)))  # empty texts come back as NaN
    pd.testing.assert_frame_equal(cell_table(read), cell_table(results), check_dtype=False)
    names = ["dataset", "model", "transformation", "task", "status", "note"]
    categories = results.astype(dict.fromkeys(names, "category"))
    pd.testing.assert_frame_equal(cell_table(categories), cell_table(results), check_dtype=False)


def test_nothing_is_changed_in_place() -> None:
    results = frame(panel(metric="r2", ple=[-1.0, None]))
    before = results.copy()
    cell_table(results)
    pd.testing.assert_frame_equal(results, before)


RESULTS = frame(panel("a", ple=[0.8, 0.9]))


@pytest.mark.parametrize(
    ("results", "message"),
    [
        (RESULTS.drop(columns=["seed", "r2"]), "lack the columns seed, r2"),
        (RESULTS.iloc[:0], "no rows: run some of the study"),
        (
            RESULTS.assign(task="ranking"),
            "task must be one of regression, binclass, multiclass, got 'ranking'",
        ),
        (RESULTS.assign(task=["binclass", "multiclass"]), "data set 'a' has 2 tasks"),
        (RESULTS.assign(seed=3), "1 rows more than once, such as a, mlp, ple, 3"),
        (RESULTS.assign(noise=[0.0, 0.1]), r"2 levels of label noise.*results\['noise'\] == 0.0"),
    ],
)
def test_what_is_not_a_table_of_results_is_refused(results: pd.DataFrame, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        cell_table(results)


def test_unknown_metrics_are_refused() -> None:
    with pytest.raises(ValueError, match=r"metric must be one of accuracy, .* got 'brier'"):
        cell_table(RESULTS, "brier")
