"""The paper's tables as data: their shape, what they agree on, and where the paper contradicts itself."""

import numpy as np
import pandas as pd
import pytest
from study.results_maker import frame, full_study, panel

from tabstretch.study.names import MODELS, PAPERS_TRANSFORMATIONS
from tabstretch.study.paper import TABLES, beside_paper, paper_table
from tabstretch.study.statistics import breakdown, metric_tables, pairwise_counts, table1

SIZES = {
    "table1": 5 * 5 * 9,
    "metrics": 7 * 5 * 9,
    "breakdown": 3 * 2 * 6 * 9,
    "win_loss": 6,
    "datasets": 38,
    "marginal": 42,
}
GROUPS = {"balanced": 4, "category_dominant": 2, "numeric_dominant": 6}
"""How many data sets of regression each group of the breakdown has."""


@pytest.mark.parametrize("name", TABLES)
def test_every_table_is_whole(name: str) -> None:
    table = paper_table(name)
    assert len(table) == SIZES[name]
    assert not table.duplicated(TABLES[name]).any()
    if "transformation" in table.columns:
        assert set(table["transformation"]) == set(PAPERS_TRANSFORMATIONS)
        assert set(table["model"]) - {"all"} == set(MODELS)
        assert table["value"].notna().all()


def test_unknown_tables_are_refused() -> None:
    with pytest.raises(ValueError, match=r"the paper's tables are table1, .* got 'table2'"):
        paper_table("table2")


@pytest.mark.parametrize(
    ("name", "where", "value", "sem"),
    [
        ("table1", ("overall_score", "ftt", "stretch_sup"), 0.6942, None),
        ("table1", ("regression_score", "resnet", "yeo_johnson"), 0.3855, None),
        ("table1", ("accuracy", "realmlp", "minmax"), 0.839, 0.002),
        ("table1", ("r2", "mlp", "standard"), 0.591, 0.042),
        ("metrics", ("avg_recall", "mlp", "ple"), 0.734, None),
        ("metrics", ("rmse", "mlp", "standard"), 204.7, None),
        ("metrics", ("mae", "ftt", "ple_t"), 30.27, None),
        ("breakdown", ("category_dominant", "regression", "all", "stretch_sup"), 0.5080, None),
    ],
)
def test_figures_by_hand(name: str, where: tuple[str, ...], value: float, sem: float | None) -> None:
    row = paper_table(name).set_index(TABLES[name]).loc[where]
    assert row["value"] == value
    assert row.get("sem", np.nan) == pytest.approx(np.nan if sem is None else sem, nan_ok=True)


def test_data_sets() -> None:
    facts = paper_table("datasets").set_index("dataset")
    assert facts["composition"].value_counts().to_dict() == {
        "numeric_dominant": 26,
        "balanced": 8,
        "category_dominant": 4,
    }
    assert (facts["task"] == "regression").sum() == 12
    assert facts.loc["yeast"].tolist() == ["numeric_dominant", "multiclass", 8, 0, 1484, 92.6, 10]
    marginal = paper_table("marginal").set_index("dataset")
    assert set(marginal[marginal["composition"] != "image"].index) == set(facts.index)
    assert marginal.loc["htru", ["std", "skewness"]].tolist() == [3.3842, 4.15]


def test_best_as_printed_is_the_best_figure() -> None:
    """Each row's bold figures are its best; where two are printed alike both are bold."""
    for name in ("table1", "metrics", "breakdown"):
        keys = TABLES[name][:-1]
        for key, row in paper_table(name).groupby(keys):
            best = row["value"].min() if key[0] in ("mae", "rmse") else row["value"].max()
            assert (row["value"] == best).tolist() == row["best"].tolist(), key


def test_the_overall_score_is_over_data_sets() -> None:
    """26 of classification, 12 of regression: a panel counts once, ties included."""
    scores = paper_table("table1").pivot(
        index=["model", "transformation"], columns="statistic", values="value"
    )
    mean = (26 * scores["classification_score"] + 12 * scores["regression_score"]) / 38
    assert (mean - scores["overall_score"]).abs().max() < 1.01e-4


def test_overall_of_the_breakdown_is_over_models() -> None:
    table = paper_table("breakdown").pivot(
        index=["composition", "tasks", "transformation"], columns="model", values="value"
    )
    assert (table.drop(columns="all").mean(axis=1) - table["all"]).abs().max() < 1.01e-4


def regression_by_group() -> pd.DataFrame:
    table = paper_table("breakdown").query("tasks == 'regression' and model != 'all'")
    return table.pivot(index=["model", "transformation"], columns="composition", values="value")


def test_no_panel_of_regression_is_a_tie() -> None:
    """Weighted by data sets, the breakdown gives Table 1, which leaves out ties: so there are none."""
    groups = regression_by_group()
    mean = sum(groups[name] * weight for name, weight in GROUPS.items()) / 12
    printed = paper_table("table1").query("statistic == 'r2'").set_index(["model", "transformation"])["value"]
    assert (mean - printed).abs().max() < 6e-4


def test_ties_count_in_the_breakdown() -> None:
    """Classification has ties. Were they left out of the breakdown, some weights would give Table 1."""
    table = paper_table("breakdown").query("tasks == 'classification' and model != 'all'")
    groups = table.pivot(index=["model", "transformation"], columns="composition", values="value")
    printed = (
        paper_table("table1").query("statistic == 'accuracy'").set_index(["model", "transformation"])["value"]
    )
    weights = np.array([(b, c, n) for b in range(5) for c in range(3) for n in range(1, 21)])
    for model in MODELS:
        means = weights @ groups.loc[model].to_numpy().T / weights.sum(axis=1, keepdims=True)
        assert np.abs(means - printed.loc[model].to_numpy()).max(axis=1).min() > 1e-3


def test_the_printed_errors_are_not_over_data_sets() -> None:
    """The groups' means alone make the standard error over twelve data sets larger than what is printed."""
    groups = regression_by_group()
    mean = sum(groups[name] * weight for name, weight in GROUPS.items()) / 12
    between = sum(weight * (groups[name] - mean) ** 2 for name, weight in GROUPS.items())
    at_least = np.sqrt(between / 11 / 12)
    printed = paper_table("table1").query("statistic == 'r2'").set_index(["model", "transformation"])
    shown = printed.loc[~printed["flagged"], "sem"]
    assert (shown < 0.0421).all()
    assert (at_least[shown.index] > shown).mean() > 0.9  # all but the two that are nearly flagged
    assert (at_least / printed["sem"]).median() > 5


def test_flags_differ_between_table_1_and_the_appendix() -> None:
    keys = ["model", "transformation"]
    main = paper_table("table1").query("statistic == 'r2'").set_index(keys)
    appendix = paper_table("metrics").query("metric == 'r2'").set_index(keys)
    assert (main["value"] - appendix["value"]).abs().max() < 1.01e-3
    assert not (main["flagged"] & ~appendix["flagged"]).any()
    unflagged = main[appendix["flagged"] & ~main["flagged"]]
    assert len(unflagged) == 5
    assert unflagged["sem"].max() == 0.042  # the mean is not above .05, though some panel is


def test_ours_stand_beside_the_paper_s() -> None:
    results = full_study(seeds=2, datasets=["yeast", "Diamonds"])
    table = beside_paper(table1(results), "table1").set_index(TABLES["table1"])
    assert table.loc[("overall_score", "ftt", "stretch_sup"), "value_paper"] == 0.6942
    assert np.isnan(table.loc[("overall_score", "ftt", "stretch_views"), "value_paper"])
    assert np.isnan(table.loc[("overall_score", "all", "stretch_sup"), "value_paper"])
    assert beside_paper(metric_tables(results), "metrics")["value_paper"].notna().sum() == SIZES["metrics"]
    beside = beside_paper(breakdown(results), "breakdown").set_index(TABLES["breakdown"])
    assert beside.loc[("balanced", "regression", "all", "ple"), "value_paper"] == 0.4917
    counts = beside_paper(pairwise_counts(results), "win_loss")
    assert counts["wins_paper"].notna().sum() == 6  # of all models, the printed way round
    assert len(counts) == len(pairwise_counts(results))


def test_a_table_needs_the_columns_to_stand_beside() -> None:
    with pytest.raises(ValueError, match="the paper's metrics a table needs metric"):
        beside_paper(table1(frame(panel(ple=[0.9], minmax=[0.8]))), "metrics")
