"""Fewer training rows, for studies that must end in hours; validation and test stay whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabstretch.study.datasets import Dataset


def with_fewer_rows(dataset: Dataset, most: int) -> Dataset:
    """Return the data set with at most so many training rows, in the order they had; 0 for all.

    They are drawn at random with a fixed seed, and those of a smaller number are among those of a larger one.
    What was learned from all rows stays: the means of missing numbers, and which categories there are.

    Parameters
    ----------
    dataset : Dataset
        Its checksum and its split stay those of the whole data.
    most : int
        The most training rows.
    """
    n_rows = dataset.n_rows["train"]
    if not 0 < most < n_rows:
        return dataset
    kept = np.sort(np.random.default_rng(0).permutation(n_rows)[:most])

    def cut(parts: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        return {**parts, "train": parts["train"][kept]}

    return replace(
        dataset, numeric=cut(dataset.numeric), categorical=cut(dataset.categorical), y=cut(dataset.y)
    )
