"""The record of a split: written whole, read back, and compared."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from talent_folders import write_talent

from tabstretch.study.datasets import check_split, load_dataset, read_split, save_split


def test_round_trip(tmp_path: Path) -> None:
    dataset = load_dataset("sklearn:iris", tmp_path)
    path = tmp_path / "splits" / "iris.json"
    save_split(dataset, path)
    record = read_split(path)
    assert (record.name, record.source, record.checksum) == ("iris", "sklearn:iris", dataset.checksum)
    assert record.sizes == {"train": 96, "val": 24, "test": 30}
    assert record.rows is not None
    assert dataset.split is not None
    for part, rows in dataset.split.items():
        np.testing.assert_array_equal(record.rows[part], rows)
    check_split(dataset, path)
    assert [file.name for file in path.parent.iterdir()] == ["iris.json"]


def test_a_split_of_its_own(tmp_path: Path) -> None:
    write_talent(tmp_path / "data")
    dataset = load_dataset("talent:data", tmp_path)
    save_split(dataset, tmp_path / "data.json")
    assert read_split(tmp_path / "data.json").rows is None


def test_changed_data_are_refused_with_both_checksums(tmp_path: Path) -> None:
    folder = write_talent(tmp_path / "data")
    before = load_dataset("talent:data", tmp_path)
    save_split(before, tmp_path / "data.json")
    numbers = np.load(folder / "N_test.npy")
    numbers[0, 0] = np.nextafter(numbers[0, 0], np.inf)
    np.save(folder / "N_test.npy", numbers)
    after = load_dataset("talent:data", tmp_path)
    with pytest.raises(ValueError, match=r"talent:data: the data changed since .*data\.json was") as caught:
        check_split(after, tmp_path / "data.json")
    assert before.checksum in str(caught.value)
    assert after.checksum in str(caught.value)
    assert "8 / 4 / 4 rows" in str(caught.value)


def test_moved_data_are_the_same(tmp_path: Path) -> None:
    folder = write_talent(tmp_path / "data")
    save_split(load_dataset("talent:data", tmp_path), tmp_path / "data.json")
    folder.rename(tmp_path / "moved")
    check_split(load_dataset("talent:moved", tmp_path), tmp_path / "data.json")


def test_a_failed_write_leaves_the_old_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "iris.json"
    save_split(load_dataset("sklearn:iris", tmp_path), path)
    before = path.read_bytes()

    def full_disk(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(OSError, match="No space left"):
        save_split(load_dataset("sklearn:wine", tmp_path), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"name": "iris"}', json.dumps({"a": 1}), "\xff"])
def test_records_that_are_none(content: Any, tmp_path: Path) -> None:
    path = tmp_path / "iris.json"
    path.write_bytes(content.encode("latin-1"))
    with pytest.raises(ValueError, match=r"iris\.json is no record of a split.*remove it to write a new one"):
        check_split(load_dataset("sklearn:iris", tmp_path), path)


def test_no_record(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="save_split writes it"):
        read_split(tmp_path / "iris.json")
