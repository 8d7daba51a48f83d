"""Work in threads: results in order, jobs fetched only as needed, the same map as from one thread."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from streams import NAMES, small_blocks, table, target

from tabstretch import StretchTransformer, SupervisedStretchTransformer, fit_parquet
from tabstretch._parts import SeparateColumns
from tabstretch._threads import map_ahead


@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_results_come_in_order_and_jobs_wait(n_threads: int) -> None:
    fetched = 0

    def jobs() -> Iterator[tuple[int]]:
        nonlocal fetched
        for job in range(12):
            fetched += 1
            yield (job,)

    def slow_at_first(job: int) -> int:
        time.sleep(0.02 if job % 3 == 0 else 0.0)
        return job

    for place, result in enumerate(map_ahead(slow_at_first, jobs(), n_threads)):
        assert result == place
        assert fetched <= place + 1 + n_threads


def test_jobs_are_fetched_in_the_calling_thread() -> None:
    def jobs() -> Iterator[tuple[int]]:
        for _ in range(3):
            yield (threading.get_ident(),)

    assert set(map_ahead(lambda ident: ident, jobs(), 2)) == {threading.get_ident()}


def test_an_error_of_a_job_or_of_the_source_is_raised() -> None:
    def jobs() -> Iterator[tuple[int]]:
        yield (1,)
        raise KeyError("source")

    with pytest.raises(ZeroDivisionError):
        list(map_ahead(lambda job: 1 // job, ((job,) for job in (1, 1, 0, 1, 1)), 2))
    with pytest.raises(KeyError, match="source"):
        list(map_ahead(lambda job: job, jobs(), 2))


@pytest.mark.parametrize(
    "stretch",
    [StretchTransformer(), SupervisedStretchTransformer(variation="within_fold", random_state=0)],
    ids=["unsupervised", "within_fold"],
)
def test_threads_change_nothing(stretch: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    small_blocks(monkeypatch, 1024)
    X = table(9000)
    columns = {**dict(zip(NAMES, X.T, strict=True)), "y": target(X)}
    pq.write_table(pa.table(columns), tmp_path / "table.parquet", row_group_size=1500)
    y = "y" if isinstance(stretch, SupervisedStretchTransformer) else None

    def values(n_jobs: int) -> list[Any]:
        stretch.set_params(n_jobs=n_jobs)
        fitted = fit_parquet(tmp_path / "table.parquet", y, list(NAMES), transformer=stretch)
        return [(map_.edges, map_.values) for map_ in fitted.maps_]

    alone = values(1)
    for n_jobs in (2, 5):
        for expected, found in zip(alone, values(n_jobs), strict=True):
            assert_array_equal(found[0], expected[0])
            assert_array_equal(found[1], expected[1])


def test_separate_columns_are_a_matrix() -> None:
    X = np.arange(12.0).reshape(4, 3)
    columns = SeparateColumns([np.ascontiguousarray(x) for x in X.T])
    assert len(columns) == 4
    assert columns.shape == (4, 3)
    assert_array_equal(np.asarray(columns), X)
    assert_array_equal(np.concatenate([columns[1:3], columns]), np.concatenate([X[1:3], X]))
    assert_array_equal(columns[:, 1], X[:, 1])
    assert_array_equal(columns[np.array([3, 0])], X[[3, 0]])
    assert np.shares_memory(columns[:2][:, 2], columns[:, 2])
