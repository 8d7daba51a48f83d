"""Data sets of numeric columns for tests, and numbers that libraries stumble over."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tabstretch.study.datasets import Dataset
from tabstretch.study.datasets.dataset import dataset_from_table
from tabstretch.study.datasets.tables import Table

BEYOND = np.array([0.0, 1.0, -1.0, 1e30, -1e30, 1.7e308, -1.7e308, 5e-324, 1e-300])


def numeric_dataset(
    train: NDArray[np.float64],
    y: NDArray[np.float64] | Sequence[str],
    held_out: NDArray[np.float64] | None = None,
) -> Dataset:
    """Return a data set with these training rows; validation and test are its first row, or `held_out`."""
    held_out = train[:1] if held_out is None else held_out
    n, m = len(train), len(held_out)
    X = np.vstack([train, held_out, held_out])
    target = [*y, *([y[0]] * (2 * m))]
    table = Table(
        name="table",
        numeric={f"x{j}": column for j, column in enumerate(X.T)},
        categorical={"colour": ["red", "blue"] * (len(X) // 2) + ["red"] * (len(X) % 2)},
        target=np.array(target, dtype=float) if isinstance(y, np.ndarray) else target,
        target_name="y",
        rows={"train": np.arange(n), "val": np.arange(n, n + m), "test": np.arange(n + m, n + 2 * m)},
    )
    return dataset_from_table(table, "test")


def ordinary(n: int = 150, *, seed: int = 0) -> NDArray[np.float64]:
    """Return columns as tables have them: bell-shaped, skewed, of few values, far from zero."""
    rng = np.random.default_rng(seed)
    return np.column_stack(
        [
            rng.normal(size=n),
            rng.lognormal(2, 1.5, size=n),
            rng.integers(0, 4, size=n).astype(float),
            2000 + 30 * rng.random(n),
        ]
    )


def ordinary_dataset(task: str = "regression", *, n: int = 150) -> Dataset:
    """Return `ordinary` columns with a target that depends on the first two."""
    X = ordinary(n)
    signal = np.tanh(2 * X[:, 0]) + 0.3 * np.log(X[:, 1])
    y = 1e4 * signal if task == "regression" else np.where(signal > np.median(signal), "yes", "no").tolist()
    return numeric_dataset(X, y, ordinary(40, seed=1))
