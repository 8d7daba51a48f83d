"""Steps a transformation is made of where a library alone would fail on some finite columns.

Each is fitted on the training rows by `of`, and has `transform`, like the estimators beside which it stands.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from rtdl_num_embeddings import PiecewiseLinearEncoding, compute_bins
from sklearn.preprocessing import PowerTransformer, StandardScaler

Matrix = NDArray[np.float64]

# Columns whose largest number is outside of these powers of two are scaled: above, squares and sums would
# overflow; below, absolute thresholds of the libraries (1e-7, 1e-15) would take the column for constant.
_SMALLEST, _LARGEST = -10, 100
_BEYOND = 2.0**200
# Yeo-Johnson's powers of numbers far beyond the training part.
_HUGE = 1e100
# Differences of numbers nearer to 0 have inverses that overflow: beside numbers of ordinary size they are 0.
_NOTHING = 2.0**-900
# In float32, products of two numbers, or of one and the inverse of a bin's width, must stay finite.
_FAR, _NARROW = 2.0**40, 2.0**-40


@dataclass(frozen=True, eq=False)
class SafeRange:
    """Columns at which no library overflows. Ordinary ones, that is nearly all, stay as they are.

    Extreme columns are multiplied by a power of two, which loses no digit.

    NOTE[DIFF]: a column that is constant in the training part becomes 0 everywhere. scikit-learn's scalers
    would hand other values on as they are, of which a network has learned nothing.
    """

    exponents: NDArray[np.int32]
    varies: NDArray[np.bool_]

    @classmethod
    def of(cls, X: Matrix) -> Self:
        """Look at the largest number of each column."""
        _, largest = np.frexp(np.abs(X).max(axis=0))
        exponents = np.clip(largest, _SMALLEST, _LARGEST) - largest
        return cls(exponents, _varies(X))

    def transform(self, X: Matrix) -> Matrix:
        """Scale, and clip what is far beyond the training part."""
        with np.errstate(over="ignore", under="ignore"):
            scaled = np.ldexp(X, self.exponents)
        scaled[np.abs(scaled) < _NOTHING] = 0.0
        return np.where(self.varies, np.clip(scaled, -_BEYOND, _BEYOND), 0.0)


def _varies(X: Matrix) -> NDArray[np.bool_]:
    return (X[:1] != X).any(axis=0)


@dataclass(frozen=True, eq=False)
class YeoJohnson:
    """Yeo-Johnson's power of each column, as long as it is one of use; `broken` columns stay as they are.

    NOTE[DIFF]: scikit-learn's powers overflow, or make one number of all: of the longitudes in
    california_housing, for example, which lie between -124 and -114, a standard deviation of 3e-15 is left.
    """

    safe: SafeRange
    powers: dict[int, Any]
    broken: tuple[int, ...]

    @classmethod
    def of(cls, X: Matrix) -> Self:
        """Fit a power to each column that is not constant."""
        safe = SafeRange.of(X)
        powers = {j: _fitted_power(X[:, [j]]) for j in np.flatnonzero(safe.varies).tolist()}
        usable = {j: power for j, power in powers.items() if power is not None}
        return cls(safe, usable, tuple(j for j, power in powers.items() if power is None))

    def transform(self, X: Matrix) -> Matrix:
        """Apply the powers; they may be as large as 1e100 beyond the training part."""
        out = self.safe.transform(X)
        for j, power in self.powers.items():
            out[:, j] = _power_of(power, X[:, [j]])[:, 0]
        return out


def _fitted_power(column: Matrix) -> Any:
    """Return the fitted power of one column, None if no power makes it a column of unit variance."""
    power = PowerTransformer(standardize=False)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what overflows is found below
        try:
            power.fit(column)
        except (ArithmeticError, ValueError, RuntimeError):  # SciPy's search has no end where all is flat
            return None
        if not np.isfinite(power.lambdas_).all():
            return None
        spread = float(StandardScaler().fit_transform(_power_of(power, column)).std())
    return power if abs(spread - 1) < 1e-3 else None


def _power_of(power: Any, column: Matrix) -> Matrix:
    with np.errstate(all="ignore"):
        return np.clip(power.transform(column), -_HUGE, _HUGE)


@dataclass(frozen=True, eq=False)
class PiecewiseLinear:
    """Piecewise linear encoding: as many inputs per column as it has bins, a zero for a constant column.

    The encoding does not depend on a column's unit and origin, but float32 does: columns are first centred
    on their median and measured in their interquartile range.
    """

    centre: Matrix
    spread: Matrix
    varies: NDArray[np.bool_]
    edges: tuple[NDArray[np.float32], ...]
    """Of the columns that vary, in these units."""

    @classmethod
    def of(cls, X: Matrix, n_bins: int, target: NDArray[Any] | None = None) -> Self:
        """Find bins by quantiles or, if there is a target, by trees; classes are integers.

        Parameters
        ----------
        X : array of shape (n_rows, n_columns)
            As `SafeRange` returns it.
        n_bins : int
            At least 2; fewer where there are not so many rows.
        target : array of shape (n_rows,), default=None
            A quantity, if it is a float, or classes.
        """
        low, centre, high = np.percentile(X, [25, 50, 75], axis=0)
        spread = np.where(high > low, high - low, X.std(axis=0))
        varies = _varies(X) & (spread > 0)
        self = cls(centre[varies], spread[varies], varies, ())
        scaled = self._scaled(X)
        edges = tuple(_edges(scaled[:, [j]], n_bins, target) for j in range(scaled.shape[1]))
        return cls(self.centre, self.spread, varies, edges)

    @property
    def widths(self) -> NDArray[np.int64]:
        """How many inputs each column becomes."""
        widths = np.ones(len(self.varies), dtype=np.int64)
        widths[self.varies] = [len(edges) - 1 for edges in self.edges]
        return widths

    def transform(self, X: Matrix) -> NDArray[np.float32]:
        """Encode rows; the first and the last bin of a column go on beyond the training part."""
        widths = self.widths
        out = np.zeros((len(X), int(widths.sum())), dtype=np.float32)
        starts = (np.cumsum(widths) - widths)[self.varies]
        scaled = torch.from_numpy(self._scaled(X))
        for j, (start, edges) in enumerate(zip(starts, self.edges, strict=True)):
            # One by one: the library fills all columns of a call to the number of bins of the widest.
            encode = PiecewiseLinearEncoding([torch.from_numpy(edges)])
            out[:, start : start + len(edges) - 1] = encode(scaled[:, [j]]).numpy()
        return out

    def _scaled(self, X: Matrix) -> NDArray[np.float32]:
        with np.errstate(over="ignore"):
            scaled = (X[:, self.varies] - self.centre) / self.spread
        return np.clip(scaled, -_FAR, _FAR).astype(np.float32)


def _edges(column: NDArray[np.float32], n_bins: int, target: NDArray[Any] | None) -> NDArray[np.float32]:
    """Return the edges of the bins of one column that is not constant; it is two at least."""
    n_bins = min(n_bins, len(column) - 1)  # the library's own bounds: more than 1, less than rows
    if n_bins < 2:
        return np.unique(column)[[0, -1]]
    X = torch.from_numpy(column.astype(np.float64))  # ranks of quantiles are rounded in float32
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*just two bin edges")  # it is min-max scaling then: fine
        if target is None:
            (found,) = compute_bins(X, n_bins)
        else:
            (found,) = compute_bins(
                X,
                n_bins,
                tree_kwargs=_tree_kwargs(len(column)),
                y=torch.from_numpy(target),
                regression=target.dtype.kind == "f",
            )
    edges = np.unique(found.numpy().astype(np.float32))
    return edges[np.diff(edges, prepend=-math.inf) > _NARROW]


def _tree_kwargs(n_rows: int) -> dict[str, Any]:
    """Return the settings of TALENT, which are those of the library's documentation.

    NOTE[DIFF]: with fewer than 512 rows, leaves of 64 would leave hardly any bins; they are an eighth then.
    """
    return {
        "min_samples_leaf": min(64, max(n_rows // 8, 1)),
        "min_impurity_decrease": 1e-4,
        "random_state": 0,
    }
