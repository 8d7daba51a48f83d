"""`kill -9` at many moments, then the same command: the table of an undisturbed run, and nothing twice."""

import signal
import time

import pandas as pd
import psutil
import pytest
from driver import suggest
from sessions import finish, start, worker_processes
from test_runner import trials_of, unmeasured

from tabstretch.study import read_plan, run_study
from tabstretch.study.models import mlp

PLAN = """
name = "example"
datasets = ["sklearn:diabetes", "sklearn:wine"]
models = ["mlp"]
transformations = ["standard", "stretch_unsup"]
trials = 3
seeds = 2
epochs = 3
"""


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """The table and the trials of a study that nothing happened to."""
    folder = tmp_path_factory.mktemp("undisturbed")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mlp, "suggest", suggest)
        table = run_study(plan_file(folder), workers=0, progress=False)
    return unmeasured(table), trials_of(folder / "plan.db")


def plan_file(folder):
    path = folder / "plan.toml"
    path.write_text(PLAN)
    return path


def check(folder, undisturbed, storage=None):
    """The table is whole and equal, and there is one trial where there should be one."""
    plan = read_plan(folder / "plan.toml")
    table = run_study(plan, storage=storage or str(folder / "plan.db"), workers=0, progress=False)
    pd.testing.assert_frame_equal(unmeasured(table), undisturbed[0], check_exact=True)
    if storage is None:
        assert trials_of(folder / "plan.db") == undisturbed[1]


@pytest.mark.parametrize(
    ("where", "when", "count"),
    [
        ("dataset", "after", 1),
        ("job", "after", 6),
        ("trial", "before", 2),
        ("trial", "after", 5),
        ("runs", "before", 1),
        ("release", "before", 2),
    ],
)
def test_a_coordinator_killed_at_an_exact_moment(tmp_path, undisturbed, monkeypatch, where, when, count):
    plan = plan_file(tmp_path)
    returncode, _, errors = finish(start("--die", where, when, count, "run", plan, "--workers", 0))
    assert returncode == -signal.SIGKILL, errors
    monkeypatch.setattr(mlp, "suggest", suggest)
    check(tmp_path, undisturbed)
    assert list(tmp_path.glob("*.lock")) == []


def test_killed_again_and_again(tmp_path, undisturbed, monkeypatch):
    plan = plan_file(tmp_path)
    for where, count in (("claim", 1), ("runs", 1)):
        assert (
            finish(start("--die", where, "after", count, "run", plan, "--workers", 0))[0] == -signal.SIGKILL
        )
    monkeypatch.setattr(mlp, "suggest", suggest)
    check(tmp_path, undisturbed)


def wait_for_line(process, text):
    for line in process.stderr:
        if text in line:
            return
    raise AssertionError(f"ended before it said {text!r}")


class TestWithWorkers:
    def test_a_killed_worker_is_replaced_and_its_job_done_again(self, tmp_path, undisturbed, monkeypatch):
        process = start("run", plan_file(tmp_path), "--workers", 2)
        for stored in ("[2/8", "[6/8"):
            wait_for_line(process, stored)
            for worker in worker_processes(process):
                worker.kill()
        returncode, _, errors = finish(process)
        assert returncode == 0, errors
        check(tmp_path, undisturbed)

    def test_workers_go_with_their_coordinator(self, tmp_path, undisturbed, monkeypatch):
        process = start("run", plan_file(tmp_path), "--workers", 2)
        wait_for_line(process, "[2/8")
        workers = worker_processes(process)
        assert len(workers) == 2
        process.kill()
        finish(process)
        _, alive = psutil.wait_procs(workers, timeout=20)
        assert alive == []
        monkeypatch.setattr(mlp, "suggest", suggest)
        check(tmp_path, undisturbed)

    @pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
    def test_an_interruption_says_how_to_go_on(self, tmp_path, undisturbed, monkeypatch, how):
        plan = plan_file(tmp_path)
        process = start("run", plan, "--workers", 1)
        wait_for_line(process, "[2/8")
        process.send_signal(how)
        returncode, _, errors = finish(process)
        assert returncode == 130
        assert f"Go on with:\n  tabstretch run {plan} --workers 1\n" in errors
        assert "Traceback" not in errors
        monkeypatch.setattr(mlp, "suggest", suggest)
        check(tmp_path, undisturbed)

    def test_two_coordinators_share_the_work(self, tmp_path, undisturbed):
        plan = plan_file(tmp_path)
        processes = [start("run", plan, "--workers", 1) for _ in range(2)]
        ends = [finish(process) for process in processes]
        assert [returncode for returncode, *_ in ends] == [0, 0], ends
        check(tmp_path, undisturbed)
        stored = [errors.count("seeds)") for *_, errors in ends]
        assert sum(stored) == 4  # every cell once, by one or the other

    def test_one_of_two_coordinators_is_killed(self, tmp_path, undisturbed):
        plan = plan_file(tmp_path)
        first, second = (start("run", plan, "--workers", 1) for _ in range(2))
        wait_for_line(first, "2 seeds)")  # one of its own; the counts are those of both
        first.kill()
        finish(first)
        returncode, _, errors = finish(second)
        assert returncode == 0, errors
        check(tmp_path, undisturbed)


def test_a_cluster_and_a_server(tmp_path, undisturbed, monkeypatch, postgres_url):
    """The same plan on a Dask cluster of others' making, with a PostgreSQL server: the same table."""
    distributed = pytest.importorskip("distributed")
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
    )
    monkeypatch.setattr(mlp, "suggest", suggest)
    with cluster:
        plan = read_plan(plan_file(tmp_path))
        address = cluster.scheduler_address
        table = run_study(plan, storage=postgres_url, scheduler=address, progress=False)
    pd.testing.assert_frame_equal(unmeasured(table), undisturbed[0], check_exact=True)
    check(tmp_path, undisturbed, storage=postgres_url)


def test_no_scheduler_answers(tmp_path):
    begin = time.monotonic()
    returncode, _, errors = finish(start("run", plan_file(tmp_path), "--scheduler", "tcp://127.0.0.1:9"))
    assert returncode == 1
    assert "tabstretch: no Dask scheduler answers at tcp://127.0.0.1:9" in errors
    assert "Traceback" not in errors
    assert time.monotonic() - begin < 60
