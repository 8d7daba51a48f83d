"""Names from strangers, of columns, classes, data sets and files: shown as they are, obeyed by nothing."""

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
from study.report.materials import STUDIES

from tabstretch.cli import main

HOSTILE = ["../../out", "/etc/x", "a/b", "a\\b", "a\nb", "<b>x</b>", "q\"u'o", "$(touch x)", "-rf", "..", "~"]
# Orders to a terminal, to a spreadsheet, to a database, to rich and to TeX.
COLUMNS = [
    *HOSTILE,
    "\x1b[2J\x1b]0;title\a",
    "=1+1",
    '"; DROP TABLE data; --',
    "[bold]x[/bold]",
    "$x^2$",
    "\u202etxt",
]
TARGET = "<script>alert(1)</script>\n/../y"
CLASSES = np.array(["</td><script>alert(1)</script>", "../../\x1b[31mclass"])
FILE = "x<script>alert(1)<%2Fscript>'\"\n$(touch x);..\x1b[31m [bold].csv"


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Every path that is opened for writing, made or renamed while the test runs."""
    seen: list[str] = []
    watching = True

    def note(event: str, arguments: tuple[Any, ...]) -> None:
        if not watching:
            return
        if event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR):
            seen.append(os.fspath(arguments[0]) if not isinstance(arguments[0], int) else "")
        elif event in ("os.mkdir", "os.rename", "os.symlink", "os.link"):
            seen.append(str(arguments[1] if event != "os.mkdir" else arguments[0]))
        elif event == "sqlite3.connect":
            seen.append(str(arguments[0]))
        elif event in ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn"):
            seen.append(f"!{event}")

    sys.addaudithook(note)
    yield seen
    watching = False


def elsewhere(opened: list[str], *places: Path) -> list[str]:
    """What was written outside some places, or started."""
    # Caches that libraries keep whatever is done, and how we measure memory.
    caches = ("matplotlib", "fontconfig", "__pycache__", "torchinductor")
    others = (*caches, "/dev/null", "/proc/self/clear_refs")
    ours = [path if path.startswith("!") else os.path.abspath(path) for path in opened]
    ours = [path for path in ours if not any(other in path for other in others)]
    assert ours
    return [path for path in ours if not any(path.startswith(str(place)) for place in places)]


def report_files(path: Path, out: Path) -> None:
    from tabstretch.study.report import material_of_results, write_report, write_tables

    found = material_of_results(path)
    write_report(found, out / "report.html")
    for format in ("csv", "markdown", "latex", "parquet"):
        write_tables(found, out / format, format)


def split_files(path: Path, out: Path) -> None:
    from types import SimpleNamespace

    from tabstretch.study.datasets.records import SplitRecord
    from tabstretch.study.results import write_splits

    entries = {
        name: SimpleNamespace(name=name, split=SplitRecord(name, name, "", {"train": 1}, None))
        for name in HOSTILE
    }
    written = write_splits(SimpleNamespace(dataset_entries=lambda: entries), out)  # type: ignore[arg-type]
    assert len(set(written)) == len(HOSTILE)


@pytest.mark.parametrize("writer", [report_files, split_files])
def test_names_stay_in_the_output_folder(
    writer: Callable[[Path, Path], None], tmp_path: Path, opened: list[str]
) -> None:
    rows = [STUDIES["one panel"].assign(dataset=name, model=HOSTILE[0]) for name in HOSTILE[:3]]
    results, out = tmp_path / "in" / "results.csv", tmp_path / "out"
    results.parent.mkdir()
    out.mkdir()
    pd.concat(rows).to_csv(results, index=False)
    opened.clear()
    writer(results, out)
    assert elsewhere(opened, out) == []


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pd.DataFrame:
    """A table with hostile names, in a folder to work in."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({name: rng.normal(size=120) for name in COLUMNS})
    frame["{{7*7}}"] = rng.choice(["<img src=x onerror=alert(1)>", "../../x", "\x1b[2J", "two\nlines"], 120)
    frame[TARGET] = CLASSES[(frame[COLUMNS[0]] > 0).astype(int)]
    place = tmp_path / "in" / "deep"
    place.mkdir(parents=True)
    frame.to_csv(place / FILE, index=False)
    monkeypatch.chdir(place)
    return frame


def shown(capsys: pytest.CaptureFixture[str]) -> str:
    """What a person sees, which is nothing but letters and lines."""
    told = capsys.readouterr()
    text = told.out + told.err
    assert text.replace("\n", "").isprintable()
    return text


def test_compare(
    table: pd.DataFrame, tmp_path: Path, opened: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--transformations", "standard,stretch_unsup", "--seeds", "1", "--workers", "0"]
    assert main(["compare", FILE, "--target", TARGET, "--drop", COLUMNS[1], *options]) == 0
    folder = Path.cwd() / f"{Path(FILE).stem}-compare"
    assert elsewhere(opened, folder) == []
    assert sorted(path.name for path in folder.iterdir()) == ["compare.db", "pipeline.joblib", "results.csv"]
    assert sorted(path.name for path in tmp_path.rglob("*") if path.parent != folder) == sorted(
        ["in", "deep", FILE, folder.name]
    )
    assert r"\x1b[31m [bold]" in shown(capsys)
    results = pd.read_csv(folder / "results.csv")
    assert set(results["dataset"]) == {Path(FILE).stem}
    assert set(joblib.load(folder / "pipeline.joblib").predict(table)) <= set(CLASSES)


def test_compare_names_what_is_wrong_with_hostile_names(
    table: pd.DataFrame, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", FILE, "--target", "\x1b[31mno", "--workers", "0", "--quiet"]) == 1
    assert r"there is no column '\x1b[31mno'" in shown(capsys)


def test_maps(table: pd.DataFrame, opened: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """`fit`, `plot`, `export` and `transform` write the file that was asked for, and keep the names."""
    for name in ("out", "out/more"):
        Path(name).mkdir()
    opened.clear()
    assert main(["fit", FILE, "--target", TARGET, "--variation", "within_fold", "-o", "out/map.json"]) == 0
    for ending in ("svg", "png", "pdf"):
        assert main(["plot", "out/map.json", "-o", f"out/map.{ending}"]) == 0
    for to, ending in (("sql", "sql"), ("onnx", "onnx"), ("torch", "pt2")):
        assert main(["export", "out/map.json", "--to", to, "-o", f"out/map.{ending}"]) == 0
    for ending in ("csv", "parquet"):
        assert main(["transform", "out/map.json", FILE, "-o", f"out/new.{ending}"]) == 0
    assert elsewhere(opened, Path.cwd() / "out") == []
    assert r"\x1b[2J\x1b]0;title\x07" in shown(capsys)
    picture = Path("out/map.svg").read_text(encoding="utf-8")
    assert "<script" not in picture
    assert "\x1b" not in picture
    for new in (pd.read_csv("out/new.csv"), pd.read_parquet("out/new.parquet")):
        assert list(new) == list(table)
        assert list(new[TARGET]) == list(table[TARGET])


def test_studies(
    table: pd.DataFrame, tmp_path: Path, opened: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Every verb of a study whose only data set has a hostile name."""
    from urllib.parse import quote

    source = f"file:{quote(FILE, safe='')}?target={quote(TARGET, safe='')}"
    plan = Path.cwd() / "plan.toml"
    plan.write_text(
        f'name = "<b>[bold]"\ndatasets = ["{source}"]\nmodels = ["mlp"]\ntransformations = ["standard"]\n'
        "seeds = 1\ntrials = 0\nepochs = 2\n",
        encoding="utf-8",
    )
    opened.clear()
    out = tmp_path / "out"
    out.mkdir()
    assert main(["run", str(plan), "--workers", "0"]) == 0
    assert main(["status", str(plan)]) == 0
    for verb, name in (("results", "results.csv"), ("splits", "splits"), ("report", "report.html")):
        assert main([verb, str(plan), "-o", str(out / name)]) == 0
    for form in ("markdown", "latex", "svg", "csv"):
        assert main(["report", str(plan), "--format", form, "-o", str(out / form)]) == 0
    assert elsewhere(opened, out, plan.with_suffix(".db")) == []
    assert r"\x1b[31m" in shown(capsys)
    page = (out / "report.html").read_text(encoding="utf-8")
    assert page.count("<script") == 1  # its own
    assert "&lt;script&gt;alert(1)" in page
    assert all("<script" not in path.read_text(encoding="utf-8") for path in (out / "svg").iterdir())
    # Our own markup has no tags; what a name has of it is escaped.
    tables = [path.read_text(encoding="utf-8") for path in (out / "markdown").iterdir()]
    assert any(r"\<script\>" in text for text in tables)
    assert not any("<script>" in text for text in tables)
