"""The page: what it holds in every kind of study, and that it is whole, harmless and alone."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import pytest
from matplotlib.figure import Figure
from study.report.materials import EVIL, STUDIES, material, record, three
from study.results_maker import frame, panel

from tabstretch.study.errors import StudyError
from tabstretch.study.report import write_report
from tabstretch.study.report.comparison import scores_section
from tabstretch.study.report.findings import find
from tabstretch.study.report.noise import at_all_levels
from tabstretch.study.report.page import html_page
from tabstretch.study.report.pictures import inline_svg, short_names, svg_text
from tabstretch.study.report.record import failures_section, rerun_section, run_section
from tabstretch.study.report.sections import Section
from tabstretch.study.report.summary import warnings_of

VOID = {"meta", "link", "br", "hr", "img", "input"}
COMPARISON = {"delta", "winrates", "pairs", "ranks", "intervals"}


class Page(HTMLParser):
    """The tags of a page, its ids, what it refers to, and whether all that is opened is closed."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.references: list[str] = []
        self.handlers: list[str] = []
        self.texts: list[str] = []
        self.content = path.read_text(encoding="utf-8")
        self.feed(self.content)
        self.close()
        assert self.open == [], f"not closed: {self.open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._note(tag, attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._note(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def _note(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(str(value))
            if name in ("href", "src", "xlink:href", "action", "data"):
                self.references.append(str(value))
            if name.startswith("on"):
                self.handlers.append(name)

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", " ".join(self.texts))


@pytest.fixture(scope="module", params=STUDIES)
def page(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Page]:
    path = tmp_path_factory.mktemp("report") / "report.html"
    title = EVIL if request.param == "evil names" else "example"
    write_report(material(STUDIES[request.param], title=title), path)
    return request.param, Page(path)


def test_every_study_has_a_page_that_needs_nothing_else(page: tuple[str, Page]) -> None:
    _, found = page
    assert found.tags.count("script") == 1
    assert found.handlers == []
    assert len(found.ids) == len(set(found.ids))
    for reference in found.references:
        assert reference.startswith(("#", "data:")), reference
        if reference.startswith("#"):
            assert reference[1:] in found.ids
    assert "url(http" not in found.content
    assert "default-src 'none'" in found.content.replace("&#39;", "'")


def test_every_page_says_what_it_is_made_of(page: tuple[str, Page]) -> None:
    name, found = page
    for heading in ("Summary", "What was run", "What failed, and notes", "How to make this page again"):
        assert heading in found.text
    assert "These results come from a file" in found.text
    compared = name not in ("no runs", "one transformation", "one run", "all failed", "no pair")
    assert COMPARISON.issubset(found.ids) == compared
    assert ("datasets" in found.ids) == (name != "no runs")
    assert ("noise" in found.ids) == (name == "noise")


def test_names_cannot_become_markup(page: tuple[str, Page]) -> None:
    name, found = page
    assert "<img" not in found.content
    assert found.content.count("<script") == 1
    if name == "evil names":
        assert found.text.count(re.sub(r"\s+", " ", EVIL)) > 10  # it is there to be read


SAID = {
    "no runs": "No run is stored yet, so there is nothing to compare.",
    "one transformation": "PLE is the only transformation, so there is nothing to compare it with.",
    "all failed": "Every run failed; what failed, and how, is listed below.",
    "no pair": "No panel has two transformations to compare.",
    "one panel": "One data set alone cannot tell how far this holds for others.",
    "half done": "Every transformation has run in only 1 of 3 panels",
    "noise": "There is no clean run: everything but the noise section is at label noise 0.1.",
}


def test_a_page_says_what_it_cannot_tell(page: tuple[str, Page]) -> None:
    name, found = page
    assert SAID.get(name, "") in found.text


def test_an_unfinished_study_says_so_first() -> None:
    results = frame(three("wine"), panel("diabetes", metric="r2", ple=[0.5]))
    unfinished = material(results, record=record())
    warnings = warnings_of(unfinished, find(unfinished.results))
    assert warnings[0] == (
        "This study is not finished: 7 of 12 runs are stored. Everything below may change."
    )
    assert "Every transformation has run in 1 of 2 panels" in warnings[1]
    assert "Only these are compared" in warnings[1]
    sheets = {sheet.name: sheet.data for sheet in failures_section(unfinished).sheets}
    assert sheets["progress"].to_dict("list") == {
        "dataset": ["wine", "diabetes"],
        "model": ["mlp", "mlp"],
        "planned": [6, 6],
        "stored": [6, 1],
        "failed": [0, 0],
    }


def test_only_complete_panels_are_compared_unless_most_are_not() -> None:
    most = find(material(frame(three("a"), three("b"), panel("c", ple=[0.1]))).results)
    assert (most.n_complete, most.n_begun, most.restricted) == (2, 3, True)
    assert set(most.rows["dataset"]) == {"a", "b"}
    few = find(material(frame(three("a"), panel("b", ple=[0.1]), panel("c", ple=[0.1]))).results)
    assert (few.n_complete, few.n_begun, few.restricted) == (1, 3, False)
    assert set(few.rows["dataset"]) == {"a", "b", "c"}
    every = find(material(frame(three("a"), three("b"))).results)
    assert (every.n_complete, every.n_begun, every.restricted) == (2, 2, False)


def test_a_study_can_be_run_again_from_its_page() -> None:
    study = material(frame(three("wine")), record=record())
    code = rerun_section(study).code
    assert "pip install 'tabstretch[study,report]==0.1.0' 'torch==2.13.0'" in code
    assert 'name = "example"\ndatasets = ["sklearn:wine", "sklearn:diabetes"]' in code
    shown = {sheet.name: sheet.data for sheet in run_section(study).sheets}
    assert shown["data"]["source"].tolist() == ["sklearn:wine"]
    assert ("torch", "2.13.0+cpu") in shown["versions"].itertuples(index=False, name=None)
    assert ("Trials of each search", "7") in shown["plan"].itertuples(index=False, name=None)


def test_failures_and_notes_are_listed() -> None:
    results = frame(three("wine", ple=[0.9, None], standard=[None, None]))
    results.loc[results["transformation"] == "minmax", "note"] = "fell back to standard"
    failed = failures_section(material(results))
    assert failed.text[0].startswith("3 of 6 runs failed; 2 have a note")
    troubles = failed.sheets[0].data.set_index("transformation")
    assert troubles.loc["standard", "errors"] == "ValueError: it diverged"
    assert troubles.loc["minmax", "notes"] == "fell back to standard"
    assert troubles.loc["ple", ["n_seeds", "n_failed_seeds"]].tolist() == [2, 1]


def test_the_paper_stands_beside_the_same_cells() -> None:
    table1, agreement = scores_section(find(material(frame(three("a"), three("b"))).results)).sheets
    cells = {(row[0].text, row[1].text): row[2:] for row in table1.rows}
    titles = [column.title for column in table1.columns[2:]]
    row = dict(zip(titles, cells["Overall score", "MLP"], strict=True))
    assert (row["PLE"].text, row["PLE"].paper, row["PLE"].best) == ("1.0000", "0.6835", True)
    assert (row["Standard"].text, row["Standard"].paper, row["Standard"].best) == ("0.0000", "0.6423", False)
    assert all(cell.paper == "" for cell in cells["Overall score", "All"])
    # Here ple > minmax > standard, in the paper 0.6835 > 0.6423 (standard) > 0.5600 (minmax).
    overall = agreement.data[agreement.data["statistic"] == "overall_score"].iloc[0]
    assert overall[["n_cells", "best_here", "best_paper"]].tolist() == [3, "PLE", "PLE"]
    assert overall["rank_correlation"] == pytest.approx(0.5)


def test_the_same_material_gives_the_same_page(page: tuple[str, Page], tmp_path: Path) -> None:
    name, found = page
    if name in ("one panel", "no runs"):
        write_report(material(STUDIES[name]), tmp_path / "again.html")
        assert (tmp_path / "again.html").read_text(encoding="utf-8") == found.content


def test_levels_of_noise_compare_the_same_panels() -> None:
    begun = frame(three("a"), three("b")).assign(noise=0.0)
    later = frame(three("a")).assign(noise=0.5)
    assert set(at_all_levels(pd.concat([begun, later]))["dataset"]) == {"a"}
    apart = pd.concat([frame(three("b")).assign(noise=0.0), later])
    assert len(at_all_levels(apart)) == len(apart)


def test_figures_know_only_themselves() -> None:
    figure = Figure()
    figure.subplots().set_title("\x0b--> <script> $x_{")
    found = inline_svg(svg_text(figure), "one")
    assert set(re.findall(r'id="([^-"]+)-', found)) == {"one"}
    assert set(re.findall(r'(?:href="|url\()#([^-]+)-', found)) == {"one"}
    assert "<script" not in found
    assert "<style" not in found


def test_long_names_are_cut_in_figures_and_stay_different() -> None:
    names = ["x" * 40 + "1", "x" * 40 + "2", "ple"]
    cut = short_names(pd.DataFrame({"transformation": names, "value": 1.0}))["transformation"].tolist()
    assert cut[2] == "ple"
    assert len(set(cut)) == 3
    assert max(map(len, cut)) < 30


def test_a_page_that_cannot_be_written_leaves_what_was_there(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"report\.html cannot be written: the directory .* does not exist"):
        write_report(material(STUDIES["no runs"]), tmp_path / "nowhere" / "report.html")
    folder = tmp_path / "folder"
    folder.mkdir()
    with pytest.raises(StudyError, match="is a directory"):
        write_report(material(STUDIES["no runs"]), folder)
    assert list(tmp_path.iterdir()) == [folder]


def test_texts_are_escaped_in_every_place() -> None:
    page = html_page(EVIL, [EVIL], [Section("key", EVIL, (EVIL,), (), EVIL)])
    assert "<img" not in page
    assert page.count("<script>") == 1
    assert (
        page.count("&lt;script&gt;") == 7
    )  # of title and section two, of contents, warning and text one each
