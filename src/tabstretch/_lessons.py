"""What a teacher is asked to predict: the target again, in the form a regressor or a classifier takes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabstretch._magnitude import scale_for_models
from tabstretch._target import REGRESSION, Target

# A classifier grows one tree per class and step. Beyond this many classes the default teacher learns
# random projections of the one-hot classes instead, which keep distances between probabilities.
MANY_CLASSES = 16
_N_PROJECTIONS = 8


@dataclass(frozen=True)
class Lesson:
    """One thing for a teacher to learn: numbers, or codes of classes.

    `n_classes` is zero for numbers. Probabilities count from class `first` on: all of them, or the second
    of two where the target is an indicator. Predictions less `shift`, divided by `scale`, are standardised.
    """

    y: NDArray[Any]
    n_classes: int = 0
    first: int = 0
    shift: float = 0.0
    scale: float = 1.0


def make_lessons(target: Target, *, by_default: bool) -> list[Lesson]:
    """Return what to learn, one lesson per column of the target.

    The predictions of all lessons side by side vary as the encoded target does. The default teacher takes
    numbers standardised, and projections of many classes; others may want counts, say, as they are.
    """
    if target.codes is not None:
        n_classes = target.n_outputs
        if not by_default or n_classes <= MANY_CLASSES:
            return [Lesson(target.codes, n_classes)]
        axes = np.random.default_rng(0).normal(size=(_N_PROJECTIONS, n_classes)) / np.sqrt(_N_PROJECTIONS)
        return [Lesson(axis[target.codes]) for axis in axes]
    if target.kind in REGRESSION:
        return [_number_lesson(target, output, by_default=by_default) for output in range(target.n_outputs)]
    if target.kind == "multilabel-indicator":
        return [Lesson(values.astype(np.int32), 2, first=1) for values in target.values.T]
    if target.kind == "multiclass-multioutput":
        widths = [len(classes) for classes in target.classes]
        columns = np.split(target.values, np.cumsum(widths)[:-1], axis=1)
        return [Lesson(one_hot.argmax(axis=1), one_hot.shape[1]) for one_hot in columns]
    return [Lesson(np.asarray(target.labels), 2)]


def taken(lessons: list[Lesson], rows: NDArray[np.intp]) -> list[Lesson]:
    """Return what some rows have to teach."""
    return [replace(lesson, y=lesson.y[rows]) for lesson in lessons]


def _number_lesson(target: Target, output: int, *, by_default: bool) -> Lesson:
    if not by_default and target.raw is not None and target.shift is not None and target.scale is not None:
        shift, scale = float(target.shift[output]), float(target.scale[output])
        if scale_for_models(target.raw[:, [output]]) == 1.0:  # few models bear numbers of any size
            return Lesson(target.raw[:, output], shift=shift, scale=scale)
    # The last digits, which depend on the order of sums, must not decide how trees break ties.
    return Lesson(np.round(target.values[:, output], 12))
