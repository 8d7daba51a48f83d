"""Columns that are not stretched but help the teachers: anything a table may hold, as numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabstretch._validation import is_missing, is_temporal, named_columns


def encode_context(context: Any, n_rows: int) -> NDArray[np.float64]:
    """Return context columns as numbers: numbers as they are, anything else as codes, missing as NaN."""
    if hasattr(context, "to_frame") and not hasattr(context, "columns"):
        context = context.to_frame()  # a single column of a data frame
    if not hasattr(context, "columns"):
        context = np.asarray(context, dtype=None if hasattr(context, "dtype") else object)
        context = context.reshape(-1, 1) if context.ndim == 1 else context
    if len(context.shape) != 2:
        raise ValueError(f"context must be a table of two dimensions, got shape {context.shape}")
    if len(context) != n_rows:
        raise ValueError(f"context must have one row for each of {n_rows} rows of X, got {len(context)}")
    is_array = isinstance(context, np.ndarray)
    columns = context.T if is_array else [column for _, column in named_columns(context)]
    if len(columns) != context.shape[1]:
        raise TypeError(f"context must be a DataFrame of pandas or polars, or an array, got {type(context)}")
    return np.column_stack([np.empty((n_rows, 0)), *map(_as_numbers, columns)])


def _as_numbers(column: Any) -> NDArray[np.float64]:
    categories = getattr(getattr(column, "cat", None), "codes", None)
    if categories is not None:  # pandas' categories, in their own order
        codes = np.asarray(categories, dtype=np.float64)
        return np.where(codes < 0, np.nan, codes)
    values = np.asarray(column)
    if is_temporal(column) and values.dtype.kind in "mM":
        return np.where(np.isnat(values), np.nan, values.astype(np.int64).astype(np.float64))
    if values.dtype.kind in "fiub":
        return _finite(values.astype(np.float64))
    missing = np.array([is_missing(value) for value in values.tolist()], dtype=bool)
    try:
        numbers = np.array([np.nan if gone else value for value, gone in zip(values, missing, strict=True)])
        if numbers.dtype.kind in "fiub":
            return _finite(numbers.astype(np.float64))
    except (TypeError, ValueError):
        pass  # a mixture
    labels = np.array([str(value) for value in values.tolist()])
    codes = np.unique(labels, return_inverse=True)[1].reshape(-1).astype(np.float64)
    codes[missing] = np.nan
    return codes


def _finite(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(np.isfinite(numbers), numbers, np.nan)
