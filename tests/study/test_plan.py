from pathlib import Path

import pytest

from tabstretch.study.errors import StudyError
from tabstretch.study.names import MODELS, TRANSFORMATIONS
from tabstretch.study.plan import CellKey, StudyPlan, differences, read_plan

FIXED_KEYS = """
name = "example"
datasets = ["sklearn:diabetes", "talent:path/to/yeast", "file:houses.csv?target=price", "openml:electricity"]
models = ["mlp", "mlp_plr", "resnet", "ftt", "realmlp"]
transformations = ["stretch_sup", "stretch_unsup", "minmax", "ple", "ple_t", "quantile", "rs_sc",
                   "standard", "yeo_johnson", "stretch_within", "stretch_anchored", "stretch_conditional",
                   "stretch_views"]
trials = 100
seeds = 15
"""
MINIMAL = {
    "name": "small",
    "datasets": ["sklearn:wine"],
    "models": ["mlp"],
    "transformations": ["standard"],
}


def plan_of(**changes):
    return StudyPlan.from_dict({**MINIMAL, **changes})


def test_a_plan_with_the_fixed_keys_is_read(tmp_path):
    path = tmp_path / "example.toml"
    path.write_text(FIXED_KEYS)
    plan = read_plan(path)
    assert plan.name == "example"
    assert plan.datasets[2] == "file:houses.csv?target=price"
    assert plan.models == MODELS
    assert plan.transformations == TRANSFORMATIONS
    assert (plan.trials, plan.seeds) == (100, 15)
    assert (plan.epochs, plan.patience, plan.batch_size) == (200, 20, 1024)  # the protocol's


def test_relative_paths_begin_at_the_folder_of_the_plan(tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "plan.toml").write_text(FIXED_KEYS)
    monkeypatch.chdir(tmp_path)
    assert read_plan("here/plan.toml").folder == tmp_path / "here"


def test_plain_values_and_back():
    plan = plan_of(noise=[0, 0.5], trials=3)
    assert StudyPlan.from_dict(plan.to_dict()) == plan


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"trails": 3}, "unknown key 'trails'.*known are name, datasets"),
        ({"models": ["mpl"]}, "models has 'mpl'; known are mlp, "),
        ({"transformations": ["log"]}, "transformations has 'log'; known are stretch_sup, "),
        ({"models": "mlp"}, "models must be a list of texts, got 'mlp'"),
        ({"models": []}, "models must have at least one entry"),
        ({"models": ["mlp", 3]}, "models must be a list of texts, got 3 in it"),
        ({"models": ["mlp", "mlp"]}, "models has 'mlp' 2 times"),
        ({"datasets": ["wine"]}, "datasets: wine: a source must be one of sklearn:"),
        ({"datasets": ["file:a.csv?targt=b"]}, "unknown option 'targt'"),
        ({"trials": -1}, "trials must be a whole number of at least 0, got -1"),
        ({"trials": True}, "trials must be a whole number of at least 0, got True"),
        ({"trials": 2.5}, "trials must be a whole number"),
        ({"train_rows": -1}, "train_rows must be a whole number of at least 0, got -1"),
        ({"seeds": 0}, "seeds must be a whole number of at least 1, got 0"),
        ({"batch_size": 1}, "batch_size must be a whole number of at least 2, got 1"),
        ({"memory_limit_gb": -1}, "memory_limit_gb must be a number from 0 to inf, got -1"),
        ({"memory_limit_gb": float("nan")}, "memory_limit_gb must be a number"),
        ({"noise": [0.1, 0.1]}, "noise must have at least one level and none twice"),
        ({"noise": [1.5]}, "noise must be a number from 0 to 1, got 1.5"),
        ({"noise": 0.5}, "noise must be a list of numbers"),
        ({"name": ""}, "name must be a text of 1 to 100 printable characters, got ''"),
        ({"name": "a\nb"}, "name must be a text"),
        ({"name": 3}, "name must be a text"),
    ],
)
def test_a_wrong_value_is_named(changes, message):
    with pytest.raises(StudyError, match=message):
        plan_of(**changes)


@pytest.mark.parametrize("key", list(MINIMAL))
def test_a_missing_key_is_named(key):
    with pytest.raises(StudyError, match=f"the plan has no '{key}'; it needs"):
        StudyPlan.from_dict({name: value for name, value in MINIMAL.items() if name != key})


def test_files_that_are_no_plan(tmp_path):
    with pytest.raises(StudyError, match="there is no plan"):
        read_plan(tmp_path / "none.toml")
    path = tmp_path / "broken.toml"
    path.write_text("name = ")
    with pytest.raises(StudyError, match=r"broken\.toml is not TOML"):
        read_plan(path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(StudyError, match="cannot be read"):
        read_plan(path)
    path.write_text("name = 'x'\nwhat = 1")
    with pytest.raises(StudyError, match=r"broken\.toml: unknown key 'what'"):
        read_plan(path)
    with pytest.raises(StudyError, match="cannot be read"):
        read_plan(tmp_path)


def test_differences_show_what_was_added_removed_and_changed():
    old = plan_of(trials=100, models=["mlp", "resnet"])
    new = plan_of(trials=50, models=["mlp", "ftt"], datasets=["sklearn:wine", "sklearn:iris"])
    assert differences(old, new) == [
        "datasets: + sklearn:iris",
        "models: - resnet",
        "models: + ftt",
        "trials: 100 -> 50",
    ]
    assert differences(old, old) == []
    swapped = plan_of(trials=100, models=["resnet", "mlp"])
    assert differences(old, swapped) == ["models: ['mlp', 'resnet'] -> ['resnet', 'mlp']"]


def test_a_moved_plan_is_the_same_plan():
    assert StudyPlan.from_dict(MINIMAL, Path("/a")) == StudyPlan.from_dict(MINIMAL, Path("/b"))


def test_cells_in_words():
    assert str(CellKey("wine", "mlp", "standard")) == "wine/mlp/standard"
    assert str(CellKey("wine", "mlp", "standard", 0.25)) == "wine/mlp/standard/noise 0.25"
