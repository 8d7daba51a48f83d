"""The tables of docs/evidence.md are those of the results that are kept."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def test_the_tables_are_those_of_the_results() -> None:
    pytest.importorskip("pyarrow")
    pytest.importorskip("pandas")
    path = ROOT / "benchmarks" / "evidence.py"
    spec = importlib.util.spec_from_file_location("evidence", path)
    assert spec is not None
    assert spec.loader is not None
    evidence = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(evidence)
    results = {path.stem: evidence.read(path) for path in sorted((ROOT / "docs" / "data").glob("*.parquet"))}
    assert results
    assert evidence.page(results) == (ROOT / "docs" / "evidence_tables.md").read_text(encoding="utf-8")
