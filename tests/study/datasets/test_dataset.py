"""Data sets: gaps filled, categories and classes encoded, and a checksum of all of it."""

import dataclasses
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_array_equal
from talent_folders import PARTS, write_talent

from tabstretch.study.datasets import Dataset, load_dataset
from tabstretch.study.datasets.dataset import checksum_of, dataset_from_table
from tabstretch.study.datasets.tables import Table

SKLEARN = {
    "breast_cancer": ("binclass", (364, 91, 114), 30),
    "diabetes": ("regression", (283, 71, 88), 10),
    "digits": ("multiclass", (1150, 288, 359), 64),
    "iris": ("multiclass", (96, 24, 30), 4),
    "wine": ("multiclass", (114, 28, 36), 13),
}


@pytest.mark.parametrize("name", SKLEARN)
def test_scikit_learns_data_sets(name: str) -> None:
    task, sizes, n_columns = SKLEARN[name]
    dataset = load_dataset(f"sklearn:{name}", Path())
    assert (dataset.name, dataset.task) == (name, task)
    assert tuple(dataset.n_rows.values()) == sizes
    assert len(dataset.numeric_names) == n_columns
    for part in PARTS:
        assert dataset.numeric[part].shape == (dataset.n_rows[part], n_columns)
        assert dataset.numeric[part].dtype == np.float64
        assert dataset.categorical[part].shape == (dataset.n_rows[part], 0)
        assert dataset.y[part].dtype == (np.float64 if task == "regression" else np.int64)
    if dataset.classes is not None:
        assert set(dataset.y["test"].tolist()) == set(range(len(dataset.classes)))


def test_unknown_names_of_scikit_learn() -> None:
    with pytest.raises(ValueError, match=r"sklearn:boston: .* available: 'breast_cancer', 'diabetes'"):
        load_dataset("sklearn:boston", Path())


def split_table(n_rows: int = 9, **changes: Any) -> Table:
    """Return a table of nine rows, of which the first five are training."""
    table = Table(
        "table",
        {"a": np.arange(n_rows, dtype=float)},
        {"b": ["x", "y", "x", "y", "x", "y", "x", "y", "x"]},
        np.arange(n_rows) + 0.5,
        "y",
        {"train": np.arange(5), "val": np.arange(5, 7), "test": np.arange(7, 9)},
    )
    return dataclasses.replace(table, **changes)


def test_gaps_are_filled_by_the_mean_of_the_training_part() -> None:
    nan = np.nan
    numeric = {
        "gaps": np.array([1, nan, 3, nan, 8, nan, 100, 200, nan]),
        "unknown": np.array([nan, nan, nan, nan, nan, nan, 7, 8, 9]),
        "huge": np.array([1.5e308, 1.5e308, nan, nan, nan, nan, 0, 0, 0]),
    }
    dataset = dataset_from_table(split_table(numeric=numeric), "a")
    assert_array_equal(dataset.numeric["train"][:, 0], [1, 4, 3, 4, 8])
    assert_array_equal(dataset.numeric["val"][:, 0], [4, 100])
    assert_array_equal(dataset.numeric["test"][:, 0], [200, 4])
    assert not any(dataset.numeric[part][:, 1].any() for part in PARTS)
    assert dataset.numeric["train"][2, 2] == 1.5e308
    assert dataset.missing == 4 + 6 + 4


def test_categories_come_from_the_training_part() -> None:
    categorical = {
        "plain": ["b", "a", "b", "a", "b", "c", "a", "b", "d"],
        "gaps": ["b", None, "a", None, "b", None, "c", "a", "b"],
        "numbers": ["10", "9", "10", "9", "9", "11", "10", None, "9"],
    }
    dataset = dataset_from_table(split_table(categorical=categorical), "a")
    assert dataset.categories == (("a", "b"), ("a", "b", None), ("9", "10"))
    assert dataset.n_categories == (3, 4, 3)
    assert dataset.categorical["train"].T.tolist() == [[1, 0, 1, 0, 1], [1, 2, 0, 2, 1], [1, 0, 1, 0, 0]]
    assert dataset.categorical["val"].T.tolist() == [[2, 0], [2, 3], [2, 1]]
    assert dataset.categorical["test"].T.tolist() == [[1, 2], [0, 1], [2, 0]]


def test_classes() -> None:
    labels = ["10", "9", "8", "9", "10", "8", "9", "8", "10"]
    dataset = dataset_from_table(split_table(target=labels), "a")
    assert (dataset.task, dataset.classes, dataset.n_outputs) == ("multiclass", ("8", "9", "10"), 3)
    assert dataset.y["train"].tolist() == [2, 1, 0, 1, 2]


@pytest.mark.parametrize("unit", [1e-145, 1.0, 1e145])
def test_the_unit_of_a_target_does_not_matter(unit: float) -> None:
    assert dataset_from_table(split_table(target=np.arange(9) * unit), "a").task == "regression"


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ([0, 1, 2, 3, 4, 5, 6, 7, -1e200], "is -1e+200 in row 8 (counting from 0); numbers beyond 1e+150"),
        ([0, 1e-200, 0, 0, 0, 0, 0, 0, 1], "has a standard deviation of 4e-201 in the training part"),
        (
            [0, 1, 2, 3, 4, 5, 1e40, 7, 8],
            "is 1e+40 in row 6 (counting from 0), in validation: 7e+39 st",
        ),
    ],
)
def test_targets_no_network_can_be_scored_on(target: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(f"the target 'y' {message}")):
        dataset_from_table(split_table(target=np.array(target, dtype=float)), "a")


def test_a_data_set_cannot_be_reassigned() -> None:
    dataset = dataset_from_table(split_table(), "a")
    with pytest.raises(dataclasses.FrozenInstanceError):
        dataset.name = "other"  # type: ignore[misc]


PINNED = "e658d46cc1fc879dd0470fe229f6979f6cec351cac4aab02ae5ae9c57aa6a7d7"
PINNED_UNSPLIT = "7df597fc67809730fe6b42056aaac20a125c1ca2e7f69f0a47527a4a60e9f817"


def test_these_very_checksums() -> None:
    """They stand in the records of old studies."""
    labels = ["10", "9", "8", "9", "10", "8", "9", "8", "10"]
    gaps = np.array([0.1, np.nan, 0.3, -0.0, 1e-300, np.nan, 1e300, 2, 3])
    table = split_table(numeric={"ä": gaps}, target=labels)
    assert dataset_from_table(table, "a").checksum == PINNED
    assert dataset_from_table(dataclasses.replace(table, rows=None), "a").checksum == PINNED_UNSPLIT


matrices = hnp.arrays(np.float32, (16, 2), elements=st.floats(-100, 100, width=16))


def written(folder: Path, matrix: np.ndarray, dtype: Any = float) -> Dataset:
    train, val, test = np.split(matrix.astype(dtype), [8, 12])
    write_talent(folder, N_train=train, N_val=val, N_test=test)
    return load_dataset(f"talent:{folder.name}", folder.parent)


@settings(max_examples=15)
@given(matrices, st.integers(0, 15), st.integers(0, 15))
def test_the_checksum_is_of_the_content(matrix: np.ndarray, first: int, second: int) -> None:
    swapped = matrix.copy()
    swapped[[first, second]] = matrix[[second, first]]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        checksum = written(folder / "a", matrix).checksum
        assert written(folder / "b" / "elsewhere", matrix).checksum == checksum
        assert written(folder / "c", matrix, np.float32).checksum == checksum
        assert written(folder / "d", np.asfortranarray(matrix), ">f8").checksum == checksum
        assert written(folder / "e", matrix, object).checksum == checksum
        assert (written(folder / "f", swapped).checksum == checksum) == np.array_equal(swapped, matrix)


@settings(max_examples=15)
@given(matrices, st.permutations(range(16)))
def test_the_order_of_rows_is_content(matrix: np.ndarray, order: list[int]) -> None:
    matrix[:, 0] = np.arange(16)
    table = Table("a", {"a": matrix[:, 0].astype(float)}, {}, matrix[:, 0] + 0.5, "y")
    again = Table("a", {"a": table.numeric["a"][order]}, {}, np.asarray(table.target)[order], "y")
    same = dataset_from_table(table, "a").checksum == dataset_from_table(again, "a").checksum
    assert same == (order == list(range(16)))


def test_everything_but_name_and_source_is_in_the_checksum() -> None:
    dataset = dataset_from_table(split_table(rows=None), "a")
    assert checksum_of(dataset) == dataset.checksum
    changes: dict[str, Any] = {
        "task": "binclass",
        "numeric": {part: dataset.numeric[part] + (part == "test") for part in PARTS},
        "categorical": {part: dataset.categorical[part] + (part == "val") for part in PARTS},
        "y": {part: dataset.y[part] * (2 if part == "test" else 1) for part in PARTS},
        "classes": ("a",),
        "numeric_names": ("b",),
        "categorical_names": ("a",),
        "categories": (("x", "z"),),
        "missing": 1,
        "split": None,
    }
    for field in dataclasses.fields(dataset):
        value = changes.get(field.name, "other")
        changed = checksum_of(dataclasses.replace(dataset, **{field.name: value})) != dataset.checksum
        assert changed == (field.name not in ("name", "source", "checksum")), field.name


def test_a_file_elsewhere_is_the_same_data(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": range(10), "y": [i / 7 for i in range(10)]})
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        frame.to_csv(tmp_path / folder / f"{folder}.csv", index=False)
    one = load_dataset("file:one/one.csv?target=y", tmp_path)
    two = load_dataset(f"file:{tmp_path}/two/two.csv?target=y", Path("/"))
    assert one.checksum == two.checksum
    assert (one.name, two.name) == ("one", "two")


def test_the_core_does_not_import_the_study() -> None:
    code = "import sys, tabstretch; print([name for name in sys.modules if 'tabstretch.study' in name])"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert loaded.stdout.strip() == "[]"
