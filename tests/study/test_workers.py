"""Workers: what is asked of a cluster before it is given work."""

import os
import subprocess
import sys
import threading
import time

import dask
import distributed
import pytest

from tabstretch.study import workers
from tabstretch.study.errors import StudyError
from tabstretch.study.workers import LocalWorkers, open_workers


def threads_as_workers(n_workers):
    return distributed.LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        processes=False,
        dashboard_address=None,
        scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},  # any port: there may be other clusters
        silence_logs=50,
    )


@pytest.fixture(scope="module")
def cluster():
    with threads_as_workers(1) as cluster:
        yield cluster


def test_as_many_slots_as_workers(cluster):
    with open_workers(cluster.scheduler_address, 0) as pool:
        assert pool.slots == 1


def test_another_version_is_refused(cluster, monkeypatch):
    monkeypatch.setattr(workers, "_version", lambda: "0.0.1")
    with pytest.raises(StudyError, match=r"has tabstretch 0\.0\.1, this process"):
        open_workers(cluster.scheduler_address, 0).__enter__()


def test_workers_that_cannot_import_us(cluster, monkeypatch):
    def fails():
        raise ImportError("No module named 'optuna'")

    monkeypatch.setattr(workers, "_version", fails)
    with pytest.raises(StudyError, match=r"a worker cannot run studies .*No module named 'optuna'"):
        open_workers(cluster.scheduler_address, 0).__enter__()


@pytest.mark.parametrize(
    "address", ["", "cluster", "tcp://host", "http://host:80", "tcp://host:port", "host:1:"]
)
def test_addresses_that_are_none(address):
    """Dask tries them for half a minute, and then cannot even close its client."""
    with pytest.raises(StudyError, match=r"must be an address such as tcp://host:8786, got '"):
        open_workers(address, 0).__enter__()


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("pass", "die before they finish anything and say nothing: perhaps there is too little memory"),
        ("print('no room')", "die before they finish anything:\nno room"),
    ],
)
def test_workers_that_die_at_once(command, message, monkeypatch):
    def start(pool):
        options = {"stdin": subprocess.PIPE, "stdout": pool._log}
        process = subprocess.Popen([sys.executable, "-c", command], **options)
        process.wait()
        return process

    monkeypatch.setattr(LocalWorkers, "_start", start)
    with open_workers(None, 1) as pool, pytest.raises(StudyError, match=message):
        list(map(pool.finished, [0.01] * 20))


_may_end = threading.Event()


def wait_for_the_end(job):
    address = distributed.get_worker().address
    _may_end.wait(10.0)
    return [], address


def test_no_worker_is_idle_while_a_preferred_one_is_busy(monkeypatch):
    monkeypatch.setattr(workers, "_run_on_worker", wait_for_the_end)
    _may_end.clear()
    with (
        dask.config.set({"distributed.scheduler.work-stealing": False}),
        threads_as_workers(2) as cluster,
        open_workers(cluster.scheduler_address, 0) as pool,
    ):
        wanted = next(iter(pool._client.scheduler_info(n_workers=-1)["workers"]))
        pool.submit(0, "a job", wanted)
        pool.submit(1, "a job", wanted)
        _may_end.set()
        finished = [*pool.finished(20.0)]
        while len(finished) < 2:
            finished += pool.finished(20.0)
        assert len({each.worker for each in finished}) == 2


def test_a_free_worker_that_is_preferred_gets_the_job(monkeypatch):
    monkeypatch.setattr(workers, "_run_on_worker", lambda job: ([], distributed.get_worker().address))
    with (
        threads_as_workers(3) as cluster,
        open_workers(cluster.scheduler_address, 0) as pool,
    ):
        wanted = list(pool._client.scheduler_info(n_workers=-1)["workers"])[1]
        for number in range(4):
            pool.submit(number, "a job", wanted)
            (finished,) = pool.finished(10.0)
            assert finished.worker == wanted


def test_a_job_survives_the_death_of_all_workers(monkeypatch):
    """Dask would wait for the worker that the job was sent to, although others may take it."""
    monkeypatch.setattr(workers, "_run_on_worker", wait_for_the_end)
    _may_end.clear()
    with threads_as_workers(1) as cluster, open_workers(cluster.scheduler_address, 0) as pool:
        (gone,) = pool._client.scheduler_info(n_workers=-1)["workers"]
        pool.submit(0, "a job", gone)
        pool._client.retire_workers([gone], close_workers=False, remove=True)
        cluster.scale(2)
        _may_end.set()
        finished = []
        for _ in range(40):
            finished += pool.finished(0.5)
            if finished:
                break
        assert [each.number for each in finished] == [0]
        assert list(pool.finished(0.5)) == []  # once


def test_a_worker_that_is_gone_before_its_outcome_was_fetched(monkeypatch):
    """The coordinator must not wait for others to do the job again: it is the one that starts them."""
    monkeypatch.setattr(workers, "_run_on_worker", lambda job: ([], distributed.get_worker().address))
    monkeypatch.setattr(workers, "_FETCH_SECONDS", 0.5)
    with (
        threads_as_workers(1) as cluster,
        open_workers(cluster.scheduler_address, 0) as pool,
    ):
        pool.submit(0, "a job", None)
        while pool._done.empty():
            time.sleep(0.01)
        cluster.sync(cluster.workers[0].close)
        while pool.slots:
            time.sleep(0.01)
        found = []
        thread = threading.Thread(target=lambda: found.append(pool.finished(0.5)), daemon=True)
        thread.start()
        thread.join(20.0)
        assert found == [[]], "it waits for ever"
        cluster.scale(2)
        looks = (pool.finished(0.5) for _ in range(20))
        (finished,) = next(filter(None, looks), [None])
        assert finished is not None, "it is never done again"
        assert finished.number == 0


def test_none_means_this_process():
    with open_workers(None, 0) as pool:
        assert isinstance(pool, workers.ThisProcess)
        assert list(pool.finished(0.0)) == []


def test_coordinators_on_one_scheduler_get_their_own_outcomes(cluster, monkeypatch):
    monkeypatch.setattr(workers, "_run_on_worker", lambda job: ([f"outcome of {job}"], "there"))
    address = cluster.scheduler_address
    with open_workers(address, 0) as first, open_workers(address, 0) as second:
        first.submit(0, "one job", None)
        second.submit(0, "another job", None)
        outcomes = [next(iter(pool.finished(10.0))).outcomes for pool in (first, second)]
    assert outcomes == [["outcome of one job"], ["outcome of another job"]]


def test_two_local_schedulers_on_one_machine():
    """Neither warns about a port that the other has, and none listens to other machines."""
    with workers._local_scheduler() as first, workers._local_scheduler() as second:
        assert first != second


def test_processes_keep_their_memory_unless_told_otherwise(monkeypatch):
    monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", "1")
    monkeypatch.delenv("MALLOC_MMAP_THRESHOLD_", raising=False)
    given = workers.environment_of_worker()
    assert given["MALLOC_TRIM_THRESHOLD_"] == "1"
    assert int(given["MALLOC_MMAP_THRESHOLD_"]) == 2**25
    assert given["PATH"] == os.environ["PATH"]
