"""Studies from plan to table, in this process."""

import itertools
import json
import sqlite3
from contextlib import closing
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from tabstretch.study import run_study, workers, workspace
from tabstretch.study.errors import StudyError
from tabstretch.study.jobs import Outcome, run_job
from tabstretch.study.models import mlp
from tabstretch.study.plan import StudyPlan
from tabstretch.study.results import COLUMNS
from tabstretch.study.storage import StudyStorage
from tabstretch.study.storage.database import storage_url

MEASURED = ["seconds", "fit_seconds", "peak_memory_mb"]


def plan_in(folder, **changes):
    values = {
        "name": "example",
        "datasets": ("sklearn:diabetes", "sklearn:wine"),
        "models": ("mlp",),
        "transformations": ("standard", "stretch_unsup"),
        "trials": 0,
        "seeds": 2,
        "epochs": 3,
        "folder": folder,
    }
    return StudyPlan(**{**values, **changes})


def run(plan, **options):
    return run_study(plan, workers=0, progress=False, **options)


def unmeasured(table):
    return table.drop(columns=MEASURED)


@pytest.fixture
def jobs(monkeypatch):
    """The jobs that were run, in order."""
    seen = []

    def recorded(job):
        seen.append(job)
        return run_job(job)

    monkeypatch.setattr(workers, "run_job", recorded)
    return seen


def test_one_tidy_row_per_run(tmp_path):
    table = run(plan_in(tmp_path))
    assert tuple(table.columns) == COLUMNS
    keys = ["dataset", "model", "transformation", "seed"]
    expected = pd.MultiIndex.from_product(
        [["diabetes", "wine"], ["mlp"], ["standard", "stretch_unsup"], [0, 1]]
    )
    assert sorted(map(tuple, table[keys].values)) == sorted(expected)
    assert (table["status"] == "ok").all()
    assert (table["error"] == "").all()
    regression = table["dataset"] == "diabetes"
    assert table.loc[regression, ["r2", "mae", "rmse"]].notna().all(axis=None)
    assert table.loc[regression, ["accuracy", "avg_recall", "f1", "auc"]].isna().all(axis=None)
    assert table.loc[~regression, ["accuracy", "avg_recall", "f1", "auc"]].notna().all(axis=None)
    assert table.loc[~regression, ["r2", "mae", "rmse"]].isna().all(axis=None)
    assert (table[[*MEASURED, "epochs", "best_epoch"]] > 0).all(axis=None)
    assert [json.loads(text)["lr"] for text in table["params"]] == [mlp.DEFAULTS["lr"]] * 8
    assert (tmp_path / "example.db").is_file()


def test_the_same_plan_gives_the_same_table(tmp_path, small_space):
    first = run(plan_in(tmp_path, trials=2), storage=str(tmp_path / "a.db"))
    second = run(plan_in(tmp_path, trials=2), storage=str(tmp_path / "b.db"))
    pd.testing.assert_frame_equal(unmeasured(first), unmeasured(second), check_exact=True)


def test_what_is_finished_is_not_run_again(tmp_path, jobs):
    first = run(plan_in(tmp_path))
    n_jobs = len(jobs)
    second = run(plan_in(tmp_path))
    assert len(jobs) == n_jobs > 0
    pd.testing.assert_frame_equal(first, second)


def test_a_finished_study_gives_back_what_a_dead_coordinator_had(tmp_path):
    """It died, or lost its server, between the last row and the end: nobody will want that cell again."""
    plan = plan_in(tmp_path, datasets=("sklearn:wine",), transformations=("standard",), seeds=1)
    run(plan)
    path = tmp_path / "example.db"
    cell = "SELECT study_id, dataset, model, transformation, noise, 7 FROM tabstretch_runs"
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("INSERT INTO tabstretch_coordinators (owner, host, pid) VALUES (7, 'gone', 1)")
        database.execute(f"INSERT INTO tabstretch_claims {cell}")
    run(plan)
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("SELECT * FROM tabstretch_claims").fetchall() == []
        assert database.execute("SELECT * FROM tabstretch_coordinators").fetchall() == []


def test_trials_never_see_the_test_part(tmp_path, jobs, small_space):
    run(plan_in(tmp_path, datasets=("sklearn:wine",), trials=3))
    parts = [(job.part, job.seeds) for job in jobs]
    cell = [("val", (0,))] * 3 + [("test", (0, 1))]
    assert parts == cell * 2


def test_a_transformation_is_fitted_once_for_all_trials_and_networks(tmp_path, monkeypatch, small_space):
    fits = []
    fit = workspace.fit_transformation

    def counted(name, dataset, *, n_bins, **options):
        fits.append((name, dataset.name, n_bins))
        return fit(name, dataset, n_bins=n_bins, **options)

    monkeypatch.setattr(workspace, "fit_transformation", counted)
    monkeypatch.setattr(workspace, "_prepared", workspace.Cache(lambda _: 1))
    run(plan_in(tmp_path, models=("mlp", "resnet"), epochs=1))
    assert sorted(fits) == sorted(set(fits))
    assert len(fits) == 4
    fits.clear()
    run(
        plan_in(tmp_path, transformations=("stretch_unsup",), trials=12, epochs=1),
        storage=str(tmp_path / "t.db"),
    )
    assert len(fits) == len(set(fits)) > 2


def test_resuming_a_search_goes_on_as_if_nothing_had_happened(tmp_path, small_space, monkeypatch):
    plan = plan_in(tmp_path, datasets=("sklearn:wine",), trials=14)
    undisturbed = run(plan, storage=str(tmp_path / "undisturbed.db"))
    for limit in (3, 12, 9):
        left = iter(range(limit))

        def interrupted(job, left=left):
            if next(left, None) is None:
                raise KeyboardInterrupt
            return run_job(job)

        monkeypatch.setattr(workers, "run_job", interrupted)
        with pytest.raises(KeyboardInterrupt):
            run(plan)
    monkeypatch.setattr(workers, "run_job", run_job)
    pd.testing.assert_frame_equal(unmeasured(run(plan)), unmeasured(undisturbed), check_exact=True)
    assert trials_of(tmp_path / "example.db") == trials_of(tmp_path / "undisturbed.db")


def trials_of(database):
    import optuna

    url = storage_url(str(database)).render_as_string(hide_password=False)
    storage = optuna.storages.RDBStorage(url)
    names = sorted(optuna.get_all_study_names(storage))
    studies = [optuna.load_study(study_name=name, storage=storage) for name in names]
    return {
        study.study_name: [(t.user_attrs["index"], t.params, t.value) for t in study.trials]
        for study in studies
    }


def test_a_search_finds_better_than_its_first_trials(tmp_path, small_space):
    plan = plan_in(tmp_path, datasets=("sklearn:wine",), transformations=("standard",), trials=40)
    run(plan)
    (trials,) = trials_of(tmp_path / "example.db").values()
    assert [number for number, _, _ in trials] == list(range(40))
    assert len({params["lr"] for _, params, _ in trials}) == 40  # every trial has draws of its own
    values = [value for *_, value in trials]
    assert np.mean(values[25:]) > np.mean(values[:10]) + 0.1  # ten random trials, then guided ones


class TestFailures:
    def test_a_failed_run_is_a_row(self, tmp_path, monkeypatch):
        fit = mlp.fit

        def sometimes(inputs, params, seeds, budget):
            if inputs.task == "regression":
                raise RuntimeError("no memory\nfor this")
            return [*fit(inputs, params, seeds[:-1], budget), ValueError("seed 1 is unlucky")]

        monkeypatch.setattr(mlp, "fit", sometimes)
        table = run(plan_in(tmp_path)).set_index(["dataset", "transformation", "seed"])
        assert table.loc[("diabetes", "standard", 0), "error"] == "RuntimeError: no memory for this"
        assert table.loc[("wine", "standard", 1), "error"] == "ValueError: seed 1 is unlucky"
        assert table.loc[("wine", "standard", 1), "status"] == "failed"
        assert table.loc[("wine", "standard", 0), "status"] == "ok"
        assert table.loc["diabetes", ["r2", "mae", "val_score"]].isna().all(axis=None)

    def test_failed_runs_are_run_again_only_if_asked_to(self, tmp_path, monkeypatch, jobs):
        with monkeypatch.context() as patch:
            patch.setattr(mlp, "fit", lambda *_: 1 / 0)
            assert (run(plan_in(tmp_path))["status"] == "failed").all()
        n_jobs = len(jobs)
        assert (run(plan_in(tmp_path))["status"] == "failed").all()
        assert len(jobs) == n_jobs
        assert (run(plan_in(tmp_path), retry_failed=True)["status"] == "ok").all()

    def test_a_failed_trial_is_scored_worst(self, tmp_path, monkeypatch, small_space):
        fit = mlp.fit

        def sometimes(inputs, params, seeds, budget):
            if params["d_layers"][0] > 8:
                raise RuntimeError("too wide")
            return fit(inputs, params, seeds, budget)

        monkeypatch.setattr(mlp, "fit", sometimes)
        table = run(plan_in(tmp_path, trials=6))
        assert (table["status"] == "ok").all()
        assert table["failed_trials"].between(1, 5).all()
        for name, trials in trials_of(tmp_path / "example.db").items():
            worst = np.inf if "diabetes" in name else 0.0
            assert all((value == worst) == (params["width"] > 8) for _, params, value in trials)

    def test_a_search_in_which_everything_fails(self, tmp_path, monkeypatch, small_space):
        monkeypatch.setattr(mlp, "fit", lambda *_: 1 / 0)
        table = run(plan_in(tmp_path, trials=2))
        assert len(table) == 8
        expected = "none of 2 trials succeeded; the last failed with ZeroDivisionError: division by zero"
        assert set(table["error"]) == {expected}

    def test_a_search_that_failed_before_the_rows_were_stored(self, tmp_path, monkeypatch, small_space):
        monkeypatch.setattr(mlp, "fit", lambda *_: 1 / 0)
        with monkeypatch.context() as patch:
            patch.setattr(StudyStorage, "add_runs", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
            with pytest.raises(KeyboardInterrupt):
                run(plan_in(tmp_path, trials=2))
        assert len(run(plan_in(tmp_path, trials=2))) == 8

    def test_a_search_that_failed_is_searched_again_if_asked_to(self, tmp_path, monkeypatch, small_space):
        with monkeypatch.context() as patch:
            patch.setattr(mlp, "fit", lambda *_: 1 / 0)
            run(plan_in(tmp_path, trials=2))
        again = run(plan_in(tmp_path, trials=2), retry_failed=True)
        assert (again["status"] == "ok").all()
        assert (again["failed_trials"] == 0).all()
        undisturbed = run(plan_in(tmp_path, trials=2), storage=str(tmp_path / "undisturbed.db"))
        pd.testing.assert_frame_equal(unmeasured(again), unmeasured(undisturbed), check_exact=True)

    def test_nothing_right_is_better_than_failure(self, tmp_path, monkeypatch, small_space):
        """A failed trial is scored 0, as is one without a single right answer: that one is taken."""

        def first_fails(job):
            outcomes = run_job(job)
            if job.part == "test":
                return outcomes
            failed = next(numbers) % 2 == 0
            return [
                replace(o, error="bad luck" if failed else None, metrics={"accuracy": 0.0}) for o in outcomes
            ]

        numbers = itertools.count()
        monkeypatch.setattr(workers, "run_job", first_fails)
        table = run(plan_in(tmp_path, datasets=("sklearn:wine",), trials=2))
        assert set(table["status"]) == {"ok"}
        assert set(table["failed_trials"]) == {1}

    @pytest.mark.parametrize("letters", ["\0", "\udc80"])
    def test_an_error_that_no_database_takes(self, tmp_path, monkeypatch, letters, postgres_url):
        def fails(*_):
            raise ValueError(f"a{letters}b")

        monkeypatch.setattr(mlp, "fit", fails)
        table = run(plan_in(tmp_path), storage=postgres_url)
        assert set(table["error"]) == {"ValueError: a\N{REPLACEMENT CHARACTER}b"}

    def test_a_worker_that_dies_with_its_run(self, tmp_path, monkeypatch):
        def died(job):
            return [Outcome(seed, "the worker died") for seed in job.seeds]

        monkeypatch.setattr(workers, "run_job", died)
        assert set(run(plan_in(tmp_path))["error"]) == {"the worker died"}


class TestData:
    def csv(self, folder, scale=1.0, name="houses.csv"):
        rng = np.random.default_rng(0)
        frame = pd.DataFrame({"size": rng.random(60), "rooms": rng.integers(1, 5, 60)})
        frame.assign(price=frame["size"] * scale).to_csv(folder / name, index=False)

    def test_paths_begin_at_the_plan(self, tmp_path):
        self.csv(tmp_path)
        table = run(plan_in(tmp_path, datasets=("file:houses.csv?target=price",)))
        assert set(table["dataset"]) == {"houses"}
        assert set(table["n_train"]) == {38}

    def test_data_that_changed_is_refused(self, tmp_path):
        self.csv(tmp_path)
        plan = plan_in(tmp_path, datasets=("file:houses.csv?target=price",))
        before = run(plan)
        self.csv(tmp_path, scale=2.0)
        with pytest.raises(
            StudyError, match=r"houses\.csv.*the data changed since .*example\.db was written"
        ):
            run(plan)
        self.csv(tmp_path)
        pd.testing.assert_frame_equal(run(plan), before)

    def test_data_that_changes_while_the_study_runs_stops_it(self, tmp_path, monkeypatch):
        self.csv(tmp_path)
        plan = plan_in(tmp_path, datasets=("file:houses.csv?target=price",))

        def change_then_run(job):
            self.csv(tmp_path, scale=3.0)
            return run_job(job)

        monkeypatch.setattr(workers, "run_job", change_then_run)
        with pytest.raises(StudyError, match="the data changed while the study ran"):
            run(plan)

    def test_every_unreadable_data_set_is_named_at_once(self, tmp_path):
        sources = ("file:none.csv?target=y", "sklearn:wine", "talent:nowhere")
        with pytest.raises(StudyError) as caught:
            run(plan_in(tmp_path, datasets=sources))
        assert str(caught.value).count("\n") == 1
        assert "file:none.csv?target=y: " in str(caught.value)
        assert "talent:nowhere: " in str(caught.value)

    def test_a_misspelt_source_can_be_mended(self, tmp_path):
        """It is another plan under the same name, but of the first nothing was run."""
        self.csv(tmp_path)
        with pytest.raises(StudyError, match="there is no column 'prize'"):
            run(plan_in(tmp_path, datasets=("file:houses.csv?target=prize",)))
        table = run(plan_in(tmp_path, datasets=("file:houses.csv?target=price",)))
        assert set(table["dataset"]) == {"houses"}

    def test_too_few_training_rows_are_no_divergence(self, tmp_path):
        self.csv(tmp_path)
        sources = ("file:houses.csv?target=price",)
        table = run(plan_in(tmp_path, datasets=sources, train_rows=1))
        assert table["error"].str.fullmatch(r"ValueError: the target is 0\.\d+ in all 1 rows .*").all()

    @pytest.mark.filterwarnings("error")
    def test_a_target_in_a_large_unit(self, tmp_path):
        self.csv(tmp_path, scale=1e30)
        table = run(plan_in(tmp_path, datasets=("file:houses.csv?target=price",)))
        assert set(table["status"]) == {"ok"}

    def test_two_data_sets_of_one_name(self, tmp_path):
        (tmp_path / "other").mkdir()
        self.csv(tmp_path)
        self.csv(tmp_path / "other", scale=2.0)
        sources = ("file:houses.csv?target=price", "file:other/houses.csv?target=price")
        table = run(plan_in(tmp_path, datasets=sources))
        assert set(table["dataset"]) == set(sources)


def test_noise_is_on_the_training_part_and_hurts(tmp_path):
    plan = plan_in(
        tmp_path, datasets=("sklearn:wine",), transformations=("standard",), epochs=30, noise=(0, 0.9)
    )
    means = run(plan).groupby("noise")["accuracy"].mean()
    assert means[0.0] > 0.9
    assert means[0.9] < means[0.0] - 0.1


def test_fewer_training_rows(tmp_path):
    table = run(plan_in(tmp_path, train_rows=100))
    assert set(table["n_train"]) == {100}  # fewer than there are
    whole = run(plan_in(tmp_path, name="whole"))
    assert min(whole["n_train"]) > 100
    assert set(table["checksum"]) == set(whole["checksum"])
    assert (table[["r2", "accuracy"]].fillna(0) != whole[["r2", "accuracy"]].fillna(0)).any(axis=None)


def test_noise_levels_close_to_each_other_are_searched_apart(tmp_path, small_space):
    levels = (0.1234567, 0.1234568)
    run(plan_in(tmp_path, datasets=("sklearn:wine",), transformations=("standard",), trials=1, noise=levels))
    assert len(trials_of(tmp_path / "example.db")) == 2


def test_a_plan_file_has_its_storage_beside_it(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(
        'name = "mine"\ndatasets = ["sklearn:wine"]\nmodels = ["mlp"]\n'
        'transformations = ["standard"]\ntrials = 0\nseeds = 1\nepochs = 1\n'
    )
    assert len(run(path)) == 1
    assert (tmp_path / "mine.db").is_file()
