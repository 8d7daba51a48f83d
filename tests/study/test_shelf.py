"""What workers share: made once, whoever asks, and nothing broken by a full disk or a kill."""

import os
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from tabstretch.study.shelf import Shelf


class Maker:
    def __init__(self, value="value", seconds=0.0):
        self.value = value
        self.seconds = seconds
        self.times = 0

    def __call__(self):
        self.times += 1
        time.sleep(self.seconds)
        return self.value


def test_made_once_for_all(tmp_path):
    make = Maker()
    for _ in range(2):  # each as another process would open it
        assert Shelf(tmp_path).get(("a", 1.5, None), make) == "value"
    assert make.times == 1
    assert Shelf(tmp_path).get(("a", 1.5, 2), Maker("other")) == "other"
    assert [path.suffix for path in tmp_path.iterdir()] == [".pickle", ".pickle"]


def test_who_asks_meanwhile_waits(tmp_path):
    make = Maker(seconds=0.2)
    with ThreadPoolExecutor(3) as pool:
        found = list(pool.map(lambda _: Shelf(tmp_path).get(("a",), make), range(3)))
    assert found == ["value"] * 3
    assert make.times == 1


def test_the_oldest_make_room(tmp_path):
    shelf = Shelf(tmp_path, limit=250)
    for position, name in enumerate("abc"):
        shelf.get((name,), Maker(bytes(100)))
        for path in tmp_path.iterdir():
            os.utime(path, (position, position)) if path.stat().st_mtime > 1e6 else None
    again = {name: Maker() for name in "cba"}
    for name, make in again.items():
        shelf.get((name,), make)
    assert [make.times for make in again.values()] == [0, 0, 1]


def test_what_is_larger_than_the_shelf_is_not_kept(tmp_path):
    make = Maker(bytes(1000))
    for _ in range(2):
        assert Shelf(tmp_path, limit=250).get(("a",), make) == bytes(1000)
    assert make.times == 2
    assert list(tmp_path.iterdir()) == []


def test_without_a_folder_each_makes_its_own(tmp_path):
    make = Maker()
    for _ in range(2):
        assert Shelf(tmp_path / "gone").get(("a",), make) == "value"
    assert make.times == 2


def test_a_failure_is_not_kept(tmp_path):
    def fails():
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        Shelf(tmp_path).get(("a",), fails)
    assert Shelf(tmp_path).get(("a",), Maker()) == "value"
