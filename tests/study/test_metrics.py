"""Metrics: hand-worked cases, scikit-learn's, and parts of data that lack something."""

import math

import numpy as np
import pytest
from sklearn import metrics as sklearn_metrics

from tabstretch.study.datasets.dataset import Task
from tabstretch.study.metrics import METRICS, direction, evaluate, objective

OF_CLASSES, OF_QUANTITIES = METRICS[:4], METRICS[4:]


def probabilities(y: np.ndarray, n_classes: int, seed: int = 0) -> np.ndarray:
    """Random ones that know something of y."""
    rng = np.random.default_rng(seed)
    raw = rng.random((len(y), n_classes)) + np.eye(n_classes)[y] * 0.5
    return raw / raw.sum(axis=1, keepdims=True)


def test_names_are_the_columns_of_the_table() -> None:
    assert METRICS == ("accuracy", "avg_recall", "f1", "auc", "r2", "mae", "rmse")


def test_regression_by_hand() -> None:
    found = evaluate("regression", [1.0, 2.0, 3.0, 6.0], [1.0, 3.0, 3.0, 3.0])
    assert tuple(found) == METRICS
    assert found["mae"] == 1.0
    assert found["rmse"] == pytest.approx(math.sqrt(10 / 4))
    assert found["r2"] == pytest.approx(1 - 10 / 14)
    assert all(math.isnan(found[name]) for name in OF_CLASSES)


def test_two_classes_by_hand() -> None:
    """Three of the first class, all recognised, and two of the second, one of them recognised."""
    positive = np.array([0.1, 0.2, 0.4, 0.3, 0.9])
    found = evaluate("binclass", [0, 0, 0, 1, 1], np.column_stack([1 - positive, positive]))
    assert found["accuracy"] == 0.8
    assert found["avg_recall"] == 0.75
    assert found["f1"] == pytest.approx((6 / 7 + 2 / 3) / 2)
    assert found["auc"] == pytest.approx(5 / 6)
    assert all(math.isnan(found[name]) for name in OF_QUANTITIES)


def test_three_classes_by_hand() -> None:
    chosen = np.array([[0.8, 0.1, 0.1], [0.2, 0.5, 0.3], [0.1, 0.6, 0.3], [0.3, 0.4, 0.3]])
    found = evaluate("multiclass", [0, 0, 1, 2], chosen)
    assert found["accuracy"] == 0.5
    assert found["avg_recall"] == 0.5
    assert found["f1"] == pytest.approx((2 / 3 + 1 / 2 + 0) / 3)
    assert found["auc"] == pytest.approx((3 / 4 + 1 + 2 / 3) / 3)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("task", "n_classes"), [("binclass", 2), ("multiclass", 3), ("multiclass", 10)])
def test_classes_agree_with_scikit_learn(task: Task, n_classes: int, seed: int) -> None:
    y = np.random.default_rng(seed).integers(n_classes, size=300)
    chosen = probabilities(y, n_classes, seed)
    labels = chosen.argmax(axis=1)
    found = evaluate(task, y, chosen)
    assert found["accuracy"] == pytest.approx(sklearn_metrics.accuracy_score(y, labels))
    assert found["avg_recall"] == pytest.approx(sklearn_metrics.balanced_accuracy_score(y, labels))
    assert found["f1"] == pytest.approx(sklearn_metrics.f1_score(y, labels, average="macro"))
    scores = chosen[:, 1] if n_classes == 2 else chosen
    assert found["auc"] == pytest.approx(sklearn_metrics.roc_auc_score(y, scores, multi_class="ovr"))


@pytest.mark.parametrize("seed", range(5))
def test_quantities_agree_with_scikit_learn(seed: int) -> None:
    rng = np.random.default_rng(seed)
    y = 1000 + 50 * rng.normal(size=200)
    predicted = y + rng.normal(size=200)
    found = evaluate("regression", y, predicted)
    assert found["r2"] == pytest.approx(sklearn_metrics.r2_score(y, predicted))
    assert found["mae"] == pytest.approx(sklearn_metrics.mean_absolute_error(y, predicted))
    assert found["rmse"] == pytest.approx(sklearn_metrics.root_mean_squared_error(y, predicted))


def test_a_class_that_is_missing_leaves_the_means_of_recall_and_auc() -> None:
    y = np.tile([0, 2], 50)
    chosen = probabilities(y, 4)
    labels = chosen.argmax(axis=1)
    assert set(labels) == {0, 1, 2, 3}, "classes that are not there are predicted"
    found = evaluate("multiclass", y, chosen)
    assert found["avg_recall"] == pytest.approx(np.mean([np.mean(labels[y == k] == k) for k in (0, 2)]))
    areas = [sklearn_metrics.roc_auc_score(y == k, chosen[:, k]) for k in (0, 2)]
    assert found["auc"] == pytest.approx(np.mean(areas))
    assert found["f1"] == pytest.approx(sklearn_metrics.f1_score(y, labels, average="macro"))


@pytest.mark.parametrize(("task", "n_classes"), [("binclass", 2), ("multiclass", 3)])
def test_a_single_class_has_no_auc(task: Task, n_classes: int) -> None:
    y = np.ones(6, dtype=int)
    found = evaluate(task, y, np.eye(n_classes)[y])
    assert math.isnan(found["auc"])
    assert (found["accuracy"], found["avg_recall"], found["f1"]) == (1, 1, 1)


def test_one_row() -> None:
    found = evaluate("regression", [3.0], [5.0])
    assert math.isnan(found["r2"])
    assert (found["mae"], found["rmse"]) == (2, 2)
    assert evaluate("binclass", [0], [[0.2, 0.8]])["accuracy"] == 0


def test_constant_target_has_the_r2_of_scikit_learn() -> None:
    assert evaluate("regression", [2.0, 2.0], [2.0, 2.0])["r2"] == 1
    assert evaluate("regression", [2.0, 2.0], [2.0, 2.5])["r2"] == 0


def test_probabilities_need_not_sum_to_one() -> None:
    """Those of float32 do not."""
    y = np.tile([0, 1, 2], 20)
    exact = probabilities(y, 3)
    rounded = exact.astype(np.float32) * np.float32(1.001)
    assert evaluate("multiclass", y, rounded) == pytest.approx(evaluate("multiclass", y, exact), nan_ok=True)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("scored_by", [evaluate, objective])
def test_predictions_that_are_no_numbers_are_an_error(scored_by, value: float) -> None:
    with pytest.raises(ValueError, match=r"predictions contain nan or infinity \(1 of 2"):
        scored_by("regression", [1.0, 2.0], [1.0, value])
    with pytest.raises(ValueError, match=r"predictions contain nan or infinity \(1 of 4"):
        scored_by("binclass", [0, 1], [[0.5, 0.5], [0.5, value]])


@pytest.mark.parametrize(
    ("task", "y", "predictions"),
    [
        ("regression", [1.0, 2.0], [[1.0], [2.0]]),
        ("regression", [1.0, 2.0], [1.0]),
        ("binclass", [0, 1], [0.2, 0.7]),
        ("multiclass", [[0], [1]], [[0.2, 0.8], [0.5, 0.5]]),
    ],
)
def test_wrong_shapes_are_an_error(task: Task, y: list, predictions: list) -> None:
    with pytest.raises(ValueError, match=f"predictions of {task} must have shape"):
        evaluate(task, y, predictions)


def test_no_rows_are_an_error() -> None:
    with pytest.raises(ValueError, match="no rows to score"):
        evaluate("regression", [], [])


def test_objective_is_accuracy_or_mae() -> None:
    y = np.tile([0, 1], 30)
    chosen = probabilities(y, 2)
    assert objective("binclass", y, chosen) == evaluate("binclass", y, chosen)["accuracy"]
    assert objective("regression", [1.0, 2.0], [1.0, 5.0]) == 1.5
    assert [direction(task) for task in ("binclass", "multiclass", "regression")] == [
        "maximize",
        "maximize",
        "minimize",
    ]
