"""The commands as a person meets them."""

import os
import re
import subprocess
import sys

import joblib
import numpy as np
import pandas as pd
import pytest

from tabstretch.cli import main

PLAN = """
name = "example"
datasets = ["sklearn:wine"]
models = ["mlp"]
transformations = ["standard", "minmax"]
trials = 0
seeds = 2
epochs = 2
"""


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A plan whose study is finished."""
    path = tmp_path_factory.mktemp("cli") / "plan.toml"
    path.write_text(PLAN)
    assert main(["run", str(path), "--workers", "0", "--quiet"]) == 0
    return path


def test_running_prints_a_table_and_says_where_it_stands(tmp_path, capsys):
    path = tmp_path / "plan.toml"
    path.write_text(PLAN)
    assert main(["run", str(path), "--workers", "0"]) == 0
    printed = capsys.readouterr()
    assert "0 of 4 runs are stored" in printed.err
    assert re.search(r"\[4/4\] wine/mlp/minmax: accuracy 0\.\d{4} ± 0\.\d{4} \(2 seeds\)", printed.err)
    assert "accuracy, mean over seeds" in printed.out
    assert re.search(r"minmax +0\.\d{3} ±0\.\d{3}\nstandard +0\.\d{3} ±0\.\d{3}", printed.out)


def test_a_study_of_nothing_yet_says_how_to_run_it(tmp_path, capsys):
    plan = tmp_path / "early.toml"
    keys = 'name = "early"\nmodels = ["mlp"]\ntransformations = ["standard"]\ntrials = 0\nseeds = 1\n'
    plan.write_text(keys + 'datasets = ["file:none.csv?target=y"]\n')
    assert main(["run", str(plan), "--quiet"]) == 1
    assert main(["results", str(plan), "-o", str(tmp_path / "results.csv")]) == 0
    assert (
        f"0 rows in {tmp_path / 'results.csv'}; tabstretch run {plan} makes some" in capsys.readouterr().out
    )
    assert main(["splits", str(plan), "-o", str(tmp_path / "splits")]) == 0
    assert f"no data set was read yet: tabstretch run {plan}" in capsys.readouterr().out


def test_status(finished, capsys):
    assert main(["status", str(finished)]) == 0
    printed = capsys.readouterr().out
    assert "4 of 4 runs stored, 0 failed" in printed
    assert re.search(r"wine +(standard|minmax) +mlp +accuracy +0\.\d{4}", printed)


@pytest.mark.parametrize("ending", ["csv", "CSV", "parquet"])
def test_results(finished, tmp_path, capsys, ending):
    path = tmp_path / f"results.{ending}"
    assert main(["results", str(finished), "-o", str(path)]) == 0
    assert f"4 rows in {path}" in capsys.readouterr().out
    table = pd.read_csv(path) if ending != "parquet" else pd.read_parquet(path)
    assert sorted(table["seed"]) == [0, 0, 1, 1]
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]  # nothing temporary stays


def test_splits(finished, tmp_path, capsys):
    from tabstretch.study.datasets import check_split, load_dataset

    assert main(["splits", str(finished), "-o", str(tmp_path / "splits")]) == 0
    check_split(load_dataset("sklearn:wine", tmp_path), tmp_path / "splits" / "wine.json")


def test_columns_of_compare_are_named_one_by_one(tmp_path, capsys):
    x = np.linspace(0, 1, 60)
    frame = pd.DataFrame({"a, b": x, "c,d": x, "code": np.arange(60) % 3, "when": "2024-05-31", "y": x**2})
    frame.to_csv(tmp_path / "t.csv", index=False)
    command = ["compare", str(tmp_path / "t.csv"), "--target", "y", "--transformations", "standard"]
    command += ["--seeds", "1", "--workers", "0", "--quiet", "--drop", "when", "--drop", "a, b"]
    assert main([*command, "--categorical", "code", "--numeric", "c,d"]) == 0
    pipeline = joblib.load(tmp_path / "t-compare" / "pipeline.joblib")
    assert pipeline.feature_names_in_ == ["c,d", "code"]
    assert pipeline.categorical_names == ("code",)
    assert main([*command, "--categorical", "code,c"]) == 1
    assert "there is no column 'code,c'; available: 'a, b', 'c,d'," in capsys.readouterr().err


def test_advice_of_compare_is_in_words_of_the_command(tmp_path, capsys):
    x = np.linspace(0, 1, 60)
    pd.DataFrame({"x": x, "sold on": "2024-05-31", "y": x}).to_csv(tmp_path / "t.csv", index=False)
    assert main(["compare", str(tmp_path / "t.csv"), "--target", "y", "--workers", "0", "--quiet"]) == 1
    advice = "leave it out with --drop 'sold on', or take it as it is with --categorical 'sold on'"
    assert advice in capsys.readouterr().err


def test_compare(tmp_path, capsys):
    x = np.linspace(0, 1, 100)
    pd.DataFrame({"x": x, "y": x > 0.3}).to_csv(tmp_path / "t.csv", index=False)
    command = ["compare", str(tmp_path / "t.csv"), "--target", "y", "--transformations", "standard,minmax"]
    assert main([*command, "--seeds", "2", "--workers", "0"]) == 0
    printed = capsys.readouterr().out
    assert re.search(r"(standard|minmax) +mlp +[\d.]+ +[\d.]+ ±[\d.]+ +chosen", printed)
    assert "Chosen on the validation part:" in printed
    assert str(tmp_path / "t-compare" / "pipeline.joblib") in printed.replace("\n", "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "none.toml"], "tabstretch: there is no plan none.toml"),
        (["status", "none.toml"], "tabstretch: there is no plan none.toml"),
        (["compare", "none.csv", "--target", "y"], "tabstretch: none.csv cannot be read: No such file"),
    ],
)
def test_errors_are_one_line(arguments, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 1
    errors = capsys.readouterr().err
    assert errors.startswith(message)
    assert "Traceback" not in errors
    assert list(tmp_path.iterdir()) == []


def test_a_study_that_was_not_started(tmp_path, capsys):
    path = tmp_path / "plan.toml"
    path.write_text(PLAN)
    assert main(["status", str(path)]) == 1
    assert (
        f"there is no study in {tmp_path / 'plan.db'} yet; tabstretch run starts one"
        in capsys.readouterr().err
    )


def test_a_changed_plan(finished, tmp_path, capsys):
    changed = tmp_path / "plan.toml"
    changed.write_text(PLAN.replace("seeds = 2", "seeds = 3"))
    assert main(["run", str(changed), "--storage", str(finished.with_suffix(".db"))]) == 1
    assert "seeds: 2 -> 3" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "p.toml", "--workers", "-1"], "must be a whole number of at least 0, got '-1'"),
        (["run", "p.toml", "--threads", "0"], "must be a whole number of at least 1, got '0'"),
        (["run", "p.toml", "--workers", "1", "--scheduler", "tcp://x:1"], "not allowed with argument"),
        (["walk"], "invalid choice: 'walk'"),
        (["results", "p.toml"], "-o/--output"),
    ],
)
def test_misuse(arguments, message, capsys):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert message in capsys.readouterr().err


def test_a_terminal_that_knows_only_ascii(finished, tmp_path):
    command = [sys.executable, "-m", "tabstretch", "run", str(finished), "--workers", "0"]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    assert re.search(r"minmax +0\.\d{3} \?0\.\d{3}", done.stdout)


def test_no_verb_shows_the_help(capsys):
    assert main([]) == 2
    assert "usage: tabstretch" in capsys.readouterr().out


def test_results_have_a_known_ending(finished, tmp_path, capsys):
    assert main(["results", str(finished), "-o", str(tmp_path / "r.txt")]) == 1
    assert "must end in .csv or .parquet, got '.txt'" in capsys.readouterr().err
    assert main(["results", str(finished), "-o", str(tmp_path / "no" / "r.csv")]) == 1
    assert "does not exist" in capsys.readouterr().err
