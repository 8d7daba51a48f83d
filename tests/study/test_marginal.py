"""Marginal non-uniformity, by hand, and the command."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tabstretch.cli import main
from tabstretch.study.datasets import load_dataset
from tabstretch.study.errors import StudyError
from tabstretch.study.marginal import (
    Marginal,
    draw_marginal,
    marginal_slopes,
    marginal_table,
    measured,
    relative_slopes,
    with_slopes,
)


def naive(x: list[float], rows: list[list[float]], by_distance: bool) -> list[float]:
    """The paper's steps, one after another."""
    values = sorted(set(x))
    means = [np.mean([row for value, row in zip(x, rows, strict=True) if value == v], axis=0) for v in values]
    slopes = [
        np.linalg.norm(means[i + 1] - means[i]) / ((values[i + 1] - values[i]) if by_distance else 1)
        for i in range(len(values) - 1)
    ]
    return [slope * len(slopes) / sum(slopes) for slope in slopes]


@pytest.mark.parametrize("by_distance", [True, False])
@pytest.mark.parametrize("n_outputs", [1, 3])
def test_slopes_are_those_of_the_formula(by_distance: bool, n_outputs: int) -> None:
    rng = np.random.default_rng(0)
    x = rng.integers(0, 12, 80) ** 2 / 7
    target = rng.normal(size=(80, 1)) if n_outputs == 1 else np.eye(n_outputs)[rng.integers(0, n_outputs, 80)]
    found = relative_slopes(x, target, by_distance=by_distance)
    np.testing.assert_allclose(found, naive(x.tolist(), target.tolist(), by_distance), rtol=1e-12)
    assert found.mean() == pytest.approx(1)


def test_by_hand() -> None:
    # f is 0, 1, 1 at 0, 1, 3: slopes 1 and 0, their mean 1/2.
    x = np.array([0.0, 1.0, 1.0, 3.0])
    target = np.array([[0.0], [0.5], [1.5], [1.0]])
    np.testing.assert_allclose(relative_slopes(x, target), [2, 0])
    # f is 0, 2, 6: |Δf| 2 and 4, slopes 2 and 2.
    target = np.array([[0.0], [1.0], [3.0], [6.0]])
    np.testing.assert_allclose(relative_slopes(x, target), [1, 1])
    np.testing.assert_allclose(relative_slopes(x, target, by_distance=False), [2 / 3, 4 / 3])


@pytest.mark.parametrize("unit", [1e-300, 1e-9, 1.0, 1e300])
def test_units_do_not_matter(unit: float) -> None:
    x = np.array([-3.0, 1.0, 2.0, 2.5, 7.0])
    target = np.array([[1.0], [5.0], [2.0], [3.0], [3.5]])
    np.testing.assert_allclose(relative_slopes(unit * x, target), relative_slopes(x, target), rtol=1e-9)


def test_values_as_near_as_numbers_can_be() -> None:
    found = relative_slopes(np.array([0.0, 5e-324, 1.0]), np.array([[0.0], [1.0], [2.0]]))
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found, [2, 0], atol=1e-200)


def test_flat_columns_have_no_slopes() -> None:
    assert len(relative_slopes(np.ones(5), np.arange(5.0)[:, None])) == 0
    assert len(relative_slopes(np.arange(5.0), np.ones((5, 1)))) == 0


def test_variants_differ_for_classes_only() -> None:
    wine, diabetes = (load_dataset(f"sklearn:{name}", Path()) for name in ("wine", "diabetes"))
    printed, published = marginal_slopes(wine), marginal_slopes(wine, "published")
    assert len(printed.slopes) == len(published.slopes)
    assert published.slopes.std() < 0.8 * printed.slopes.std()
    both = [marginal_slopes(diabetes, variant).slopes for variant in ("printed", "published")]
    np.testing.assert_array_equal(*both)
    with pytest.raises(ValueError, match="variant must be one of printed, published, got 'other'"):
        marginal_slopes(wine, "other")  # type: ignore[arg-type]


def test_only_the_training_part_is_used() -> None:
    dataset = load_dataset("sklearn:diabetes", Path())
    emptied = replace(
        dataset,
        numeric={**dataset.numeric, "test": dataset.numeric["test"] * 0},
        y={**dataset.y, "val": dataset.y["val"] * 0},
    )
    np.testing.assert_array_equal(marginal_slopes(dataset).slopes, marginal_slopes(emptied).slopes)


def slopes(dataset: str, *values: float, task: str = "binclass") -> Marginal:
    return Marginal(dataset, f"file:{dataset}", task, "printed", np.array(values), 1, 0)


def test_the_table_stands_beside_the_paper_s() -> None:
    # Around their mean 1: squares 1, 1, 1, 9 over 4 are 3; cubes -1, -1, -1, 27 over 4 are 6.
    table = marginal_table(
        [slopes("htru", 0, 0, 0, 4), slopes("wine", 1, 1, task="multiclass"), slopes("mine")]
    )
    assert table["std"].tolist()[:2] == [pytest.approx(np.sqrt(3)), 0]
    assert table["skewness"][0] == pytest.approx(6 / 3**1.5)
    assert table["skewness"][1:].isna().all()
    assert table["std_paper"][0] == 3.3842
    assert table["skewness_paper"][0] == 4.15
    assert table["std_paper"][1:].isna().all()  # the paper's wine has two classes: it is another one
    assert np.isnan(table["std"][2])


def test_figures_of_every_kind() -> None:
    assert draw_marginal([slopes("htru", 0, 0, 4), slopes("x" * 99, 1, 1)]).get_axes()
    assert draw_marginal([slopes("a", 0.5, 1.5)]).get_axes()
    with pytest.raises(StudyError, match="there is nothing to draw"):
        with_slopes([slopes("mine")])


def test_all_sources_that_cannot_be_read_are_named() -> None:
    with pytest.raises(StudyError, match=r"sklearn:nope.*\n.*nowhere\.csv"):
        measured(["sklearn:nope", "sklearn:wine", "file:nowhere.csv?target=y"], Path())


def test_a_data_set_without_numbers(tmp_path: Path) -> None:
    pd.DataFrame({"c": list("ab" * 20), "y": list("uv" * 20)}).to_csv(tmp_path / "c.csv", index=False)
    (found,) = measured([f"file:{tmp_path / 'c.csv'}?target=y"], Path())
    assert (len(found.slopes), found.n_columns) == (0, 0)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table, figure = tmp_path / "m.csv", tmp_path / "m.svg"
    words = ["marginal", "sklearn:diabetes", "sklearn:wine", "-o", str(table), "--figure", str(figure)]
    assert main([*words, "--variant", "published"]) == 0
    printed = capsys.readouterr().out
    assert "| diabetes " in printed
    assert "--variant printed" in printed
    found = pd.read_csv(table)
    assert found["dataset"].tolist() == ["diabetes", "wine"]
    assert found["variant"].tolist() == ["published"] * 2
    assert figure.read_text(encoding="utf-8").startswith("<?xml")
    assert sorted(tmp_path.iterdir()) == [table, figure]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["sklearn:nope"], "scikit-learn has no 'nope'"),
        (["sklearn:wine", "-o", "x.xls"], r"must end in .csv or .parquet"),
        (["sklearn:wine", "--figure", "x.gif"], r"must end in .svg, .png or .pdf"),
        (["sklearn:wine", "--figure", "nowhere/x.svg"], "cannot be written"),
    ],
)
def test_misuse(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["marginal", *words]) == 1
    assert said in capsys.readouterr().err
