"""Fitted stretches of many kinds, and inputs that probe them: for everything that takes them elsewhere."""

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from oracle import Array
from samples import COLUMNS, column, noisy_target

from tabstretch import StretchTransformer, SupervisedStretchTransformer, TableStretch
from tabstretch._base import BaseStretch

N = 240
# Two columns more: one that has a single value and one that has none.
FRAME = pd.DataFrame({name: column(name, N, seed) for seed, name in enumerate(COLUMNS)}).assign(
    constant=3.5, empty=np.nan
)
Y = noisy_target(FRAME["normal"].to_numpy())
CLASSES = noisy_target(FRAME["normal"].to_numpy(), "3 classes")
_MARGINAL: dict[str, Any] = {"variation": "within_fold", "cv": 3}

MAKERS: dict[str, Any] = {
    "blend": lambda: StretchTransformer(32).fit(FRAME),
    "views": lambda: StretchTransformer(32, output="views").fit(FRAME),
    "array": lambda: StretchTransformer(5, feature_range=(-1, 3)).fit(FRAME.to_numpy()),
    "extrapolate": lambda: StretchTransformer(8, out_of_range="extrapolate").fit(FRAME),
    "supervised": lambda: SupervisedStretchTransformer(16, **_MARGINAL).fit(FRAME, Y),
    "classes": lambda: SupervisedStretchTransformer(16, **_MARGINAL).fit(FRAME, CLASSES),
    "conditional": lambda: SupervisedStretchTransformer(16, n_curves=20, cv=2).fit(FRAME, Y),
    "supervised views": lambda: SupervisedStretchTransformer(
        16, **_MARGINAL, output="views", out_of_range="extrapolate"
    ).fit(FRAME, Y),
}
every_kind = pytest.mark.parametrize("kind", MAKERS)


@cache
def fitted(kind: str) -> Any:
    return MAKERS[kind]()


@cache
def fitted_table() -> TableStretch:
    frame = FRAME[["normal", "ties"]].assign(city="Oslo")[["normal", "city", "ties"]]
    return TableStretch(StretchTransformer(6, output="views")).fit(frame)


def extreme_stretch(out_of_range: str = "clip") -> StretchTransformer:
    """Columns whose differences overflow or underflow, far from zero, or with very short bins."""
    rng = np.random.default_rng(0)
    x = np.sort(rng.normal(size=200))
    columns = [x * 5e307, x * 1e-310, 1e9 + x * 1e-3, x**15 * 1e20, np.r_[0.0, 5e-324, x[2:] ** 2]]
    with np.errstate(invalid="ignore"):  # scikit-learn adds up all values to see whether one is infinite
        return StretchTransformer(16, value_weight=1.0, out_of_range=out_of_range).fit(
            np.column_stack(columns)
        )


def probes(stretch: BaseStretch, n: int = 400, seed: int = 0, dtype: Any = np.float64) -> Array:
    """Inputs of every column: its edges and their neighbours, values between and beyond them, and NaN."""
    rng = np.random.default_rng(seed)
    n_views = len(stretch.views_)
    columns = []
    for j in range(stretch.n_features_in_):
        edges = np.concatenate([map_.edges for map_ in stretch.maps_[n_views * j : n_views * (j + 1)]])
        edges = edges if len(edges) else np.zeros(1)
        low, high = edges.min() / 4, edges.max() / 4  # whose difference is finite
        between = low + (high - low) * rng.uniform(-0.5, 1.5, size=n)
        with np.errstate(over="ignore"):
            near = np.concatenate([edges, np.nextafter(edges, np.inf), np.nextafter(edges, -np.inf)])
        near = near[np.isfinite(near)]
        probe = np.concatenate([rng.choice(near, n // 2), np.clip(between, -4e307, 4e307) * 4, [np.nan, 0.0]])
        columns.append(probe)
    with np.errstate(over="ignore"):
        X = np.column_stack(columns).astype(dtype)
    return np.clip(X, np.finfo(dtype).min, np.finfo(dtype).max)
