"""OpenML's answers, spoilt: used or refused in words, and nobody waits for ever."""

import copy
import gzip
import hashlib
import json
import re
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from damage import damaged, message_of
from fuzz import cases
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import _openml
from study.datasets.openml_server import ARFF, OpenML, answers

from tabstretch.study import run_study
from tabstretch.study.datasets import load_dataset, openml
from tabstretch.study.errors import StudyError
from tabstretch.study.plan import StudyPlan

pytestmark = [
    # scikit-learn's, before it tries again and about what OpenML says of a data set
    pytest.mark.filterwarnings("ignore:Invalid cache"),
    pytest.mark.filterwarnings("ignore:A network error occurred"),
    pytest.mark.filterwarnings("ignore:(?s).*(OpenML|inactive|has flag|active versions)"),
]
WHOLE = answers(("kind",))
DOCUMENTS = {path: json.loads(content) for path, content in WHOLE.items()}
DESCRIPTION = "/api/v1/json/data/7"
ODD: list[Any] = [
    None,
    True,
    -1,
    0,
    1e308,
    10**400,
    "",
    "x",
    "../x",
    "<b>",
    "true",
    "ARFF\n",
    [],
    {},
    [[]],
    {"a": 1},
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenML]:
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path_factory.mktemp("openml") / "cache"))
        monkeypatch.setattr(_openml.time, "sleep", lambda seconds: None)
        found = OpenML(monkeypatch)
        yield found
        found.stop()


@pytest.fixture(autouse=True)
def whole(server: OpenML) -> None:
    restore(server)


def restore(server: OpenML) -> None:
    """Have the server whole again, and no answer kept."""
    shutil.rmtree(openml._cache(), ignore_errors=True)
    server.answers, server.arff, server.headers, server.status = dict(WHOLE), ARFF, {}, 200


def with_data(server: OpenML, arff: bytes) -> None:
    """Have the server give other data, with the checksum of these."""
    document = copy.deepcopy(DOCUMENTS[DESCRIPTION])
    document["data_set_description"]["md5_checksum"] = hashlib.md5(arff).hexdigest()
    server.answers[DESCRIPTION] = json.dumps(document).encode()
    server.arff = arff


def said() -> str | None:
    """What is said of data set 7, by name; nothing if it was read."""
    return message_of(lambda: load_dataset("openml:tiny", Path()), (ValueError, ConnectionError))


def places(document: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where a document has values, itself included."""
    yield above
    if isinstance(document, dict | list):
        inner = document.items() if isinstance(document, dict) else enumerate(document)
        for key, value in inner:
            yield from places(value, (*above, key))


PLACES = [(path, place) for path, document in DOCUMENTS.items() for place in places(document)]


def changed(document: Any, place: tuple[Any, ...], value: Any) -> Any:
    """The document with another value in one place; without it, where that is `...`."""
    if not place:
        return None if value is ... else value
    document = copy.deepcopy(document)
    inner = document
    for key in place[:-1]:
        inner = inner[key]
    if value is ...:
        del inner[place[-1]]
    else:
        inner[place[-1]] = value
    return document


@cases(60, nightly=2_000)
@given(where=st.sampled_from(PLACES), value=st.sampled_from([..., *ODD]))
def test_values_that_are_wrong(server: OpenML, where: Any, value: Any) -> None:
    path, place = where
    restore(server)
    server.answers[path] = json.dumps(changed(DOCUMENTS[path], place, value)).encode()
    message = said()
    assert message is None or message.startswith("openml:tiny: ")


@cases(30, nightly=1_000)
@given(path=st.sampled_from(sorted(WHOLE)), data=st.data())
def test_documents_that_are_damaged(server: OpenML, path: str, data: Any) -> None:
    restore(server)
    server.answers[path] = data.draw(damaged(WHOLE[path].decode()))
    message = said()
    assert message is None or message.startswith("openml:tiny: ")


@cases(30, nightly=1_000)
@given(content=damaged(ARFF.decode()))
def test_data_that_are_damaged(server: OpenML, content: bytes) -> None:
    restore(server)
    with_data(server, content)
    message = said()
    assert message is None or message.startswith("openml:tiny: ")


@cases(20, nightly=500)
@given(
    length=st.integers(0, 400),
    changes=st.lists(st.tuples(st.integers(0, 1 << 12), st.binary(min_size=1, max_size=4)), max_size=2),
)
def test_compressed_answers_that_are_damaged(
    server: OpenML, length: int, changes: list[tuple[int, bytes]]
) -> None:
    restore(server)
    server.headers = {"Content-Encoding": "gzip"}
    server.answers = {path: gzip.compress(content) for path, content in WHOLE.items()}
    content = bytearray(server.answers[DESCRIPTION])
    for position, change in changes:
        position %= len(content)
        content[position : position + len(change)] = change
    server.answers[DESCRIPTION] = bytes(content[:length])
    server.arff = gzip.compress(ARFF)
    message = said()
    assert message is None or message.startswith("openml:tiny: ")


# One by one.

PAGE = b"<!DOCTYPE html><html><body><script>alert(1)</script>Service unavailable</body></html>"


@pytest.mark.parametrize(
    "content",
    [PAGE, b"", b"{", b"[" * 100_000, b"\xff\xfe", b'{"data_set_description": null}', b"9" * 5000],
    ids=["page", "nothing", "half", "deep", "bytes", "null", "digits"],
)
@pytest.mark.parametrize("path", sorted(WHOLE))
def test_answers_of_another_kind(server: OpenML, path: str, content: bytes) -> None:
    server.answers[path] = content
    message = said()
    if "qualities" in path and b"null" in content:  # a description is no list of qualities, and may lack one
        assert message is None
        return
    assert message is not None
    assert message.startswith("openml:tiny: openml.org's answer cannot be used: ")
    assert f"remove {openml._cache()}" in message
    assert len(message) < 1500
    restore(server)
    assert said() is None


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (PAGE, "No columns to parse"),
        (b"", "No columns to parse"),
        (ARFF.replace(b",north,", b","), "Expected 4 fields in line 2, saw 5"),
        (b"PAR1" + b"\0" * 100 + b"PAR1", "No columns to parse"),
        (ARFF[: len(ARFF) // 2], "there is nothing to learn"),
    ],
    ids=["page", "nothing", "columns", "parquet", "half"],
)
def test_data_of_another_kind(server: OpenML, content: bytes, what: str) -> None:
    with_data(server, content)
    message = said()
    assert message is not None
    assert what in message


def test_data_of_another_size_than_was_said(server: OpenML) -> None:
    server.arff = ARFF * 2
    message = said()
    assert message is not None
    assert "md5 checksum" in message


@pytest.mark.parametrize("length", [0, 1, 5, 20, 100])
def test_half_of_a_compressed_answer(server: OpenML, length: int) -> None:
    server.headers = {"Content-Encoding": "gzip"}
    server.answers = {path: gzip.compress(content)[:length] for path, content in WHOLE.items()}
    message = said()
    assert message is not None
    assert "openml.org's answer cannot be used" in message


def test_a_redirection_without_end(server: OpenML) -> None:
    server.status, server.headers = 302, {"Location": DESCRIPTION}
    message = said()
    assert message is not None
    assert "openml.org could not be reached" in message
    assert "infinite loop" in message


@pytest.mark.parametrize("status", [404, 429, 500, 503])
def test_a_server_that_is_out_of_order(server: OpenML, status: int) -> None:
    server.status = status
    message = said()
    assert message is not None
    assert re.search(rf"openml\.org could not be reached \(HTTP Error {status}", message)


def test_a_server_that_says_nothing(server: OpenML, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openml, "_SILENCE", 0.1)
    monkeypatch.setattr(server, "is_silent", True)
    message = said()
    server.heard.set()
    assert message is not None
    assert "openml.org could not be reached" in message
    assert "timed out" in message
    assert socket.getdefaulttimeout() is None


def test_a_study_says_so_in_one_message(server: OpenML, tmp_path: Path) -> None:
    server.answers[DESCRIPTION] = PAGE
    plan = StudyPlan("spoilt", ("openml:tiny",), ("mlp",), ("standard",), trials=0, seeds=1, folder=tmp_path)
    with pytest.raises(StudyError, match=r"^openml:tiny: openml\.org's answer cannot be used: "):
        run_study(plan, storage=str(tmp_path / "study.db"), workers=0, progress=False)


@pytest.mark.parametrize(
    "name", ["<script>alert(1)</script>", "../../x", "a\nb", "x" * 5000, '"; DROP TABLE x']
)
def test_names_of_data_sets_and_columns_may_hold_anything(server: OpenML, name: str) -> None:
    description, features = copy.deepcopy(DOCUMENTS[DESCRIPTION]), "/api/v1/json/data/features/7"
    description["data_set_description"]["name"] = name
    server.answers[DESCRIPTION] = json.dumps(description).encode()
    server.answers[features] = json.dumps(
        changed(DOCUMENTS[features], ("data_features", "feature", 1, "name"), name)
    ).encode()
    dataset = load_dataset("openml:tiny", Path())
    assert dataset.name == name
    assert dataset.numeric_names == (name,)
