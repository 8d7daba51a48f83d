"""What a running study shows: the counts of its storage, whoever works there."""

import io
import re

import pytest
from rich.console import Console

from tabstretch.study import run_study
from tabstretch.study.datasets import load_dataset
from tabstretch.study.plan import CellKey, StudyPlan
from tabstretch.study.progress import Lines, Screen, summary
from tabstretch.study.storage import StudyStorage
from tabstretch.study.storage.studies import RunRecord
from tabstretch.study.tally import tally

FIRST, SECOND = (CellKey("wine", "mlp", name) for name in ("standard", "quantile"))


def record(seed, accuracy=None, error=None):
    metrics = {} if accuracy is None else {"accuracy": accuracy}
    status = "ok" if error is None else "failed"
    return RunRecord(seed, status, error, None, {}, metrics, {}, trials=0, failed_trials=0)


@pytest.fixture
def plan(tmp_path):
    return StudyPlan(
        "both [of] them",
        ["sklearn:wine"],
        ["mlp"],
        ["standard", "quantile"],
        trials=0,
        seeds=2,
        epochs=2,
        folder=tmp_path,
    )


@pytest.fixture
def stores(plan, tmp_path):
    """The storage as two coordinators have it open."""
    opened = [StudyStorage(str(tmp_path / "study.db"), plan) for _ in range(2)]
    opened[0].add_dataset(load_dataset("sklearn:wine", tmp_path), "wine")
    yield opened
    for store in opened:
        store.close()


def drawn(screen, width=100):
    console = Console(file=io.StringIO(), width=width)
    console.print(screen.render())
    return console.file.getvalue()


def test_what_another_coordinator_stores_is_counted(plan, stores):
    ours, theirs = stores
    shown = Screen(plan, ours)
    assert "0 of 4 runs" in drawn(shown)
    theirs.claim(SECOND)
    theirs.add_runs(SECOND, [record(0, accuracy=0.75), record(1, error="no luck")])
    shown.look()
    assert (shown.tally.runs_done, shown.tally.runs_failed, shown.tally.trainings_done) == (2, 1, 2)
    text = drawn(shown)
    assert re.search(r"2 of 4 runs +1 failed +about \d+ s left", text)
    assert "running elsewhere: wine/mlp/quantile" in text
    assert re.search(r"wine +mlp +quantile +accuracy +0\.7500", text)
    theirs.release(SECOND)
    shown._next_look = 0.0
    shown.look()
    assert "elsewhere" not in drawn(shown)


def test_what_is_stored_here_counts_once(plan, stores):
    ours, _ = stores
    shown = Lines(plan, ours, io.StringIO())
    ours.claim(FIRST)
    ours.add_runs(FIRST, [record(0, accuracy=0.5), record(1, accuracy=0.6)])
    shown.stored(FIRST, [record(0, accuracy=0.5), record(1, accuracy=0.6)])
    shown.look()
    assert shown.tally.runs_done == 2
    assert shown.tally.cells[FIRST].scores == [0.5, 0.6]
    assert shown.tally.elsewhere == []


def test_failed_runs_that_are_forgotten_no_longer_count(plan, stores):
    ours, theirs = stores
    theirs.claim(FIRST)
    theirs.add_runs(FIRST, [record(0, accuracy=0.5), record(1, error="no luck")])
    counted = tally(plan, ours)
    assert (counted.runs_done, counted.runs_failed) == (2, 1)
    theirs.forget_failed()
    counted.look(plan, ours)
    assert (counted.runs_done, counted.runs_failed) == (1, 0)


def test_looks_are_few(plan, stores, monkeypatch):
    shown = Screen(plan, stores[0])
    looks = []
    monkeypatch.setattr(shown.tally, "look", lambda *_: looks.append(1))
    for _ in range(50):
        shown.look()
    assert len(looks) == 1


def test_trials_count_as_trainings(plan, tmp_path, small_space):
    plan = StudyPlan.from_dict({**plan.to_dict(), "name": "tuned", "trials": 2}, tmp_path)
    run_study(plan, storage=str(tmp_path / "study.db"), workers=0, progress=False)
    store = StudyStorage(str(tmp_path / "study.db"), plan)
    counted = tally(plan, store)
    assert (counted.trainings_done, counted.n_trainings) == (8, 8)
    counted.look(plan, store)
    assert counted.trainings_done == 8
    store.close()


def test_a_run_is_a_line_where_there_is_no_terminal(plan, tmp_path, capsys):
    run_study(plan, storage=str(tmp_path / "study.db"), workers=0)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "0 of 4 runs are stored"
    assert re.fullmatch(
        r"\[2/4, about \d+ s left\] wine/mlp/standard: accuracy 0\.\d{4} ± 0\.\d{4} \(2 seeds\)", lines[1]
    )
    assert lines[2].startswith("[4/4] wine/mlp/quantile")
    assert len(lines) == 3


def test_failures_in_words():
    assert summary("binclass", [record(0, error="no luck"), record(1, accuracy=0.5)]) == (
        "accuracy 0.5000 (seed 1); 1 failed: no luck"
    )
