"""Tables as files: whole, escaped, and the same figures in each."""

import re
from pathlib import Path

import pandas as pd
import pytest
from study.report.materials import EVIL, material, three
from study.results_maker import frame

from tabstretch.study.errors import StudyError
from tabstretch.study.report import FORMATS, write_tables
from tabstretch.study.report.formats import latex, latex_text, markdown, markdown_text
from tabstretch.study.report.sheets import Cell, Column, Sheet, grid_sheet, number_text, plain_sheet
from tabstretch.study.statistics import table1

RESULTS = frame(three("a"), three("b", "r2"))
NAMES = {
    "table1",
    "replication",
    "delta_sweep",
    "win_rates",
    "win_loss_tie",
    "breakdown",
    *(f"metric_{name}" for name in ("accuracy", "r2")),
    "mean_ranks",
    "friedman",
    "score_intervals",
    "lead_intervals",
    "datasets",
    "data",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("tables")
    for name in FORMATS:
        write_tables(material(RESULTS), made / name, name)
    return made


@pytest.mark.parametrize("format", FORMATS)
def test_every_table_is_a_file(folder: Path, format: str) -> None:
    files = list((folder / format).iterdir())
    assert {file.suffix for file in files} == {FORMATS[format]}
    assert {file.stem for file in files} >= NAMES


def test_data_are_whole(folder: Path) -> None:
    expected = table1(frame(three("a"), three("b", "r2")))
    for found in (pd.read_csv(folder / "csv/table1.csv"), pd.read_parquet(folder / "parquet/table1.parquet")):
        assert "hint" not in found.columns
        pd.testing.assert_frame_equal(
            found[list(expected.columns)], expected, check_dtype=False, check_exact=False
        )


def test_tables_as_read_have_the_same_rows(folder: Path) -> None:
    for name in NAMES:
        tex = (folder / f"latex/{name}.tex").read_text(encoding="utf-8")
        lines = (folder / f"markdown/{name}.md").read_text(encoding="utf-8").splitlines()
        pipes = [line for line in lines if line.startswith("|")]
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in pipes}) == 1
        body = tex[tex.index(r"\endlastfoot" if "longtable}" in tex else r"\midrule") :]
        assert body.count(r"\\") == len(pipes) - 2


@pytest.mark.parametrize("rows", [3, 60])
def test_latex_is_balanced_whatever_the_names(rows: int) -> None:
    evil = EVIL + "\\%#~^|[1cm]\x07"
    data = pd.DataFrame({"name": [evil] * rows, "value": 0.5})
    text = latex(plain_sheet("x_y", evil, data, caption=evil))
    plain = re.sub(r"\\[\\{}]", "", text)
    depth = 0
    for letter in plain:
        depth += (letter == "{") - (letter == "}")
        assert depth >= 0
    assert depth == 0
    assert re.findall(r"\\begin\{(\w+)\}", text) == re.findall(r"\\end\{(\w+)\}", text)[::-1]
    body = text.partition("\n")[2]  # the first line is a comment
    assert not re.search(r"(?<!\\)[%#_&](?!\s)", body)
    assert len(re.findall(r"(?<!\\)&", body)) == rows + (2 if rows > 40 else 1)  # the head of each page
    assert len(re.findall(r"(?<!\\)\$", body)) % 2 == 0
    assert "\x07" not in text
    assert r"\toprule" in text


def test_latex_letters() -> None:
    assert latex_text("a_b & 50% {x}") == r"a\_b \& 50\% \{x\}"
    assert latex_text("0.5 ± .1") == r"0.5 $\pm$ .1"
    assert latex_text("\\") == r"\textbackslash{}"


def test_markdown_letters() -> None:
    assert markdown_text("a|b*c_d _e_ <i>") == r"a\|b\*c_d \_e\_ \<i\>"
    assert markdown_text("two\nlines & more") == "two lines &amp; more"


def test_best_and_paper_are_marked() -> None:
    cell = Cell("0.5", 0.5, error="± .1", paper="0.4", best=True)
    sheet = Sheet("s", "Title", (Column("A"),), [(cell,)], pd.DataFrame())
    assert "**0.5** ± .1 (0.4)" in markdown(sheet)
    assert r"\textbf{0.5} $\pm$ .1 (0.4) \\" in latex(sheet)
    assert "In parentheses what the paper prints." in markdown(sheet)


def test_cells_that_are_not_there_are_dashes() -> None:
    data = pd.DataFrame(
        {
            "model": ["mlp", "mlp", "ftt"],
            "transformation": ["ple", "minmax", "ple"],
            "value": [0.5, None, 0.2],
        }
    )
    sheet = grid_sheet("s", "Title", data, ["model"])
    assert [[cell.text for cell in row] for row in sheet.rows] == [
        ["MLP", "–", "0.500"],
        ["FT-Transformer", "–", "0.200"],
    ]
    assert [column.title for column in sheet.columns] == ["Network", "Min-max", "PLE"]


def test_numbers() -> None:
    written = [number_text(value, 3) for value in (0.0, -0.1234, 1e-5, 123456.0, float("inf"))]
    assert written == ["0.000", "-0.123", "1.0e-05", "123456.0", "inf"]


def test_what_cannot_be_written_is_said(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="format must be one of csv, parquet, latex, markdown, got 'xls'"):
        write_tables(material(RESULTS), tmp_path, "xls")
    (tmp_path / "file").write_text("")
    with pytest.raises(StudyError, match="file cannot be made"):
        write_tables(material(RESULTS), tmp_path / "file", "csv")
