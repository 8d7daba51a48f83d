"""The site's sources are sound, without building it: `make docs` does that."""

import fnmatch
import importlib.util
import re
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

import tabstretch

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
TOCTREE = re.compile(r"^```\{toctree\}\n(.*?)^```", re.DOTALL | re.MULTILINE)
PAGES = sorted(
    path for path in DOCS.rglob("*.md") if not {"api", "auto_examples"} & set(path.relative_to(DOCS).parts)
)


def load_module(path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, path.stem, module)
    spec.loader.exec_module(module)
    return module


def toctree_entries(page: Path) -> list[str]:
    """Return what the toctrees of a page list, as paths from the folder of documents."""
    lines = "\n".join(TOCTREE.findall(page.read_text())).splitlines()
    names = [re.sub(r"^.*<(.+)>$", r"\1", line) for line in lines if line and not line.startswith(":")]
    return [(page.parent / name).relative_to(DOCS).as_posix() for name in names]


def test_every_page_is_in_one_toctree() -> None:
    entries = [entry for page in PAGES for entry in toctree_entries(page)]
    names = [page.relative_to(DOCS).with_suffix("").as_posix() for page in PAGES]
    listed = {name: sum(fnmatch.fnmatch(name, entry) for entry in entries) for name in names}
    assert listed.pop("index") == 0
    assert listed == dict.fromkeys(listed, 1)


def test_toctrees_list_pages_that_exist() -> None:
    written_by_the_build = {"api/index", "auto_examples/index"}
    entries = {entry for page in PAGES for entry in toctree_entries(page)} - written_by_the_build
    names = [page.relative_to(DOCS).with_suffix("").as_posix() for page in PAGES]
    assert [entry for entry in entries if not fnmatch.filter(names, entry)] == []


def test_reference_has_every_public_name(monkeypatch: pytest.MonkeyPatch) -> None:
    for library in ("torch", "skl2onnx", "dask", "optuna"):
        pytest.importorskip(library)
    pages = load_module(DOCS / "_ext" / "api_pages.py", monkeypatch).all_pages()
    expected = {f"tabstretch.{name}" for name in tabstretch.__all__}
    expected |= {"tabstretch.torch.StretchLayer", "tabstretch.dask.fit", "tabstretch.study.run_study"}
    assert expected <= {name.removesuffix(".rst") for name in pages}
    assert all(f"`~{name}`" in pages["index.rst"] for name in expected)
    methods = pages["tabstretch.SupervisedStretchTransformer.rst"]
    assert all(f"SupervisedStretchTransformer.{name}\n" in methods for name in ("fit", "to_json", "summary"))
    assert "set_fit_request" not in methods


def test_configuration_loads_what_the_extra_names(monkeypatch: pytest.MonkeyPatch) -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    packages = {re.split(r"[\[<>=]", requirement)[0].replace("-", "_") for requirement in extras["docs"]}
    monkeypatch.setattr(sys, "path", [*sys.path])  # the configuration adds to it
    configuration = load_module(DOCS / "conf.py", monkeypatch)
    used = {extension.partition(".")[0] for extension in configuration.extensions}
    used |= {configuration.html_theme}
    ours = {path.stem for path in (DOCS / "_ext").glob("*.py")}
    assert ours <= used
    assert used - ours == packages - {"tabstretch"}
    for package in sorted(packages):
        pytest.importorskip(package)


def test_formulas_can_be_drawn() -> None:
    math = pytest.importorskip("docutils.utils.math.latex2mathml")
    formulas = re.findall(r"\$\$(.+?)\$\$|\$([^$\n]+)\$", (DOCS / "guide.md").read_text(), re.DOTALL)
    assert len(formulas) > 20
    for block, inline in formulas:
        assert "<math" in str(math.tex2mathml((block or inline).strip(), as_block=bool(block)))


def test_wrong_links_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checker = load_module(DOCS / "check_links.py", monkeypatch)
    (tmp_path / "style.css").write_text("a { background: url(gone.png) }")
    (tmp_path / "other.html").write_text('<h1 id="top">Other</h1><a href="https://example.org">away</a>')
    good = '<link rel="stylesheet" href="style.css?v=1"><a href="other.html#top">x</a><a href="#id" id="id">'
    (tmp_path / "index.html").write_text(good)
    assert checker.check_site(tmp_path)[0] == ["style.css: gone.png: no such file of the site"]
    (tmp_path / "style.css").write_text("")
    assert checker.check_site(tmp_path) == ([], 3, 1)
    bad = [
        '<a href="other.html#bottom">x</a>',
        '<img src="missing.png">',
        '<script src="https://cdn.example.org/x.js"></script>',
        '<img srcset="missing.png 2x">',
        '<a href="./">x</a>',
    ]
    (tmp_path / "index.html").write_text("".join(bad))
    assert len(checker.check_site(tmp_path)[0]) == len(bad)
    assert checker.main(tmp_path) == 1
