"""Workers: what is asked of a cluster before it is given work."""

import distributed
import pytest

from tabstretch.study import workers
from tabstretch.study.errors import StudyError
from tabstretch.study.workers import open_workers


@pytest.fixture(scope="module")
def cluster():
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None, silence_logs=50
    ) as cluster:
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
