"""Fit on a Parquet file larger than memory: time and memory against merely reading it.

    python benchmarks/out_of_core.py                 # 50 million rows, 4 columns and a target: 2 GB of disk
    python benchmarks/out_of_core.py --rows 2e6

The bars: at most twice the time of reading the same columns with pyarrow and sorting one of them chunk by
chunk, and at most 1.5 GB of resident memory. Every measurement is a process of its own; the file has been
read before, so that the disk does not count. All are taken in turn, in several rounds. The shortest time of
each counts, as longer ones tell what else the machine was doing; the median of the rounds' ratios is printed
beside it.
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
from numpy.typing import NDArray

from tabstretch import StretchTransformer, SupervisedStretchTransformer, fit_parquet

CHUNK = 1 << 20
COLUMNS = ("normal", "heavy", "zeros", "missing")
FASTEST, LARGEST = 2.0, 1.5
WITH_TARGET, WITHOUT_TARGET = "read all, sort one column", "read all but the target, sort one"
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


def read_and_sort(path: Path, columns: list[str]) -> None:
    """Read some columns of all row groups, and sort the first one of each."""
    with pq.ParquetFile(path) as file:
        for group in range(file.num_row_groups):
            np.sort(file.read_row_group(group, columns).column(0).to_numpy())


def target_of(name: str) -> str | None:
    return None if name == "StretchTransformer" else "y"


def fit(path: Path, name: str) -> None:
    fit_parquet(path, target_of(name), list(COLUMNS), transformer=STRETCHES[name]())


def measured(work: Callable[..., None], *arguments: Any) -> tuple[float, float, float]:
    """Return seconds, seconds of processors and peak resident gigabytes of some work in a new process."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(_measure, work, arguments).result()


def _measure(work: Callable[..., None], arguments: tuple[Any, ...]) -> tuple[float, float, float]:
    if work is fit:  # compiled code is loaded before, that for more than one block too
        with tempfile.TemporaryDirectory() as folder:
            small = Path(folder) / "small.parquet"
            write(small, 600_000)
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
    parser.add_argument("--repeats", type=int, default=5)
    chosen = parser.parse_args()
    n_rows = int(chosen.rows)
    with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
        path = Path(folder) / "table.parquet"
        write(path, n_rows)
        print(f"{n_rows:,} rows, {len(COLUMNS)} columns and a target, {path.stat().st_size / 1e9:.2f} GB")
        everything, without_target = [*COLUMNS, "y"], list(COLUMNS)
        read_and_sort(path, everything)  # now the file is in the system's cache
        works: dict[str, tuple[Any, ...]] = {
            WITH_TARGET: (read_and_sort, path, everything),
            WITHOUT_TARGET: (read_and_sort, path, without_target),
            **{name: (fit, path, name) for name in STRETCHES},
        }
        rounds = [[measured(*work) for work in works.values()] for _ in range(chosen.repeats)]
        report(dict(zip(works, np.array(rounds).transpose(1, 2, 0), strict=True)))


def report(taken: dict[str, NDArray[np.float64]]) -> None:
    """Print seconds, ratios and memory, given the three measurements of every round."""
    for name, (seconds, busy, memory) in taken.items():
        if name not in STRETCHES:
            print(f"{name:<36}{seconds.min():6.2f} s")
            continue
        bar, busy_bar, _ = taken[WITH_TARGET if target_of(name) else WITHOUT_TARGET]
        ratio = seconds.min() / bar.min()
        in_time = name == "conditional" or ratio <= FASTEST  # teachers take their own time
        verdict = "met" if in_time and memory.max() <= LARGEST else "MISSED"
        figures = (
            f"{seconds.min():6.2f} s, ratio {ratio:5.2f} (median of rounds {np.median(seconds / bar):4.2f}"
        )
        processors = f"of processor time {busy.min() / busy_bar.min():4.2f})"
        print(f"{name:<36}{figures}, {processors}, {memory.max():5.2f} GB  {verdict}")


if __name__ == "__main__":
    main()
