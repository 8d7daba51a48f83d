"""The seven metrics of a study, and the one that tuning looks at."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import f1_score, r2_score, recall_score, roc_auc_score

from tabstretch.study.datasets.dataset import Task

METRICS = ("accuracy", "avg_recall", "f1", "auc", "r2", "mae", "rmse")
"""In the order of the table of results: four of classes, three of quantities."""


def evaluate(task: Task, y_true: ArrayLike, predictions: ArrayLike) -> dict[str, float]:
    """Return every metric of `METRICS`; those that do not apply are NaN.

    Parameters
    ----------
    task : {"regression", "binclass", "multiclass"}
        What is predicted.
    y_true : array-like of shape (n,)
        The target in its own units, or numbers of classes.
    predictions : array-like of shape (n,) or (n, n_classes)
        The predicted target in its own units, or a probability for each class. Probabilities need not
        sum to 1.

    Notes
    -----
    Classes that `y_true` lacks have no recall and no AUC: both are means over the other classes. AUC is
    NaN if `y_true` has a single class. F1 is the mean over classes that are true or predicted somewhere;
    a class that is only predicted counts as 0.

    R² of a constant target is what scikit-learn says: 1 if all predictions are right, else 0. A single
    row has no R²: NaN.
    """
    y_true, predictions = _checked(task, y_true, predictions)
    found = _of_quantities(y_true, predictions) if task == "regression" else _of_classes(y_true, predictions)
    return {name: found.get(name, math.nan) for name in METRICS}


def objective(task: Task, y_true: ArrayLike, predictions: ArrayLike) -> float:
    """Return what tuning and early stopping look at: accuracy, or MAE for regression."""
    y_true, predictions = _checked(task, y_true, predictions)
    if task == "regression":
        return float(np.mean(np.abs(y_true - predictions)))
    return float(np.mean(predictions.argmax(axis=1) == y_true))


def main_metric(task: str) -> str:
    """Return the metric by which transformations are compared: accuracy, or R² for regression."""
    return "r2" if task == "regression" else "accuracy"


def direction(task: Task) -> Literal["maximize", "minimize"]:
    """Return which way `objective` gets better, in Optuna's words."""
    return "minimize" if task == "regression" else "maximize"


def _of_classes(y_true: NDArray[np.int64], probabilities: NDArray[np.float64]) -> dict[str, float]:
    predicted = probabilities.argmax(axis=1)
    present = np.unique(y_true)
    return {
        "accuracy": float(np.mean(predicted == y_true)),
        "avg_recall": float(
            recall_score(y_true, predicted, labels=present, average="macro", zero_division=0.0)
        ),
        # NOTE[DIFF]: TALENT's F1 of two classes is that of the positive class; ours is macro for any number.
        "f1": float(f1_score(y_true, predicted, average="macro", zero_division=0.0)),
        "auc": _auc(y_true, probabilities, present),
    }


def _auc(y_true: NDArray[np.int64], probabilities: NDArray[np.float64], present: NDArray[np.int64]) -> float:
    if len(present) < 2:
        return math.nan
    # Of two classes, either against the other gives the same area.
    classes = (1,) if probabilities.shape[1] == 2 else present
    return float(np.mean([roc_auc_score(y_true == k, probabilities[:, k]) for k in classes]))


def _of_quantities(y_true: NDArray[np.float64], predicted: NDArray[np.float64]) -> dict[str, float]:
    errors = y_true - predicted
    return {
        # Fewer than two rows would be a warning of scikit-learn's.
        "r2": float(r2_score(y_true, predicted)) if len(y_true) > 1 else math.nan,
        "mae": float(np.mean(np.abs(errors))),
        "rmse": float(np.sqrt(np.mean(errors**2))),
    }


def _checked(
    task: Task, y_true: ArrayLike, predictions: ArrayLike
) -> tuple[NDArray[Any], NDArray[np.float64]]:
    y, found = np.asarray(y_true), np.asarray(predictions, dtype=np.float64)
    if not len(y):
        raise ValueError("there are no rows to score: y_true is empty")
    wanted = 1 if task == "regression" else 2
    if y.ndim != 1 or found.ndim != wanted or len(found) != len(y):
        form = "(n,)" if task == "regression" else "(n, n_classes)"
        raise ValueError(
            f"predictions of {task} must have shape {form} beside y_true of shape (n,), "
            f"got {found.shape} and {y.shape}"
        )
    bad = np.count_nonzero(~np.isfinite(found))
    if bad:
        raise ValueError(
            f"predictions contain nan or infinity ({bad} of {found.size} numbers): training diverged, "
            "try a lower learning rate"
        )
    return y, found
