"""Table 1 and the tables of single metrics, on a study small enough for pencil and paper."""

import numpy as np
import pandas as pd
import pytest
from study.results_maker import frame, panel

from tabstretch.study.statistics import metric_table, metric_tables, table1

# Scores: a 1, 0; b a tie (equal means); c 0, 1; r 0.5-less: 1, 0.
STUDY = frame(
    panel("a", ple=[0.8, 0.9], minmax=[0.5, 0.5]),
    panel("b", ple=[0.9, 0.7], minmax=[0.8, 0.8]),
    panel("c", ple=[0.6, 0.6], minmax=[0.7, 0.9]),
    panel("r", metric="r2", ple=[0.5, 0.5], minmax=[-1.0, 0.2]),
)


def cell(table: pd.DataFrame, transformation: str, model: str = "mlp", **where: str) -> pd.Series:
    for column, value in {"transformation": transformation, "model": model, **where}.items():
        table = table[table[column] == value]
    assert len(table) == 1
    return table.iloc[0]


@pytest.mark.parametrize("model", ["mlp", "all"])
@pytest.mark.parametrize(
    ("statistic", "ple", "minmax", "n_panels", "n_ties"),
    [
        ("overall_score", (1 + 0.5 + 0 + 1) / 4, (0 + 0.5 + 1 + 0) / 4, 4, 1),
        ("classification_score", 0.5, 0.5, 3, 1),
        ("regression_score", 1.0, 0.0, 1, 0),
        ("accuracy", (0.85 + 0.6) / 2, (0.5 + 0.8) / 2, 2, 1),  # without the tie
        ("r2", 0.5, 0.0, 1, 0),
    ],
)
def test_values(statistic: str, ple: float, minmax: float, n_panels: int, n_ties: int, model: str) -> None:
    table = table1(STUDY)
    for name, value in (("ple", ple), ("minmax", minmax)):
        found = cell(table, name, model, statistic=statistic)
        assert found["value"] == pytest.approx(value)
        assert (found["n_panels"], found["n_ties"]) == (n_panels, n_ties)
        assert found["best"] == (value >= max(ple, minmax))


def test_statistics_are_in_the_paper_s_order() -> None:
    names = table1(STUDY)["statistic"].unique().tolist()
    assert names == ["overall_score", "classification_score", "regression_score", "accuracy", "r2"]


def test_standard_errors() -> None:
    """Of `ple` in a and c: 0.05 and 0 over seeds; the means are 0.85 and 0.6, 0.1768 around theirs."""
    found = cell(table1(STUDY), "ple", statistic="accuracy")
    assert found["sem"] == pytest.approx((0.05 + 0.0) / 2)
    assert found["sem_datasets"] == pytest.approx(0.25 / np.sqrt(2) / np.sqrt(2))
    assert np.isnan(cell(table1(STUDY), "ple", statistic="overall_score")["sem"])
    assert np.isnan(cell(table1(STUDY), "ple", statistic="r2")["sem_datasets"])  # one panel


def test_flags() -> None:
    """The seeds of `minmax` in r are 1.2 apart, a standard deviation of 0.85."""
    table = table1(STUDY)
    assert table.loc[table["flagged"], ["statistic", "model", "transformation"]].to_numpy().tolist() == [
        ["r2", "all", "minmax"],
        ["r2", "mlp", "minmax"],
    ]


def test_a_flag_is_for_more_than_a_fifth() -> None:
    apart = 0.2 * np.sqrt(2)
    results = frame(panel(ple=[0.5, 0.5 + apart - 0.001], minmax=[0.1, 0.1 + apart + 0.001]))
    table = table1(results).query("statistic == 'accuracy' and model == 'mlp'")
    assert dict(zip(table["transformation"], table["flagged"], strict=True)) == {"ple": False, "minmax": True}


def test_figures_that_are_printed_alike_are_all_best() -> None:
    results = frame(panel("a", ple=[0.82701], minmax=[0.82699], standard=[0.7]))
    best = (
        table1(results)
        .query("statistic == 'accuracy' and model == 'all'")
        .set_index("transformation")["best"]
    )
    assert best.to_dict() == {"ple": True, "minmax": True, "standard": False}


def test_models_have_rows_of_their_own() -> None:
    results = frame(panel("a", ple=[0.9], minmax=[0.7]), panel("a", model="ftt", ple=[0.5], minmax=[0.6]))
    table = table1(results)
    assert cell(table, "ple", "mlp", statistic="overall_score")["value"] == 1
    assert cell(table, "ple", "ftt", statistic="overall_score")["value"] == 0
    assert cell(table, "ple", "all", statistic="overall_score")["value"] == 0.5
    assert cell(table, "ple", "all", statistic="accuracy")["value"] == pytest.approx(0.7)


def test_what_is_missing_or_failed_is_counted() -> None:
    """`standard` was not run in b, failed in c and, of three seeds, once in a; in d `ple` is alone."""
    results = frame(
        panel("a", ple=[0.9] * 3, standard=[0.7, None, 0.7]),
        panel("b", ple=[0.9]),
        panel("c", ple=[0.8], standard=[None]),
        panel("e", ple=[0.6], standard=[0.8]),
    )
    results.loc[0, "note"] = "fell back"
    table = table1(results)
    counts = ["n_panels", "n_ties", "n_alone", "n_failed", "n_missing", "n_partial", "n_noted"]
    score = cell(table, "standard", statistic="overall_score")
    assert score["value"] == pytest.approx((0 + 0 + 1) / 3)  # a, c, e
    assert score[counts].tolist() == [3, 1, 0, 1, 1, 1, 0]
    mean = cell(table, "standard", statistic="accuracy")
    assert mean["value"] == pytest.approx((0.7 + 0.8) / 2)  # a, e
    assert mean[counts].tolist() == [2, 1, 0, 1, 1, 1, 0]
    other = cell(table, "ple", statistic="accuracy")
    assert other["value"] == pytest.approx((0.9 + 0.9 + 0.6) / 3)  # a, b, e; c is a tie of one
    assert other[counts].tolist() == [3, 1, 1, 0, 0, 0, 1]
    assert cell(table, "ple", statistic="overall_score")["n_panels"] == 3


def test_a_method_that_failed_everywhere_has_a_row() -> None:
    table = table1(frame(panel("a", ple=[0.9], minmax=[0.8], standard=[None])))
    assert cell(table, "standard", statistic="overall_score")["value"] == 0
    mean = cell(table, "standard", statistic="accuracy")
    assert np.isnan(mean["value"])
    assert (mean["n_panels"], mean["n_failed"], mean["best"]) == (0, 1, False)


def test_a_study_of_one_transformation_has_means_but_no_scores() -> None:
    table = table1(frame(panel("a", ple=[0.9]), panel("b", ple=[0.8])))
    assert cell(table, "ple", statistic="accuracy")["value"] == pytest.approx(0.85)
    assert np.isnan(cell(table, "ple", statistic="overall_score")["value"])


def test_errors_are_best_where_lowest_and_have_no_standard_error() -> None:
    results = frame(panel("a", metric="mae", ple=[30.0, 40.0], minmax=[10.0, 12.0]))
    table = metric_table(results, "mae")
    assert cell(table, "ple")["value"] == 35
    assert table.loc[table["best"], "transformation"].unique().tolist() == ["minmax"]
    assert table[["sem", "sem_datasets"]].isna().all(axis=None)
    assert not table["flagged"].any()  # a spread of 7 is not comparable with 0.20


def test_a_metric_has_ties_of_its_own() -> None:
    """Accuracy ties, AUC does not."""
    results = frame(panel(ple=[0.9, 0.7], minmax=[0.8, 0.8])).assign(auc=[0.9, 0.9, 0.6, 0.6])
    assert cell(metric_table(results, "accuracy"), "ple")["n_ties"] == 1
    assert np.isnan(cell(metric_table(results, "accuracy"), "ple")["value"])
    assert cell(metric_table(results, "auc"), "ple")["value"] == 0.9


def test_all_metrics_that_apply() -> None:
    every = metric_tables(STUDY)
    assert every["metric"].unique().tolist() == ["accuracy", "avg_recall", "f1", "auc", "r2", "mae", "rmse"]
    assert every.query("metric == 'f1'")["value"].isna().all()  # NaN throughout: nothing to average
    assert every.query("metric == 'f1' and model == 'all'")["n_failed"].tolist() == [3, 3]
    classes = STUDY[STUDY["task"] != "regression"]
    assert metric_tables(classes)["metric"].unique().tolist() == ["accuracy", "avg_recall", "f1", "auc"]
