"""How much the order of rows moves widths, in memory and in batches, beside what another seed does.

    python benchmarks/orders.py [--rows 1000,30000,1200000] [--variations within_fold,pooled] [--table usual]

A table of five columns (heavy tail, count, rounded numbers of noise, a wave, noise) with gaps, of four of
noise alone (`--table noise`), or of two far clusters and of noise that is rounded in part (`--table
awkward`), for targets of numbers, counts, two and four classes, weighted and not. Printed
is the largest half sum of absolute differences of widths over all of these: of shuffled rows in memory and in
batches of 777 (100,000 from a million rows on) from the fit of the table as it was, and of another
`random_state` from that.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

import numpy as np

from tabstretch import SupervisedStretchTransformer

WEIGHTS = {"default weights": {}, "target only": {"rank_weight": 0, "value_weight": 0}}


def make_columns(n: int) -> tuple[Any, Any]:
    """Return a table with gaps, and what its targets have in common."""
    rng = np.random.default_rng(1)
    X = np.column_stack(
        [
            rng.lognormal(size=n),
            rng.poisson(3, n),
            rng.normal(size=n).round(1),
            rng.normal(size=n),
            rng.random(n),
        ]
    )
    signal = np.tanh(2 * np.log(X[:, 0])) + 0.3 * X[:, 1] + np.sin(3 * X[:, 3])
    X[rng.random(X.shape) < 0.03] = np.nan
    return X, signal


def make_noise(n: int) -> tuple[Any, Any]:
    """Return a table that knows nothing of its targets, and nothing."""
    rng = np.random.default_rng(1)
    normal = rng.normal(size=(n, 2))
    return np.column_stack([normal[:, 0], normal[:, 1] ** 3, rng.random(n), rng.lognormal(size=n)]), np.zeros(
        n
    )


def make_awkward(n: int) -> tuple[Any, Any]:
    """Return columns that some thousand cells suit badly, and what the targets have of the first."""
    rng = np.random.default_rng(1)
    is_far = rng.random(n) < 0.5
    clusters = np.where(is_far, 1e6 + 1e-3 * rng.normal(size=n), rng.normal(size=n))
    noise = rng.normal(size=n)
    rank = clusters.argsort().argsort() / n
    return np.column_stack([clusters, np.where(rng.random(n) < 0.3, noise.round(1), noise)]), 2 * abs(
        rank - 0.3
    )


TABLES = {"usual": make_columns, "noise": make_noise, "awkward": make_awkward}


def targets(signal: Any) -> dict[str, Any]:
    rng = np.random.default_rng(2)
    noisy = signal + rng.normal(size=len(signal))
    return {
        "numbers": noisy,
        "counts": rng.poisson(np.exp(np.clip(signal / 2, -2, 2))).astype(float),
        "two classes": (noisy > 1).astype(int),
        "four classes": np.digitize(noisy, [0, 1, 2]),
    }


def in_batches(parts: list[Any], size: int) -> Iterator[tuple[Any, ...]]:
    for start in range(0, len(parts[0]), size):
        yield tuple(part[start : start + size] for part in parts)


def distance(a: SupervisedStretchTransformer, b: SupervisedStretchTransformer) -> float:
    pairs = zip(a.output_widths_, b.output_widths_, strict=True)
    return max(np.abs(x - y).sum() / 2 if len(x) == len(y) else np.inf for x, y in pairs)


def compare(n: int, options: dict[str, Any], table: str) -> tuple[float, float, float]:
    """Return the largest distances in memory, in batches, and of another seed."""
    X, signal = TABLES[table](n)
    order = np.random.default_rng(3).permutation(n)
    worst = np.zeros(3)
    for name, y in targets(signal).items():
        kind = "multiclass" if "classes" in name else "continuous"
        for weight in (None, np.random.default_rng(4).exponential(size=n)):
            fit: dict[str, Any] = {"sample_weight": weight}
            fit_shuffled: dict[str, Any] = {"sample_weight": None if weight is None else weight[order]}

            def stretch(seed: int = 0, kind: str = kind) -> SupervisedStretchTransformer:
                return SupervisedStretchTransformer(target_type=kind, random_state=seed, n_jobs=-1, **options)

            shuffled = [X[order], y[order], *([] if weight is None else [weight[order]])]
            size = 100_000 if n >= 1_000_000 else 777
            expected = stretch().fit(X, y, **fit)
            found = [
                distance(stretch().fit(*shuffled[:2], **fit_shuffled), expected),
                distance(stretch().fit_batches(in_batches(shuffled, size)), expected),
                distance(stretch(1).fit(X, y, **fit), expected),
            ]
            worst = np.maximum(worst, found)
    memory, batches, seed = worst
    return float(memory), float(batches), float(seed)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", default="1000,30000,1200000")
    parser.add_argument("--variations", default="within_fold,pooled,conditional")
    parser.add_argument("--table", choices=TABLES, default="usual")
    arguments = parser.parse_args()
    print("| variation | rows | weights | in memory | in batches | another seed |\n|---|---|---|---|---|---|")
    for variation in arguments.variations.split(","):
        for n in map(int, arguments.rows.split(",")):
            for name, weights in WEIGHTS.items():
                options = {"variation": variation} | weights
                found = " | ".join(f"{each:.4f}" for each in compare(n, options, arguments.table))
                print(f"| `{variation}` | {n} | {name} | {found} |", flush=True)


if __name__ == "__main__":
    main()
