"""Columns of many shapes, and stretches that give views of them."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from oracle import Array
from samples import COLUMNS, column, noisy_target
from sklearn.tree import DecisionTreeRegressor

from tabstretch import StretchTransformer, SupervisedStretchTransformer

N, BINS = 240, 32
X = np.column_stack([column(name, N, seed) for seed, name in enumerate(COLUMNS)])
Y = noisy_target(X[:, 0])
NAMES = list(COLUMNS)
FRAMES: dict[str, Any] = {
    "pandas": pd.DataFrame(X, columns=NAMES),
    "polars": pl.DataFrame(X, schema=NAMES),
}


def unsupervised(n_bins: Any = BINS, **params: Any) -> StretchTransformer:
    return StretchTransformer(n_bins, **{"output": "views", "value_weight": 1.0, **params})


def marginal(n_bins: Any = BINS, **params: Any) -> SupervisedStretchTransformer:
    options: dict[str, Any] = {"variation": "within_fold", "rank_weight": 1.0, "value_weight": 1.0}
    return SupervisedStretchTransformer(n_bins, **{**options, "output": "views", "cv": 3, **params})


def conditional(n_bins: Any = BINS, **params: Any) -> SupervisedStretchTransformer:
    teacher = DecisionTreeRegressor(max_depth=3)
    return marginal(n_bins, **{"variation": "conditional", "teacher": teacher, "n_curves": 20, **params})


MAKERS: dict[str, Any] = {"unsupervised": unsupervised, "marginal": marginal, "conditional": conditional}
every = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS.keys())
frames = pytest.mark.parametrize("library", FRAMES)


def view_of(fitted: Any, output: Any, view: str) -> Array:
    """The columns of one view, by their names."""
    names = fitted.get_feature_names_out()
    return np.asarray(output)[:, [name.endswith(f"_{view}") for name in names]]
