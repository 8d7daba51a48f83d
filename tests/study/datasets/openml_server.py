"""OpenML on this machine: a server that gives its answers, whole or spoilt."""

import hashlib
import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.request import Request, urlopen

import pytest
from sklearn.datasets import _openml

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
        self.arff = ARFF
        self.headers: dict[str, str] = {}
        self.status = 200
        self.is_silent = False
        self.heard = threading.Event()  # the end of the silence
        self.requested: list[str] = []
        openml = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                openml.requested.append(self.path)
                is_data = self.path.startswith("/data/v1/download/70")
                content = openml.arff if is_data else openml.answers.get(self.path)
                if openml.is_silent:
                    openml.heard.wait()
                    return
                # OpenML says 412 to what it does not have.
                self.send_response(openml.status if content is not None else 412)
                for name, value in openml.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(content if content is not None else b"{}")

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
        self.heard.set()
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()
