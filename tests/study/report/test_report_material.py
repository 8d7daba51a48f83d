"""Reading results from elsewhere, and studies from their storage."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from study.report.materials import three
from study.results_maker import frame, panel

from tabstretch.cli import main
from tabstretch.study.errors import StudyError
from tabstretch.study.report import material_of_plan, material_of_results
from tabstretch.study.report.material import read_results

PLAN = """
name = "example"
datasets = ["sklearn:wine", "sklearn:diabetes"]
models = ["mlp"]
transformations = ["standard", "minmax"]
trials = 0
seeds = 2
epochs = 1
"""


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_names_survive_a_file(tmp_path: Path, ending: str) -> None:
    names = ["NA", "007", "nan", "", "two\nlines", "a,b\"c'", "日本"]
    results = frame(*[three(name) for name in names], trials=3)
    path = tmp_path / f"results.{ending}"
    results.to_csv(path, index=False) if ending == "csv" else results.to_parquet(path)
    found = material_of_results(path)
    assert found.results["dataset"].unique().tolist() == names
    assert found.title == "results"
    assert found.record is None
    assert found.commands == (f"tabstretch report --results {path} -o report.html",)


def test_what_a_file_lacks_is_filled_in(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text(
        "dataset,model,transformation,seed,task,accuracy\n"
        "a,mlp,ple,0,binclass,0.5\n"
        "a,mlp,minmax,0,binclass,\n"
    )
    found = read_results(path)
    assert found["status"].tolist() == ["ok", "failed"]
    assert found["note"].tolist() == ["", ""]
    assert found["noise"].tolist() == [0.0, 0.0]
    assert np.isnan(found["r2"]).all()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("dataset,model\na,b\n", "the columns transformation, seed, task are missing"),
        ("dataset,model,transformation,seed,task\na,mlp,x,0,ranking\n", "task must be one of"),
        ("dataset,model,transformation,seed,task\na,all,x,0,binclass\n", "a model is called 'all'"),
        ("dataset,model,transformation,seed,task\nall,mlp,x,0,binclass\n", "a dataset is called 'all'"),
        (
            "dataset,model,transformation,seed,task,r2\na,mlp,x,0,regression,high\n",
            "the column r2 must hold numbers",
        ),
        (
            "dataset,model,transformation,seed,task\na,mlp,x,0,binclass\na,mlp,x,0,binclass\n",
            "more than once",
        ),
        ("", r"cannot be read as csv: .*No columns"),
    ],
)
def test_files_that_are_no_results(tmp_path: Path, content: str, said: str) -> None:
    path = tmp_path / "r.csv"
    path.write_text(content)
    with pytest.raises(StudyError, match=f"r.csv.*{said}"):
        read_results(path)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="there is no file"):
        read_results(tmp_path / "nothing.csv")
    with pytest.raises(StudyError, match=r"must end in \.csv or \.parquet, got '.xlsx'"):
        read_results(tmp_path / "results.xlsx")
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 no")
    with pytest.raises(StudyError, match="cannot be read as parquet"):
        read_results(tmp_path / "broken.parquet")


def test_clean_rows_are_those_of_the_lowest_noise(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    levels = [frame(panel("a", ple=[0.9], minmax=[0.8])).assign(noise=level) for level in (0.5, 0.0)]
    pd.concat(levels).to_csv(path, index=False)
    found = material_of_results(path)
    assert found.results["noise"].tolist() == [0.0, 0.0]
    assert found.noise is not None
    assert len(found.noise) == 4


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("torch")
    path = tmp_path_factory.mktemp("material") / "my plan.toml"
    path.write_text(PLAN)
    assert main(["run", str(path), "--workers", "0", "--quiet"]) == 0
    return path


def test_a_study_brings_its_record(plan: Path) -> None:
    found = material_of_plan(plan)
    assert found.title == "example"
    assert len(found.results) == 8
    assert found.n_missing == 0
    assert found.noise is None
    assert found.commands[0] == f"tabstretch run '{plan}'"
    assert found.record is not None
    assert found.record.sources == {"wine": "sklearn:wine", "diabetes": "sklearn:diabetes"}
    assert found.record.own_split == frozenset()
    assert found.record.environment["packages"]["tabstretch"]


def test_the_command(plan: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "report.html"
    assert main(["report", str(plan), "-o", str(page)]) == 0
    assert f"8 runs in {page}" in capsys.readouterr().out
    assert "<title>example – tabstretch report</title>" in page.read_text(encoding="utf-8")
    results = tmp_path / "results.csv"
    assert main(["results", str(plan), "-o", str(results)]) == 0
    tables = tmp_path / "tables"
    assert main(["report", "--results", str(results), "-o", str(tables), "--format", "markdown"]) == 0
    assert (tables / "table1.md").is_file()
    assert sorted(tmp_path.iterdir()) == sorted([page, results, tables])  # nothing temporary stays


@pytest.mark.parametrize(
    "arguments", [[], ["PLAN", "--results", "x.csv"], ["--results", "x.csv", "--storage", "x.db"]]
)
def test_misuse(plan: Path, arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    words = [str(plan) if word == "PLAN" else word for word in arguments]
    with pytest.raises(SystemExit) as stopped:
        main(["report", *words, "-o", "x.html"])
    assert stopped.value.code == 2
    assert "--results" in capsys.readouterr().err


WITHOUT_STUDY = """
import sys
MISSING = ("torch", "optuna", "sqlalchemy", "dask", "distributed", "rtdl_num_embeddings", "skrub", "pytabkit")
class Missing:
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] in MISSING:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Missing)
from tabstretch.cli import main
assert main(["report", "--results", "r.csv", "-o", "tables", "--format", "csv"]) == 0
assert main(["marginal", "sklearn:wine"]) == 0
assert main(["report", "plan.toml", "-o", "x.html"]) == 1
"""


def test_results_from_elsewhere_need_neither_networks_nor_a_database(tmp_path: Path) -> None:
    frame(panel("a", ple=[0.9])).to_csv(tmp_path / "r.csv", index=False)
    (tmp_path / "plan.toml").write_text(PLAN)
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_STUDY], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "is needed for this: pip install 'tabstretch[study]'" in done.stderr


def test_a_study_that_was_never_started(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(PLAN)
    assert main(["report", str(path), "-o", str(tmp_path / "x.html")]) == 1
    assert "tabstretch run starts one" in capsys.readouterr().err
