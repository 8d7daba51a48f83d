"""Fits from Parquet files, against fits in memory."""

import decimal
import io
import sys
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from streams import NAMES, assert_alike, small_blocks, table, target

from tabstretch import StretchTransformer, SupervisedStretchTransformer, fit_parquet
from tabstretch._progress import with_progress

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

X = table(6000)
Y = target(X)
CLASSES = target(X, "classes")
WEIGHT = np.random.default_rng(0).integers(0, 3, size=len(X)).astype(float)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two files with several row groups each, and columns of other types beside the numbers."""
    columns: dict[str, Any] = dict(zip(NAMES, X.T, strict=True))
    columns["few"] = pa.array(X[:, 4].astype(int))
    columns["missing"] = pa.array(X[:, 3], mask=np.isnan(X[:, 3]))
    columns |= {"y": Y, "class": pa.array(CLASSES).dictionary_encode(), "weight": WEIGHT}
    whole = pa.table(columns)
    for number, start in enumerate((0, 4000)):
        pq.write_table(whole.slice(start, 4000), tmp_path / f"part{number}.parquet", row_group_size=1500)
    return tmp_path


def within_fold() -> SupervisedStretchTransformer:
    return SupervisedStretchTransformer(variation="within_fold")


@pytest.mark.parametrize("pattern", ["", "*.parquet", "part[01].parquet"])
def test_a_folder_or_a_pattern(pattern: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small_blocks(monkeypatch)
    found = fit_parquet(folder / pattern, "y", list(NAMES), transformer=within_fold())
    assert_alike(found, within_fold().fit(X, Y), X)
    assert found.feature_names_in_.tolist() == list(NAMES)


def test_labels_and_weights(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small_blocks(monkeypatch)
    paths = [folder / "part0.parquet", folder / "part1.parquet"]
    found = fit_parquet(
        paths, target="class", columns=list(NAMES), weight="weight", transformer=within_fold()
    )
    assert_alike(found, within_fold().fit(X, CLASSES, sample_weight=WEIGHT), X, WEIGHT)
    assert found.classes_.tolist() == ["low", "middle", "up"]


def test_several_targets(folder: Path) -> None:
    found = fit_parquet(folder, ["y", "weight"], ["normal"], transformer=within_fold())
    assert found.target_type_ == "continuous-multioutput"


def test_by_default_all_numbers_and_the_estimator_that_suits(folder: Path) -> None:
    found = fit_parquet(folder)
    assert isinstance(found, StretchTransformer)
    assert found.feature_names_in_.tolist() == [*NAMES, "y", "weight"]
    found = fit_parquet(folder / "part1.parquet", "y", weight="weight")
    assert isinstance(found, SupervisedStretchTransformer)
    assert found.feature_names_in_.tolist() == list(NAMES)


def test_truth_values_and_decimals(tmp_path: Path) -> None:
    numbers = pa.array([decimal.Decimal(i) / 4 for i in range(100)])
    pq.write_table(pa.table({"d": numbers, "b": [i > 30 for i in range(100)]}), tmp_path / "a.parquet")
    found = fit_parquet(tmp_path, "d", ["b"], transformer=within_fold())
    assert found.bin_edges_[0].tolist() == [0, 1]
    assert found.target_type_ == "continuous"
    assert fit_parquet(tmp_path).bin_edges_[0][[0, -1]].tolist() == [0, 24.75]


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"target": "z"}, r"part0.parquet lacks the columns \['z'\]; it has \['normal'"),
        ({"columns": ["class"]}, "column 'class' of .* holds dictionary.* leave it out"),
        ({"columns": ["y"], "target": "y"}, r"each column has one part, got \['y'\]"),
        ({"columns": []}, "no columns of numbers to stretch"),
    ],
)
def test_errors(options: dict[str, Any], error: str, folder: Path) -> None:
    with pytest.raises(ValueError, match=error):
        fit_parquet(folder, **options)


def test_errors_of_kind(folder: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no Parquet files at"):
        fit_parquet(folder / "nothing*")
    with pytest.raises(TypeError, match="columns must be a list of names, got 'normal'"):
        fit_parquet(folder, columns="normal")
    with pytest.raises(TypeError, match="transformer must be a Supervised"):
        fit_parquet(folder, transformer="rank")
    with pytest.raises(TypeError, match="target must be a name or a list of names, got 3"):
        fit_parquet(folder, 3)
    for nothing in (None, []):
        with pytest.raises(ValueError, match="needs a target: name its column"):
            fit_parquet(folder, nothing, transformer=within_fold())


def test_progress_is_shown_on_terminals_only(monkeypatch: pytest.MonkeyPatch) -> None:
    for terminal in (False, True):
        screen = io.StringIO()
        monkeypatch.setattr(screen, "isatty", lambda terminal=terminal: terminal)
        monkeypatch.setattr(sys, "stderr", screen)
        assert list(with_progress([(5, "a"), (5, "b")], 10, "fitting")) == ["a", "b"]
        assert ("100% of 10 rows" in screen.getvalue()) == terminal
        assert bool(screen.getvalue()) == terminal


def test_a_folder_whose_name_looks_like_a_pattern(tmp_path: Path) -> None:
    folder = tmp_path / "data[1]*"
    folder.mkdir()
    pq.write_table(pa.table({"x": X[:, 0]}), folder / "a.parquet")
    assert fit_parquet(folder).n_features_in_ == 1


@pytest.mark.parametrize(
    ("part", "values", "error"),
    [
        ("target", [*Y[:2999], None], "column 'z', the target, holds nothing in row 3000: leave out rows"),
        ("target", [*Y[:2999], np.nan], "column 'z', the target, holds nan in row 3000: leave out rows"),
        ("target", [*Y[:2999], -np.inf], "column 'z', the target, holds -inf in row 3000: leave out rows"),
        ("target", [*["a", "b"] * 1499, "a", None], "column 'z', the target, holds nothing in row 3000"),
        ("weight", [1.0] * 2999 + [-2.0], "column 'z', the weight, holds -2.0 in row 3000: put a finite"),
        ("weight", [1.0] * 2999 + [None], "column 'z', the weight, holds nan in row 3000: put a finite"),
        ("weight", [0] * 3000, "column 'z', the weight, is zero in all rows"),
    ],
)
def test_what_is_wrong_with_target_or_weight_is_named_with_its_row(
    part: str, values: list[Any], error: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_blocks(monkeypatch)
    path = tmp_path / "wrong.parquet"
    pq.write_table(
        pa.table({"x": X[:3000, 0], "y": Y[:3000], "z": pa.array(values)}), path, row_group_size=1300
    )
    options = {"target": "y", part: "z"}
    with pytest.raises(ValueError, match=error):
        fit_parquet(path, columns=["x"], transformer=within_fold(), **options)


@pytest.mark.parametrize("row", [0, 2047, 2048, 5999])
def test_an_infinite_number_is_named_with_its_row(
    row: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_blocks(monkeypatch)
    x = X[:, 0].copy()
    x[row] = -np.inf
    pq.write_table(pa.table({"x": x, "y": Y}), tmp_path / "infinite.parquet", row_group_size=2500)
    with pytest.raises(ValueError, match=f"column 'x' holds -inf in row {row + 1}:"):
        fit_parquet(tmp_path / "infinite.parquet", "y", ["x"], transformer=within_fold())


def test_a_column_without_a_type_suits_any_file(tmp_path: Path) -> None:
    """Pandas writes a column in which all is missing without one."""
    nothing, values = pa.nulls(3000), pa.array(X[:3000, 0])
    for number, x in enumerate((nothing, values)):
        pq.write_table(pa.table({"x": x, "z": values, "none": nothing}), tmp_path / f"part{number}.parquet")
    for files in (sorted(tmp_path.iterdir()), sorted(tmp_path.iterdir(), reverse=True)):
        found = fit_parquet(files)
        assert found.feature_names_in_.tolist() == ["x", "z"]
        assert_array_equal(found.bin_edges_[0], fit_parquet(files[-1], columns=["z"]).bin_edges_[0])
    assert fit_parquet(tmp_path, columns=["none"]).fallback_ == ["no values"]


def test_a_target_that_is_not_asked_for_is_left_alone(tmp_path: Path) -> None:
    pq.write_table(pa.table({"x": X[:9, 0], "day": [date(2020, 1, 1)] * 9}), tmp_path / "days.parquet")
    found = fit_parquet(tmp_path, "day", transformer=StretchTransformer())
    assert found.feature_names_in_.tolist() == ["x"]


def test_any_collection_of_paths(folder: Path) -> None:
    expected = fit_parquet(folder).bin_edges_[0]
    for paths in (folder.glob("*.parquet"), {str(path) for path in folder.iterdir()}):
        assert_array_equal(fit_parquet(paths).bin_edges_[0], expected)
    with pytest.raises(FileNotFoundError, match="the list of files is empty"):
        fit_parquet([])
    with pytest.raises(TypeError, match="a path, a pattern, a folder or a list of them is needed, got None"):
        fit_parquet(None)


@pytest.mark.parametrize(
    ("labels", "error"),
    [
        ([date(2020, 1, 1)] * 6000, "column 'z' of .*part0.parquet holds date32.*: a target is made of"),
        ([[1.0, 2.0]] * 6000, "column 'z' of .*part0.parquet holds list.*: a target is made of"),
        ([{"a": 1.0}] * 6000, "column 'z' of .*part0.parquet holds struct.*: a target is made of"),
        (
            [*["a"] * 4000, *[1.0] * 2000],
            "column 'z' of .*part0.parquet holds string, but column 'z' of .*part1.parquet holds double",
        ),
    ],
)
def test_a_target_is_of_numbers_or_of_text(labels: list[Any], error: str, tmp_path: Path) -> None:
    for number, rows in enumerate((slice(4000), slice(4000, None))):
        columns = {"x": X[rows, 0], "y": Y[rows], "z": pa.array(labels[rows])}
        pq.write_table(pa.table(columns), tmp_path / f"part{number}.parquet")
    with pytest.raises(ValueError, match=error):
        fit_parquet(tmp_path, "z", ["x"])


def test_several_targets_are_all_of_numbers_or_all_of_text(folder: Path) -> None:
    error = "column 'y' of .*part0.parquet holds double, but column 'class' of .*part0.parquet holds dict"
    with pytest.raises(ValueError, match=error):
        fit_parquet(folder, ["y", "class"], ["normal"])
