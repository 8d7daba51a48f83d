"""The page in a real browser: it works, it calls nobody, and names do nothing."""

from collections.abc import Generator
from pathlib import Path

import pandas as pd
import pytest
from study.report.browser import NOT_FOUND, Browser, chromium
from study.report.materials import EVIL, STUDIES, material, record
from study.results_maker import full_study

from tabstretch.study.report import write_report

ROWS = "[...document.querySelectorAll('#table-{name} tbody tr')].filter(row => !row.hidden)"
HEADS = "[...document.querySelectorAll('#table-table1 thead th')]"


@pytest.fixture(scope="module")
def browser() -> Generator[Browser]:
    path = chromium()
    if path is None:
        pytest.skip(NOT_FOUND)
    with Browser(path) as opened:
        yield opened


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("browser") / "report.html"
    results = full_study(
        seeds=2, datasets=["yeast", "Diamonds", "htru"], transformations=["stretch_sup", "ple", "standard"]
    )
    write_report(material(results), path)
    return path


def column(browser: Browser, name: str, place: int) -> list[str]:
    """What the rows that are shown have in one place: the number if it is one."""
    text = "cell.dataset.v ?? (cell.querySelector('.own') ?? cell).textContent"
    cells = f"{ROWS.format(name=name)}.map(row => row.cells[{place}]).map(cell => {text})"
    return list(browser.run(cells))


def numbers(entries: list[str]) -> list[float | str]:
    return [entry if entry == "–" else float(entry) for entry in entries]


def test_nothing_leaves_and_nothing_fails(browser: Browser, page: Path) -> None:
    browser.open(page)
    assert [url for url in browser.requests if not url.startswith("data:")] == [page.as_uri()]
    assert browser.complaints == []
    assert browser.run("document.querySelectorAll('svg').length") > 5


def test_sorting(browser: Browser, page: Path) -> None:
    browser.open(page)
    place = browser.run(f"{HEADS}.findIndex(head => head.textContent.startsWith('PLE'))")
    before = column(browser, "table1", place)
    click = f"document.querySelectorAll('#table-table1 thead button')[{place}].click()"
    browser.run(click)
    values = [float(value) for value in before if value != "–"]
    nothing = ["–"] * before.count("–")
    assert numbers(column(browser, "table1", place)) == [*sorted(values, reverse=True), *nothing]
    state = f"document.querySelectorAll('#table-table1 thead th')[{place}].getAttribute('aria-sort')"
    assert browser.run(state) == "descending"
    browser.run(click)
    assert numbers(column(browser, "table1", place)) == [*sorted(values), *nothing]
    browser.run(click)
    assert column(browser, "table1", place) == before
    assert browser.run(state) is None
    browser.run("document.querySelectorAll('#table-datasets thead button')[0].click()")
    names = column(browser, "datasets", 0)
    assert names == sorted(names, key=str.casefold)
    assert browser.complaints == []


def test_filtering(browser: Browser, page: Path) -> None:
    browser.open(page)
    tools = "document.querySelector('#table-table1').closest('.block').querySelector('.tools')"
    assert browser.run(f"{tools}.querySelector('output').textContent") == "30 rows"
    browser.run(f"{tools}.querySelector('input').focus()")
    browser.type("REGRESSION mlp")
    shown = browser.run(
        f"{ROWS.format(name='table1')}.map(row => row.cells[0].textContent + row.cells[1].textContent)"
    )
    assert shown == ["Regression scoreMLP", "Regression scoreMLP-PLR", "Regression scoreRealMLP"]
    assert browser.run(f"{tools}.querySelector('output').textContent") == "3 of 30 rows"
    browser.run(f"networks = {tools}.querySelectorAll('select')[1]; 0")
    browser.run("networks.value = [...networks.options].find(each => each.text === 'MLP').value")
    browser.run("networks.dispatchEvent(new Event('input', {bubbles: true}))")
    assert len(browser.run(f"{ROWS.format(name='table1')}.map(row => 1)")) == 1
    assert browser.complaints == []


def test_the_keyboard_is_enough(browser: Browser, page: Path) -> None:
    browser.open(page)
    browser.run("document.querySelector('#table-mean_ranks').closest('.scroll').focus()")
    browser.press("Tab")
    assert browser.run("document.activeElement.tagName") == "BUTTON"
    browser.press("Enter")
    state = "document.activeElement.closest('th').getAttribute('aria-sort')"
    assert browser.run(state) == "ascending"
    browser.press(" ")
    assert browser.run(state) == "descending"


@pytest.mark.parametrize("width", [1280, 400])
def test_nothing_is_wider_than_the_window(browser: Browser, page: Path, width: int) -> None:
    browser.open(page, width=width)
    assert browser.run("document.documentElement.scrollWidth") <= width
    assert browser.run("document.querySelector('#table-datasets').closest('.scroll').scrollWidth") > 0


def test_head_rows_stay_in_sight(browser: Browser, page: Path) -> None:
    browser.open(page)
    inside = "document.querySelector('#table-table1').closest('.scroll')"
    browser.run(f"{inside}.scrollTop = 200")
    tops = browser.run(
        f"[{inside}.scrollTop, {inside}.querySelector('th').getBoundingClientRect().top - "
        f"{inside}.getBoundingClientRect().top]"
    )
    assert tops[0] == 200
    assert abs(tops[1]) < 3


def test_without_scripts_tables_are_plain(browser: Browser, page: Path) -> None:
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.open(page)
        assert browser.run("document.querySelectorAll('#table-table1 tbody tr').length") == 30
        assert browser.run("document.querySelectorAll('button, input, select').length") == 0
    finally:
        browser.call("Emulation.setScriptExecutionDisabled", value=False)


def test_names_do_nothing(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    write_report(material(STUDIES["evil names"]), path)
    browser.open(path)
    browser.run("document.querySelectorAll('details').forEach(each => each.open = true)")
    browser.run("document.querySelectorAll('thead button').forEach(each => each.click())")
    assert browser.run("window.hacked") is None
    assert browser.run("document.querySelectorAll('img').length") == 0
    assert browser.run("document.scripts.length") == 1
    assert [url for url in browser.requests if not url.startswith("data:")] == [path.as_uri()]
    assert browser.complaints == []


def test_names_do_nothing_wherever_they_stand(browser: Browser, tmp_path: Path) -> None:
    """In title, storage, sources, environment, commands, networks, and beside levels of noise."""
    rows = STUDIES["evil names"].assign(model=EVIL, checksum=EVIL, params=EVIL)
    rows = pd.concat([rows.assign(noise=level) for level in (0.0, 0.5)], ignore_index=True)
    environment = {"python": EVIL, "cores": EVIL, "packages": {EVIL: EVIL, "torch": EVIL}}
    sources = {EVIL: EVIL, "日本": f"file:{EVIL}"}
    known = record(environment=environment, place=EVIL, sources=sources, own_split=frozenset([EVIL]))
    path = tmp_path / "report.html"
    write_report(material(rows, title=EVIL, commands=(EVIL,), record=known), path)
    browser.open(path)
    browser.run("document.querySelectorAll('details').forEach(each => each.open = true)")
    browser.run("document.querySelectorAll('thead button').forEach(each => each.click())")
    browser.run(
        "document.querySelectorAll('.tools select').forEach(each => { each.selectedIndex = 1; "
        "each.dispatchEvent(new Event('input', {bubbles: true})) })"
    )
    shown = browser.run(
        "[document.title, document.querySelector('h1').textContent, document.body.textContent]"
    )
    assert all("window.hacked = 1</script>" in text for text in shown)
    assert browser.run("window.hacked") is None
    assert browser.run("document.querySelectorAll('img, iframe, object, embed, form, base').length") == 0
    assert browser.run("document.scripts.length") == 1
    attributes = (
        "[...document.querySelectorAll('*')].flatMap(each => [...each.attributes]).map(each => each.name)"
    )
    assert [name for name in browser.run(attributes) if name.startswith("on")] == []
    assert [url for url in browser.requests if not url.startswith("data:")] == [path.as_uri()]
    assert browser.complaints == []


def test_the_policy_stops_what_escaping_would_not(browser: Browser, page: Path, tmp_path: Path) -> None:
    """Were a name ever written unescaped, the page's policy would still keep it from running or calling."""
    path = tmp_path / "report.html"
    evil = (
        "<script>window.hacked = 1</script><img src='http://127.0.0.1:9/x.png' onerror='window.hacked = 2'>"
    )
    path.write_text(page.read_text(encoding="utf-8").replace("<main>", f"<main>{evil}"), encoding="utf-8")
    browser.open(path)
    assert browser.run("window.hacked") is None
    assert any("Content Security Policy" in complaint for complaint in browser.complaints)
