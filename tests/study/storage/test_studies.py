"""What a coordinator reads and writes, on both kinds of database."""

import math
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import optuna
import pytest

from tabstretch.study.datasets import load_dataset
from tabstretch.study.datasets.records import record_of
from tabstretch.study.errors import StudyError
from tabstretch.study.plan import CellKey, StudyPlan
from tabstretch.study.storage import StudyStorage
from tabstretch.study.storage.studies import RunRecord, unique_names

PLAN = StudyPlan("example", ("sklearn:wine",), ("mlp",), ("standard", "quantile"), trials=2, seeds=3)
CELL = CellKey("wine", "mlp", "standard")
OTHER = CellKey("wine", "mlp", "quantile", 0.5)


@contextmanager
def opened(url, plan=PLAN, **options):
    store = StudyStorage(url, plan, **options)
    try:
        yield store
    finally:
        store.close()


@pytest.fixture
def store(url):
    with opened(url) as store:
        yield store


def record(seed=0, **changes):
    values = {
        "seed": seed,
        "status": "ok",
        "error": None,
        "note": "a note",
        "params": {"d_layers": [3, 4], "lr": 0.1},
        "metrics": {"accuracy": 1 / 3},
        "measures": {"seconds": 0.25},
        "trials": 2,
        "failed_trials": 1,
    }
    return RunRecord(**{**values, **changes})


class TestPlan:
    def test_the_same_plan_finds_its_study(self, url):
        with opened(url) as first, opened(url) as second:
            assert first.study_id == second.study_id
            assert second.environment()["packages"]["optuna"] == optuna.__version__

    def test_another_name_is_another_study(self, url):
        other = StudyPlan.from_dict({**PLAN.to_dict(), "name": "other"})
        with opened(url) as first, opened(url, other) as second:
            assert first.study_id != second.study_id

    def test_a_changed_plan_is_refused_and_the_difference_shown(self, url):
        with opened(url) as store:
            store.add_dataset(load_dataset("sklearn:wine", PLAN.folder), "wine")
        changed = StudyPlan.from_dict({**PLAN.to_dict(), "seeds": 4, "models": ["resnet"]})
        with pytest.raises(StudyError) as caught:
            StudyStorage(url, changed)
        assert "'example'" in str(caught.value)
        assert "  models: - mlp\n  models: + resnet\n  seeds: 3 -> 4\n" in str(caught.value)

    def test_a_plan_whose_data_were_never_read_may_change(self, url):
        """Its first mistakes show when they are read, and whoever mends them starts the study then."""
        mistaken = StudyPlan.from_dict({**PLAN.to_dict(), "datasets": ["sklearn:whine"]})
        with opened(url, mistaken) as first:
            study_id = first.study_id
        with opened(url) as store:
            assert store.study_id == study_id
            store.add_dataset(load_dataset("sklearn:wine", PLAN.folder), "wine")
        with pytest.raises(StudyError, match="was started with another plan"):
            StudyStorage(url, mistaken)
        with opened(url) as store:
            assert len(store.dataset_entries()) == 1

    def test_looking_does_not_change_a_plan(self, url):
        changed = StudyPlan.from_dict({**PLAN.to_dict(), "seeds": 4})
        with opened(url):
            pass
        with pytest.raises(StudyError, match="was started with another plan"):
            StudyStorage(url, changed, must_exist=True)
        with opened(url, must_exist=True):
            pass

    def test_who_reads_data_for_a_plan_that_was_changed_meanwhile_stops(self, url):
        changed = StudyPlan.from_dict({**PLAN.to_dict(), "seeds": 4})
        with opened(url) as first, opened(url, changed) as second:
            dataset = load_dataset("sklearn:wine", PLAN.folder)
            with pytest.raises(StudyError, match="seeds: 4 -> 3"):
                first.add_dataset(dataset, "wine")
            assert second.dataset_entries() == {}
            second.add_dataset(dataset, "wine")
            assert len(second.dataset_entries()) == 1

    def test_looking_at_nothing_makes_nothing(self, url, tmp_path):
        with pytest.raises(StudyError, match="there is no study"):
            StudyStorage(url, PLAN, must_exist=True)
        assert list(tmp_path.iterdir()) == []

    def test_looking_at_another_study(self, url):
        other = StudyPlan.from_dict({**PLAN.to_dict(), "name": "other"})
        with opened(url), pytest.raises(StudyError, match="there is no study 'other'"):
            StudyStorage(url, other, must_exist=True)

    def test_many_may_start_at_one_moment(self, url):
        """Who comes second finds what the first made, Optuna's tables too."""
        barrier = threading.Barrier(3)

        def start(_):
            barrier.wait()
            with opened(url) as store:
                return store.study_id, store.trials.get_all_studies()

        with ThreadPoolExecutor(3) as pool:
            assert list(pool.map(start, range(3))) == [(1, [])] * 3


class TestDatasets:
    def test_there_and_back(self, store):
        dataset = load_dataset("sklearn:wine", PLAN.folder)
        store.add_dataset(dataset, "wine")
        store.add_dataset(dataset, "wine")  # as a second coordinator would
        (entry,) = store.dataset_entries().values()
        assert (entry.source, entry.name, entry.checksum) == ("sklearn:wine", "wine", dataset.checksum)
        assert entry.split == record_of(dataset)
        assert entry.description == {
            "task": "multiclass",
            "n_train": 114,
            "n_val": 28,
            "n_test": 36,
            "n_numeric": 13,
            "n_categorical": 0,
            "n_classes": 3,
        }

    def test_names_that_clash_become_sources(self):
        pairs = [("talent:a/x", "x"), ("talent:b/x", "x"), ("talent:y", "y")]
        assert list(unique_names(pairs).values()) == ["talent:a/x", "talent:b/x", "y"]


class TestClaims:
    def test_one_coordinator_at_a_time(self, url):
        with opened(url) as first, opened(url) as second:
            assert first.claim(CELL)
            assert first.claim(CELL)  # it is its own
            assert not second.claim(CELL)
            assert second.claim(OTHER)
            assert first.owned(CELL)
            assert not second.owned(CELL)
            assert second.claimed() == {CELL: True, OTHER: False}
            first.release(CELL)
            assert second.claim(CELL)

    def test_release_leaves_the_claims_of_others(self, url):
        with opened(url) as first, opened(url) as second:
            assert first.claim(CELL)
            second.release(CELL)
            assert not second.claim(CELL)

    def test_closing_gives_up_all_claims(self, url):
        with opened(url) as first:
            assert first.claim(CELL)
            assert first.claim(OTHER)
        with opened(url) as second:
            assert second.claim(CELL)
            assert second.claimed() == {CELL: False}

    def test_a_killed_coordinator_gives_up_its_claims_at_once(self, url):
        script = f"""
            import sys, time
            sys.path.insert(0, {os.path.dirname(__file__)!r})
            from test_studies import CELL, PLAN, StudyStorage
            store = StudyStorage({url!r}, PLAN)
            print(store.claim(CELL), flush=True)
            time.sleep(100)
        """
        process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(script)], stdout=subprocess.PIPE)
        try:
            assert process.stdout.readline() == b"True\n"
            with opened(url) as store:
                assert not store.claim(CELL)
                process.send_signal(signal.SIGSTOP)
                assert not store.claim(CELL)  # stopped is not dead
                process.kill()
                process.wait()
                assert _soon(lambda: store.claim(CELL))
                assert store.owned(CELL)
        finally:
            process.kill()
            process.wait()
            process.stdout.close()

    def test_lock_files_do_not_stay(self, tmp_path):
        with opened(str(tmp_path / "study.db")) as store:
            assert store.claim(CELL)
            assert len(list(tmp_path.glob("*.lock"))) == 1
        assert list(tmp_path.glob("*.lock")) == []


def _soon(condition):
    """Whether it becomes true within ten seconds: a server takes a moment to see that a client is gone."""
    end = time.monotonic() + 10
    while not (answer := condition()) and time.monotonic() < end:
        time.sleep(0.05)
    return answer


class TestRuns:
    def test_there_and_back(self, store):
        store.claim(CELL)
        failed = record(1, status="failed", error="ValueError: 'é' \x27", metrics={}, note=None)
        assert store.add_runs(CELL, [record(), failed])
        assert store.runs() == [(CELL, record()), (CELL, failed)]
        assert store.finished() == {CELL: {0, 1}}

    def test_what_is_not_a_number_is_left_out(self, store):
        store.claim(CELL)
        store.add_runs(CELL, [record(metrics={"accuracy": 1 / 3, "r2": math.nan, "mae": math.inf})])
        assert store.runs() == [(CELL, record())]

    def test_noise_levels_are_cells_of_their_own(self, store):
        noisy = CELL._replace(noise=0.1)
        for cell in (CELL, noisy):
            store.claim(cell)
            store.add_runs(cell, [record()])
        assert store.finished() == {CELL: {0}, noisy: {0}}

    def test_a_repeated_write_doubles_nothing(self, store):
        store.claim(CELL)
        assert store.add_runs(CELL, [record(0)])
        assert store.add_runs(CELL, [record(0), record(1)])
        assert [run.seed for _, run in store.runs()] == [0, 1]

    def test_who_lost_a_cell_cannot_write_to_it(self, url):
        with opened(url) as first, opened(url) as second:
            assert not first.add_runs(CELL, [record()])
            second.claim(CELL)
            assert not first.add_runs(CELL, [record()])
            assert second.runs() == []

    def test_failed_runs_can_be_forgotten(self, store):
        store.claim(CELL)
        store.add_runs(CELL, [record(0), record(1, status="failed")])
        assert store.forget_failed() == 1
        assert store.finished() == {CELL: {0}}

    def test_studies_do_not_mix(self, url):
        other = StudyPlan.from_dict({**PLAN.to_dict(), "name": "other"})
        with opened(url) as first, opened(url, other) as second:
            first.claim(CELL)
            first.add_runs(CELL, [record(status="failed")])
            assert second.claim(CELL)
            assert second.finished() == {}
            assert second.forget_failed() == 0
            assert len(first.runs()) == 1


def test_trials_are_counted_without_making_tables(store):
    assert store.trial_counts() == {}
    assert "trials" not in store.__dict__


def test_trials_are_in_the_same_database(store, url):
    study = optuna.create_study(storage=store.trials, study_name="search")
    study.add_trial(optuna.trial.create_trial(value=0.1 + 0.2))
    assert store.trial_counts() == {"search": 1}
    assert study.get_trials()[0].value == 0.1 + 0.2  # to the last bit, or a resumed search goes elsewhere
