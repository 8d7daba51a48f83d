"""Columns, targets and splits that several test files share."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from oracle import Array, Folds


def every_kth(n: int, n_folds: int) -> Folds:
    fold = np.arange(n) % n_folds
    return [(np.flatnonzero(fold != i), np.flatnonzero(fold == i)) for i in range(n_folds)]


def repeat_splits(splits: Folds, copies: NDArray[np.intp]) -> Folds:
    """The same folds after `x[copies]`."""
    return [tuple(np.flatnonzero(np.isin(copies, rows)) for rows in split) for split in splits]


COLUMNS = ("normal", "lognormal", "ties", "missing", "outlier")


def column(name: str, n: int, seed: int = 0) -> Array:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    match name:
        case "lognormal":
            return np.exp(2 * x)
        case "ties":
            return rng.poisson(4, size=n).astype(float)
        case "missing":
            return np.where(rng.random(n) < 0.2, np.nan, x)
        case "outlier":
            x[n // 2] = 1e9
    return x


TARGETS = ("regression", "binary", "3 classes")


def noisy_target(x: Array, kind: str = "regression", noise: float = 0.3, seed: int = 1) -> NDArray[Any]:
    rng = np.random.default_rng(seed)
    y = np.tanh(np.nan_to_num(x)) + noise * rng.normal(size=len(x))
    match kind:
        case "binary":
            return (y > 0).astype(int)
        case "3 classes":
            return np.array(["low", "middle", "up"])[np.digitize(y, [-0.3, 0.4])]
    return y


def oracle_kind(kind: str) -> Any:
    return "regression" if kind == "regression" else "classes"


def half_l1(a: Array, b: Array) -> float:
    return float(np.abs(a - b).sum() / 2)
