"""`Inputs`: what networks are given, once a transformation was applied to the numeric columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tabstretch.study.datasets import PARTS, Dataset
from tabstretch.study.datasets.dataset import Task


@dataclass(frozen=True, eq=False)  # arrays have no single answer to ==
class Inputs:
    """The parts of a data set as arrays for networks: dictionaries have "train", "val" and "test"."""

    task: Task
    numeric: dict[str, NDArray[np.float32]]
    categorical: dict[str, NDArray[np.int64]]
    """Codes below `n_categories`."""
    y: dict[str, NDArray[np.float32] | NDArray[np.int64]]
    """The target of regression, standardised by the training part, or the number of the class."""
    n_categories: tuple[int, ...]
    n_outputs: int
    target_mean: float = 0.0
    target_scale: float = 1.0

    @property
    def is_regression(self) -> bool:
        """Whether the target is a quantity."""
        return self.task == "regression"

    @property
    def width(self) -> int:
        """How many numeric inputs a row has."""
        return self.numeric["train"].shape[1]


def inputs_of(dataset: Dataset, transform: Callable[[NDArray[np.float64]], NDArray[np.float32]]) -> Inputs:
    """Apply a fitted transformation to all parts, and standardise the target of regression."""
    y: dict[str, NDArray[np.float32] | NDArray[np.int64]]
    mean, scale = 0.0, 1.0
    if dataset.task == "regression":
        train = np.asarray(dataset.y["train"], dtype=np.float64)
        if (train == train[0]).all():  # of fewer rows than there are, by `train_rows` of the plan
            raise ValueError(
                f"the target is {train[0]:g} in all {len(train)} rows of training: nothing to learn"
            )
        mean, scale = float(train.mean()), float(train.std())
        y = {part: ((dataset.y[part] - mean) / scale).astype(np.float32) for part in PARTS}
    else:
        y = {part: dataset.y[part].astype(np.int64) for part in PARTS}
    return Inputs(
        task=dataset.task,
        numeric={part: transform(dataset.numeric[part]) for part in PARTS},
        categorical=dataset.categorical,
        y=y,
        n_categories=dataset.n_categories,
        n_outputs=dataset.n_outputs,
        target_mean=mean,
        target_scale=scale,
    )


def with_codes_as_columns(inputs: Inputs) -> Inputs:
    """Turn codes into numeric columns, standardised by the training part, for networks that embed none."""
    if not inputs.n_categories:
        return inputs
    mean, scale = code_moments(inputs.categorical["train"])
    numeric = {
        part: np.hstack([inputs.numeric[part], scaled_codes(inputs.categorical[part], mean, scale)])
        for part in PARTS
    }
    none = {part: codes[:, :0] for part, codes in inputs.categorical.items()}
    return replace(inputs, numeric=numeric, categorical=none, n_categories=())


def code_moments(codes: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the mean and the standard deviation of each column of codes; a constant column has scale 1."""
    scale = codes.std(axis=0)
    return codes.mean(axis=0), np.where(scale > 0, scale, 1.0)


def scaled_codes(
    codes: NDArray[np.int64], mean: NDArray[np.float64], scale: NDArray[np.float64]
) -> NDArray[np.float32]:
    """Return codes as standardised columns."""
    return ((codes - mean) / scale).astype(np.float32)
