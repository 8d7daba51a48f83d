"""Gradient-boosted trees swept along one column without predicting a row for every value.

When only one column moves, a tree's prediction changes at that column's thresholds and nowhere else.
One walk through the tree, taking both branches where it splits on the moving column, gives the whole
curve at the cost of little more than one prediction.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from tabstretch._cells import Column
from tabstretch._kernels import sweep_trees


class BoostedTrees:
    """The trees of a fitted histogram gradient boosting, laid out one after the other."""

    def __init__(self, booster: Any) -> None:
        trees = [(tree.nodes, output) for step in booster._predictors for output, tree in enumerate(step)]
        starts = np.concatenate([[0], np.cumsum([len(nodes) for nodes, _ in trees])]).astype(np.int64)
        nodes = np.concatenate([nodes for nodes, _ in trees])
        shift = np.repeat(starts[:-1], np.diff(starts))
        self._roots = starts[:-1]
        self._output = np.array([output for _, output in trees], dtype=np.int64)
        self._feature = np.where(nodes["is_leaf"] == 1, -1, nodes["feature_idx"]).astype(np.int64)
        self._threshold = np.ascontiguousarray(nodes["num_threshold"])
        self._missing_left = nodes["missing_go_to_left"] == 1
        self._left, self._right = nodes["left"] + shift, nodes["right"] + shift
        self._value = np.ascontiguousarray(nodes["value"])
        self._baseline = np.asarray(booster._baseline_prediction, dtype=np.float64).ravel()
        self._depth = int(nodes["depth"].max()) + 1
        self._booster = booster

    @classmethod
    def of(cls, teacher: Any) -> BoostedTrees | None:
        """Return the trees of a teacher, or None if it is not made of trees that can be swept.

        scikit-learn keeps them in private attributes: where these are not as expected the teacher is
        swept by its predictions.
        """
        from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

        if type(teacher) not in (HistGradientBoostingClassifier, HistGradientBoostingRegressor):
            return None
        try:
            if teacher.is_categorical_ is not None:
                return None
            return cls(teacher)
        except (AttributeError, KeyError, TypeError, ValueError):
            return None

    def sweep(self, rows: NDArray[np.float64], column: int, values: Column) -> NDArray[np.float64]:
        """Return the predictions or probabilities of rows whose one column takes increasing values in turn.

        The shape is (n_rows, n_values, n_outputs).
        """
        raw = np.zeros((len(rows), len(values) + 1, len(self._baseline)))
        cut = np.zeros(len(self._feature), dtype=np.int64)
        moves = self._feature == column
        cut[moves] = np.searchsorted(values, self._threshold[moves], side="right")
        sweep_trees(
            rows,
            column,
            len(values),
            (self._roots, self._output, self._feature, self._threshold, self._missing_left),
            (self._left, self._right, self._value, cut),
            self._depth,
            raw,
        )
        raw = np.cumsum(raw[:, :-1], axis=1) + self._baseline
        return self._link(raw.reshape(-1, raw.shape[2])).reshape(len(rows), len(values), -1)

    def _link(self, raw: NDArray[np.float64]) -> NDArray[np.float64]:
        loss = self._booster._loss
        if is_classifier(self._booster):
            one = raw.ravel() if raw.shape[1] == 1 else raw
            return np.asarray(loss.predict_proba(np.ascontiguousarray(one)))
        return np.asarray(loss.link.inverse(raw))
