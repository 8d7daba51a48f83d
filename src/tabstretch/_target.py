"""Encode any kind of target as the vector whose variation shapes the widths."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import type_of_target

REGRESSION = ("continuous", "continuous-multioutput")
TARGET_TYPES = ("binary", "multiclass", "multilabel-indicator", "multiclass-multioutput", *REGRESSION)
# A target of more distinct whole numbers is rather a quantity than classes.
MOST_INTEGER_CLASSES = 20


@dataclass(frozen=True)
class Target:
    """An encoded target: `codes` of one-hot classes, or `values` with their squared norms.

    Attributes
    ----------
    kind : str
        One of `TARGET_TYPES`.
    classes : array, list of arrays or None
        Class labels in the order of their codes; None for regression.
    codes : array of shape (n_rows,) or None
        Class of each row, where the target is one column of more than two classes.
    values : array of shape (n_rows, n_outputs)
        Standardised outputs or indicators; empty where `codes` serve.
    square : array of shape (n_rows,)
        Squared norm of each row of `values`.
    constant : bool
        Whether all rows have the same target.
    """

    kind: str
    classes: Any
    codes: NDArray[np.int32] | None
    values: NDArray[np.float64]
    square: NDArray[np.float64]
    n_outputs: int
    constant: bool
    raw: NDArray[np.float64] | None = None
    """For regression, the outputs in their own units."""
    shift: NDArray[np.float64] | None = None
    scale: NDArray[np.float64] | None = None
    """For regression, what was taken off and divided by to standardise."""

    @classmethod
    def of_values(cls, kind: str, classes: Any, values: NDArray[np.float64]) -> Target:
        values = np.ascontiguousarray(values)
        square = np.einsum("ij,ij->i", values, values)
        constant = bool(np.all(values == values[0]))
        return cls(kind, classes, None, values, square, values.shape[1], constant)

    @classmethod
    def of_classes(cls, kind: str, classes: Any, codes: NDArray[np.intp]) -> Target:
        n_classes = len(classes)
        return cls(
            kind, classes, codes.astype(np.int32), np.empty((0, 0)), np.empty(0), n_classes, n_classes < 2
        )

    @property
    def labels(self) -> NDArray[np.int32] | None:
        """Class of each row, for stratifying; None where there is no single class."""
        if self.kind not in ("binary", "multiclass") or self.codes is not None:
            return self.codes
        return (self.values[:, 0] > 0).astype(np.int32)

    def take(self, rows: NDArray[np.intp]) -> Target:
        """Return the target of some rows, encoded as before."""
        if self.codes is not None:
            return replace(self, codes=self.codes[rows])
        raw = None if self.raw is None else self.raw[rows]
        return replace(self, values=self.values[rows], square=self.square[rows], raw=raw)

    @property
    def n_rows(self) -> int:
        return len(self.values) if self.codes is None else len(self.codes)


def resolve_target_type(y: NDArray[Any], target_type: str) -> str:
    """Return the kind of a target: the one asked for or, for "auto", scikit-learn's `type_of_target`."""
    if target_type not in ("auto", *TARGET_TYPES):
        raise ValueError(f"target_type must be 'auto' or one of {TARGET_TYPES}, got {target_type!r}")
    columns = y.shape[1] if y.ndim == 2 else 1
    if target_type in (*REGRESSION, "multilabel-indicator"):
        _check_numbers(y, target_type)
    if target_type == "auto":
        with np.errstate(all="ignore"):  # it compares numbers with their integer parts, which may overflow
            kind = str(type_of_target(y, input_name="y"))
        if kind not in TARGET_TYPES:
            raise ValueError(
                f"Unknown label type: y looks like {kind!r}, supported are {TARGET_TYPES}. "
                "Set target_type to say which one it is."
            )
        return kind
    if target_type == "continuous" and columns > 1:
        return "continuous-multioutput"
    if target_type in ("binary", "multiclass") and columns > 1:
        raise ValueError(f"target_type={target_type!r} needs one target column, got y of shape {y.shape}")
    return target_type


def _check_numbers(y: NDArray[Any], target_type: str) -> None:
    """Refuse text that cannot be read as numbers."""
    try:
        y.astype(np.float64, copy=False)
    except ValueError as error:
        raise ValueError(
            f"target_type={target_type!r} needs numbers, but y holds text ({error}): "
            "say target_type='multiclass' for labels"
        ) from None


def remark_on_classes(labels: NDArray[Any]) -> str | None:
    """Return what to tell whoever has not said that a target of so many whole numbers holds classes."""
    n_distinct = len(np.unique(labels)) if labels.dtype.kind in "iuf" else 0
    if n_distinct <= MOST_INTEGER_CLASSES:
        return None
    return (
        f"The target's {n_distinct} distinct whole numbers are taken for as many classes, as scikit-learn "
        "does. For counts, amounts and other quantities say target_type='continuous' (in commands "
        "--target-type continuous)."
    )


def encode_target(y: NDArray[Any], kind: str, weight: NDArray[np.float64] | None = None) -> Target:
    """Encode a validated target: standardised numbers, one-hot classes, or indicators as they are."""
    if kind in REGRESSION:
        raw = _two_d(y).astype(np.float64)
        values, shift, scale = _standardise(raw, weight)
        return replace(Target.of_values(kind, None, values), raw=raw, shift=shift, scale=scale)
    if kind == "multilabel-indicator":
        values = _two_d(y).astype(np.float64)
        return Target.of_values(kind, np.arange(values.shape[1]), values)
    if kind == "multiclass-multioutput":
        labels = [np.unique(column, return_inverse=True) for column in _two_d(y).T]
        one_hot = [np.eye(len(classes))[codes] for classes, codes in labels]
        return Target.of_values(kind, [classes for classes, _ in labels], np.hstack(one_hot))
    classes, codes = np.unique(y.ravel(), return_inverse=True)
    if kind == "binary" and len(classes) > 2:
        raise ValueError(
            f"target_type='binary' needs at most two classes, got {len(classes)}: {classes[:10]}"
        )
    if len(classes) == 2:
        # Two classes are one number: its variation times sqrt(2) is that of the one-hot pair.
        return Target.of_values(kind, classes, math.sqrt(2.0) * codes.reshape(-1, 1).astype(np.float64))
    return Target.of_classes(kind, classes, codes)


def _two_d(y: NDArray[Any]) -> NDArray[Any]:
    return y.reshape(-1, 1) if y.ndim == 1 else y


def _standardise(
    values: NDArray[np.float64], weight: NDArray[np.float64] | None
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return standardised columns, what was taken off them and what they were then divided by."""
    # Scaling by the largest magnitude first keeps squares of huge and tiny targets finite and exact.
    largest = np.abs(values).max(axis=0)
    largest = np.where(largest > 0, largest, 1.0)
    # Older numpys warn of an overflow where they divide by the smallest numbers: of these take a multiple.
    multiple = np.where(largest < 1e-290, 2.0**200, 1.0)
    values = (values * multiple) / (largest * multiple)
    constant = np.all(values == values[0], axis=0)
    mean = np.average(values, axis=0, weights=weight)
    values -= mean
    deviation = np.sqrt(np.average(values * values, axis=0, weights=weight))
    deviation = np.where(deviation > 0, deviation, 1.0)
    values /= deviation
    values[:, constant] = 0.0
    return values, mean * largest, deviation * largest
