"""Noise on the training target; validation and test stay clean, so that scores measure the true signal."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tabstretch.study.datasets import Dataset


def with_noise(dataset: Dataset, level: float) -> Dataset:
    """Return the data set with a noisy training target.

    Parameters
    ----------
    dataset : Dataset
        Its checksum stays that of the clean data.
    level : float
        Of classes, the share of labels that are replaced by any label at random, perhaps the same one. Of
        a quantity, the standard deviation of Gaussian noise in units of the target's own (η in the paper).
        The rows that a lower level changes are among those of a higher one.
    """
    if level == 0:
        return dataset
    rng = np.random.default_rng(0)
    y = dataset.y["train"]
    if dataset.classes is None:
        noisy = y + level * y.std() * rng.standard_normal(len(y))
    else:
        changed = rng.permutation(len(y))[: round(level * len(y))]
        noisy = y.copy()
        noisy[changed] = rng.integers(len(dataset.classes), size=len(y))[changed]
    return replace(dataset, y={**dataset.y, "train": noisy})
