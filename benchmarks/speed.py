"""Speed and memory against what people use now, as ratios measured in one run on the same data.

Usage: python benchmarks/speed.py [--rows 1000000] [--repeats 3] [--jobs -1] [--columns 200] [--starts 4]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.preprocessing import QuantileTransformer, StandardScaler
from sklearn.tree import DecisionTreeRegressor

from tabstretch import StretchTransformer, SupervisedStretchTransformer

Row = tuple[str, float, str, bool]


def make_data(n_rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Ten columns (normal, log-normal, integer with ties), a numeric target and ten classes."""
    rng = np.random.default_rng(0)
    X = np.column_stack(
        [
            rng.normal(size=(n_rows, 4)),
            rng.lognormal(size=(n_rows, 3)),
            rng.poisson(20, size=(n_rows, 2)),
            rng.geometric(0.001, size=n_rows),
        ]
    ).astype(np.float64)
    y = np.tanh(X[:, 0]) + 0.3 * np.log(X[:, 4]) + rng.normal(size=n_rows)
    classes = np.searchsorted(np.quantile(y, np.linspace(0, 1, 11)[1:-1]), y)
    return X, y, classes


def seconds(job: Callable[[], Any], repeats: int) -> float:
    """Best time of several runs: the one least disturbed by other work."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        job()
        times.append(time.perf_counter() - start)
    return min(times)


_PEAK = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from speed import make_data
from tabstretch import StretchTransformer, SupervisedStretchTransformer

def resident(key):
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(key))
    return int(line.split()[1]) * 1024

X, y, classes = make_data(int(sys.argv[2]))
target = {"y": y, "classes": classes, "none": None}[sys.argv[4]]
model = StretchTransformer(64, n_jobs=int(sys.argv[3]))
if target is not None:
    model = SupervisedStretchTransformer(64, variation="within_fold", n_jobs=int(sys.argv[3]))
model.fit(X[:1000], None if target is None else target[:1000]).transform(X[:1000])
before = resident("VmRSS")
Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
result = model.transform(X) if sys.argv[5] == "transform" else model.fit(X, target)
print((resident("VmHWM") - before) / X.nbytes)
"""


def peak_memory(n_rows: int, jobs: int, target: str, method: str) -> float:
    """Peak resident memory beyond the input, in units of the input, in a new process."""
    command = [
        sys.executable,
        "-c",
        _PEAK,
        str(Path(__file__).parent),
        str(n_rows),
        str(jobs),
        target,
        method,
    ]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def fit_and_transform_rows(
    X: np.ndarray, y: np.ndarray, classes: np.ndarray, jobs: int, repeats: int
) -> list[Row]:
    """Times of fit and transform against the peers'."""
    stretch = StretchTransformer(64, n_jobs=jobs)
    supervised = SupervisedStretchTransformer(64, variation="within_fold", n_jobs=jobs)
    supervised.fit(X[:1000], y[:1000]).transform(X[:1000])
    quantile = QuantileTransformer(subsample=None)
    quantile_fit = seconds(lambda: quantile.fit(X), repeats)
    stretch_fit = seconds(lambda: stretch.fit(X), repeats)
    class_fit = seconds(lambda: supervised.fit(X, classes), repeats)
    supervised_fit = seconds(lambda: supervised.fit(X, y), repeats)
    tree_fit = sum(
        seconds(lambda column=column: DecisionTreeRegressor(max_leaf_nodes=64).fit(column, y), 1)
        for column in X.T[:, :, None]
    )
    rows: list[Row] = []
    for order in "CF":
        ordered = np.asarray(X, order=order)
        ours = seconds(lambda ordered=ordered: supervised.transform(ordered), 2 * repeats)
        scaler = StandardScaler().fit(ordered)
        standard = seconds(lambda ordered=ordered, scaler=scaler: scaler.transform(ordered), 2 * repeats)
        quantiles = seconds(lambda ordered=ordered: quantile.transform(ordered), 1)
        rows += [
            at_least(f"transform, {order} order: QuantileTransformer / ours", quantiles / ours, 20),
            at_most(f"transform, {order} order: ours / StandardScaler", ours / standard, 3),
        ]
    return [
        *rows,
        at_most("unsupervised fit: ours / QuantileTransformer", stretch_fit / quantile_fit, 0.35),
        at_most("supervised fit, regression: ours / QuantileTransformer", supervised_fit / quantile_fit, 0.8),
        at_least("supervised fit, regression: tree bins per column / ours", tree_fit / supervised_fit, 30),
        at_most("supervised fit: 10 classes / regression", class_fit / supervised_fit, 4),
    ]


def conditional_rows(largest: int, n_wide: int, jobs: int, repeats: int) -> list[Row]:
    """Fits that see interactions, of a long and of a wide table, against one fit of the default teacher."""
    shapes = [(largest, 20, 15.0), (min(largest, 5000), n_wide, 20.0)]
    rows = []
    for n_rows, n_columns, bar in shapes:
        name = f"{n_rows:.0e} x {n_columns}"
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n_rows, n_columns))
        y = X[:, 0] * X[:, 1] + np.sin(3 * X[:, 2]) + 0.5 * rng.normal(size=n_rows)
        model = SupervisedStretchTransformer(variation="conditional", n_jobs=jobs)
        n_taught = min(n_rows, model.teacher_rows)
        teacher = HistGradientBoostingRegressor()
        teacher.fit(X[:1000], y[:1000])
        one_fit = seconds(lambda t=teacher, X=X, y=y, n=n_taught: t.fit(X[:n], y[:n]), repeats)
        ours = seconds(lambda model=model, X=X, y=y: model.fit(X, y), repeats)
        rows.append(at_most(f"conditional fit, {name}: ours / one boosting fit", ours / one_fit, bar))
    return rows


def growth_rows(largest: int, jobs: int, repeats: int) -> list[Row]:
    """Ten times the rows, one column: how many times the time."""
    rng = np.random.default_rng(0)
    sizes = [largest // 10, largest, 10 * largest]
    times: dict[str, list[float]] = {"unsupervised fit": [], "supervised fit": [], "transform": []}
    for n_rows in sizes:
        x = rng.normal(size=(n_rows, 1))
        y = np.tanh(x[:, 0]) + rng.normal(size=n_rows)
        plain = StretchTransformer(64, n_jobs=jobs)
        supervised = SupervisedStretchTransformer(64, variation="within_fold", n_jobs=jobs)
        runs = repeats if n_rows > largest else 3 * repeats
        times["unsupervised fit"].append(seconds(lambda plain=plain, x=x: plain.fit(x), runs))
        times["supervised fit"].append(seconds(lambda model=supervised, x=x, y=y: model.fit(x, y), runs))
        times["transform"].append(seconds(lambda model=supervised, x=x: model.transform(x), runs))
    return [
        at_most(f"growth, {name}: {sizes[i + 1]:.0e} / {sizes[i]:.0e} rows", now[i + 1] / now[i], 12)
        for name, now in times.items()
        for i in range(2)
    ]


def memory_rows(n_rows: int, jobs: int) -> list[Row]:
    """Peak memory beyond the input, in units of the input."""
    cases = {
        "unsupervised fit": ("none", "fit"),
        "supervised fit": ("y", "fit"),
        "supervised fit, 10 classes": ("classes", "fit"),
        "transform": ("y", "transform"),
    }
    return [
        at_most(f"peak memory, {name}: beyond / input", peak_memory(n_rows, jobs, *case), 2.5)
        for name, case in cases.items()
    ]


_IMPORT = """
import time
import sklearn.preprocessing
start = time.perf_counter()
import tabstretch
imported = time.perf_counter()
import numpy as np
X = np.random.default_rng(0).normal(size=(1000, 10))
y = X[:, 0] ** 2
start_fit = time.perf_counter()
tabstretch.SupervisedStretchTransformer(variation="within_fold").fit(X, y).transform(X)
print(imported - start, time.perf_counter() - start_fit)
"""


def start_up_rows(starts: int) -> list[Row]:
    """Import, and the first fit and transform with cold and then with warm kernels, each in new processes."""
    with tempfile.TemporaryDirectory() as cache:
        runs = []
        for _ in range(starts):
            done = subprocess.run(
                [sys.executable, "-c", _IMPORT],
                env={"NUMBA_CACHE_DIR": cache, "PATH": ""},
                capture_output=True,
                text=True,
                check=True,
            )
            runs.append([float(number) for number in done.stdout.split()])
    cold, warm = runs[0], runs[1:]
    return [
        at_most("import beyond sklearn.preprocessing, s", min(run[0] for run in warm), 0.3),
        at_most("first fit + transform, cold kernels, 1000 x 10, s", cold[1], 6),
        at_most("first fit + transform, warm kernels, 1000 x 10, s", min(run[1] for run in warm), 0.3),
    ]


def at_most(name: str, value: float, bar: float) -> Row:
    return name, value, f"at most {bar:g}", value <= bar


def at_least(name: str, value: float, bar: float) -> Row:
    return name, value, f"at least {bar:g}", value >= bar


def main() -> None:
    """Measure and print one table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=-1)
    parser.add_argument("--columns", type=int, default=200, help="of the wide table (default 200)")
    parser.add_argument("--starts", type=int, default=4, help="new processes, at least 2 (default 4)")
    arguments = parser.parse_args()
    X, y, classes = make_data(arguments.rows)
    rows = fit_and_transform_rows(X, y, classes, arguments.jobs, arguments.repeats)
    del X, y, classes
    if Path("/proc/self/clear_refs").exists():  # elsewhere than on Linux the peak cannot be read
        rows += memory_rows(arguments.rows, arguments.jobs)
    rows += conditional_rows(arguments.rows, arguments.columns, arguments.jobs, arguments.repeats)
    rows += growth_rows(arguments.rows, arguments.jobs, arguments.repeats)
    rows += start_up_rows(arguments.starts)
    width = max(len(row[0]) for row in rows)
    print(f"{arguments.rows} rows x 10 columns, 64 bins, n_jobs={arguments.jobs}")
    for name, value, bar, met in rows:
        print(f"{name:<{width}}  {value:8.3f}  {bar:<14} {'met' if met else 'MISSED'}")


if __name__ == "__main__":
    main()
