"""Documents cannot drift: their code runs, their links lead somewhere, and the benchmarks work."""

import importlib.util
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from sklearn.datasets import load_diabetes

from tabstretch import suggest
from tabstretch.cli import main

ROOT = Path(__file__).parents[1]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
# What a block mentions that needs a library which may be missing.
NEEDS = {
    "tabstretch.study": "torch",
    "tabstretch.torch": "torch",
    "tabstretch.onnx": "skl2onnx",
    "onnxruntime": "onnxruntime",
    "duckdb": "duckdb",
    "parquet": "pyarrow",
    "tabstretch.dask": "dask.dataframe",
}
PYTHON_BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\((?!https?:)([^)#]+)\)")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # fifty steps are enough to show
@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_code_blocks_run(document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # for what they write
    matplotlib = pytest.importorskip("matplotlib.pyplot")
    matplotlib.switch_backend("Agg")
    names: dict[str, object] = {}
    for block in PYTHON_BLOCK.findall(document.read_text()):
        for mention, library in NEEDS.items():
            if mention in block:
                pytest.importorskip(library)
        exec(compile(block, document.name, "exec"), names)
    matplotlib.close("all")


def test_the_start_page_shows_what_its_first_blocks_print(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("pandas")
    page = (ROOT / "docs" / "start.md").read_text()
    names: dict[str, object] = {}
    for block in PYTHON_BLOCK.findall(page)[:4]:
        exec(compile(block, "start.md", "exec"), names)
    printed = " ".join(capsys.readouterr().out.split())
    shown = re.findall(r"^```text\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    assert len(shown) == 3
    assert " ".join(" ".join(shown).split()) == printed


def test_commands_of_the_shell_page_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for library in ("pyarrow", "matplotlib", "skl2onnx", "torch"):
        pytest.importorskip(library)
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "deploy" / "shell.md").read_text()
    for block in PYTHON_BLOCK.findall(page):
        exec(compile(block, "shell.md", "exec"), {})
    commands = [line for line in page.splitlines() if line.startswith("tabstretch ")]
    for command in commands:
        assert main(shlex.split(command)[1:]) == 0, command
    written = {"map.json", "stretched.parquet", "area.png", "map.onnx", "map.pt2"}
    assert {path.name for path in tmp_path.iterdir()} == {"houses.parquet", *written}


def test_readme_has_code_that_runs() -> None:
    assert len(PYTHON_BLOCK.findall(DOCUMENTS[0].read_text())) >= 2


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(document: Path) -> None:
    for target in LINK.findall(document.read_text()):
        assert (document.parent / target).exists(), target


def test_every_difference_from_the_paper_is_documented() -> None:
    table = (ROOT / "docs" / "differences.md").read_text()
    tagged = {path.name for path in (ROOT / "src").rglob("*.py") if "NOTE[DIFF]" in path.read_text()}
    assert tagged
    assert all(name in table for name in tagged)


def run(script: str, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, ROOT / script, *arguments], capture_output=True, text=True, check=True
    )
    return done.stdout


def test_noise_benchmark_prints_a_row_per_target() -> None:
    printed = run("benchmarks/conditional_noise.py", "--draws", "1", "--rows", "200")
    assert len(re.findall(r"^(pure|product|xor|tanh).* 200 ", printed, re.MULTILINE)) == 8


def test_signal_benchmark_prints_a_row_per_case() -> None:
    printed = run("benchmarks/signal_recovery.py", "--draws", "1", "--rows", "300")
    assert len(re.findall(r"^(tanh|step|line|hinge) ", printed, re.MULTILINE)) == 4 * 3 * 2


def test_comparison_with_others_prints_a_row_for_each() -> None:
    printed = run("benchmarks/coming_from.py", "--rows", "500", "--repeats", "1", "--parts", "speed")
    rows = re.findall(r"^\| (.+?) \| [\d.]+ \| [\d.]+ \| (\d+) \|$", printed, re.MULTILINE)
    assert len(rows) >= 8
    assert dict(rows)["views"] == "3"


def test_deployment_benchmark_prints_a_row_per_comparison() -> None:
    options = ("--rows", "300", "--bins", "4,20", "--repeats", "1", "--parts", "onnx,torch")
    printed = run("benchmarks/deployment.py", *options)
    for part, library in (("ONNX", "skl2onnx"), ("PyTorch", "torch")):
        if importlib.util.find_spec(library):
            assert len(re.findall(rf"^{part}: .* x \d", printed, re.MULTILINE)) >= 4


def test_out_of_core_benchmark_prints_a_ratio_per_stretch() -> None:
    pytest.importorskip("pyarrow")
    printed = run("benchmarks/out_of_core.py", "--rows", "3000", "--repeats", "1")
    assert len(re.findall(r"ratio .* GB  (met|MISSED)$", printed, re.MULTILINE)) == 3


def test_suggestions_benchmark_prints_a_row_per_shape_and_table() -> None:
    pytest.importorskip("pandas")
    printed = run("benchmarks/suggestions.py", "--draws", "1", "--columns", "3")
    assert len(re.findall(r"^\| (noise|line|logarithm|step|parabola) ", printed, re.MULTILINE)) == 4 + 6 * 6
    assert len(re.findall(r"^\| \d+ × ", printed, re.MULTILINE)) == 3


def test_the_suggestions_page_shows_what_is_printed() -> None:
    page = (ROOT / "docs" / "suggest.md").read_text()
    data = load_diabetes(as_frame=True, scaled=False)
    table = suggest(data.data, data.target, target_type="continuous")
    assert str(table) in page


def test_speed_benchmark_prints_every_bar() -> None:
    options = ("--rows", "1000", "--repeats", "1", "--jobs", "1", "--columns", "20", "--starts", "2")
    printed = run("benchmarks/speed.py", *options)
    assert len(re.findall(r"(met|MISSED)$", printed, re.MULTILINE)) >= 17
