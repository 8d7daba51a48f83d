"""Parameters of estimators as plain values: which have such a form, and which of those are valid."""

from __future__ import annotations

from typing import Any

import numpy as np

from tabstretch._json import LARGEST_INT, Node
from tabstretch._monotone import OUT_OF_RANGE
from tabstretch._target import TARGET_TYPES
from tabstretch._validation import check_range
from tabstretch._views import OUTPUTS

VARIATIONS = ("conditional", "within_fold", "pooled")


def plain(value: Any) -> Any:
    """Return numpy's numbers and arrays, and tuples, as what JSON would make of them."""
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    return [plain(item) for item in value] if isinstance(value, (list, tuple)) else value


def checked_parameter(name: str, node: Node, n_features: int) -> Any:
    """Return a parameter of an estimator from its plain value."""
    match name:
        case "n_bins" if isinstance(node.value, list):
            if len(node.value) != n_features:
                node.fail(f"one number for each of {n_features} columns")
            for number in node.items():
                _check_count(number, 1)
        case "n_bins" | "n_curves":
            _check_count(node, 1)
        case "teacher_rows":
            _check_count(node, 2)
        case "cv" if node.value is not None:
            _check_count(node, 2)
        case "random_state" if node.value is not None:
            _check_count(node, 0, 2**32 - 1)
        case "n_jobs" if node.value is not None:
            _check_count(node, -LARGEST_INT)
            if node.value == 0:
                node.fail("a whole number other than 0, or null")
        case "n_neighbors" if node.value != "auto":
            node.number(low=1)
        case "shrinkage" if node.value != "auto":
            node.number(low=0, high=1)
        case "rank_weight" | "value_weight":
            node.number(low=0)
        case "feature_range":
            if len(node.numbers()) != 2:
                node.fail("a pair of numbers")
            check_range(node.value)
            return tuple(node.value)
        case "output":
            node.choice(OUTPUTS)
        case "out_of_range":
            node.choice(OUT_OF_RANGE)
        case "variation":
            node.choice(VARIATIONS)
        case "target_type":
            node.choice(("auto", *TARGET_TYPES))
        case "teacher" if node.value is not None:
            node.fail("null: a model has no form in JSON")
    return node.value


def _check_count(node: Node, low: int, high: int = LARGEST_INT) -> None:
    whole = isinstance(node.value, int) and not isinstance(node.value, bool)
    if not whole or not low <= node.value <= high:
        node.fail(f"a whole number from {low} to {high}")
