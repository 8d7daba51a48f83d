"""A random sample of rows that pass by only once, of bounded size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from tabstretch._kernels import scramble_in, tell_copies_apart

# Rows among which copies are looked for; a power of two.
_SOUGHT_TOGETHER = 1 << 19


def seed_of(random_state: Any) -> int:
    """Return a seed: the one given, or one that is drawn."""
    if isinstance(random_state, Integral):
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def random_keys(seed: int, first_row: int, n_rows: int) -> NDArray[np.float64]:
    """Return a random number for each row, which depends on the row's place in the data only.

    They are none that the seed gives by itself: who has made a column with `default_rng(0).random` would get
    a sample of its smallest values.
    """
    return np.random.Generator(np.random.PCG64([seed, 1]).advance(first_row)).random(n_rows)


def hash_rows(seed: list[int], columns: Sequence[NDArray[Any]]) -> NDArray[np.uint64]:
    """Return 64 bits for each row that only rows with equal numbers in all columns share."""
    key = np.full(len(columns[0]), np.random.SeedSequence(seed).generate_state(1, np.uint64)[0])
    for column in columns:
        scramble_in(np.ascontiguousarray(column, dtype=np.float64).view(np.uint64), key)
    return key


def keys_of_values(seed: int, X: Any, first_row: int = 0) -> NDArray[np.float64]:
    """Return a random number for each row of a matrix, which depends on its values, not on its place.

    Of equal rows only one follows its values and the others their places, or a value that is most of a
    table might be all of a sample, or nothing of it. Rows are looked through in blocks, so that copies in
    different blocks may have the same number.
    """
    key = hash_rows([seed, 2], [X[:, j] for j in range(X.shape[1])])
    for start in range(0, len(key), _SOUGHT_TOGETHER):
        block = key[start : start + _SOUGHT_TOGETHER]
        tell_copies_apart(block, np.zeros(_SOUGHT_TOGETHER, np.uint64), np.uint64(first_row + start))
    return np.asarray(key >> np.uint64(11), dtype=np.float64) * 2.0**-53


def smallest_keys(key: NDArray[np.float64], size: int) -> NDArray[np.intp]:
    """Return which rows have the smallest keys, in their order."""
    return np.sort(np.argpartition(key, size)[:size]) if len(key) > size else np.arange(len(key))


@dataclass(frozen=True)
class RowSample:
    """The rows with the smallest of random keys, which are drawn for each row.

    The sample of two parts together is that of the whole, whatever the parts are. Rows are in the order of
    the data.
    """

    key: NDArray[np.float64]
    X: NDArray[Any]
    y: NDArray[Any]
    weight: NDArray[np.float64] | None

    def smallest(self, size: int) -> RowSample:
        """Return at most `size` rows."""
        chosen = smallest_keys(self.key, size)
        weight = None if self.weight is None else self.weight[chosen]
        return RowSample(self.key[chosen], self.X[chosen], self.y[chosen], weight)

    def merge(self, other: RowSample, size: int) -> RowSample:
        """Return the sample of these rows and others that come after them."""
        weight = None
        if self.weight is not None and other.weight is not None:
            weight = np.concatenate([self.weight, other.weight])
        both = RowSample(
            np.concatenate([self.key, other.key]),
            np.concatenate([self.X, other.X]),
            np.concatenate([self.y, other.y]),
            weight,
        )
        return both.smallest(size)
