"""Data sets by their columns; means within each kind."""

import pytest
from study.results_maker import frame, panel

from tabstretch.study.paper import paper_table
from tabstretch.study.statistics import breakdown, composition_of


def test_the_paper_s_data_sets_are_classed_as_printed() -> None:
    facts = paper_table("datasets")
    assert (
        composition_of(facts["n_numeric"], facts["n_categorical"]).tolist() == facts["composition"].tolist()
    )


@pytest.mark.parametrize(
    ("numeric", "categorical", "expected"),
    [
        (6, 3, "balanced"),
        (3, 6, "balanced"),
        (7, 3, "numeric_dominant"),
        (3, 7, "category_dominant"),  # between 2:1 and 3:1, which the paper leaves open
        (4, 0, "numeric_dominant"),
        (0, 4, "category_dominant"),
        (1, 1, "balanced"),
    ],
)
def test_limits(numeric: int, categorical: int, expected: str) -> None:
    assert composition_of(numeric, categorical) == expected


def test_means_are_raw_and_ties_count() -> None:
    results = frame(
        panel("a", ple=[0.9], minmax=[0.7]),
        panel("b", ple=[0.5], minmax=[0.5]),  # a tie
        panel("c", model="ftt", ple=[0.6], minmax=[0.8]),
        panel("d", metric="r2", ple=[0.4], minmax=[0.3]),
    )
    kinds = {"a": (9, 0), "b": (9, 0), "c": (3, 2), "d": (1, 8)}
    results["n_numeric"] = results["dataset"].map(lambda name: kinds[name][0])
    results["n_categorical"] = results["dataset"].map(lambda name: kinds[name][1])
    table = breakdown(results)
    keys = ["composition", "tasks", "model", "transformation"]
    found = table.set_index(keys)
    assert table["composition"].unique().tolist() == ["balanced", "category_dominant", "numeric_dominant"]
    row = found.loc[("numeric_dominant", "classification", "mlp", "ple")]
    assert row["value"] == pytest.approx(0.7)
    assert row["score"] == pytest.approx(0.75)  # 1 and the tie's 0.5
    assert row[["n_datasets", "n_panels", "n_ties"]].tolist() == [2, 2, 1]
    assert found.loc[("numeric_dominant", "classification", "all", "minmax"), "value"] == pytest.approx(0.6)
    assert found.loc[("balanced", "classification", "ftt", "minmax"), "value"] == 0.8
    assert found.loc[("category_dominant", "regression", "all", "ple"), "value"] == 0.4
    assert len(table) == 3 * 2 * 2
