"""OpenML, against a local server that gives its answers."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.error import URLError

import numpy as np
import pytest
from sklearn.datasets import _openml
from study.datasets.openml_server import OpenML, answers

from tabstretch.study.datasets import Dataset, load_dataset


@pytest.fixture
def openml(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenML]:
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "cache"))
    monkeypatch.setattr(_openml.time, "sleep", lambda seconds: None)
    server = OpenML(monkeypatch)
    yield server
    server.stop()


def load(source: str) -> Dataset:
    return load_dataset(source, Path())


@pytest.mark.parametrize("source", ["openml:7", "openml:tiny", "openml:Tiny"])
def test_by_number_and_by_name(source: str, openml: OpenML) -> None:
    dataset = load(source)
    assert (dataset.name, dataset.source, dataset.task) == ("Tiny", source, "binclass")
    assert dataset.classes == ("a", "b")
    assert dataset.numeric_names == ("size",)
    assert dataset.categorical_names == ("town", "note")
    assert dataset.categories[0] == ("north", "south east")
    assert dataset.missing == 1
    assert dataset.split is not None
    for part, rows in dataset.split.items():
        assert dataset.y[part].tolist() == [row // 3 % 2 for row in rows]
        known = rows[rows != 3]
        np.testing.assert_array_equal(dataset.numeric[part][rows != 3, 0], known + 0.5)


def test_options(openml: OpenML) -> None:
    dataset = load("openml:7?target=town&drop=note&categorical=size")
    assert dataset.classes == ("north", "south east")
    assert dataset.categorical_names == ("size", "kind")
    with pytest.raises(ValueError, match="no column 'price'; available: 'size', 'town', 'note', 'kind'"):
        load("openml:7?target=price")
    with pytest.raises(ValueError, match=r"openml:7\?target=size: the target 'size' has no value in row 3"):
        load("openml:7?target=size")


@pytest.mark.parametrize(
    ("targets", "what"), [((), "no target of its own"), (("town", "kind"), "2 targets, 'town', 'kind'")]
)
def test_no_single_target(targets: tuple[str, ...], what: str, openml: OpenML) -> None:
    openml.answers = answers(targets)
    with pytest.raises(ValueError, match=rf"openml:7: it has {what}; add \?target=COLUMN with one of 'size'"):
        load("openml:7")
    assert load("openml:7?target=kind").classes == ("a", "b")


def test_unknown_names(openml: OpenML) -> None:
    with pytest.raises(ValueError, match=r"openml:huge: .* cannot be used: No active dataset huge found"):
        load("openml:huge")
    with pytest.raises(ValueError, match=r"openml:8: .* Dataset with data_id 8 not found"):
        load("openml:8")


def no_network(request: Any) -> Any:
    raise URLError("[Errno -3] Temporary failure in name resolution")


def test_the_cache_serves_without_a_network(
    openml: OpenML, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = load("openml:tiny")
    n_requests = len(openml.requested)
    monkeypatch.setattr(_openml, "urlopen", no_network)
    assert load("openml:tiny").checksum == before.checksum
    assert len(openml.requested) == n_requests
    assert (tmp_path / "cache" / "openml").is_dir()


def test_without_a_network(openml: OpenML, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_openml, "urlopen", no_network)
    with pytest.raises(ConnectionError) as caught:
        load("openml:electricity")
    message = str(caught.value)
    assert message.startswith("openml:electricity: openml.org could not be reached")
    assert "Temporary failure in name resolution" in message
    assert f"is not in {tmp_path / 'cache' / 'openml'}" in message
    assert "SCIKIT_LEARN_DATA" in message
    assert "file:PATH?target=COLUMN" in message


def test_a_server_that_is_gone(openml: OpenML) -> None:
    openml.stop()
    with pytest.raises(ConnectionError, match=r"openml\.org could not be reached"):
        load("openml:7")


@pytest.mark.filterwarnings("ignore:Invalid cache")
def test_a_damaged_download(openml: OpenML) -> None:
    description = json.loads(openml.answers["/api/v1/json/data/7"])
    description["data_set_description"]["md5_checksum"] = "0" * 32
    openml.answers["/api/v1/json/data/7"] = json.dumps(description).encode()
    with pytest.raises(ValueError, match=r"openml:7: .*checksum"):
        load("openml:7")
