"""Does the stretch find the signal? Distance from learned to truly optimal widths, over shapes and noise.

Half the l1 distance, mean of several draws: 0 is perfect, 1 is as far as widths can be. The widths are the
target's alone (rank_weight = value_weight = 0), 16 bins, x ~ N(.5, .8).

Usage: python benchmarks/signal_recovery.py [--draws 10] [--rows 500,5000,50000]
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Callable

import numpy as np
from joblib import Parallel, delayed

from tabstretch import SupervisedStretchTransformer
from tabstretch._cells import cut_into_cells
from tabstretch._folds import make_folds
from tabstretch._target import encode_target
from tabstretch._variation import SmoothedColumn, variation_within_folds
from tabstretch._widths import remove_noise, stretch_widths

N_BINS = 16
SHAPES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "tanh": lambda x: np.tanh(8 * (x - 0.5)) + 0.15 * np.sin(4 * x),
    "step": lambda x: (x > 0.7).astype(float),
    "line": lambda x: x,
    "hinge": lambda x: np.maximum(x - 1, 0) + np.maximum(-x, 0),
    "pure noise": np.zeros_like,
}
NOISE = (0.1, 0.5, 2.0)
METHODS: dict[str, dict[str, object]] = {
    "within_fold auto": {"variation": "within_fold", "shrinkage": "auto"},
    "within_fold .02": {"variation": "within_fold", "shrinkage": 0.02},
    "pooled auto": {"variation": "pooled", "shrinkage": "auto"},
    "pooled .02": {"variation": "pooled", "shrinkage": 0.02},
}


def true_widths(f: Callable[[np.ndarray], np.ndarray], edges: np.ndarray) -> np.ndarray:
    """Share of the variation of f in each bin; even for a constant."""
    grid = [np.linspace(low, high, 2001) for low, high in itertools.pairwise(edges)]
    variation = np.array([np.abs(np.diff(f(points))).sum() for points in grid])
    return variation / variation.sum() if variation.any() else np.full(len(grid), 1 / len(grid))


def distances(shape: str, n_rows: int, noise: float, unequal: bool, seed: int) -> list[float]:
    """Distance of every method, then of even widths, on one draw."""
    rng = np.random.default_rng([seed, n_rows])
    f = SHAPES[shape]
    x = rng.normal(0.5, 0.8, n_rows)
    spread = noise * np.where(unequal & (x > 1), 3.0, 1.0)
    y = f(x) + spread * rng.normal(size=n_rows)
    result = []
    for options in METHODS.values():
        model = SupervisedStretchTransformer(N_BINS, rank_weight=0, value_weight=0, **options)
        model.fit(x[:, None], y)
        truth = true_widths(f, model.bin_edges_[0])
        result.append(0.5 * np.abs(model.output_widths_[0] - truth).sum())
    others = (square_law_widths(x, y, model.bin_edges_[0]), np.full(N_BINS, 1 / N_BINS))
    return [*result, *(0.5 * np.abs(widths - truth).sum() for widths in others)]


def square_law_widths(x: np.ndarray, y: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Widths with the shrinkage we began with: the square of noise over variation, no more."""
    target = encode_target(y, "continuous")
    column = SmoothedColumn(cut_into_cells(x), target, make_folds(10, target, 0), None, None)
    found = variation_within_folds(column, edges, with_noise=True)
    variation, _ = remove_noise(*found, column.n_bandwidths)
    shrinkage = min(1.0, (found.noise.sum() / found.observed.sum()) ** 2)
    return stretch_widths(variation, edges, shrinkage=shrinkage)


def main() -> None:
    """Measure and print one table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--rows", default="500,5000,50000")
    arguments = parser.parse_args()
    sizes = [int(size) for size in arguments.rows.split(",")]
    columns = [*METHODS, "square law", "even widths"]
    print("shape       rows   noise        " + "  ".join(f"{name:>16}" for name in columns))
    for shape, n_rows in itertools.product(SHAPES, sizes):
        for noise, unequal in itertools.product(NOISE if shape != "pure noise" else (1.0,), (False, True)):
            draws = Parallel(n_jobs=-1)(
                delayed(distances)(shape, n_rows, noise, unequal, seed) for seed in range(arguments.draws)
            )
            cells = "  ".join(f"{mean:16.3f}" for mean in np.mean(draws, axis=0))
            print(
                f"{shape:<10} {n_rows:>6}  {noise:>4g} {'unequal' if unequal else 'equal  '} {cells}",
                flush=True,
            )
        if shape == "pure noise":
            ours, _, _, _, square_law, _ = np.max(draws, axis=0)
            print(f"{'':12}largest draw: {ours:.3f} within_fold auto, {square_law:.3f} square law")


if __name__ == "__main__":
    main()
