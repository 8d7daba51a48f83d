"""Run compiled, GIL-free work in threads."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from multiprocessing import current_process
from typing import Any

from joblib import effective_n_jobs
from threadpoolctl import ThreadpoolController


def count_threads(n_jobs: int | None) -> int:
    """Return how many threads `n_jobs` means, as joblib counts.

    In the processes of pools and clusters that is one, of which joblib would warn in every call.
    """
    return 1 if current_process().daemon else int(effective_n_jobs(n_jobs))


def map_in_threads(
    function: Callable[..., Any], jobs: Iterable[tuple[Any, ...]], n_jobs: int | None
) -> list[Any]:
    """Call `function` with each tuple of arguments, in `n_jobs` threads as joblib counts them, in order.

    joblib's own threads take ten milliseconds to start, as long as mapping a million values.
    """
    jobs = list(jobs)
    n_threads = min(count_threads(n_jobs), len(jobs))
    if n_threads <= 1:
        return [function(*job) for job in jobs]
    with ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(lambda job: function(*job), jobs))


def map_ahead(function: Callable[..., Any], jobs: Iterable[tuple[Any, ...]], n_threads: int) -> Iterator[Any]:
    """Yield what `function` returns for each tuple of arguments, in order, from `n_threads` threads.

    Jobs are fetched in the calling thread, and only one more than there are threads for.
    """
    if n_threads <= 1:
        yield from (function(*job) for job in jobs)
        return
    with ThreadPoolExecutor(n_threads) as pool:
        running: deque[Future[Any]] = deque()
        for job in jobs:
            running.append(pool.submit(function, *job))
            if len(running) > n_threads:
                yield running.popleft().result()
        while running:
            yield running.popleft().result()


def map_models_in_threads(
    function: Callable[..., Any], jobs: Iterable[tuple[Any, ...]], n_jobs: int | None
) -> list[Any]:
    """Do the same for models that start OpenMP threads of their own: `n_jobs` threads in all.

    Left alone, boosting takes all cores. Where other work wants them too, its threads wait for each other
    and a fit of milliseconds can take minutes.
    """
    jobs = list(jobs)
    n_threads = count_threads(n_jobs)
    n_each = max(1, n_threads // max(1, min(n_threads, len(jobs))))

    # Libraries are looked up here, once: in a thread that could wait forever for another's import.
    controller = ThreadpoolController()

    def run(*job: Any) -> Any:
        with controller.limit(limits=n_each, user_api="openmp"):
            return function(*job)

    return map_in_threads(run, jobs, n_jobs)
