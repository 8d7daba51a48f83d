"""Fits by teachers, as the tests of the conditional variation need them."""

from typing import Any

import numpy as np
from numpy.testing import assert_array_equal
from oracle import Array
from samples import half_l1
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)

from tabstretch import SupervisedStretchTransformer

BINS = 16
EVEN = np.full(BINS, 1 / BINS)


def conditional(n_bins: Any = BINS, **params: Any) -> SupervisedStretchTransformer:
    """The target alone decides, unless said otherwise."""
    options: dict[str, Any] = {"variation": "conditional", "rank_weight": 0.0, "value_weight": 0.0}
    return SupervisedStretchTransformer(n_bins, **{**options, **params})


def boosted(*, classes: bool = False, **params: Any) -> Any:
    """The default teacher, but cheap."""
    booster = HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor
    return booster(**{"max_iter": 15, "max_leaf_nodes": 8, "early_stopping": False, **params})


def table(n: int, n_columns: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).normal(size=(n, n_columns))


def same_fit(a: SupervisedStretchTransformer, b: SupervisedStretchTransformer) -> None:
    for one, other in zip(a.bin_edges_, b.bin_edges_, strict=True):
        assert_array_equal(one, other)
    for one, other in zip(a.variation_, b.variation_, strict=True):
        assert_array_equal(one, other)
    for one, other in zip(a.output_widths_, b.output_widths_, strict=True):
        assert_array_equal(one, other)
    assert_array_equal(a.shrinkage_, b.shrinkage_)


def stray(fitted: SupervisedStretchTransformer, columns: Any) -> list[float]:
    return [half_l1(fitted.output_widths_[j], EVEN) for j in columns]
