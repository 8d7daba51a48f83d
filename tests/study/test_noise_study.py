"""`tabstretch noise`: the derived plan, resuming, and what comes out."""

from pathlib import Path

import pytest

from tabstretch.cli import main
from tabstretch.study import workers
from tabstretch.study.errors import StudyError
from tabstretch.study.jobs import run_job
from tabstretch.study.noise_study import LEVELS, TRANSFORMATIONS, noise_plan, write_noise_plan
from tabstretch.study.plan import StudyPlan, read_plan
from tabstretch.study.plan_text import plan_text
from tabstretch.study.report import material_of_plan
from tabstretch.study.report.noise import noise_section

PLAN = """
name = "example"
datasets = ["sklearn:wine"]
models = ["mlp"]
transformations = ["standard", "quantile"]
trials = 0
seeds = 1
epochs = 1
"""


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    path = tmp_path / "plan.toml"
    path.write_text(PLAN)
    return path


def test_the_paper_s_methods_and_levels_are_the_default(plan: Path) -> None:
    study = read_plan(plan)
    noisy = noise_plan(study)
    assert noisy.transformations == TRANSFORMATIONS
    assert set(TRANSFORMATIONS) == {"stretch_sup", "stretch_unsup", "standard", "ple", "ple_t"}
    assert noisy.noise == LEVELS == (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
    assert noisy.name == "example noise"
    assert (noisy.datasets, noisy.models, noisy.seeds) == (study.datasets, study.models, study.seeds)


@pytest.mark.parametrize("name", ["plain", "quotes \" and \\ and '", "日本 ü", "# = []", "😀"])
def test_a_plan_survives_as_text(tmp_path: Path, name: str) -> None:
    plan = StudyPlan(
        name, ("sklearn:wine", f"file:{name}.csv?target=%26"), ("mlp",), ("ple",), noise=(0.0, 0.1)
    )
    path = tmp_path / "plan.toml"
    path.write_text(plan_text(plan), encoding="utf-8")
    assert read_plan(path) == plan


def test_the_plan_is_written_once_and_never_changed(plan: Path) -> None:
    path = write_noise_plan(plan, levels=(0.0, 0.5))
    content = path.read_text()
    assert path.name == "plan-noise.toml"
    assert write_noise_plan(plan, levels=(0.0, 0.5)) == path
    with pytest.raises(
        StudyError, match=r"plan-noise.toml is another noise study:\n  noise: - 0.5\n  noise: \+ 0.4"
    ):
        write_noise_plan(plan, levels=(0.0, 0.4))
    assert path.read_text() == content
    assert sorted(each.name for each in plan.parent.iterdir()) == ["plan-noise.toml", "plan.toml"]


def test_the_command_runs_resumes_and_reports(
    plan: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [
        "noise",
        str(plan),
        "--levels",
        "0,0.5",
        "--transformations",
        "standard,minmax",
        "--workers",
        "0",
    ]
    jobs = []

    def limited(job):  # type: ignore[no-untyped-def]
        if len(jobs) == 2:
            raise KeyboardInterrupt
        jobs.append(job)
        return run_job(job)

    monkeypatch.setattr(workers, "run_job", limited)
    assert main([*words, "--quiet"]) == 130
    monkeypatch.setattr(workers, "run_job", lambda job: (jobs.append(job), run_job(job))[1])
    assert main([*words, "--quiet"]) == 0
    assert len(jobs) == 4  # two cells at two levels, each once
    assert sorted({job.dataset.noise for job in jobs}) == [0.0, 0.5]
    printed = capsys.readouterr().out
    assert "| Data set |" in printed
    assert printed.count("| All ") == 2
    names = {each.name for each in plan.parent.iterdir()}
    assert {"plan-noise.toml", "plan-noise.db", "plan-noise.svg"} <= names
    # Its own report has the section, and so has that of the study it belongs to.
    found = material_of_plan(plan.with_name("plan-noise.toml"))
    assert found.noise is not None
    assert found.results["noise"].tolist() == [0.0, 0.0]
    section = noise_section(found.noise)
    assert section.sheets[0].data["noise"].unique().tolist() == [0.0, 0.5]
    assert main(["run", str(plan), "--workers", "0", "--quiet"]) == 0
    whole = material_of_plan(plan)
    assert len(whole.results) == 2
    assert whole.noise is not None
    assert len(whole.noise) == 4


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--levels", "0,2"], "noise must be a number from 0 to 1, got 2.0"),
        (["--transformations", "nope"], "transformations has 'nope'"),
    ],
)
def test_misuse(plan: Path, words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["noise", str(plan), *words]) == 1
    assert said in capsys.readouterr().err
    assert [each.name for each in plan.parent.iterdir()] == ["plan.toml"]
