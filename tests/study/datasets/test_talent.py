"""TALENT folders: the split is kept, parts must fit together."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from talent_folders import PARTS, write_talent

from tabstretch.study.datasets import Dataset, load_dataset


def load(folder: Path) -> Dataset:
    return load_dataset(f"talent:{folder.name}", folder.parent)


@pytest.mark.parametrize(("task", "n_outputs"), [("regression", 1), ("binclass", 2), ("multiclass", 3)])
def test_the_fixed_split_is_kept(task: str, n_outputs: int, tmp_path: Path) -> None:
    folder = write_talent(tmp_path / "data", task)
    dataset = load(folder)
    assert (dataset.name, dataset.task, dataset.n_outputs) == ("data", task, n_outputs)
    assert dataset.split is None
    assert dataset.n_rows == {"train": 8, "val": 4, "test": 4}
    assert dataset.numeric_names == ("num_0", "num_1")
    assert dataset.categorical_names == ("cat_0",)
    assert dataset.categories == (("c0", "c1", "c2"),)
    for part in PARTS:
        np.testing.assert_array_equal(dataset.numeric[part], np.load(folder / f"N_{part}.npy"))
        np.testing.assert_array_equal(dataset.y[part], np.load(folder / f"y_{part}.npy"))
        assert dataset.categorical[part][:, 0].tolist() == [i % 3 for i in range(dataset.n_rows[part])]


@pytest.mark.parametrize("letter", ["N", "C"])
def test_one_kind_of_columns_may_be_absent(letter: str, tmp_path: Path) -> None:
    changes: dict[str, Any] = {f"{letter}_{part}": None for part in PARTS}
    info = {"n_num_features": 0} if letter == "N" else {"n_cat_features": 0}
    dataset = load(write_talent(tmp_path / "data", info=info, **changes))
    absent = dataset.numeric if letter == "N" else dataset.categorical
    assert {part: matrix.shape for part, matrix in absent.items()} == {
        "train": (8, 0),
        "val": (4, 0),
        "test": (4, 0),
    }
    assert absent["train"].dtype == (np.float64 if letter == "N" else np.int64)


def test_names_from_the_folder(tmp_path: Path) -> None:
    info: dict[str, Any] = {"num_feature_names": ["age", "weight"], "cat_feature_names": ["city"]}
    dataset = load(write_talent(tmp_path / "a", info=info))
    assert dataset.numeric_names + dataset.categorical_names == ("age", "weight", "city")
    dataset = load(
        write_talent(tmp_path / "b", info={"num_feature_names": ["age"], "cat_feature_names": None})
    )
    assert dataset.numeric_names + dataset.categorical_names == ("num_0", "num_1", "cat_0")
    with pytest.raises(ValueError, match="more than one column is called 'age'"):
        load(write_talent(tmp_path / "c", info={"num_feature_names": ["age", "age"]}))


def test_types_do_not_matter(tmp_path: Path) -> None:
    numbers = np.array([[1, 0], [2, 1], [3, 0], [4, 1]])
    labels = np.array([0, 1, 2, 0])
    kinds: list[tuple[Any, Any, Any]] = [(float, object, int), (np.float32, str, np.int8), (int, int, float)]
    kinds += [(object, object, object), (">f8", "<U20", str)]
    checksums = set()
    for number, (numeric, categorical, target) in enumerate(kinds):
        changes: dict[str, Any] = {}
        for part in PARTS:
            changes[f"N_{part}"] = numbers.astype(numeric)
            changes[f"C_{part}"] = numbers[:, :1].astype(categorical)
            changes[f"y_{part}"] = labels.astype(target).reshape(-1, 1)
        checksums.add(load(write_talent(tmp_path / str(number), "multiclass", **changes)).checksum)
    assert len(checksums) == 1


def with_value(value: Any, shape: tuple[int, ...] = (4,), dtype: Any = float) -> np.ndarray:
    array = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    array.flat[1] = value
    return array


@pytest.mark.parametrize(
    ("task", "changes", "error", "message"),
    [
        ("regression", {"y_val": None}, FileNotFoundError, "y_val.npy does not exist"),
        ("regression", {"N_test": None}, FileNotFoundError, "N_test.npy does not exist"),
        ("regression", {"y_train": np.zeros(0)}, ValueError, "y_train.npy must have one value for each row"),
        ("regression", {"y_train": np.zeros((8, 2))}, ValueError, "for each row, got shape (8, 2)"),
        ("regression", {"N_val": np.zeros((3, 2))}, ValueError, "N_val.npy must have shape (4, 2)"),
        ("regression", {"N_val": np.zeros((4, 3))}, ValueError, "N_val.npy must have shape (4, 2)"),
        ("regression", {"N_train": np.zeros(8)}, ValueError, "N_train.npy must have two dimensions"),
        (
            "regression",
            {"C_train": np.zeros(1)},
            ValueError,
            "C_train.npy must have two dimensions, rows and",
        ),
        ("regression", {"N_train": with_value(np.inf, (8, 2))}, ValueError, "column 'num_1' is inf in row 0"),
        (
            "regression",
            {"N_val": with_value("x", (4, 2), object)},
            ValueError,
            "N_val.npy: column 'num_1' should be numbers but has 'x' in row 0",
        ),
        (
            "regression",
            {"y_val": with_value(np.nan)},
            ValueError,
            "y_val.npy: the target 'y' has no value in row 1",
        ),
        (
            "binclass",
            {"y_val": with_value(None, dtype=object)},
            ValueError,
            "y_val.npy: the target 'y' has no value in row 1",
        ),
        ("regression", {"y_train": np.full(8, 2.5)}, ValueError, "the target 'y' is 2.5 in all 8 rows"),
        ("binclass", {"y_train": np.full(8, 1)}, ValueError, "the target 'y' is '1' in all 8 rows"),
        (
            "multiclass",
            {"y_test": np.array([0, 1, 2, 7])},
            ValueError,
            "class '7' of the target 'y' is in the test part and not in training, which has '0', '1', '2'",
        ),
        ("binclass", {"y_train": np.arange(8) % 3}, ValueError, "info.json says binclass, y has 3 classes"),
        (
            "ranking",
            {},
            ValueError,
            "must have a task_type of regression, binclass, multiclass, got 'ranking'",
        ),
        ("regression", {"info": {"n_num_features": 3}}, ValueError, "n_num_features is 3, the files have 2"),
        ("regression", {"C_train": np.zeros((8, 1), "M8[s]")}, ValueError, "C_train.npy cannot be read"),
    ],
)
def test_what_is_refused(
    task: str, changes: dict[str, Any], error: type[Exception], message: str, tmp_path: Path
) -> None:
    with pytest.raises(error, match=re.escape(message)) as caught:
        load(write_talent(tmp_path / "data", task, **changes))
    assert str(caught.value).startswith("talent:data: ")


def test_folders_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"talent:no: .*no is no folder"):
        load(tmp_path / "no")
    folder = write_talent(tmp_path / "data", **{f"{kind}_{part}": None for kind in "NC" for part in PARTS})
    with pytest.raises(ValueError, match="has neither numbers"):
        load(folder)
    for content in ("", "{", "[]", '"regression"', "[" * 100_000, "\ud800"):
        (folder / "info.json").write_text(content, encoding="utf-8", errors="surrogatepass")
        with pytest.raises(ValueError, match=r"info\.json (cannot be read|must have)"):
            load(folder)
    (folder / "info.json").unlink()
    with pytest.raises(FileNotFoundError, match=r"info\.json does not exist"):
        load(folder)


def test_info_may_be_scarce(tmp_path: Path) -> None:
    folder = write_talent(tmp_path / "data")
    checksum = load(folder).checksum
    (folder / "info.json").write_text(json.dumps({"task_type": "regression", "more": [1, 2]}))
    assert load(folder).checksum == checksum
