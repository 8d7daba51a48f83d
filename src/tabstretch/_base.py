"""What both transformers share once the widths of every column are known."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from tabstretch._batches import compress_batches
from tabstretch._column import ColumnFit, fit_column
from tabstretch._export import ExportMixin
from tabstretch._monotone import OUT_OF_RANGE, MapTable, MonotoneMap
from tabstretch._parts import Block, Plan, Request, TablePart
from tabstretch._summary import summary_table
from tabstretch._threads import map_in_threads
from tabstretch._validation import check_matrix, check_n_bins, check_range, check_stretched
from tabstretch._views import OUTPUTS, view_widths


class BaseStretch(ExportMixin, OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Transform, inverse, summary and storage of fitted columns."""

    n_bins: Any
    output: str
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
        array of shape (n_samples, n_features), or with `output="views"` (n_samples, n_views * n_features)
            float32 for float32 input, else float64.
        """
        check_is_fitted(self, "maps_")
        return self._stretched(check_matrix(self, X, reset=False))

    def _stretched(self, X: NDArray[Any]) -> NDArray[Any]:
        """Stretch every column of a matrix."""
        if len(self.views_) == 1:
            return self._forward[0](X, self.n_jobs)
        out = np.empty((len(X), self._n_outputs), dtype=X.dtype)
        for view, table in enumerate(self._forward):
            out[:, view :: len(self.views_)] = table(X, self.n_jobs)
        return out

    def inverse_transform(self, X: Any, view: str | None = None) -> Any:
        """Map stretched values back to the original ones, exactly but for rounding.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or all views of them
            Stretched data. What lies outside `feature_range` is treated as `out_of_range` says.
        view : {"value", "rank", "target"}, default=None
            With `output="views"`, which view to map back from. X may then hold this view alone. By default
            X holds all of them, and the first serves.

        Returns
        -------
        array of shape (n_samples, n_features)
        """
        check_is_fitted(self, "maps_")
        if view is not None and (view not in self.views_ or view == "blend"):
            hint = f"one of {self.views_}" if len(self.views_) > 1 else "None, unless output='views'"
            raise ValueError(f"view must be {hint}, got {view!r}")
        n_columns = np.shape(X)[1] if len(np.shape(X)) == 2 else 0
        alone = view is not None and n_columns == self.n_features_in_
        X = check_stretched(self, X, self.n_features_in_ if alone else self._n_outputs)
        position = 0 if view is None else self.views_.index(view)
        if not alone:
            X = X[:, position :: len(self.views_)]
        return self._backward[position](X, self.n_jobs)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the output columns: those of the input, of views with the view's name added.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of the input columns, by default those seen in `fit`.
        """
        names = super().get_feature_names_out(input_features)
        if self.views_ == ("blend",):
            return names
        return np.array([f"{name}_{view}" for name in names for view in self.views_], dtype=object)

    def summary(self) -> Any:
        """Return a pandas DataFrame with one row per column: what was fitted, and what it changed.

        Returns
        -------
        DataFrame indexed by column name, with

        - `n_bins`: the bins there are, after ties are merged;
        - `total_variation`: how far the estimated target moves along the column, noise removed;
        - `marginal_variation`: for `variation="conditional"`, how far it moves along this column alone;
        - `interaction`: for `variation="conditional"`, the share of the teachers' variance along the column
          that depends on the other columns, from 0 (none) to 1 (all);
        - `energy_before`, `energy_after`: discrete Dirichlet energy of the estimated target along the
          min-max scaled and along the stretched column, infinite if no float is as large;
        - `steepest_tenth`: the share of the output range that the steepest tenth of the data got;
        - `shrinkage`: the share of the target's influence that was given to the rank because of noise;
        - `fallback`: why the column could not be stretched as asked, if so.

        Without a target (`StretchTransformer`) the columns that need one are NaN.
        """
        check_is_fitted(self, "maps_")
        return summary_table(self._input_names, self._columns)

    def _store(self, columns: list[ColumnFit], views: tuple[str, ...]) -> Self:
        """Make the maps of columns whose widths are known."""
        low, high = check_range(self.feature_range)
        if self.output == "blend":
            views = ("blend",)
            laid_out = [{"blend": (column.edges, column.widths)} for column in columns]
        else:
            laid_out = [view_widths(column) for column in columns]
            columns = [
                replace(column, widths=outputs[views[-1]][1])
                for column, outputs in zip(columns, laid_out, strict=True)
            ]
        maps = [
            MonotoneMap(edges, _output_edges(widths, low, high), self.out_of_range)
            for outputs in laid_out
            for edges, widths in (outputs[view] for view in views)
        ]
        return self._keep(columns, maps, views)

    def fit_batches(self, batches: Any) -> Self:
        """Fit from batches, in one pass and in bounded memory: for data larger than it.

        The map is that of `fit` on all rows together: edges within 0.1 % of the matching quantile, in rank,
        and widths within 0.01 (half the sum of absolute differences). It does not depend on the size of
        batches. Columns of up to 4096 distinct values have exact edges.

        Parameters
        ----------
        batches : iterable of X, (X, y) or (X, y, weight), or a function that returns one
            Batches as `fit` takes them, of any size, all with the same columns. A generator will do, and so
            will a data loader of PyTorch, whose batches are lists.

        Notes
        -----
        With `target_type="auto"` the first 524288 rows decide whether y holds classes or numbers. What needs
        the rows themselves works on a random sample: `variation="conditional"` on `teacher_rows` of them, as
        in `fit`, and `variation="pooled"` on 100000, although its widths depend on the number of rows. There
        are at most some thousand bins, and `cv` can only be a number.
        """
        return self._fit_named(batches)

    def _fit_named(self, batches: Any, names: list[str] | None = None) -> Self:
        """Fit from batches of arrays whose columns have names."""
        known = None if names is None else tuple(names)
        return self._fit_part(*compress_batches(self, batches, self._request(), known))

    def _fit_part(self, part: TablePart, plan: Plan) -> Self:
        """Fit from what is left of all rows."""
        raise NotImplementedError  # each estimator has its own

    def _request(self) -> Request:
        """Check the parameters and return what is to be kept of the data."""
        raise NotImplementedError  # each estimator has its own

    def _remember_columns(self, first: Block) -> None:
        """Keep the number and the names of columns, as `fit` does."""
        self.n_features_in_ = first.X.shape[1]
        if first.names is not None:
            self.feature_names_in_ = np.array(first.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _keep(self, columns: list[ColumnFit], maps: list[MonotoneMap], views: tuple[str, ...]) -> Self:
        """Keep what was fitted; what is told of a column is told of its last view, the target's or rank."""
        self.views_ = views
        self.maps_ = maps
        self._columns = columns
        self.bin_edges_ = [column.edges for column in columns]
        self.output_widths_ = [column.widths for column in columns]
        self.output_edges_ = [map_.values for map_ in maps[len(views) - 1 :: len(views)]]
        self.n_bins_ = np.array([len(column.widths) for column in columns])
        self.fallback_ = [column.fallback for column in columns]
        by_view = [maps[view :: len(views)] for view in range(len(views))]
        self._forward = [MapTable(maps) for maps in by_view]
        self._backward = [MapTable(maps, inverse=True) for maps in by_view]
        return self

    @property
    def _input_names(self) -> list[str]:
        return list(super().get_feature_names_out())

    def _sql_parts(self) -> tuple[list[str], list[str], list[MonotoneMap]]:
        columns = [name for name in self._input_names for _ in self.views_]
        return columns, list(self.get_feature_names_out()), self.maps_

    @property
    def _n_outputs(self) -> int:
        return len(self.maps_)

    def _check_common(self) -> None:
        check_range(self.feature_range)
        if self.out_of_range not in OUT_OF_RANGE:
            raise ValueError(f"out_of_range must be one of {OUT_OF_RANGE}, got {self.out_of_range!r}")
        if self.output not in OUTPUTS:
            raise ValueError(f"output must be one of {OUTPUTS}, got {self.output!r}")

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
    return strictly_increasing(edges)


def strictly_increasing(edges: NDArray[np.float64]) -> NDArray[np.float64]:
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
