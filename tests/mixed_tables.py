"""Tables of mixed columns, in pandas and polars, and stretches for them."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from samples import column, noisy_target
from sklearn.tree import DecisionTreeRegressor

from tabstretch import StretchTransformer, SupervisedStretchTransformer

N = 120
RNG = np.random.default_rng(0)
DATA: dict[str, Any] = {
    "city": np.array(["Bern", "Oslo", "Rome"])[RNG.integers(0, 3, size=N)],
    "price": column("lognormal", N),
    "sold": RNG.random(N) < 0.5,
    "rooms": RNG.integers(1, 7, size=N),
    "day": np.datetime64("2020-01-01") + RNG.integers(0, 99, size=N),
    "size": np.array(["small", "large"])[RNG.integers(0, 2, size=N)],
    "age": column("missing", N),
}
NUMBERS = ["price", "rooms", "age"]
OTHERS = ["city", "sold", "day", "size"]
FRAMES: dict[str, Any] = {
    "pandas": pd.DataFrame(DATA).astype({"size": pd.CategoricalDtype(["small", "large"], ordered=True)}),
    "polars": pl.DataFrame(
        {**DATA, "age": [None if np.isnan(age) else age for age in DATA["age"]]}
    ).with_columns(pl.col("size").cast(pl.Categorical), pl.col("day").cast(pl.Date)),
}
Y = noisy_target(np.log(DATA["price"])) * np.where(DATA["city"] == "Oslo", -1, 1)
WEIGHT = np.arange(N) % 3 + 1.0
GROUPS = np.repeat(np.arange(12), 10)
library = pytest.mark.parametrize("library", FRAMES)


def unsupervised(**params: Any) -> StretchTransformer:
    return StretchTransformer(**{"n_bins": 8, "value_weight": 1.0, **params})


def marginal(**params: Any) -> SupervisedStretchTransformer:
    options: dict[str, Any] = {"variation": "within_fold", "rank_weight": 1.0, "value_weight": 1.0, "cv": 3}
    return SupervisedStretchTransformer(**{"n_bins": 8, **options, **params})


def conditional(**params: Any) -> SupervisedStretchTransformer:
    teacher = DecisionTreeRegressor(max_depth=4)
    return marginal(**{"variation": "conditional", "teacher": teacher, "n_curves": 30, **params})


MAKERS: dict[str, Any] = {"unsupervised": unsupervised, "marginal": marginal, "conditional": conditional}
every = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS.keys())


def matrix(frame: Any, names: list[str]) -> Any:
    """Columns of numbers as an array, missing ones as NaN."""
    return np.column_stack([np.asarray(frame[name], dtype=float) for name in names])


def same_column(a: Any, b: Any) -> None:
    assert a.dtype == b.dtype
    if isinstance(a, pd.Series):
        pd.testing.assert_series_equal(a, b)
    else:
        assert a.equals(b)


def context_of(frame: Any) -> dict[str, Any]:
    return {"context": frame[OTHERS]}
