"""Fit on a Parquet file larger than memory: time and memory against merely reading it.

    python benchmarks/out_of_core.py                 # 50 million rows, 4 columns and a target: 2 GB of disk
    python benchmarks/out_of_core.py --rows 2e6

The bars: at most twice the time of reading the file with pyarrow and sorting one column chunk by chunk, and
at most 1.5 GB of resident memory. Every measurement is a process of its own; the file has been read before,
so that the disk does not count.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tabstretch import StretchTransformer, SupervisedStretchTransformer, fit_parquet

CHUNK = 1 << 20
COLUMNS = ("normal", "heavy", "zeros", "missing")
FASTEST, LARGEST = 2.0, 1.5
STRETCHES: dict[str, Callable[[], Any]] = {
    "StretchTransformer": lambda: StretchTransformer(n_jobs=-1),
    "within_fold": lambda: SupervisedStretchTransformer(variation="within_fold", n_jobs=-1),
    "conditional": lambda: SupervisedStretchTransformer(teacher_rows=20_000, n_jobs=-1),
}


def write(path: Path, n_rows: int) -> None:
    """Write the file chunk by chunk, a row group each."""
    rng = np.random.default_rng(0)
    writer = None
    for start in range(0, n_rows, CHUNK):
        x = rng.normal(size=(min(CHUNK, n_rows - start), len(COLUMNS)))
        y = np.tanh(3 * x[:, 0]) + 0.5 * rng.normal(size=len(x))
        x[:, 1] = np.exp(2 * x[:, 1])
        x[:, 2] = np.maximum(x[:, 2], 0.0)
        x[rng.random(len(x)) < 0.1, 3] = np.nan
        table = pa.table({**dict(zip(COLUMNS, x.T, strict=True)), "y": y})
        writer = writer or pq.ParquetWriter(path, table.schema, compression="snappy", use_dictionary=False)
        writer.write_table(table)
    if writer is not None:
        writer.close()


def read_and_sort(path: Path) -> None:
    """Read all row groups, and sort one column of each."""
    with pq.ParquetFile(path) as file:
        for group in range(file.num_row_groups):
            np.sort(file.read_row_group(group).column(0).to_numpy())


def fit(path: Path, name: str) -> None:
    stretch = STRETCHES[name]()
    fit_parquet(path, None if name == "StretchTransformer" else "y", list(COLUMNS), transformer=stretch)


def measured(work: Callable[..., None], *arguments: Any) -> tuple[float, float, float]:
    """Return seconds, seconds of processors and peak resident gigabytes of some work in a new process."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(_measure, work, arguments).result()


def _measure(work: Callable[..., None], arguments: tuple[Any, ...]) -> tuple[float, float, float]:
    if work is fit:  # compiled code is loaded before
        with tempfile.TemporaryDirectory() as folder:
            small = Path(folder) / "small.parquet"
            write(small, 10_000)
            fit(small, *arguments[1:])
    start, start_busy = time.perf_counter(), time.process_time()
    work(*arguments)
    seconds, busy = time.perf_counter() - start, time.process_time() - start_busy
    unit = 1e9 if sys.platform == "darwin" else 1e6  # bytes on a Mac, kilobytes on Linux
    return seconds, busy, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=float, default=50e6)
    parser.add_argument("--folder", type=Path, help="where to write the file, by default a temporary folder")
    chosen = parser.parse_args()
    n_rows = int(chosen.rows)
    with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
        path = Path(folder) / "table.parquet"
        write(path, n_rows)
        print(f"{n_rows:,} rows, {len(COLUMNS)} columns and a target, {path.stat().st_size / 1e9:.2f} GB")
        read_and_sort(path)  # now the file is in the system's cache
        bar, busy_bar, _ = measured(read_and_sort, path)
        print(f"{'read and sort one column':<28}{bar:7.2f} s")
        for name in STRETCHES:
            seconds, busy, memory = measured(fit, path, name)
            in_time = name == "conditional" or seconds <= FASTEST * bar  # teachers take their own time
            verdict = "met" if in_time and memory <= LARGEST else "MISSED"
            ratios = f"ratio {seconds / bar:5.2f} (of processor time {busy / busy_bar:5.2f})"
            print(f"{name:<28}{seconds:7.2f} s, {ratios}, {memory:5.2f} GB  {verdict}")


if __name__ == "__main__":
    main()
