"""Columns without gaps and as codes; everything is learned from the training part."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tabstretch.study.datasets.tables import listed, sorted_labels

_LARGEST_TARGET = 1e150
_FARTHEST = 1e15
"""Of a validation target, in standard deviations: networks and their losses are in float32."""


def imputed(column: NDArray[np.float64], train: NDArray[np.int64]) -> NDArray[np.float64]:
    """Fill gaps by the mean of the training part; a column it knows nothing of becomes 0."""
    known = column[train][~np.isnan(column[train])]
    if known.size == 0:
        return np.zeros_like(column)
    return np.where(np.isnan(column), _mean(known), column)


def _mean(values: NDArray[np.float64]) -> float:
    """Return the mean, rounded once: NumPy's depends on the processor, and the checksum must not."""
    try:
        return math.fsum(values) / len(values)
    except OverflowError:
        return math.fsum(values / len(values))


def encoded_column(
    column: list[str | None], train: NDArray[np.int64]
) -> tuple[NDArray[np.int64], tuple[str | None, ...]]:
    """Return codes and what they stand for; what training has not seen gets the code after the last."""
    seen = {column[row] for row in train}
    categories: list[str | None] = [*sorted_labels(label for label in seen if label is not None)]
    categories += [None] if None in seen else []
    code_of = {category: code for code, category in enumerate(categories)}
    codes = [code_of.get(value, len(categories)) for value in column]
    return np.array(codes, dtype=np.int64), tuple(categories)


def encoded_target(
    target: NDArray[np.float64] | list[str], name: str, rows: dict[str, NDArray[np.int64]]
) -> tuple[NDArray[np.float64] | NDArray[np.int64], tuple[str, ...] | None]:
    """Return the target and its classes, if it has any, once it is clear that it can be learned."""
    values = np.asarray(target, dtype=object) if isinstance(target, list) else target
    distinct = set(values[rows["train"]].tolist())
    if len(distinct) < 2:
        raise ValueError(
            f"the target {name!r} is {distinct.pop()!r} in all {len(rows['train'])} rows of the training "
            "part: there is nothing to learn"
        )
    if not isinstance(target, list):
        _check_scale(target, name, rows)
        return target, None
    for part in ("val", "test"):
        new = sorted_labels(set(values[rows[part]].tolist()) - distinct)
        if new:
            raise ValueError(
                f"class {new[0]!r} of the target {name!r} is in the {part} part and not in training, which "
                f"has {listed(sorted_labels(distinct))}; move some of its rows or remove them"
            )
    classes = tuple(sorted_labels(distinct))
    code_of = {label: code for code, label in enumerate(classes)}
    return np.array([code_of[label] for label in target], dtype=np.int64), classes


def _check_scale(target: NDArray[np.float64], name: str, rows: dict[str, NDArray[np.int64]]) -> None:
    """Refuse quantities whose squares no float holds: neither losses nor metrics could be computed."""
    values = np.asarray(target, dtype=np.float64)
    far = np.flatnonzero(np.abs(values) > _LARGEST_TARGET)
    if far.size:
        raise ValueError(
            f"the target {name!r} is {values[far[0]]:g} in row {far[0]} (counting from 0); numbers beyond "
            f"{_LARGEST_TARGET:g} have squares that overflow: divide it, or remove such rows"
        )
    train = values[rows["train"]]
    largest = float(np.abs(train).max())
    spread = largest * float((train / largest).std())
    if spread < 1 / _LARGEST_TARGET:
        raise ValueError(
            f"the target {name!r} has a standard deviation of {spread:.0e} in the training part, whose "
            "square no float holds; multiply it, for example by giving it in another unit"
        )
    away = np.abs(values[rows["val"]] - train.mean()) / spread
    if away.max() > _FARTHEST:
        row = rows["val"][away.argmax()]
        raise ValueError(
            f"the target {name!r} is {values[row]:g} in row {row} (counting from 0), in validation: "
            f"{away.max():.0e} standard deviations of the training part from its mean, too far for the "
            "numbers of networks; remove the row or correct it"
        )
