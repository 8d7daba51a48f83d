"""OpenML, against a local server that gives its answers."""

import hashlib
import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import Request, urlopen

import numpy as np
import pytest
from sklearn.datasets import _openml

from tabstretch.study.datasets import Dataset, load_dataset

COLUMNS = {"id": "numeric", "size": "numeric", "town": "nominal", "note": "string", "kind": "nominal"}
TOWNS = ("north", "'south east'")
ROWS = [
    [row, "?" if row == 3 else row + 0.5, TOWNS[row % 2], f'"n {row}"', "ab"[row // 3 % 2]]
    for row in range(12)
]
ARFF = "\n".join(
    [
        "@RELATION tiny",
        "@ATTRIBUTE id NUMERIC",
        "@ATTRIBUTE size NUMERIC",
        "@ATTRIBUTE town {north, 'south east'}",
        "@ATTRIBUTE note STRING",
        "@ATTRIBUTE kind {a, b}",
        "@DATA",
        *(",".join(map(str, row)) for row in ROWS),
        "",
    ]
).encode()


def answers(targets: tuple[str, ...]) -> dict[str, bytes]:
    """Return what openml.org says about data set 7, by path."""
    description = {
        "id": "7",
        "name": "Tiny",
        "version": "1",
        "status": "active",
        "format": "ARFF",
        "file_id": "70",
        "url": "https://www.openml.org/data/v1/download/70/tiny.arff",
        "description": "a few rows",
        "md5_checksum": hashlib.md5(ARFF).hexdigest(),
    }
    features = [
        {
            "index": str(index),
            "name": name,
            "data_type": data_type,
            "is_target": str(name in targets).lower(),
            "is_ignore": "false",
            "is_row_identifier": str(name == "id").lower(),
            "number_of_missing_values": str(int(name == "size")),
        }
        for index, (name, data_type) in enumerate(COLUMNS.items())
    ]
    found = {"data": {"dataset": [{"did": 7, "name": "Tiny", "version": 1, "status": "active"}]}}
    data = "/api/v1/json/data/"
    contents: dict[str, Any] = {
        f"{data}list/data_name/tiny/limit/2/status/active/": found,
        f"{data}7": {"data_set_description": description},
        f"{data}features/7": {"data_features": {"feature": features}},
        f"{data}qualities/7": {
            "data_qualities": {"quality": [{"name": "NumberOfInstances", "value": str(len(ROWS))}]}
        },
    }
    return {path: json.dumps(content).encode() for path, content in contents.items()}


class OpenML:
    """A server, and scikit-learn's requests led to it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.answers = answers(("kind",))
        self.requested: list[str] = []
        openml = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                openml.requested.append(self.path)
                is_data = self.path.startswith("/data/v1/download/70")
                content = ARFF if is_data else openml.answers.get(self.path)
                # OpenML says 412 to what it does not have.
                self.send_response(200 if content is not None else 412)
                self.end_headers()
                self.wfile.write(content or b"{}")

            def log_message(self, *args: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01})
        self.thread.start()
        local = f"http://127.0.0.1:{self.server.server_port}/"

        def open_local(request: Request) -> Any:
            return urlopen(re.sub("^https://[^/]+/", local, request.full_url))

        monkeypatch.setattr(_openml, "urlopen", open_local)

    def stop(self) -> None:
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


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
    with pytest.raises(ValueError, match="openml:huge: No active dataset huge found"):
        load("openml:huge")
    with pytest.raises(ValueError, match="openml:8: Dataset with data_id 8 not found"):
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


@pytest.mark.filterwarnings("ignore:A network error occurred")  # scikit-learn's, before each new attempt
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


@pytest.mark.filterwarnings("ignore:A network error occurred")
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
