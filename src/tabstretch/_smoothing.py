"""Smooth the target along a column: adaptive Nadaraya-Watson regression on cells.

The bandwidth at x is the distance to the k-th nearest training row. Besides the estimates, the
smoother returns how much two neighbouring estimates would differ by noise alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tabstretch._cells import Column
from tabstretch._smoothing_kernels import find_bandwidths, find_spread_bandwidths, smooth_cells

# The Gaussian kernel is cut where it has fallen to 3e-10, or to 4e-6 where cells are approximate anyway.
EXACT_REACH, ROUGH_REACH = 6.6, 5.0
_NO_NOISE = np.empty(0)


class Smooth(NamedTuple):
    """Estimates at some cells.

    Attributes
    ----------
    estimate : array of shape (n_queries, n_outputs)
    mass : array of shape (n_queries,)
        Kernel-weighted number of training rows behind each estimate.
    step_noise : array of shape (n_queries,)
        Variance of the difference between an estimate and the one before it, by noise alone.
    """

    estimate: Column
    mass: Column
    step_noise: Column


def default_neighbors(n_rows: float) -> float:
    """Return the number of neighbours for a column of `n_rows` values (k in the paper, which names none).

    >>> default_neighbors(1000)
    100.0
    """
    return max(5.0, float(round(n_rows ** (2.0 / 3.0))))


def smooth(
    position: Column,
    weight: Column,
    total: Column,
    query: NDArray[np.intp],
    n_neighbors: float,
    noise: Column | None = None,
    *,
    extent: tuple[Column, Column] | None = None,
    reach: float = EXACT_REACH,
) -> Smooth:
    """Estimate the target at the cells `query` from all cells with weight.

    Parameters
    ----------
    position, weight : arrays of shape (n_cells,)
        Increasing positions and training weights.
    total : array of shape (n_cells, n_outputs)
        Weighted sums of the target.
    query : array of int
        Cells at which to estimate, increasing.
    n_neighbors : float
        Number (weight) of training rows within one bandwidth; capped at all there are.
    noise : array of shape (n_cells,), optional
        Weighted sum of squared residuals of the training rows in each cell.
    extent : tuple of two arrays of shape (n_cells,), optional
        Low and high ends of the cells, if they are ranges of values. For the bandwidth, weight is spread
        evenly between them: it then follows the rows and not where the cells happen to be cut.
    reach : float
        Distance, in bandwidths, beyond which training rows do not count.
    """
    n_outputs = total.shape[1]
    result = Smooth(np.empty((len(query), n_outputs)), np.empty(len(query)), np.zeros(len(query)))
    by_output = np.ascontiguousarray(total.T)
    cumulative = np.concatenate([[0.0], np.cumsum(weight)])
    wanted = min(n_neighbors, float(cumulative[-1]))
    bandwidth = np.empty(len(query))
    # Sums of fractional weights may miss the wanted weight by rounding.
    wanted *= 1.0 - 1e-12
    if extent is None:
        find_bandwidths(position, cumulative, query, wanted, bandwidth)
    else:
        find_spread_bandwidths(position, *extent, cumulative, query, wanted, bandwidth)
    noise = _NO_NOISE if noise is None else noise
    smooth_cells(position, weight, by_output, query, bandwidth, reach, noise, *result)
    return result
