"""Tables in batches, and how far a fit from batches is from one in memory."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from oracle import Array
from samples import half_l1

from tabstretch import _batches

RANK_TOLERANCE, WIDTH_TOLERANCE = 1e-3, 1e-2
NAMES = ("normal", "heavy tails", "zeros", "missing", "few", "integers", "constant")


def table(n: int, seed: int = 0) -> Array:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, len(NAMES)))
    x[:, 1] = rng.standard_cauchy(size=n)
    x[:, 2] = np.where(rng.random(n) < 0.4, 0.0, x[:, 2])
    x[rng.random(n) < 0.2, 3] = np.nan
    x[:, 4] = rng.poisson(4, size=n)
    x[:, 5] = np.round(4000 * x[:, 5])
    x[:, 6] = 7.0
    return x


def target(X: Array, kind: str = "regression", seed: int = 1) -> NDArray[Any]:
    rng = np.random.default_rng(seed)
    y = np.tanh(2 * X[:, 0]) + np.sin(X[:, 4]) + np.nan_to_num(X[:, 3]) + X[:, 2] ** 2 / 4
    y += 0.3 * rng.normal(size=len(y))
    match kind:
        case "binary":
            return (y > 0.5).astype(int)
        case "classes":
            return np.array(["low", "middle", "up"])[np.digitize(y, [0.0, 1.0])]
        case "several numbers":
            return np.column_stack([y, 100 * y**2])
        case "labels":
            return np.column_stack([y > 0, y > 1]).astype(int)
        case "several classes":
            return np.column_stack([np.digitize(y, [0.0, 1.0]), y > 0.5]).astype(int)
    return y


def batches(size: int, *columns: Any) -> Iterator[Any]:
    """Cut rows of X, y and weights into batches."""
    for start in range(0, len(columns[0]), size):
        yield tuple(column[start : start + size] for column in columns)


def small_blocks(monkeypatch: pytest.MonkeyPatch, n_rows: int = 2048) -> None:
    """Have small data go through many blocks."""
    monkeypatch.setattr(_batches, "_BLOCK_ROWS", n_rows)


def rank_distance(x: Array, edges: Array, expected: Array, weight: Array | None = None) -> float:
    """The largest difference between the ranks of edges, from 0 to 1; those of a tie are a range."""
    present = ~np.isnan(x)
    order = np.argsort(x[present])
    mass = np.ones(len(order)) if weight is None else weight[present][order]
    below = np.append(0.0, np.cumsum(mass)) / mass.sum()
    values = x[present][order]

    def rank(places: Array, side: Any) -> Array:
        return below[np.searchsorted(values, places, side=side)]

    above = rank(edges, "left") - rank(expected, "right")
    under = rank(expected, "left") - rank(edges, "right")
    return float(max(above.max(), under.max(), 0.0))


def assert_alike(found: Any, expected: Any, X: Array, weight: Array | None = None) -> None:
    """Check that two fits are equal within the tolerance that `fit_batches` states."""
    assert found.fallback_ == expected.fallback_
    for j, (edges, wanted) in enumerate(zip(found.bin_edges_, expected.bin_edges_, strict=True)):
        assert len(edges) == len(wanted), NAMES[j]
        if len(edges) > 0:
            assert edges[[0, -1]].tolist() == wanted[[0, -1]].tolist()
            assert rank_distance(X[:, j], edges, wanted, weight) < RANK_TOLERANCE, NAMES[j]
            assert half_l1(found.output_widths_[j], expected.output_widths_[j]) < WIDTH_TOLERANCE, NAMES[j]
