"""Where jobs run: in this process, in worker processes of this machine, or on a Dask cluster."""

from __future__ import annotations

import contextlib
import itertools
import os
import queue
import re
import subprocess
import sys
import tempfile
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Generator, Iterable
from dataclasses import dataclass
from typing import IO, Any

import dask
import distributed

from tabstretch import __version__
from tabstretch.study.errors import StudyError
from tabstretch.study.jobs import Job, Outcome, described, run_job

_DEATHS_ALLOWED = 5
"""So often a run may take its worker with it before it counts as failed."""
_FETCH_SECONDS = 10.0
"""How long a worker may take to hand over an outcome, which is small."""
_MEMORY_KEPT = {"MALLOC_MMAP_THRESHOLD_": 2**25, "MALLOC_TRIM_THRESHOLD_": 2**29}
"""What lets glibc keep the memory of a training step for the next one; other libraries do not read it.

Given back to the system and fetched anew at every step, memory took up to a third of all processor time.
The first is the highest that glibc takes.
"""


@dataclass(frozen=True)
class Finished:
    """A job that came back."""

    number: int
    outcomes: list[Outcome]
    worker: str | None
    """Where it ran, so that the next one can use what is kept there."""


class Workers(ABC):
    """Takes jobs and gives back outcomes, in any order."""

    @property
    @abstractmethod
    def slots(self) -> int:
        """How many jobs run at once."""

    @abstractmethod
    def submit(self, number: int, job: Job, worker: str | None) -> None:
        """Start a job, if possible on the worker that is named."""

    @abstractmethod
    def finished(self, timeout: float) -> Iterable[Finished]:
        """Wait for at least one job, but not longer than this, and return those that are finished."""


class ThisProcess(Workers):
    """Runs each job when its outcome is asked for."""

    slots = 1

    def __init__(self) -> None:
        self._waiting: deque[tuple[int, Job]] = deque()

    def submit(self, number: int, job: Job, worker: str | None) -> None:
        """Put a job in line."""
        self._waiting.append((number, job))

    def finished(self, timeout: float) -> Iterable[Finished]:
        """Run the next job."""
        if not self._waiting:
            time.sleep(timeout)
            return []
        number, job = self._waiting.popleft()
        return [Finished(number, run_job(job), None)]


class DaskWorkers(Workers):
    """Runs jobs on the workers of a Dask scheduler, one at a time on each."""

    def __init__(self, client: distributed.Client) -> None:
        self._client = client
        # A simple one: Ctrl-C inside the other kind leaves its lock broken.
        self._done: queue.SimpleQueue[tuple[int, distributed.Future]] = queue.SimpleQueue()
        self._running: dict[int, tuple[Job, str | None, distributed.Future]] = {}
        """Jobs by number, and the workers they were sent to."""
        self._keys = itertools.count()

    @property
    def slots(self) -> int:
        """How many workers there are now."""
        if self._client.status not in ("running", "connecting"):
            raise _scheduler_gone()
        with _scheduler_needed():
            return len(self._client.scheduler_info(n_workers=-1)["workers"])

    def submit(self, number: int, job: Job, worker: str | None) -> None:
        """Send a job to the cluster."""
        self._send(number, job, self._free_worker(worker))

    def _send(self, number: int, job: Job, worker: str | None) -> None:
        place = {} if worker is None else {"workers": [worker], "allow_other_workers": True}
        # With the client's name: on a shared scheduler, a key of another's job would bring its outcome.
        key = f"tabstretch-{self._client.id}-{next(self._keys)}"
        future = self._client.submit(_run_on_worker, job, key=key, pure=False, **place)
        self._running[number] = (job, worker, future)
        future.add_done_callback(lambda done: self._done.put((number, done)))

    def _free_worker(self, preferred: str | None) -> str | None:
        """Return a worker that has nothing to do, if possible the one that is preferred.

        Left to choose, Dask lets a job wait for the worker it prefers while others have nothing to do.
        """
        with _scheduler_needed():
            at_work = self._client.processing()
        taken = {place for _, place, _ in self._running.values()}  # the scheduler may not know them yet
        free = [worker for worker, jobs in at_work.items() if not jobs and worker not in taken]
        return preferred if preferred in free else next(iter(free), None)

    def finished(self, timeout: float) -> Iterable[Finished]:
        """Wait for the first job, then take what else is there."""
        try:
            ready = [self._done.get(timeout=timeout)]
        except queue.Empty:
            self._send_lost_again()
            return []
        while not self._done.empty():
            ready.append(self._done.get())
        # Not those that were sent again: they come back under another future.
        current = [(number, future) for number, future in ready if self._is_current(number, future)]
        collected = [self._collect(number, future) for number, future in current]
        return [finished for finished in collected if finished is not None]

    def _is_current(self, number: int, future: distributed.Future) -> bool:
        return number in self._running and self._running[number][2] is future

    def _send_lost_again(self) -> None:
        """Send jobs anywhere whose worker is gone and that no other has.

        Where all workers die at once, Dask forgets that others would do, and waits for an address that
        never comes back.
        """
        if not any(worker for _, worker, _ in self._running.values()):
            return
        with _scheduler_needed():
            at_work = self._client.processing()
        kept = {str(key) for keys in at_work.values() for key in keys}
        for number, (job, worker, future) in list(self._running.items()):
            lost = worker is not None and worker not in at_work and str(future.key) not in kept
            if lost and not future.done():
                self._send(number, job, None)
                future.release()

    def _collect(self, number: int, future: distributed.Future) -> Finished | None:
        """Fetch an outcome; None if the worker that had it is gone, and the job was sent again."""
        job, _, _ = self._running[number]
        try:
            # Not for ever: Dask would wait for a worker to do it again, and nobody would start one meanwhile.
            outcomes, worker = future.result(_FETCH_SECONDS)
        except TimeoutError:
            self._send(number, job, None)
            future.release()
            return None
        except distributed.KilledWorker:
            error = f"the run took its worker with it {_DEATHS_ALLOWED} times: perhaps it needs more memory"
            outcomes, worker = [Outcome(seed, error) for seed in job.seeds], None
        except StudyError:
            raise
        except (distributed.client.FutureCancelledError, distributed.comm.CommClosedError) as error:
            raise _scheduler_gone() from error
        except Exception as error:
            raise StudyError(f"a worker could not run its job: {described(error)}") from error
        del self._running[number]
        return Finished(number, outcomes, worker)


def _scheduler_gone() -> StudyError:
    return StudyError("the Dask scheduler is gone; run the same command again to go on")


@contextlib.contextmanager
def _scheduler_needed() -> Generator[None]:
    try:
        yield
    except (OSError, TimeoutError, ValueError) as error:  # what Dask raises for a connection that is gone
        raise _scheduler_gone() from error


def _run_on_worker(job: Job) -> tuple[list[Outcome], str]:
    return run_job(job), distributed.get_worker().address


@contextlib.contextmanager
def open_workers(scheduler: str | None, n_workers: int) -> Generator[Workers]:
    """Yield the workers of a Dask scheduler, or as many of our own; none means this process."""
    if scheduler is not None:
        _check_address(scheduler)
        with _connected(scheduler) as client:
            _check_versions(client)
            yield DaskWorkers(client)
    elif n_workers == 0:
        yield ThisProcess()
    else:
        with (
            _local_scheduler() as address,
            _connected(address) as client,
            LocalWorkers(client, address, n_workers) as workers,
        ):
            yield workers


def _check_address(address: str) -> None:
    """Refuse what Dask would take half a minute to stumble over."""
    scheme, _, place = address.rpartition("://")
    is_known = scheme in ("", *distributed.comm.registry.backends)
    if not is_known or not (scheme == "inproc" or re.search(r":\d+(/|$)", place)):
        raise StudyError(f"the scheduler must be an address such as tcp://host:8786, got {address!r}")


@contextlib.contextmanager
def _connected(address: str) -> Generator[distributed.Client]:
    try:
        client = distributed.Client(address, timeout="10s", set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise StudyError(f"no Dask scheduler answers at {address}: {error}") from error
    with client:
        yield client


def _check_versions(client: distributed.Client) -> None:
    """Refuse workers that would not do what this process expects; their own complaint would be lost."""
    try:
        versions = client.run(_version)
    except Exception as error:
        raise StudyError(
            f"a worker cannot run studies ({described(error)}); install tabstretch[study] where workers are"
        ) from error
    for worker, version in versions.items():
        if version != __version__:
            raise StudyError(f"worker {worker} has tabstretch {version}, this process {__version__}")


def _version() -> str:
    return __version__


@contextlib.contextmanager
def _local_scheduler() -> Generator[str]:
    settings = {"distributed.scheduler.allowed-failures": _DEATHS_ALLOWED}
    with dask.config.set(settings):
        cluster = distributed.LocalCluster(
            n_workers=0,
            processes=True,
            host="127.0.0.1",
            dashboard_address=None,
            # Even without a dashboard there is a server: for this machine only, on any port that is free.
            scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},
            silence_logs=50,
        )
    with cluster:
        yield cluster.scheduler_address


class LocalWorkers(DaskWorkers):
    """Worker processes of this machine; one that dies is replaced."""

    def __init__(self, client: distributed.Client, address: str, n_workers: int) -> None:
        super().__init__(client)
        self._address = address
        self._n_workers = n_workers
        self._log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 (it is closed by __exit__)
        self._shared = tempfile.TemporaryDirectory(prefix="tabstretch-", ignore_cleanup_errors=True)
        self._processes: list[subprocess.Popen[bytes]] = []
        self._deaths_before_work = 0

    def __enter__(self) -> LocalWorkers:
        self._replace_dead()
        return self

    def __exit__(self, *_: Any) -> None:
        for process in self._processes:
            process.kill()
            process.wait()
            _let_go(process)
        self._log.close()
        self._shared.cleanup()

    @property
    def slots(self) -> int:
        """As many as were asked for, alive already or not."""
        return self._n_workers

    def finished(self, timeout: float) -> Iterable[Finished]:
        """Look after the processes, then wait for jobs."""
        self._replace_dead()
        finished = list(super().finished(timeout))
        if finished:
            self._deaths_before_work = 0
        return finished

    def _replace_dead(self) -> None:
        dead = [process for process in self._processes if process.poll() is not None]
        alive = [process for process in self._processes if process not in dead]
        for process in dead:
            _let_go(process)
        self._deaths_before_work += len(dead)
        if self._deaths_before_work > 10 * self._n_workers:
            self._log.seek(0)
            tail = self._log.read().decode(errors="replace")[-2000:]
            said = (
                f":\n{tail}"
                if tail.strip()
                else " and say nothing: perhaps there is too little memory for all"
            )
            raise StudyError(f"worker processes die before they finish anything{said}")
        self._processes = alive
        while len(self._processes) < self._n_workers:
            self._processes.append(self._start())

    def _start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-P", "-m", "tabstretch.study.worker", self._address, self._shared.name],
            stdin=subprocess.PIPE,
            stdout=self._log,
            stderr=self._log,
            env=environment_of_worker(),
            start_new_session=True,  # Ctrl-C is for the coordinator
        )


def _let_go(process: subprocess.Popen[bytes]) -> None:
    """Close the pipe to a process that is dead."""
    assert process.stdin is not None
    process.stdin.close()


def environment_of_worker() -> dict[str, str]:
    """Return the environment of a worker, in which what the user set stands."""
    return {name: str(n_bytes) for name, n_bytes in _MEMORY_KEPT.items()} | dict(os.environ)
