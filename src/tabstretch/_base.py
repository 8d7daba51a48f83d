"""What both transformers share once the widths of every column are known."""

from __future__ import annotations

from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from tabstretch._column import ColumnFit, fit_column
from tabstretch._monotone import OUT_OF_RANGE, MapTable, MonotoneMap
from tabstretch._summary import summary_table
from tabstretch._threads import map_in_threads
from tabstretch._validation import check_matrix, check_n_bins, check_range, check_stretched


class BaseStretch(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Transform, inverse, summary and storage of fitted columns."""

    n_bins: Any
    feature_range: tuple[float, float]
    out_of_range: str
    n_jobs: int | None

    def transform(self, X: Any) -> Any:
        """Stretch every column of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data with the columns seen in `fit`. NaN stays NaN.

        Returns
        -------
        array of the same shape, float32 for float32 input, else float64
        """
        check_is_fitted(self, "maps_")
        return self._forward(check_matrix(self, X, reset=False), self.n_jobs)

    def inverse_transform(self, X: Any) -> Any:
        """Map stretched values back to the original ones, exactly but for rounding.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Stretched data. What lies outside `feature_range` is treated as `out_of_range` says.

        Returns
        -------
        array of the same shape
        """
        check_is_fitted(self, "maps_")
        return self._backward(check_stretched(self, X), self.n_jobs)

    def summary(self) -> Any:
        """Return a pandas DataFrame with one row per column: what was fitted, and what it changed.

        Returns
        -------
        DataFrame indexed by column name, with

        - `n_bins`: the bins there are, after ties are merged;
        - `total_variation`: how far the estimated target moves along the column, noise removed;
        - `energy_before`, `energy_after`: discrete Dirichlet energy of the estimated target along the
          min-max scaled and along the stretched column;
        - `steepest_tenth`: the share of the output range that the steepest tenth of the data got;
        - `shrinkage`: the share of the target's influence that was given to the rank because of noise;
        - `fallback`: why the column could not be stretched as asked, if so.

        Without a target (`StretchTransformer`) the columns that need one are NaN.
        """
        check_is_fitted(self, "maps_")
        return summary_table(list(self.get_feature_names_out()), self._columns)

    def _store(self, columns: list[ColumnFit]) -> Self:
        low, high = check_range(self.feature_range)
        self._columns = columns
        self.bin_edges_ = [column.edges for column in columns]
        self.output_widths_ = [column.widths for column in columns]
        self.output_edges_ = [_output_edges(column.widths, low, high) for column in columns]
        self.n_bins_ = np.array([len(column.widths) for column in columns])
        self.fallback_ = [column.fallback for column in columns]
        self.maps_ = [
            MonotoneMap(edges, values, self.out_of_range)
            for edges, values in zip(self.bin_edges_, self.output_edges_, strict=True)
        ]
        self._forward, self._backward = MapTable(self.maps_), MapTable(self.maps_, inverse=True)
        return self

    def _check_common(self) -> None:
        check_range(self.feature_range)
        if self.out_of_range not in OUT_OF_RANGE:
            raise ValueError(f"out_of_range must be one of {OUT_OF_RANGE}, got {self.out_of_range!r}")

    def _fit_columns(self, X: NDArray[Any], **options: Any) -> list[ColumnFit]:
        n_bins = check_n_bins(self.n_bins, X.shape[1])
        jobs = ((X[:, j], int(n_bins[j])) for j in range(X.shape[1]))
        return map_in_threads(partial(fit_column, **options), jobs, self.n_jobs)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _output_edges(widths: NDArray[np.float64], low: float, high: float) -> NDArray[np.float64]:
    """Return where the edges go: from exactly `low` to exactly `high`, strictly increasing."""
    if len(widths) == 0:
        return np.array([low])
    inner = np.cumsum(widths[:-1])
    edges = np.concatenate([[low], low + (high - low) * inner, [high]])
    return _strictly_increasing(edges)


def _strictly_increasing(edges: NDArray[np.float64]) -> NDArray[np.float64]:
    """Move inner edges that rounding has made equal apart, by one unit in the last place each."""
    if np.all(edges[1:] > edges[:-1]):
        return edges
    last = len(edges) - 1
    for t in range(1, last):
        edges[t] = max(edges[t], np.nextafter(edges[t - 1], np.inf))
    for t in range(last - 1, 0, -1):
        edges[t] = min(edges[t], np.nextafter(edges[t + 1], -np.inf))
    if edges[1] <= edges[0]:
        raise ValueError(
            f"feature_range from {edges[0]} to {edges[-1]} has too few numbers for {last} bins: widen it"
        )
    return edges
