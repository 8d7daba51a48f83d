"""What is handed out: a wheel with the package, a source distribution with the project, and nothing else."""

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

pytest.importorskip("hatchling")

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "tabstretch"
# What a package may hold besides code: schema, tables of the paper, page of the report, mark of types.
KINDS = {".py", ".json", ".csv", ".html", ".css", ".js", ".typed"}
PROJECT = {
    *(".ci", ".gitignore", "CHANGELOG.md", "LICENSE", "Makefile", "PKG-INFO", "README.md", "benchmarks"),
    *("conftest.py", "constraints", "docs", "examples", "pyproject.toml", "src", "studies", "tests"),
}


def build(source: Path, kind: str, folder: Path) -> Path:
    """Build a wheel or an sdist without asking the network for anything."""
    command = [sys.executable, "-m", "hatchling", "build", "--target", kind, "--directory", str(folder)]
    subprocess.run(command, cwd=source, check=True, capture_output=True)
    (built,) = folder.iterdir()
    return built


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(ROOT, "wheel", tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    archive = build(ROOT, "sdist", tmp_path_factory.mktemp("sdist"))
    assert archive.stat().st_size < 2_000_000
    folder = tmp_path_factory.mktemp("unpacked")
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    (unpacked,) = folder.iterdir()
    return unpacked


def files_of(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as packed:
        return {name: packed.read(name) for name in packed.namelist()}


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    inside = [path for path in PACKAGE.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    wanted = {path.relative_to(PACKAGE.parent).as_posix() for path in inside}
    names = {name for name in files_of(wheel) if ".dist-info/" not in name}
    assert names == wanted
    assert {Path(name).suffix for name in names} == KINDS


def test_the_wheel_works_without_the_source(wheel: Path, tmp_path: Path) -> None:
    folder, elsewhere = tmp_path / "installed", tmp_path / "elsewhere"
    elsewhere.mkdir()
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(folder)
    # An editable install of the same name may be on the path; what was unpacked comes before it.
    code = (
        f"import sys; sys.path.insert(0, {str(folder)!r}); "
        "import tabstretch; from tabstretch.cli import main; "
        f"assert tabstretch.__file__.startswith({str(folder)!r}), tabstretch.__file__; "
        "tabstretch.StretchTransformer().fit([[1.0], [2.0], [4.0]]).to_json('map.json'); "
        "assert tabstretch.load('map.json').transform([[4.0]]) == 1; "
        "sys.exit(main(['export', 'map.json', '--to', 'sql', '-o', 'map.sql']))"
    )
    subprocess.run([sys.executable, "-c", code], cwd=elsewhere, check=True)
    assert (elsewhere / "map.sql").read_text().startswith("SELECT")


def test_the_source_distribution_holds_the_project_and_nothing_else(sdist: Path) -> None:
    assert {path.name for path in sdist.iterdir()} == PROJECT
    names = {path.name for path in sdist.rglob("*")}
    assert not names & {".venv", "__pycache__", "build", "dist", "held_back", "api", "auto_examples"}
    for name in ("tests/oracle.py", "studies/demo.toml", "constraints/torch.txt", "docs/images/overview.png"):
        assert (sdist / name).is_file(), name


def test_the_source_distribution_builds_the_same_wheel(wheel: Path, sdist: Path, tmp_path: Path) -> None:
    assert files_of(build(sdist, "wheel", tmp_path)) == files_of(wheel)
