"""Rows -> training, validation and test, 64/16/20, the same on every machine."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tabstretch.study.datasets.sources import option
from tabstretch.study.datasets.tables import PARTS

_VAL, _TEST = 0.16, 0.20


def split_rows(n_rows: int, labels: Sequence[str] | None = None) -> dict[str, NDArray[np.int64]]:
    """Return the row numbers of each part, shuffled with seed 0 and stratified if there are labels.

    Of every class one row goes to training, so that no part has a class that was never trained on. The
    others are laid out class by class, and test and validation rows are taken from them at even distances:
    a class of any size is in each part about as often as its share says. A class of one row is in training
    only. Where the first rows of the classes leave too few others, test and validation are smaller.
    """
    # Ranks of plain random numbers: what shuffles may draw is not promised to stay the same in NumPy.
    order = np.argsort(np.random.default_rng(0).random(n_rows), kind="stable").astype(np.int64)
    pool = order
    if labels is not None:
        codes = np.unique(np.asarray(labels, dtype=object), return_inverse=True)[1].reshape(-1)[order]
        firsts = np.unique(codes, return_index=True)[1]
        by_class = np.argsort(codes, kind="stable")
        pool = order[by_class[~np.isin(by_class, firsts)]]
    n_val, n_test = _held_out(n_rows, len(pool))
    is_test = _evenly(len(pool), n_test)
    is_val = np.zeros(len(pool), dtype=bool)
    is_val[np.flatnonzero(~is_test)[_evenly(len(pool) - n_test, n_val)]] = True
    part = np.zeros(n_rows, dtype=np.int64)
    part[pool[is_val]] = 1
    part[pool[is_test]] = 2
    return {name: order[part[order] == number] for number, name in enumerate(PARTS)}


def _held_out(n_rows: int, n_free: int) -> tuple[int, int]:
    """Return how many rows validation and test get, at least one each."""
    if n_rows < 3:
        raise ValueError(f"training, validation and test need a row each, got {n_rows} in all")
    if n_free < 2:
        raise ValueError(
            f"there are {n_rows - n_free} classes in {n_rows} rows, so that validation and test would have "
            f"classes that training has not; if the target is a quantity, say {option('task', 'regression')}"
        )
    n_val, n_test = max(1, round(n_rows * _VAL)), max(1, round(n_rows * _TEST))
    if n_val + n_test > n_free:
        n_val = max(1, round(n_free * _VAL / (_VAL + _TEST)))
        n_test = n_free - n_val
    return n_val, n_test


def _evenly(n_places: int, n_chosen: int) -> NDArray[np.bool_]:
    """Mark places at even distances.

    >>> _evenly(6, 2).astype(int)
    array([0, 0, 1, 0, 0, 1])
    """
    steps = np.arange(n_places + 1) * n_chosen // max(n_places, 1)
    return np.diff(steps) > 0
