"""Teachers: models of the target that see all columns, asked about one column at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.utils.validation import has_fit_parameter

from tabstretch._cells import Column
from tabstretch._lessons import Lesson
from tabstretch._trees import BoostedTrees

# Rows whose column takes every value are predicted in batches of about this many bytes.
_BATCH_BYTES = 1 << 26


def check_teacher(teacher: Any, *, classes: bool, weighted: bool) -> None:
    """Refuse a teacher that cannot learn this kind of target."""
    if teacher is None:
        return
    if isinstance(teacher, type) or not (hasattr(teacher, "fit") and hasattr(teacher, "get_params")):
        raise ValueError(f"teacher must be None or a scikit-learn estimator, got {teacher!r}")
    if classes and not (is_classifier(teacher) and hasattr(teacher, "predict_proba")):
        raise ValueError(
            "teacher must be a classifier with predict_proba, since the target holds classes "
            f"(target_type='continuous' makes whole numbers a target of numbers), got {teacher!r}"
        )
    if not classes and not is_regressor(teacher):
        raise ValueError(f"teacher must be a regressor, since the target holds numbers, got {teacher!r}")
    if weighted and not has_fit_parameter(teacher, "sample_weight"):
        raise ValueError(f"teacher must take sample_weight in fit, since weights are given, got {teacher!r}")


class FittedTeacher:
    """A teacher that has learnt one lesson."""

    def __init__(
        self,
        teacher: Any,
        X: NDArray[np.float64],
        lesson: Lesson,
        y: NDArray[Any],
        weight: Column | None,
        seed: int,
    ) -> None:
        self.lesson = lesson
        self._model: Any = None
        self._trees: BoostedTrees | None = None
        if np.all(y == y[0]):
            return  # nothing to learn: the prediction is flat
        self._model = _default_teacher(lesson, seed) if teacher is None else _seeded(clone(teacher), seed)
        self._model.fit(X, y, **({} if weight is None else {"sample_weight": weight}))
        self._trees = BoostedTrees.of(self._model)

    @property
    def sees_only_order(self) -> bool:
        """Whether nothing of a column matters to it but its order."""
        return self._model is None or self._trees is not None

    def sweep(self, rows: NDArray[np.float64], column: int, values: Column) -> NDArray[np.float64]:
        """Return the individual curves of rows whose one column takes every increasing value in turn.

        The shape is (n_rows, n_values, n_outputs): numbers, or probabilities of all classes there are.
        """
        n_outputs = max(self.lesson.n_classes, 1)
        if self._model is None:
            curves = np.full((len(rows), len(values), n_outputs), self.lesson.shift)
        elif self._trees is not None:
            curves = self._trees.sweep(rows, column, values)
        else:
            curves = sweep_by_prediction(self._model, rows, column, values)
        if curves.shape[2] < n_outputs:  # the training rows lack a class
            known, curves = curves, np.zeros((*curves.shape[:2], n_outputs))
            curves[:, :, self._model.classes_] = known
        return (curves[:, :, self.lesson.first :] - self.lesson.shift) / self.lesson.scale


def sweep_by_prediction(
    model: Any, rows: NDArray[np.float64], column: int, values: Column
) -> NDArray[np.float64]:
    """Sweep any model: predict every row with every value in turn, some rows at a time."""
    at_once = max(1, _BATCH_BYTES // (len(values) * rows.shape[1] * rows.itemsize))
    predict = model.predict_proba if is_classifier(model) else model.predict
    curves = []
    for start in range(0, len(rows), at_once):
        part = rows[start : start + at_once]
        swept = np.repeat(part, len(values), axis=0)
        swept[:, column] = np.tile(values, len(part))
        curves.append(np.asarray(predict(swept), dtype=np.float64).reshape(len(part), len(values), -1))
    return np.concatenate(curves)


def _default_teacher(lesson: Lesson, seed: int) -> Any:
    """Return gradient-boosted trees, which take missing values and any scale.

    They never stop early: that would hold out rows of each class, which a rare class may not have, and what
    they overfit is measured on shadows.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    booster = HistGradientBoostingClassifier if lesson.n_classes else HistGradientBoostingRegressor
    return booster(early_stopping=False, random_state=seed)


def _seeded(model: Any, seed: int) -> Any:
    """Seed whatever in a model is left to chance, so that the same fit gives the same map."""
    unset = [
        name
        for name, value in model.get_params(deep=True).items()
        if value is None and (name == "random_state" or name.endswith("__random_state"))
    ]
    return model.set_params(**dict.fromkeys(unset, seed))
