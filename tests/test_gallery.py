"""The gallery: every example runs, its pictures explain themselves, and it has the form of sphinx-gallery."""

import ast
import re
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("plot_*.py"))
# Libraries that an example needs beyond the core, matplotlib and pandas, and that may be missing.
NEEDS = {
    "plot_dask": ("dask.dataframe", "distributed"),
    "plot_onnx": ("skl2onnx", "onnxruntime"),
    "plot_parquet": ("pyarrow",),
    "plot_polars": ("polars", "pyarrow"),
    "plot_pytorch": ("torch",),
}
every_example = pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)


@pytest.fixture
def pyplot(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Matplotlib without a screen, whose figures stay open to be looked at."""
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("Agg")
    pyplot.close("all")
    monkeypatch.setattr(pyplot, "show", lambda: None)
    yield pyplot
    pyplot.close("all")


def run(example: Path) -> None:
    for library in ("pandas", *NEEDS.get(example.stem, ())):
        pytest.importorskip(library)
    runpy.run_path(str(example))


@every_example
def test_example_draws_pictures_that_explain_themselves(
    example: Path, pyplot: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run(example)
    figures = [pyplot.figure(number) for number in pyplot.get_fignums()]
    assert figures
    for figure in figures:
        figure.savefig(tmp_path / "picture.png")  # warns, that is fails, where the layout does not fit
        panels = [axis for axis in figure.axes if axis.get_label() != "<colorbar>"]
        assert all(panel.get_xlabel() for panel in panels)
        assert panels[0].get_title()
    assert [path.name for path in tmp_path.iterdir()] == ["picture.png"]


def test_interaction_is_found_by_columns_together_only(pyplot: Any, capsys: Any) -> None:
    run(next(path for path in EXAMPLES if path.stem == "plot_interaction"))
    printed = capsys.readouterr().out
    assert printed.count("variation no larger than noise") == 3 + 1  # all columns, then the one that is noise
    assert len(pyplot.get_fignums()) == 2


@every_example
def test_example_has_the_form_of_the_gallery(example: Path) -> None:
    text = example.read_text()
    title, line, *_ = (ast.get_docstring(ast.parse(text)) or "").splitlines()
    assert re.fullmatch("=+", line)
    assert len(line) == len(title)
    cells = text.split("\n# %%\n")
    assert len(cells) >= 3
    # It ends with what was seen: text alone, one sentence.
    assert all(row.startswith("# ") for row in cells[-1].splitlines())
    assert cells[-1].strip().endswith(".")
    assert not re.search(r"\. [A-Z]", cells[-1].replace("\n# ", " "))


def test_needs_name_examples_that_exist() -> None:
    assert set(NEEDS) <= {path.stem for path in EXAMPLES}
