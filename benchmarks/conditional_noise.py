"""What the conditional variation makes of noise, and whether it finds interactions.

Usage: python benchmarks/conditional_noise.py [--draws 5] [--rows 500,2000,8000]

For noise columns: half the l1 distance of the learned widths to those of the unsupervised stretch (0 is the
stretch of a column of noise as it should be), with the shadows' noise taken out and as the teachers' curves
come. For the signal columns of the same tables: the shrinkage, which should be small.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np

from tabstretch import SupervisedStretchTransformer

N_COLUMNS = 10


def make_targets(X: np.ndarray, rng: np.random.Generator) -> Iterator[tuple[str, np.ndarray, int]]:
    """Yield a name, a target and how many of the first columns it depends on."""
    noise = rng.normal(size=len(X))
    product = X[:, 0] * X[:, 1]
    yield "pure noise", noise, 0
    yield "pure noise, 3 classes", rng.integers(0, 3, len(X)), 0
    yield "product of two, noise .5", product + 0.5 * noise, 2
    yield "xor of two, noise .5", np.sign(product) + 0.5 * noise, 2
    yield "xor of two, noise 2", np.sign(product) + 2.0 * noise, 2
    yield "xor of two, classes", product > 0, 2
    yield "xor of two, classes, 10 % flipped", (product > 0) ^ (rng.random(len(X)) < 0.1), 2
    yield "tanh and product, noise .5", 3 * np.tanh(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * noise, 3


def stray(model: SupervisedStretchTransformer, columns: range) -> list[float]:
    """Half the l1 distance of each column's widths to even ones."""
    return [float(np.abs(w - 1 / len(w)).sum() / 2) for w in (model.output_widths_[j] for j in columns)]


def main() -> None:
    """Measure and print one table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--rows", default="500,2000,8000")
    arguments = parser.parse_args()
    alone = {"n_bins": 64, "variation": "conditional", "rank_weight": 0, "value_weight": 0, "n_jobs": -1}
    header = ("noise columns: mean", "largest", "as they come", "signal: shrinkage", "marginal")
    print(f"{'target':<34}{'rows':>6}  " + "  ".join(f"{name:>19}" for name in header))
    for n_rows in map(int, arguments.rows.split(",")):
        cells: dict[str, list[tuple[list[float], ...]]] = {}
        for draw in range(arguments.draws):
            rng = np.random.default_rng(draw)
            X = rng.normal(size=(n_rows, N_COLUMNS))
            for name, y, n_signal in make_targets(X, rng):
                noise = range(n_signal, N_COLUMNS)
                model = SupervisedStretchTransformer(**alone, random_state=draw).fit(X, y)
                raw = SupervisedStretchTransformer(**alone, shrinkage=0, random_state=draw).fit(X, y)
                marginal = SupervisedStretchTransformer(**alone | {"variation": "within_fold"}).fit(X, y)
                shrinkages = (each.shrinkage_[:n_signal].tolist() for each in (model, marginal))
                cells.setdefault(name, []).append((stray(model, noise), stray(raw, noise), *shrinkages))
        for name, draws in cells.items():
            ours, raw_, shrinkage, marginal_ = (np.concatenate(part) for part in zip(*draws, strict=True))
            numbers = (ours.mean(), ours.max(), raw_.mean(), *map(_mean, (shrinkage, marginal_)))
            print(f"{name:<34}{n_rows:>6}  " + "  ".join(f"{number:>19.3f}" for number in numbers))


def _mean(numbers: np.ndarray) -> float:
    return float(numbers.mean()) if len(numbers) else float("nan")


if __name__ == "__main__":
    main()
