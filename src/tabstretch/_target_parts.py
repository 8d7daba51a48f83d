"""The target of rows that pass by only once: encoded part by part, put into its final form at the end.

Classes and the mean and deviation of numbers are known only when all rows have passed. Until then classes are
those of the part, and numbers are taken relative to a first guess; sums of them are easily turned into
sums of the final target.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabstretch._cells import Column
from tabstretch._kernels import relate_numbers
from tabstretch._target import REGRESSION, Target, encode_target, resolve_target_type

# With more classes than this the sums of cells would take too much memory.
_MOST_CLASSES = 1000
_ONE_COLUMN = ("binary", "multiclass")
_TOO_LARGE = "y becomes too large for what its first rows were like: divide it by its largest value"

Labels = list[NDArray[Any]]


@dataclass(frozen=True)
class TargetPlan:
    """How parts of a target are encoded, decided by the first rows.

    `classes` are those of the first rows, for each column of y; for numbers, `shift` and `scale` are the
    first guess. `guessed` tells whether the kind was found out, not asked for.
    """

    kind: str
    guessed: bool
    classes: Labels = field(default_factory=list)
    shift: Column = field(default_factory=lambda: np.zeros(1))
    scale: Column = field(default_factory=lambda: np.ones(1))

    @property
    def n_sums(self) -> int:
        """How many numbers are summed per cell and fold, as far as the first rows tell."""
        return 2 + max(2 * len(self.shift), sum(map(len, self.classes)))


@dataclass(frozen=True)
class TargetPart:
    """What is known of the target of some rows.

    `classes` and `counts` (of rows) for each column of y, or, for numbers, the smallest and largest value,
    and the weighted sums of each output and its square.
    """

    classes: Labels
    counts: list[NDArray[np.intp]]
    low: Column
    high: Column
    total: Column
    square: Column


def plan_target(y: NDArray[Any], weight: Column | None, target_type: str) -> TargetPlan:
    """Decide how a target is encoded, by its first rows."""
    kind = resolve_target_type(y, target_type)
    guessed = target_type == "auto"
    if kind in REGRESSION:
        target = encode_target(y, kind, weight)
        assert target.shift is not None
        assert target.scale is not None
        # A deviation of the smallest numbers may round to zero.
        scale = np.maximum(target.scale, np.finfo(np.float64).tiny)
        return TargetPlan(kind, guessed, [], target.shift, scale)
    if kind == "multilabel-indicator":
        n_outputs = y.shape[1]
        return TargetPlan(kind, guessed, [], np.zeros(n_outputs), np.ones(n_outputs))
    return TargetPlan(kind, guessed, [_not_too_many(np.unique(column)) for column in _columns(y)])


def encode_part(y: NDArray[Any], weight: Column | None, plan: TargetPlan) -> tuple[TargetPart, Target]:
    """Encode some rows; return what is known of them, and what to sum."""
    _check_kind(y, plan)
    if not plan.classes:
        outputs, ends, total, square = _relative(y, plan)
        if weight is not None:
            with np.errstate(over="ignore"):
                weighted = weight * outputs
                total, square = weighted.sum(axis=1), np.einsum("ij,ij->i", weighted, outputs)
        if not np.all(np.isfinite(square)):
            raise ValueError(_TOO_LARGE)
        part = TargetPart([], [], ends[:, 0], ends[:, 1], total, square)
        values = np.ascontiguousarray(outputs.T)
        if plan.kind == "continuous":  # squared while it is summed
            return part, Target(plan.kind, None, None, values, np.empty(0), 1, constant=False)
        squares = np.square(values)
        # Several outputs are standardised each by itself, so their squares are summed each by itself.
        summed = np.hstack([values, squares]) if plan.kind in REGRESSION else values
        norm = squares.sum(axis=1)
        return part, Target(plan.kind, None, None, summed, norm, summed.shape[1], constant=False)
    coded = [_codes(column, known) for column, known in zip(_columns(y), plan.classes, strict=True)]
    classes = [labels for labels, _ in coded]
    counts = [np.bincount(codes, minlength=len(labels)) for labels, codes in coded]
    nothing = np.empty(0)
    part = TargetPart(classes, counts, nothing, nothing, nothing, nothing)
    if plan.kind in _ONE_COLUMN:
        return part, Target.of_classes(plan.kind, classes[0], coded[0][1])
    return part, Target.of_values(
        plan.kind, classes, np.hstack([np.eye(len(labels))[codes] for labels, codes in coded])
    )


def _relative(y: NDArray[Any], plan: TargetPlan) -> tuple[Column, Column, Column, Column]:
    """Return numbers relative to the first guess, outputs first, with both ends and the sums of each output.

    The sums are those of the numbers and of their squares.
    """
    values = _columns(y).astype(np.float64, order="C")
    ends = np.stack([values.min(axis=1), values.max(axis=1)], axis=1)
    shift, scale = plan.shift, plan.scale
    if max(np.abs(ends).max(), np.abs(shift).max()) > 1e300:  # of a part of them, differences are finite
        values, ends, shift, scale = values * 0.25, ends * 0.25, shift * 0.25, scale * 0.25
    sums = [relate_numbers(*output) for output in zip(values, shift, scale, strict=True)]
    total, square = np.array(sums).T
    with np.errstate(over="ignore"):
        ends = (ends - shift[:, None]) / scale[:, None]
    return values, ends, total, square


def _columns(y: NDArray[Any]) -> NDArray[Any]:
    return y.reshape(1, -1) if y.ndim == 1 else y.T


def _check_kind(y: NDArray[Any], plan: TargetPlan) -> None:
    """Refuse rows that contradict what the first rows looked like."""
    if not plan.guessed or plan.kind in REGRESSION or y.dtype.kind in "OUS":
        return
    wrong = y != np.floor(y) if y.dtype.kind == "f" else np.zeros(len(y), dtype=bool)
    if plan.kind == "multilabel-indicator":
        wrong = (y != 0) & (y != 1)
    if np.any(wrong):
        raise ValueError(
            f"y looked like {plan.kind!r} in the first rows, but holds {y[wrong][0]} further on. "
            "Set target_type to say which kind it is."
        )


def _codes(y: NDArray[Any], known: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the classes there are and the code of each row, quickly where the classes are known."""
    if y.dtype.kind != "O":
        codes = np.minimum(np.searchsorted(known, y), len(known) - 1)
        if np.array_equal(known[codes], y):
            return known, codes
    labels, codes = np.unique(y, return_inverse=True)
    return _not_too_many(labels), codes.reshape(-1)


def _not_too_many(labels: NDArray[Any]) -> NDArray[Any]:
    if len(labels) > _MOST_CLASSES:
        raise ValueError(
            f"y has {len(labels)} classes or more, too many for batches (at most {_MOST_CLASSES}). "
            "Set target_type='continuous' if they are numbers."
        )
    return labels


def merge_targets(a: TargetPart, b: TargetPart) -> tuple[TargetPart, list[NDArray[np.intp]]]:
    """Return what is known of two parts together, and where the outputs of each go."""
    if not a.classes:
        keep = np.arange(len(a.low))
        low, high = np.minimum(a.low, b.low), np.maximum(a.high, b.high)
        return TargetPart([], [], low, high, a.total + b.total, a.square + b.square), [keep, keep]
    classes = [_not_too_many(np.union1d(*pair)) for pair in zip(a.classes, b.classes, strict=True)]
    counts = [np.zeros(len(labels), dtype=np.intp) for labels in classes]
    start = np.cumsum([0, *(len(labels) for labels in classes)])
    places = []
    for part in (a, b):
        within = [np.searchsorted(*pair) for pair in zip(classes, part.classes, strict=True)]
        for count, place, more in zip(counts, within, part.counts, strict=True):
            count[place] += more
        places.append(np.concatenate([at + place for at, place in zip(start, within, strict=False)]))
    return replace(a, classes=classes, counts=counts), places


@dataclass(frozen=True)
class WholeTarget:
    """The target of all rows: how sums of parts become sums of the target that `encode_target` gives."""

    kind: str
    plan: TargetPlan
    classes: Any
    n_outputs: int
    constant: bool
    class_counts: NDArray[np.intp] | None
    mean: Column
    deviation: Column

    @property
    def of_numbers(self) -> bool:
        return self.kind in REGRESSION

    @property
    def units(self) -> tuple[Column | None, Column | None]:
        """What is taken off numbers and then divided by; None for classes."""
        if not self.of_numbers:
            return None, None
        return self.plan.shift + self.mean * self.plan.scale, self.deviation * self.plan.scale

    def encode(self, y: NDArray[Any]) -> Target:
        """Encode some of the rows in the way of all."""
        if not self.plan.classes:
            raw = np.ascontiguousarray(_columns(y).T, dtype=np.float64)
            values = (_relative(y, self.plan)[0].T - self.mean) / self.deviation
            target = replace(Target.of_values(self.kind, self.classes, values), constant=self.constant)
            if not self.of_numbers:
                return target
            shift, scale = self.units
            return replace(target, raw=raw, shift=shift, scale=scale)
        labels = self.classes if self.kind not in _ONE_COLUMN else [self.classes]
        codes = [np.searchsorted(known, column) for known, column in zip(labels, _columns(y), strict=True)]
        if self.kind not in _ONE_COLUMN:
            one_hot = np.hstack([np.eye(len(known))[code] for known, code in zip(labels, codes, strict=True)])
            return replace(Target.of_values(self.kind, self.classes, one_hot), constant=self.constant)
        if len(self.classes) != 2:
            return Target.of_classes(self.kind, self.classes, codes[0])
        values = math.sqrt(2.0) * codes[0].reshape(-1, 1).astype(np.float64)
        return replace(Target.of_values(self.kind, self.classes, values), constant=self.constant)

    def whole_sums(self, sums: Column) -> Column:
        """Return weight, squared norm and outputs of the final target from what was summed of parts."""
        if self.kind in _ONE_COLUMN and len(self.classes) == 2:
            second = sums[..., 3]
            return np.stack([sums[..., 0], 2.0 * second, math.sqrt(2.0) * second], axis=-1)
        if not self.of_numbers:
            return sums
        n = self.n_outputs
        weight, total = sums[..., :1], sums[..., 2 : 2 + n]
        square = sums[..., 2 + n :] if n > 1 else sums[..., 1:2]
        square = (square - self.mean * (2.0 * total - self.mean * weight)) / self.deviation**2
        total = (total - self.mean * weight) / self.deviation
        norm = np.maximum(square, 0.0).sum(axis=-1, keepdims=True)
        return np.concatenate([weight, norm, total], axis=-1)

    def whole_gram(self, gram: Column, sums: Column) -> Column:
        """Return the sums of products of the final target, given those of parts and the sums of all rows."""
        if self.plan.classes or not self.of_numbers:
            return gram
        n = self.n_outputs
        crossed = np.outer(self.mean, sums[2 : 2 + n])
        centred = gram[:n, :n] - crossed - crossed.T + sums[0] * np.outer(self.mean, self.mean)
        return centred / np.outer(self.deviation, self.deviation)


def whole_target(part: TargetPart, plan: TargetPlan, weight: float) -> WholeTarget:
    """Return the target of all rows, whose total weight is given."""
    one = np.ones(max(len(part.low), 1))
    if plan.classes:
        n_outputs = sum(len(labels) for labels in part.classes)
        constant = all(len(labels) < 2 for labels in part.classes)
        if plan.kind not in _ONE_COLUMN:
            return WholeTarget(plan.kind, plan, part.classes, n_outputs, constant, None, 0 * one, one)
        kind = plan.kind
        if n_outputs > 2 and kind == "binary":
            if not plan.guessed:
                raise ValueError(f"target_type='binary' needs at most two classes, got {n_outputs}")
            kind = "multiclass"
        n_outputs = 1 if n_outputs == 2 else n_outputs
        return WholeTarget(kind, plan, part.classes[0], n_outputs, constant, part.counts[0], 0 * one, one)
    varies = part.high > part.low
    constant = not np.any(varies)
    if plan.kind not in REGRESSION:
        classes = np.arange(len(one))
        return WholeTarget(plan.kind, plan, classes, len(one), constant, None, 0 * one, one)
    mean = part.total / weight
    variance = np.maximum(part.square / weight - mean**2, 0.0)
    if not np.all(np.isfinite(variance)):
        raise ValueError(_TOO_LARGE)
    mean = np.where(varies, mean, part.low)
    deviation = np.where(varies & (variance > 0), np.sqrt(variance), 1.0)
    return WholeTarget(plan.kind, plan, None, len(one), constant, None, mean, deviation)
