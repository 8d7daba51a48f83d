"""What a teacher is asked to predict: the target again, in the form a regressor or a classifier takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabstretch._target import REGRESSION, Target

# A classifier grows one tree per class and step. Beyond this many classes the default teacher learns
# random projections of the one-hot classes instead, which keep distances between probabilities.
MANY_CLASSES = 16
_N_PROJECTIONS = 8


@dataclass(frozen=True)
class Lesson:
    """One thing for a teacher to learn: numbers, or codes of classes.

    `n_classes` is zero for numbers. Probabilities count from class `first` on: all of them, or the second
    of two where the target is an indicator.
    """

    y: NDArray[Any]
    n_classes: int = 0
    first: int = 0


def make_lessons(target: Target, *, project: bool) -> list[Lesson]:
    """Return what to learn, one lesson per column of the target.

    The predictions of all lessons side by side vary as the encoded target does. `project` allows
    projections of many classes.
    """
    if target.codes is not None:
        n_classes = target.n_outputs
        if not project or n_classes <= MANY_CLASSES:
            return [Lesson(target.codes, n_classes)]
        axes = np.random.default_rng(0).normal(size=(_N_PROJECTIONS, n_classes)) / np.sqrt(_N_PROJECTIONS)
        return [Lesson(axis[target.codes]) for axis in axes]
    if target.kind in REGRESSION:
        # The last digits, which depend on the order of sums, must not decide how trees break ties.
        return [Lesson(values) for values in np.round(target.values, 12).T]
    if target.kind == "multilabel-indicator":
        return [Lesson(values.astype(np.int32), 2, first=1) for values in target.values.T]
    if target.kind == "multiclass-multioutput":
        widths = [len(classes) for classes in target.classes]
        columns = np.split(target.values, np.cumsum(widths)[:-1], axis=1)
        return [Lesson(one_hot.argmax(axis=1), one_hot.shape[1]) for one_hot in columns]
    return [Lesson(np.asarray(target.labels), 2)]
