"""The evidence behind `tabstretch.suggest`.

Do its measures go with a gain, what does it say of known shapes, and what does it cost?

    python benchmarks/suggestions.py --parts gains --data DIR
    python benchmarks/suggestions.py --parts shapes,speed

DIR holds one folder per data set in TALENT's format, those of docs/data/networks_*.csv. A gain is that over
standardisation in standard errors by seeds, clipped to ±4, as in docs/defaults.md.
"""

import argparse
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from inputs import load_dataset

from tabstretch import SupervisedStretchTransformer, suggest

RESULTS = Path(__file__).parents[1] / "docs" / "data"
STRETCHES = ["unsup_b256_v2", "cond_b64_r0_v2", "views_unsup", "views_cond"]
SUPERVISED = SupervisedStretchTransformer.__name__
SHORT = {SUPERVISED: "supervised", "StretchTransformer": "unsupervised", "standardise": "standardise"}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--parts", default="shapes,speed", help="of gains, shapes, speed")
    parser.add_argument("--data", type=Path, help="data sets, for gains")
    parser.add_argument("--draws", type=int, default=40, help="for shapes")
    parser.add_argument("--columns", type=int, default=1000, help="of the wide table, for speed")
    arguments = parser.parse_args()
    parts = arguments.parts.split(",")
    if "gains" in parts:
        if arguments.data is None:
            parser.error("gains need --data DIR")
        print_gains(arguments.data)
    if "shapes" in parts:
        print_shapes(arguments.draws)
    if "speed" in parts:
        print_speed(arguments.columns)


def print_gains(folder: Path) -> None:
    measured = pd.DataFrame({name: measure(folder / name) for name in dataset_names()}).T
    asked = measured.pop("advice").astype(bool)
    measured = measured.astype(float)
    many = measured["median distinct values"] >= 100
    for network in ("mlp", "mlp_large"):
        found = gains(network)
        print(f"\n### {network}: rank correlation of a data set's measures with the gain\n")
        print(
            as_markdown(
                pd.DataFrame({name: measured.corrwith(found[name], method="spearman") for name in found})
            )
        )
        print(f"\n### {network}: mean gain\n")
        groups = {
            "advice: supervised": asked,
            "advice: standardise": ~asked,
            "supervised, half the columns with 100 values": asked & many,
            "supervised, fewer": asked & ~many,
        }
        table = pd.DataFrame({name: found[chosen].mean() for name, chosen in groups.items()}).T
        table.insert(0, "data sets", [int(chosen.sum()) for chosen in groups.values()])
        print(as_markdown(table))
    print("\nnot supervised:", ", ".join(asked.index[~asked]))


def dataset_names() -> list[str]:
    return sorted(pd.read_csv(RESULTS / "networks_mlp.csv")["dataset"].unique())


def measure(folder: Path) -> dict[str, object]:
    """Measures of a data set: means or the best of its columns."""
    dataset = load_dataset(folder, 8000)
    target_type = "continuous" if dataset.task == "regression" else "auto"
    found = suggest(dataset.numeric["train"], dataset.target["train"], target_type=target_type)
    table = found.to_frame()
    return {
        "median distinct values": table["n_distinct"].median(),
        "mean share of the most frequent value": table["top_share"].mean(),
        "mean size of skewness": table["skewness"].abs().mean(),
        "mean share of the range for nine tenths": table["middle_share"].mean(),
        "best R²": table["r2"].max(),
        "mean unevenness": table["unevenness"].mean(),
        "share of columns that ask for supervised": (table["suggestion"] == SUPERVISED).mean(),
        "advice": found.advice.startswith(SUPERVISED),
    }


def gains(network: str) -> pd.DataFrame:
    rows = pd.read_csv(RESULTS / f"networks_{network}.csv")
    rows["score"] = rows["score"].clip(0, 1)
    cells = rows.groupby(["transformation", "dataset"])["score"]
    mean, square_error = cells.mean(), cells.var() / cells.size()
    return pd.DataFrame(
        {
            name: (
                (mean[name] - mean["standard"])
                / np.sqrt(square_error[name] + square_error["standard"] + 1e-12)
            ).clip(-4, 4)
            for name in STRETCHES
        }
    )


Shape = Callable[[np.ndarray], np.ndarray]
COLUMNS: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "uniform": lambda rng, n: rng.uniform(-1, 1, n),
    "normal": lambda rng, n: rng.normal(size=n),
    "lognormal": lambda rng, n: np.exp(1.5 * rng.normal(size=n)),
}
SHAPES: list[tuple[str, str, Shape]] = [
    ("noise", "normal", np.zeros_like),
    ("noise", "lognormal", np.zeros_like),
    ("line", "uniform", lambda x: x),
    ("line", "normal", lambda x: x),
    ("line", "lognormal", lambda x: x),
    ("logarithm", "lognormal", np.log),
    ("step", "uniform", lambda x: np.tanh(20 * x)),
    ("parabola", "uniform", np.square),
]


def print_shapes(draws: int) -> None:
    print(f"\n### What is suggested, of {draws} draws (noise: its standard deviation over the target's)\n")
    rows = []
    for (shape, column, target), n_rows, noise in (
        (case, n_rows, noise) for case in SHAPES for n_rows in (300, 3000) for noise in (0.3, 1.0, 3.0)
    ):
        if shape == "noise" and noise != 1.0:
            continue
        found = [draw(column, target, n_rows, noise, seed) for seed in range(draws)]
        counts = Counter(SHORT[row.suggestion] for row in found)
        means = {"R²": float(np.mean([row.r2 for row in found]))}
        means["unevenness"] = float(np.mean([row.unevenness for row in found]))
        case = {"target": shape, "column": column, "rows": n_rows, "noise": noise}
        rows.append(case | means | {name: counts[name] for name in SHORT.values()})
    table = pd.DataFrame(rows)
    print(as_markdown(table.set_index("target")))


def draw(column: str, target: Shape, n_rows: int, noise: float, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    x = COLUMNS[column](rng, n_rows)
    y = target(x)
    y = y / (y.std() or 1.0) + noise * rng.normal(size=n_rows)
    return suggest(x[:, None], y, target_type="continuous").columns[0]


def print_speed(n_columns: int) -> None:
    print("\n### Seconds, one thread, and the ratio to a fit with variation='within_fold'\n")
    rng = np.random.default_rng(0)
    rows = []
    for n_rows, columns, classes in ((5000, n_columns, 0), (5000, 50, 5), (100_000, 20, 0)):
        X = rng.normal(size=(n_rows, columns))
        y = X[:, 0] + rng.normal(size=n_rows)
        if classes:
            y = np.digitize(y, [-1.5, -0.5, 0.5, 1.5])
        fit = SupervisedStretchTransformer(variation="within_fold").fit
        some = X[:300, :2], y[:300]
        seconds = [timed(work, some, (X, y)) for work in (suggest, fit)]
        shape = {"table": f"{n_rows} × {columns}" + (f", {classes} classes" if classes else "")}
        rows.append(shape | {"suggest": seconds[0], "fit": seconds[1], "ratio": seconds[0] / seconds[1]})
    print(as_markdown(pd.DataFrame(rows).set_index("table")))


def timed(work: Callable[..., object], some: tuple, everything: tuple) -> float:
    work(*some)  # compiles
    start = time.perf_counter()
    work(*everything)
    return time.perf_counter() - start


def as_markdown(table: pd.DataFrame) -> str:
    def shown(value: object) -> str:
        return f"{value:.2f}" if isinstance(value, float) else str(value)

    lines = [
        f"| {' | '.join([table.index.name or '', *table.columns])} |",
        "|---" * (len(table.columns) + 1) + "|",
    ]
    lines += [f"| {' | '.join([str(name), *map(shown, row)])} |" for name, *row in table.itertuples()]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
