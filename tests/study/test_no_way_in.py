"""Files from strangers: whatever is in them, they are read or refused in words, and nothing else happens."""

import json
import string
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from damage import damaged, message_of
from fuzz import cases
from hypothesis import given
from hypothesis import strategies as st
from study.datasets.talent_folders import write_talent
from study.report.materials import STUDIES

from tabstretch.study.datasets import load_dataset
from tabstretch.study.errors import StudyError
from tabstretch.study.plan import read_plan
from tabstretch.study.report.material import read_results

PLAN = (
    'name = "a"\ndatasets = ["sklearn:wine", "file:x.csv?target=y"]\nmodels = ["mlp"]\n'
    'transformations = ["ple"]\ntrials = 3\nnoise = [0.0, 0.5]\nmemory_limit_gb = 1.5\n'
)
INFO = '{"task_type": "regression", "n_num_features": 2, "num_feature_names": ["a", "b"]}'
CSV = "a,b,y\n" + "".join(f"{i},c{i % 3},{i * 0.5}\n" for i in range(20))
RESULTS = STUDIES["half done"].to_csv(index=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("hostile")


def write(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


@cases(150)
@given(content=damaged(PLAN))
def test_plans(folder: Path, content: bytes) -> None:
    path = write(folder / "plan.toml", content)
    said = message_of(lambda: read_plan(path), StudyError)
    assert said is None or ("plan.toml" in said and len(said) < 5000)


@cases(60)
@given(content=damaged(INFO))
def test_descriptions_of_talent_folders(folder: Path, content: bytes) -> None:
    place = folder / "talent"
    if not place.exists():
        write_talent(place)
    write(place / "info.json", content)
    said = message_of(lambda: load_dataset(f"talent:{place}", folder), (ValueError, FileNotFoundError))
    assert said is None or "talent" in said


@cases(80)
@given(content=damaged(CSV))
def test_csv_files(folder: Path, content: bytes) -> None:
    write(folder / "x.csv", content)
    said = message_of(lambda: load_dataset("file:x.csv?target=y", folder), ValueError)
    assert said is None or "x.csv" in said


@cases(60)
@given(content=damaged(RESULTS))
def test_results(folder: Path, content: bytes) -> None:
    write(folder / "r.csv", content)
    said = message_of(lambda: read_results(folder / "r.csv"), StudyError)
    assert said is None or "r.csv" in said


@cases(80)
@given(changes=st.lists(st.tuples(st.integers(0, 1 << 20), st.binary(min_size=1, max_size=4)), max_size=4))
def test_parquet_files(folder: Path, changes: list[tuple[int, bytes]]) -> None:
    frame = pd.DataFrame({"a": ["x", "y"] * 10, "b": np.arange(20.0), "y": np.arange(20) * 0.5})
    path = folder / "y.parquet"
    frame.to_parquet(path)
    content = bytearray(path.read_bytes())
    for position, change in changes:
        position %= len(content)
        content[position : position + len(change)] = change
    write(path, bytes(content))
    said = message_of(lambda: load_dataset("file:y.parquet?target=y", folder), ValueError)
    assert said is None or "y.parquet" in said


@cases(100)
@given(
    kind=st.sampled_from(["sklearn", "talent", "file"]),
    rest=st.text(st.characters(blacklist_characters=string.ascii_letters), max_size=20),
)
def test_sources(folder: Path, kind: str, rest: str) -> None:
    said = message_of(lambda: load_dataset(f"{kind}:{rest}", folder / "nowhere"), (ValueError, OSError))
    assert said is None or said.startswith(f"{kind}:{rest}")


# One by one: what once got through, and what must never.


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (f"seeds = {'9' * 5000}", "is not TOML"),
        (f"seeds = {'9' * 400}", "at most 1000000000"),
        (f"seeds = 0x{'f' * 90000}", "a number of thousands of digits"),
        (f"memory_limit_gb = {'9' * 400}", "a number that a float can hold"),
        (f"x = {'[' * 50000}", "is not TOML"),
        ("a." * 200_000 + "a = 1", "key of more than 64 parts"),
        ("[" + '"a" . ' * 150_000 + "a]", "key of more than 64 parts"),
        (f"# {'x' * (1 << 20)}", "more than 1048576 bytes"),
    ],
    ids=["digits", "large", "hexadecimal", "memory", "nested", "dots", "quoted dots", "long"],
)
def test_plans_that_want_time_or_memory(more: str, said: str, tmp_path: Path) -> None:
    path = write(tmp_path / "plan.toml", f"{PLAN.replace('memory_limit_gb = 1.5', '')}{more}\n".encode())
    with pytest.raises(StudyError, match=said):
        read_plan(path)


def test_a_word_of_a_million_letters_costs_nothing(tmp_path: Path) -> None:
    """The search for keys of many parts begins at the first letter of a word only."""
    text = PLAN.replace("sklearn:wine", "sklearn:" + "w" * 1_000_000)
    assert len(read_plan(write(tmp_path / "plan.toml", text.encode())).datasets[0]) > 1_000_000


@pytest.mark.parametrize(
    "name", ["../../../../tmp/x", "a/b", "..", "a\\b", "a\nb", "a\0", "²", "a?b", "a%b", "x" * 300]
)
def test_names_that_would_lead_out_of_the_cache(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """scikit-learn makes paths of them, and asks the network for them."""
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "cache"))
    quoted = "".join(f"%{byte:02X}" for byte in name.encode())
    with pytest.raises(ValueError, match=r"is no name of a data set on openml\.org"):
        load_dataset(f"openml:{quoted}", tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_paths_that_are_too_long(tmp_path: Path) -> None:
    for source in ("talent:" + "a" * 5000, "file:" + "a" * 5000 + ".csv?target=y"):
        with pytest.raises(ValueError, match="File name too long"):
            load_dataset(source, tmp_path)


@pytest.mark.skipif(np.finfo(np.longdouble).max == np.finfo(float).max, reason="no longer floats here")
def test_floats_that_are_longer_than_ours(tmp_path: Path) -> None:
    place = write_talent(tmp_path / "long", N_train=np.full((8, 2), np.longdouble("1e4000")))
    with pytest.raises(ValueError, match="'num_0' is inf in row 0"):
        load_dataset(f"talent:{place}", tmp_path)


def test_text_in_parquet_that_is_none(tmp_path: Path) -> None:
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    offsets = pa.py_buffer(np.arange(21, dtype=np.int32))
    text = pa.Array.from_buffers(pa.string(), 20, [None, offsets, pa.py_buffer(b"\xff" * 20)])
    table = pa.table({"a": text, "y": np.arange(20.0)})
    parquet.write_table(table, tmp_path / "x.parquet")
    with pytest.raises(ValueError, match=r"x\.parquet cannot be read: .*UTF"):
        load_dataset("file:x.parquet?target=y", tmp_path)


@pytest.mark.parametrize(
    "columns", [["y"], [{"kind": "range", "name": None, "start": 0, "stop": 10**12, "step": 1}]]
)
def test_parquet_that_lies_about_pandas(columns: Any, tmp_path: Path) -> None:
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    said = {"index_columns": columns, "columns": [{"name": "a", "numpy_type": "evil"}], "column_indexes": []}
    table = pa.table({"a": np.arange(20.0), "y": np.arange(20.0)})
    parquet.write_table(table.replace_schema_metadata({"pandas": json.dumps(said)}), tmp_path / "x.parquet")
    with pytest.raises(ValueError, match=r"x\.parquet cannot be read"):
        load_dataset("file:x.parquet?target=y", tmp_path)


@pytest.mark.parametrize("value", ["x", "9" * 400, "inf", "-1e300"])
@pytest.mark.parametrize("column", ["n_train", "n_numeric", "n_classes", "trials", "seconds", "epochs"])
def test_numbers_of_results_that_are_none(column: str, value: str, tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    STUDIES["one panel"].assign(**{column: value}).to_csv(path, index=False)
    with pytest.raises(StudyError, match=rf"r\.csv: the column {column} must hold numbers"):
        read_results(path)
