"""Tables from hell: what warehouses hold and tests forget, as Hypothesis strategies.

Every draw is small and named (`Table` prints how to make it again), so that a case that fails can be read.
Columns come out of recipes with a seed: to draw a thousand floats would take longer than to fit them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st
from numpy.typing import NDArray

LARGEST = np.finfo(float).max
SMALLEST = 5e-324
_POSITIVE = [SMALLEST, 1e-310, 2.3e-308, 1e-200, 1e-16, 1.0, 1.0 + 2**-52, 3.0, 2.0**53, 2.0**53 + 2, 1e16]
_POSITIVE += [1e154, 1e200, 1e300, 1e305, 9e306, 1e307, 1.1e307, 1e308, np.nextafter(LARGEST, 0), LARGEST]
LANDMARKS = np.array([0.0, *_POSITIVE, *(-number for number in _POSITIVE)])

Array = NDArray[Any]
Random = np.random.Generator


def _any_floats(rng: Random, n: int) -> Array:
    """Bit patterns: all magnitudes alike."""
    bits = rng.integers(0, 2**64, size=n, dtype=np.uint64, endpoint=False)
    numbers = bits.view(np.float64)
    return np.where(np.isfinite(numbers), numbers, 0.0)


def _adjacent(rng: Random, n: int) -> Array:
    start = rng.choice(LANDMARKS)
    run = [start]
    for _ in range(int(rng.integers(1, 40))):
        run.append(np.nextafter(run[-1], -start if abs(start) > 1e300 else np.inf))
    return rng.choice(run, n)


def _few(rng: Random, n: int) -> Array:
    return rng.choice(rng.choice(LANDMARKS, int(rng.integers(1, 4))), n)


def _ties_and_outlier(rng: Random, n: int) -> Array:
    x = np.full(n, rng.choice(LANDMARKS))
    x[rng.integers(n)] = rng.choice(LANDMARKS)
    return x


def _geometric(rng: Random, n: int) -> Array:
    return rng.choice([-1.0, 1.0], n) * 2.0 ** rng.integers(-1074, 1024, n)


def _shifted(rng: Random, n: int) -> Array:
    with np.errstate(over="ignore"):
        x = rng.choice(LANDMARKS) + rng.normal(size=n) * rng.choice(LANDMARKS)
    return np.clip(x, -LARGEST, LARGEST)


def _heavy(rng: Random, n: int) -> Array:
    with np.errstate(over="ignore"):
        return np.clip(np.exp(rng.choice([1, 30, 300]) * rng.normal(size=n)), 0, LARGEST)


COLUMNS: dict[str, Callable[[Random, int], Array]] = {
    "normal": lambda rng, n: rng.normal(size=n),
    "landmarks": lambda rng, n: rng.choice(LANDMARKS, n),
    "any floats": _any_floats,
    "adjacent": _adjacent,
    "few": _few,
    "ties and outlier": _ties_and_outlier,
    "geometric": _geometric,
    "shifted": _shifted,
    "heavy": _heavy,
    "whole range": lambda rng, n: rng.uniform(-1, 1, n) * LARGEST,
    "subnormal": lambda rng, n: rng.integers(-50, 50, n) * SMALLEST,
    "small integers": lambda rng, n: rng.integers(-3, 4, n).astype(float),
    "large integers": lambda rng, n: 2.0**53 + rng.integers(0, 1000, n),
    "all missing": lambda rng, n: np.full(n, np.nan),
}
# Types that hold no NaN; of each, the whole range.
_WHOLE = ("int64", "uint64", "int8", "uint8", "bool")
_KINDS = ("float64", "float64", "float64", "float32", "float16", "object", "frame", *_WHOLE)


@dataclass(frozen=True)
class Table:
    """A table as the user passes it, and what it is in numbers."""

    X: Any
    names: tuple[str, ...]
    seed: int
    kind: str

    @property
    def n_rows(self) -> int:
        return len(self.X)

    def __repr__(self) -> str:
        return f"make_table({self.names}, n_rows={self.n_rows}, kind={self.kind!r}, seed={self.seed})"


def make_table(names: tuple[str, ...], n_rows: int, kind: str, seed: int) -> Table:
    """The table of some recipes; what its type cannot hold is clipped."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([_column(rng, name, n_rows) for name in names])
    return Table(_as_kind(rng, X, kind), names, seed, kind)


def _column(rng: Random, name: str, n_rows: int) -> Array:
    x = COLUMNS[name](rng, n_rows)
    share_missing = rng.choice([0.0, 0.0, 0.3, 0.95])
    return np.where(rng.random(n_rows) < share_missing, np.nan, x)


def _as_kind(rng: Random, X: Array, kind: str) -> Any:
    if kind in ("float32", "float16"):
        limit = np.finfo(kind).max
        with np.errstate(under="ignore"):
            return np.clip(X, -limit, limit).astype(kind)
    if kind == "bool":
        return np.nan_to_num(X) > 0
    if kind in _WHOLE:
        limits = np.iinfo(kind)
        return rng.integers(limits.min, limits.max, size=X.shape, dtype=kind, endpoint=True)
    if kind == "object":
        return X.astype(object)
    if kind == "frame":
        columns = {f"c{j}": _as_kind(rng, X[:, j], rng.choice(_KINDS[:5])) for j in range(X.shape[1])}
        return pd.DataFrame(columns)
    return np.asfortranarray(X) if rng.random() < 0.3 else X


# Most tables are tiny: that is where folds, bins and cells run out.
_rows = st.one_of(st.integers(1, 4), st.integers(1, 30), st.integers(30, 300))
_seeds = st.integers(0, 2**32 - 1)
_names = st.sampled_from(sorted(COLUMNS))


def tables(max_columns: int = 1) -> st.SearchStrategy[Table]:
    names = st.lists(_names, min_size=1, max_size=max_columns).map(tuple)
    return st.builds(make_table, names, _rows, st.sampled_from(_KINDS), _seeds)


def _relabelled(rng: Random, codes: Array) -> Array:
    return codes.astype(str) if rng.random() < 0.5 else codes


TARGETS: dict[str, Callable[[Random, int], Array]] = {
    "numbers": lambda rng, n: rng.normal(size=n),
    "constant": lambda rng, n: np.full(n, rng.choice(LANDMARKS)),
    "landmarks": lambda rng, n: rng.choice(LANDMARKS, n),
    "any floats": _any_floats,
    "huge": lambda rng, n: rng.uniform(-1, 1, n) * LARGEST,
    "tiny": lambda rng, n: rng.normal(size=n) * 1e-320,
    "adjacent": _adjacent,
    "outlier": lambda rng, n: np.where(np.arange(n) == n // 2, 1e300, rng.normal(size=n)),
    "whole numbers": lambda rng, n: rng.integers(2**53, 2**63, n),
    "float32": lambda rng, n: rng.normal(size=n).astype(np.float32) * np.float32(1e37),
    "two classes": lambda rng, n: _relabelled(rng, rng.integers(0, 2, n)),
    "truth": lambda rng, n: rng.random(n) < 0.5,
    "few classes": lambda rng, n: _relabelled(rng, rng.integers(0, 5, n)),
    "classes of one": lambda rng, n: _relabelled(rng, rng.permutation(n)),
    "one rare class": lambda rng, n: _relabelled(rng, (np.arange(n) == n // 2).astype(int)),
    "several numbers": lambda rng, n: rng.normal(size=(n, 3)) * [1e300, 1.0, 1e-310],
    "labels": lambda rng, n: rng.integers(0, 2, (n, 3)),
    "several classes": lambda rng, n: rng.integers(0, 4, (n, 2)),
}
targets = st.sampled_from(sorted(TARGETS))
# Targets whose rows differ by so much that some of them tell nothing of the others.
UNLIKE_ROWS = ("landmarks", "any floats", "outlier", "adjacent")
_CLASSES = ("two classes", "truth", "few classes", "classes of one", "one rare class")
TARGET_TYPES = {name: "multiclass" if name in _CLASSES else "continuous" for name in TARGETS} | {
    "several numbers": "continuous-multioutput",
    "labels": "multilabel-indicator",
    "several classes": "multiclass-multioutput",
}


def make_target(name: str, n_rows: int, seed: int) -> Array:
    return TARGETS[name](np.random.default_rng(seed), n_rows)


WEIGHTS: dict[str, Callable[[Random, int], Array | None]] = {
    "none": lambda rng, n: None,
    "counts": lambda rng, n: rng.integers(0, 4, n).astype(float),
    "fractions": lambda rng, n: rng.random(n),
    "tiny": lambda rng, n: np.full(n, 1e-320),
    "huge": lambda rng, n: rng.random(n) * LARGEST,
    "of all sizes": lambda rng, n: 10.0 ** rng.integers(-300, 300, n),
    "one heavy": lambda rng, n: np.where(np.arange(n) == 0, 1e15, 1e-15),
    "mostly zero": lambda rng, n: (rng.random(n) < 0.1).astype(float),
}
weights = st.sampled_from(sorted(WEIGHTS))


def make_weight(name: str, n_rows: int, seed: int) -> Array | None:
    """Weights of rows; one that is left without any gets its first row back."""
    weight = WEIGHTS[name](np.random.default_rng(seed), n_rows)
    if weight is not None and not np.any(weight > 0):
        weight[0] = 1.0
    return weight


def with_weight(X: Any, weight: Array | None) -> Any:
    """The rows that count."""
    return X if weight is None else X[weight > 0]


RANGES = [(0.0, 1.0), (-1.0, 1.0), (5.0, 5.5), (-1e9, 3.0), (0.0, 1e-300), (-8e307, 8e307), (1e300, 2e300)]
_common: dict[str, Any] = {
    "n_bins": st.sampled_from([1, 2, 3, 7, 64, 256, 10**6, 10**15]),
    "value_weight": st.sampled_from([0.0, 1e-300, 0.5, 2.0, 1e300]),
    "output": st.sampled_from(["blend", "views"]),
    "feature_range": st.sampled_from(RANGES),
    "out_of_range": st.sampled_from(["clip", "extrapolate"]),
}
unsupervised_parameters = st.fixed_dictionaries(_common)
supervised_parameters = st.fixed_dictionaries(
    _common
    | {
        "rank_weight": st.sampled_from([0.0, 1e-300, 1.0, 1e300]),
        "shrinkage": st.sampled_from(["auto", 0.0, 1.0]),
        "n_neighbors": st.sampled_from(["auto", 1, 3, 10**9]),
        "cv": st.sampled_from([2, 3, 10, 1000]),
    }
)
