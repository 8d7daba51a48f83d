"""Stretch the numeric columns of a whole table, in one line of a pipeline."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted, validate_data

from tabstretch._base import BaseStretch
from tabstretch._export import ExportMixin
from tabstretch._transformers import StretchTransformer, SupervisedStretchTransformer
from tabstretch._validation import check_column_order, check_not_lazy, named_columns


class TableStretch(ExportMixin, TransformerMixin, BaseEstimator):
    """Stretch the numeric columns of a data frame and leave the others as they are.

    The other columns (text, categories, truth values, dates) are passed on untouched, in their places.
    A stretch with `variation="conditional"` also shows them to its teachers, as context.

    Parameters
    ----------
    stretch : SupervisedStretchTransformer or StretchTransformer, default=None
        What to do with the numeric columns; it is cloned. None means `SupervisedStretchTransformer()`.
        To set or to search parameters, pass one: `TableStretch(SupervisedStretchTransformer(n_bins=32))` has
        the parameters `stretch__n_bins`, `stretch__target_type` and so on.

    Attributes
    ----------
    stretch_ : SupervisedStretchTransformer or StretchTransformer
        Fitted on the numeric columns.
    numeric_columns_ : list of str
        Names of the columns that are stretched.
    n_features_in_, feature_names_in_
        Number and names of the columns seen in `fit`.

    See Also
    --------
    SupervisedStretchTransformer : Takes numeric columns only, and others by `fit(X, y, context=others)`.

    Examples
    --------
    >>> import pandas as pd
    >>> from tabstretch import StretchTransformer, TableStretch
    >>> X = pd.DataFrame({"city": ["Rome", "Oslo", "Bern"], "price": [1.0, 2.0, 9.0]})
    >>> TableStretch(StretchTransformer(n_bins=2, value_weight=0)).fit_transform(X)
       city  price
    0  Rome    0.0
    1  Oslo    0.5
    2  Bern    1.0
    """

    def __init__(self, stretch: Any = None) -> None:
        self.stretch = stretch

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None) -> Self:
        """Fit the stretch on the numeric columns.

        Parameters
        ----------
        X : DataFrame of pandas or polars
            Columns of any type.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
            Target, which a supervised stretch needs.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights that count rows.
        groups : array-like of shape (n_samples,), default=None
            Groups for the stretch's splitter, if it takes any.
        """
        self._check_frame(X, reset=True)
        self.numeric_columns_ = [name for name, column in _columns_by_name(X) if is_numeric(column)]
        if not self.numeric_columns_:
            raise ValueError(f"X has no numeric columns to stretch, only {list(X.columns)}")
        if self.stretch is not None and not isinstance(self.stretch, BaseStretch):
            raise TypeError(
                "stretch must be a SupervisedStretchTransformer or a StretchTransformer, "
                f"got {self.stretch!r}"
            )
        stretch = SupervisedStretchTransformer() if self.stretch is None else clone(self.stretch)
        params = {"sample_weight": sample_weight}
        if groups is not None:
            params["groups"] = groups
        if self._others and getattr(stretch, "variation", None) == "conditional":
            params["context"] = X[self._others]
        self.stretch_ = stretch.set_output(transform="default").fit(X[self.numeric_columns_], y, **params)
        self._check_clash()
        return self

    def summary(self) -> Any:
        """Return a pandas DataFrame with one row per numeric column (see the stretch's `summary`)."""
        check_is_fitted(self, "stretch_")
        return self.stretch_.summary()

    def transform(self, X: Any) -> Any:
        """Stretch the numeric columns.

        Parameters
        ----------
        X : DataFrame of pandas or polars
            Data with the columns seen in `fit`.

        Returns
        -------
        DataFrame of the same kind, the other columns as they were
        """
        check_is_fitted(self, "stretch_")
        self._check_frame(X, reset=False)
        stretched = self.stretch_.transform(X[self.numeric_columns_])
        return self._replace(X, self._outputs(), stretched)

    def inverse_transform(self, X: Any, view: str | None = None) -> Any:
        """Map the numeric columns back.

        Parameters
        ----------
        X : DataFrame of pandas or polars
            A table as `transform` returns it.
        view : {"value", "rank", "target"}, default=None
            With `output="views"`, which view to map back from, by default the first.
        """
        check_is_fitted(self, "stretch_")
        self._check_is_frame(X)
        stretched = list(self.stretch_.get_feature_names_out())
        views = self.stretch_.views_
        if view in views:
            stretched = stretched[views.index(view) :: len(views)]
        missing = [name for name in [*stretched, *self._others] if name not in list(X.columns)]
        if missing:
            raise ValueError(f"X lacks the columns {missing}")
        original = self.stretch_.inverse_transform(X[stretched], view)
        outputs = {name: [name] for name in self.numeric_columns_}
        return self._replace(X, outputs, original)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the output columns.

        Parameters
        ----------
        input_features : None
            Ignored; the names are those seen in `fit`.
        """
        check_is_fitted(self, "stretch_")
        outputs = self._outputs()
        names = [new for name in self.feature_names_in_ for new in outputs.get(name, [name])]
        return np.array(names, dtype=object)

    @property
    def _others(self) -> list[str]:
        return [name for name in self.feature_names_in_ if name not in self.numeric_columns_]

    def _check_clash(self) -> None:
        clash = sorted(set(self._others) & set(self.stretch_.get_feature_names_out()))
        if clash:
            raise ValueError(f"the columns {clash} have the names of views of other columns: rename them")

    def _outputs(self) -> dict[str, list[str]]:
        """Return the names of what each numeric column becomes."""
        n_views = len(self.stretch_.views_)
        names = list(self.stretch_.get_feature_names_out())
        return {name: names[n_views * j : n_views * (j + 1)] for j, name in enumerate(self.numeric_columns_)}

    def _sql_parts(self) -> tuple[list[str], list[str], list[Any]]:
        of_stretch = {part[1]: part for part in zip(*self.stretch_._sql_parts(), strict=True)}
        parts = [of_stretch.get(name, (name, name, None)) for name in self.get_feature_names_out()]
        columns, outputs, maps = zip(*parts, strict=True)
        return list(columns), list(outputs), list(maps)

    def _replace(self, X: Any, outputs: dict[str, list[str]], values: Any) -> Any:
        """Return a frame in which new columns stand in the places of the numeric ones."""
        new = dict(zip([name for names in outputs.values() for name in names], values.T, strict=True))
        table = {}
        for name in self.feature_names_in_:
            if name in outputs:
                table.update({output: new[output] for output in outputs[name]})
            else:
                table[name] = X[name]
        return type(X)(table, index=X.index) if hasattr(X, "index") else type(X)(table)

    def _check_is_frame(self, X: Any) -> None:
        check_not_lazy(X)
        is_frame = hasattr(X, "columns") and (hasattr(X, "iloc") or hasattr(X, "get_column"))
        if not is_frame:
            raise TypeError(
                f"{type(self).__name__} takes a DataFrame of pandas or polars, got {type(X).__name__}. "
                "For an array of numbers use SupervisedStretchTransformer or StretchTransformer."
            )

    def _check_frame(self, X: Any, *, reset: bool) -> None:
        self._check_is_frame(X)
        names = list(X.columns)
        twice = sorted({str(name) for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"column names must differ, got {twice} more than once")
        if not all(isinstance(name, str) for name in names):
            raise TypeError(
                f"column names must be strings, got {names[:10]}: X.columns = X.columns.astype(str) helps"
            )
        check_column_order(self, X, reset=reset)
        validate_data(self, X, reset=reset, skip_check_array=True)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.target_tags.required = not isinstance(self.stretch, StretchTransformer)
        return tags


def _columns_by_name(X: Any) -> list[tuple[str, Any]]:
    return list(zip(X.columns, (column for _, column in named_columns(X)), strict=True))


def is_numeric(column: Any) -> bool:
    """Tell columns of numbers, nullable ones included, from truth values and everything else."""
    dtype = column.dtype
    if hasattr(dtype, "is_numeric"):  # polars
        return bool(dtype.is_numeric())
    return getattr(dtype, "kind", "") in ("i", "u", "f")
