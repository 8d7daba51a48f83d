"""Fits on a cluster, against fits from batches and in memory."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from streams import NAMES, assert_alike, table, target

from tabstretch import StretchTransformer, SupervisedStretchTransformer
from tabstretch._batches import check_batch
from tabstretch._parts import Merger, compress, make_plan

dd = pytest.importorskip("dask.dataframe")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")
tabstretch_dask = pytest.importorskip("tabstretch.dask")

X = table(8000)
Y = target(X)
FRAME = pd.DataFrame(X, columns=list(NAMES)).assign(y=Y)


def within_fold(**parameters: Any) -> SupervisedStretchTransformer:
    return SupervisedStretchTransformer(variation="within_fold", **parameters)


def dask_frame(n_partitions: int = 5) -> Any:
    return dd.from_pandas(FRAME, npartitions=n_partitions)


def assert_equal(a: Any, b: Any) -> None:
    for name in ("bin_edges_", "output_widths_"):
        for left, right in zip(getattr(a, name), getattr(b, name), strict=True):
            assert_array_equal(left, right)


@pytest.mark.parametrize("n_partitions", [1, 2, 7])
def test_a_frame_as_in_memory(n_partitions: int) -> None:
    found = tabstretch_dask.fit(within_fold(), dask_frame(n_partitions), "y")
    assert_alike(found, within_fold().fit(X, Y), X)
    assert found.feature_names_in_.tolist() == list(NAMES)


def test_names_series_and_arrays_give_the_same() -> None:
    frame = dask_frame()
    named = tabstretch_dask.fit(within_fold(), frame, "y")
    series = tabstretch_dask.fit(within_fold(), frame[list(NAMES)], frame["y"])
    arrays = tabstretch_dask.fit(
        within_fold(), frame[list(NAMES)].to_dask_array(), frame["y"].to_dask_array()
    )
    columns_apart = da.from_array(X, chunks=(1600, 2)), da.from_array(Y, chunks=1600)
    assert_equal(series, named)
    assert_equal(arrays, named)
    assert_equal(tabstretch_dask.fit(within_fold(), *columns_apart), named)


def test_the_same_to_the_bit_as_its_partitions_one_after_the_other() -> None:
    """The tree of merges has the same pairs."""
    frame = dask_frame(7)
    found = tabstretch_dask.fit(within_fold(), frame, "y")
    request, scout = within_fold()._request(), within_fold()
    blocks = [
        check_batch(scout, (part[list(NAMES)], part["y"]), request, "")
        for part in (frame.partitions[number].compute() for number in range(frame.npartitions))
    ]
    plan = make_plan(blocks[0], request)
    merger = Merger(plan)
    for number, block in enumerate(blocks):
        merger.add(compress(block, number << 40, plan))
    assert_equal(found, within_fold()._fit_part(merger.result(), plan))


def test_weights_and_classes() -> None:
    weight = np.random.default_rng(0).integers(0, 3, size=len(X))
    labels = target(X, "classes")
    frame = dd.from_pandas(FRAME.drop(columns="y").assign(label=labels, weight=weight), npartitions=4)
    found = tabstretch_dask.fit(within_fold(), frame, "label", "weight")
    assert_alike(found, within_fold().fit(X, labels, sample_weight=weight), X, weight.astype(float))


def test_without_a_target_and_with_empty_partitions() -> None:
    frame = dask_frame(4)[list(NAMES)]
    frame = dd.concat([frame.partitions[0].loc[-1:-1], frame])
    found = tabstretch_dask.fit(StretchTransformer(16), frame)
    assert_alike(found, StretchTransformer(16).fit(X), X)
    with pytest.raises(ValueError, match="no rows"):
        tabstretch_dask.fit(StretchTransformer(16), frame.partitions[0])


def test_teachers_learn_from_a_sample() -> None:
    columns = ["normal", "missing", "few"]
    frame = dask_frame(3)[[*columns, "y"]]
    stretch = SupervisedStretchTransformer(16, n_curves=50, teacher_rows=10_000)
    found = tabstretch_dask.fit(clone(stretch), frame, "y")
    assert_alike(found, stretch.fit(FRAME[columns], Y), FRAME[columns].to_numpy())
    assert found.summary()["interaction"].notna().any()
    few = tabstretch_dask.fit(clone(stretch).set_params(teacher_rows=500), frame, "y")
    assert few.output_widths_[0].sum() == pytest.approx(1)


@pytest.mark.parametrize("output", ["blend", "views"])
def test_transform_is_lazy_and_equal(output: str) -> None:
    stretch = StretchTransformer(16, output=output).fit(FRAME[list(NAMES)])
    lazy = tabstretch_dask.transform(stretch, dask_frame()[list(NAMES)])
    assert list(lazy.columns) == list(stretch.get_feature_names_out())
    assert_allclose(lazy.compute(), stretch.transform(FRAME[list(NAMES)]), rtol=0)
    assert lazy.compute().index.equals(FRAME.index)
    stretch = StretchTransformer(16, output=output).fit(X)
    for dtype in (np.float32, np.float64, np.int64):
        values = np.nan_to_num(np.clip(X, -1e6, 1e6)).astype(dtype)
        lazy = tabstretch_dask.transform(stretch, da.from_array(values, chunks=(3000, 4)))
        expected = stretch.transform(values)
        assert (lazy.shape, lazy.dtype) == (expected.shape, expected.dtype)
        assert_array_equal(lazy.compute(), expected)


def test_arrays_stay_arrays_whatever_the_estimator_puts_out() -> None:
    stretch = StretchTransformer(16).set_output(transform="pandas").fit(X)
    for rows in (3000, len(X)):
        lazy = tabstretch_dask.transform(stretch, da.from_array(X, chunks=(rows, 4)))
        assert_array_equal(lazy[:5, 1].compute(), stretch.transform(X).to_numpy()[:5, 1])


def test_what_transform_refuses() -> None:
    stretch = StretchTransformer(16).fit(X)
    for values in (FRAME[list(NAMES)], X):
        with pytest.raises(TypeError, match=r"X must be a Dask DataFrame or Array, got .*own transform"):
            tabstretch_dask.transform(stretch, values)
    for values in (X[:, :2], X[:, 0]):
        with pytest.raises(ValueError, match=r"X must have 7 columns, as in fit, got an array of shape \("):
            tabstretch_dask.transform(stretch, da.from_array(values))


def test_a_partition_unlike_the_first_is_named() -> None:
    parts, numbers = da.from_array(X, chunks=((5000, 3000), 7)), da.from_array(Y, chunks=((5000, 3000),))
    labels = numbers.map_blocks(lambda y: y if len(y) == 5000 else y.astype(str), dtype=float)
    with pytest.raises(ValueError, match="partition 1: y holds strings, but numbers in the first partition"):
        tabstretch_dask.fit(within_fold(), parts, labels)


def test_errors_name_the_partition() -> None:
    frame = dask_frame(3)
    with pytest.raises(ValueError, match="y has 2 partitions, X has 3"):
        tabstretch_dask.fit(within_fold(), frame[list(NAMES)], dask_frame(2)["y"])
    wrong = FRAME.assign(y=np.where(np.arange(len(Y)) > 7000, np.nan, Y))
    with pytest.raises(ValueError, match="partition 2: Input y contains NaN"):
        tabstretch_dask.fit(within_fold(), dd.from_pandas(wrong, npartitions=3), "y")
    with pytest.raises(TypeError, match="X must be a Dask DataFrame or Array, got DataFrame"):
        tabstretch_dask.fit(StretchTransformer(), FRAME)
    with pytest.raises(TypeError, match="transformer must be"):
        tabstretch_dask.fit("rank", frame)
    with pytest.raises(ValueError, match=r"X lacks the columns \['z'\]; it has \['normal'"):
        tabstretch_dask.fit(within_fold(), frame, "z")
    with pytest.raises(ValueError, match=r"each column has one part, got \['y'\]"):
        tabstretch_dask.fit(within_fold(), frame, "y", sample_weight="y")
    with pytest.raises(TypeError, match=r"X has no columns named \['y'\]: give y and sample_weight as Dask"):
        tabstretch_dask.fit(within_fold(), frame.to_dask_array(), "y")


def test_an_estimator_never_fetches_a_collection() -> None:
    """It would lose the names of columns too, and stretch them in the wrong order."""
    frame, stretch = dask_frame()[list(NAMES)], StretchTransformer().fit(FRAME[list(NAMES)])
    for given in (frame[list(NAMES)[::-1]], frame.to_dask_array()):
        with pytest.raises(TypeError, match=r"tabstretch\.dask\.transform work where it is"):
            stretch.transform(given)
        with pytest.raises(TypeError, match=r"tabstretch\.dask\.fit"):
            StretchTransformer().fit(given)


@contextmanager
def processes(n_workers: int) -> Iterator[Any]:
    """A client of workers that are processes of their own."""
    with (
        distributed.LocalCluster(
            n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


class Unmovable:
    """Rides with a partition, which then cannot leave its process."""

    def __reduce__(self) -> Any:
        raise AssertionError("a partition was sent elsewhere")

    def __deepcopy__(self, memo: Any) -> "Unmovable":
        return self


def partition_that_stays(number: int) -> pd.DataFrame:
    part = FRAME.iloc[1000 * number : 1000 * (number + 1)].copy()
    part.attrs["rider"] = Unmovable()
    return part


def slow_partition(number: int) -> pd.DataFrame:
    time.sleep(0.3)
    return FRAME.iloc[1000 * number : 1000 * (number + 1)]


def from_partitions(make: Any) -> Any:
    return dd.from_map(make, range(8), meta=FRAME.iloc[:0])


def test_no_partition_reaches_the_client() -> None:
    frame = from_partitions(partition_that_stays)
    with processes(1) as client:
        with pytest.raises(Exception, match=r"sent elsewhere|serialize"):
            client.compute(frame.partitions[0].to_delayed()[0]).result()
        found = tabstretch_dask.fit(within_fold(), frame, "y", client=client)
    assert_equal(found, tabstretch_dask.fit(within_fold(), from_partitions(slow_partition), "y"))


def test_a_worker_killed_in_the_middle_changes_nothing() -> None:
    frame = from_partitions(slow_partition)
    expected = tabstretch_dask.fit(within_fold(), frame, "y")
    with processes(2) as client:
        victim = next(iter(client.run(os.getpid).values()))
        killed = threading.Event()

        def kill() -> None:
            """Wait until some partitions are compressed, and others are not."""
            while not any(client.run(compressed_partitions).values()):
                time.sleep(0.05)
            os.kill(victim, signal.SIGKILL)
            killed.set()

        killer = threading.Thread(target=kill)
        killer.start()
        found = tabstretch_dask.fit(within_fold(), frame, "y", client=client)
        in_the_middle = killed.is_set()
        killer.join()
        client.wait_for_workers(2, timeout=60)
        assert victim not in client.run(os.getpid).values()
    assert in_the_middle
    assert_equal(found, expected)


def compressed_partitions(dask_worker: Any) -> int:
    return sum("_compress" in str(key) for key in dask_worker.data)
