"""What the data of a study show, read again for its report."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from study.report.materials import EVIL, material, record, three
from study.results_maker import frame

from tabstretch.study.report import write_figures, write_report
from tabstretch.study.report.record import run_section
from tabstretch.study.report.signals import read_signals, signals_section
from tabstretch.study.report.writing import report_sections

SOURCES = {"wine": "sklearn:wine", "diabetes": "sklearn:diabetes"}


def test_the_paper_s_overview_and_marginals_are_in_the_report() -> None:
    signals = read_signals(SOURCES, {}, Path())
    section = signals_section(signals)
    assert section is not None
    assert [item.name for item in section.pictures] == ["overview", "marginal"]
    assert [item.name for item in section.sheets] == ["marginal_printed", "marginal_published"]
    printed, published = (sheet.data.set_index("dataset") for sheet in section.sheets)
    assert printed.loc["diabetes", "std"] == published.loc["diabetes", "std"]
    assert printed.loc["wine", "std"] > published.loc["wine", "std"]
    everything = report_sections(material(frame(three("a")), record=record(), signals=signals))[1]
    assert "signals" in [each.key for each in everything]


def test_regression_alone_has_one_table_of_marginals() -> None:
    section = signals_section(read_signals({"diabetes": "sklearn:diabetes"}, {}, Path()))
    assert section is not None
    assert [sheet.name for sheet in section.sheets] == ["marginal_printed"]


def test_data_that_are_gone_or_changed_are_named(tmp_path: Path) -> None:
    sources = {**SOURCES, "gone": f"file:{tmp_path / 'gone.csv'}?target=y"}
    signals = read_signals(sources, {"wine": "another"}, tmp_path)
    assert signals.unread == ("wine", "gone")
    section = signals_section(signals)
    assert section is not None
    assert "cannot be read here or have changed: wine and gone." in section.text[-1]
    nothing = signals_section(read_signals({"gone": sources["gone"]}, {}, tmp_path))
    assert nothing is not None
    assert nothing.items == ()


def test_the_clearest_column_is_drawn(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    table = pd.DataFrame(
        {"noise": rng.normal(size=200), EVIL: x, "few": np.arange(200) % 3, "y": np.round(9 * x)}
    )
    table.to_csv(tmp_path / "t.csv", index=False)
    signals = read_signals({"t": "file:t.csv?target=y&task=regression"}, {}, tmp_path)
    assert signals.example is not None
    assert signals.example.column == EVIL
    assert signals.example.y.std() == pytest.approx(1)
    page = tmp_path / "report.html"
    write_report(material(frame(three("a")), record=record(), signals=signals), page)
    assert "<script>window" not in page.read_text(encoding="utf-8")


def test_facts_stand_beside_the_paper_s() -> None:
    results = frame(three("yeast"), task="multiclass", n_numeric=8, n_train=900, n_val=284, n_test=300)
    (sheet,) = run_section(material(results)).sheets
    cells = dict(zip([column.title for column in sheet.columns], sheet.rows[0], strict=True))
    assert (cells["Rows"].text, cells["Rows"].paper) == ("1484", "1484")
    assert cells["Numeric"].paper == "8"
    (other,) = run_section(material(results.assign(n_numeric=9))).sheets  # the same name, other columns
    assert not other.has_paper


def test_imbalance_is_over_all_rows() -> None:
    assert read_signals(SOURCES, {}, Path()).imbalance == {"wine": pytest.approx(71 / 48)}


def test_every_figure_is_a_file(tmp_path: Path) -> None:
    study = material(frame(three("a"), three("b", "r2"), three("c")))
    paths = write_figures(study, tmp_path / "figures", "svg")
    expected = [picture.name for section in report_sections(study)[1] for picture in section.pictures]
    assert [path.name for path in paths] == [f"{name}.svg" for name in expected]
    assert len(set(expected)) == len(expected)
    assert all(path.read_text(encoding="utf-8").startswith("<?xml") for path in paths)


def test_every_pair_is_drawn_once_at_least() -> None:
    study = material(frame(three("a", **{"a b": [0.4, 0.3], "a-b": [0.2, 0.1]})))
    (section,) = [each for each in report_sections(study)[1] if each.key == "pairs"]
    names = [picture.name for picture in section.pictures]
    assert len(set(names)) == len(names) == 4  # of five transformations, the last has nothing left
    drawn = sum(
        len(re.findall("▲", text.get_text()))
        for p in section.pictures
        for text in p.figure.findobj()
        if hasattr(text, "get_text")
    )
    assert drawn == (4 + 3 + 2 + 1) + 4  # a title for each pair, and one for each figure
