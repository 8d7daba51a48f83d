"""Run compiled, GIL-free work in threads."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from joblib import effective_n_jobs


def map_in_threads(
    function: Callable[..., Any], jobs: Iterable[tuple[Any, ...]], n_jobs: int | None
) -> list[Any]:
    """Call `function` with each tuple of arguments, in `n_jobs` threads as joblib counts them, in order.

    joblib's own threads take ten milliseconds to start, as long as mapping a million values.
    """
    jobs = list(jobs)
    n_threads = min(effective_n_jobs(n_jobs), len(jobs))
    if n_threads <= 1:
        return [function(*job) for job in jobs]
    with ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(lambda job: function(*job), jobs))
