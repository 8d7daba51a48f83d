"""Check what the user passes in; every complaint names the column, the row or the value."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.validation import validate_data

_WEIGHTS = 1e-30, 1e30
_MIXED = " TableStretch takes tables of mixed columns."
_UNKNOWN = " Leave out the rows whose target is not known."


def check_matrix(estimator: BaseEstimator, X: Any, *, reset: bool) -> NDArray[Any]:
    """Return X as a float32 or float64 matrix, NaN allowed, or say which column is wrong and why."""
    check_not_lazy(X)
    if hasattr(X, "columns") and len(X.columns) == 0:
        raise ValueError(
            f"Found array with 0 feature(s) (shape=({len(X)}, 0)) while a minimum of 1 is required by "
            f"{type(estimator).__name__}."
        )
    for name, column in named_columns(X):
        if is_temporal(column):
            raise ValueError(
                f"Column {name} holds dates or times ({column.dtype}), not numbers. Convert them first, "
                "for example to days since a fixed date." + (_MIXED if reset else "")
            )
    with _checking(X, hint=_MIXED if reset else ""):
        check_column_order(estimator, X, reset=reset)
        return np.asarray(
            validate_data(
                estimator, X, reset=reset, dtype=(np.float64, np.float32), ensure_all_finite="allow-nan"
            )
        )


def check_not_lazy(X: Any) -> None:
    """Refuse what holds no values yet."""
    library = type(X).__module__.partition(".")[0]
    if library in ("dask", "dask_expr"):
        # numpy would fetch it all, and forget the names of its columns.
        raise TypeError(
            "X is a Dask collection: tabstretch.dask.fit and tabstretch.dask.transform work where it is, "
            "and X.compute() fetches it"
        )
    if library == "polars" and type(X).__name__ == "LazyFrame":
        raise TypeError("X is a LazyFrame of polars, which holds no values yet: X.collect() fetches them")


def check_column_order(estimator: Any, X: Any, *, reset: bool) -> None:
    """Say how to put columns in order that `fit` saw in another one; scikit-learn only says that it did."""
    seen = getattr(estimator, "feature_names_in_", None)
    if reset or seen is None or not hasattr(X, "columns"):
        return
    seen, names = list(seen), list(X.columns)
    if names != seen and len(names) == len(seen) and set(names) == set(seen):
        raise ValueError(
            "The feature names should match those that were passed during fit.\n"
            "Feature names must be in the same order as they were in fit.\n"
            "X[list(fitted.feature_names_in_)] puts them in that order.\n"
        )


@contextmanager
def _checking(X: Any, hint: str = "") -> Generator[None]:
    """Have X checked without warnings, and add to an error about it where its first wrong value stands.

    A hint follows where that value is text.
    """
    try:
        # scikit-learn adds up all values to see whether one is infinite; sums of huge ones are, too.
        with np.errstate(over="ignore", invalid="ignore"):
            yield
    except (ValueError, TypeError) as error:
        culprit = _find_culprit(X, hint)
        if culprit is None:
            raise
        stop = "" if str(error).endswith((".", "!", "?", ":", "\n")) else "."
        raise type(error)(f"{error}{stop} {culprit}") from error


def check_stretched(estimator: Any, X: Any, n_columns: int) -> NDArray[Any]:
    """Return stretched data, whose columns may have lost their names, as a matrix."""
    with _checking(X):
        X = check_array(X, dtype=(np.float64, np.float32), ensure_all_finite="allow-nan", input_name="X")
    if X.shape[1] != n_columns:
        raise ValueError(
            f"X has {X.shape[1]} features, but {type(estimator).__name__} "
            f"is expecting {n_columns} features as input."
        )
    return X


def check_target(estimator: BaseEstimator, X: Any, y: Any) -> NDArray[Any]:
    """Return y as an array of one or two dimensions without missing values."""
    if y is None:
        raise ValueError(
            f"This {type(estimator).__name__} estimator requires y to be passed, but the target y is None. "
            "StretchTransformer needs no target, nor does TableStretch(StretchTransformer())."
        )
    if isinstance(y, str):
        raise TypeError(
            f"y must hold the values of the target, got the text {y!r}: of a column of X, pass "
            f"X[{y!r}] as y, and leave it out of X"
        )
    if hasattr(y, "__array__"):  # pandas' own numbers and truth values would become floats
        y = np.asarray(y)
    if getattr(y, "dtype", np.dtype(float)).kind in "mMc":
        raise ValueError(f"y must hold numbers or labels, not dates, times or complex numbers, got {y.dtype}")
    y = check_array(y, dtype=None, ensure_2d=False, ensure_all_finite=False, input_name="y")
    check_consistent_length(X, y)
    if y.dtype.kind == "O":
        y = _sort_out_objects(y)
    if y.ndim == 2 and y.shape[1] == 1:
        y = column_or_1d(y, warn=True)
    if y.dtype.kind == "f" and not np.all(np.isfinite(y)):
        row = int(np.argwhere(~np.isfinite(y))[0][0])
        kind = "NaN" if np.any(np.isnan(y[row])) else f"infinity or a value too large for {y.dtype!r}"
        raise ValueError(f"Input y contains {kind}. First at row {row}.{_UNKNOWN if kind == 'NaN' else ''}")
    return y


def check_weights(sample_weight: Any, n_rows: int) -> NDArray[np.float64] | None:
    """Return weights that count rows: none negative, at least one positive.

    Weights that cannot count rows are taken as relative (see `weight_factor`).
    """
    weight = check_row_weights(sample_weight, n_rows)
    if weight is None:
        return None
    n_kept = int(np.count_nonzero(weight))
    if n_kept == 0:
        raise ValueError("sample_weight is zero for all rows: there is nothing to fit")
    largest = float(weight.max())
    if not _WEIGHTS[0] < largest < _WEIGHTS[1]:  # no count of rows
        weight = np.where(weight > 0, np.maximum(np.ldexp(weight, -np.frexp(largest)[1]), _WEIGHTS[0]), 0.0)
    weight = within_reason(weight)
    factor = weight_factor(float(weight.sum()), n_kept)
    return weight if factor == 1.0 else weight * factor


def weight_factor(total: float, n_rows: int) -> float:
    """Return what brings weights that cannot count rows to a mean of one; one for those that can.

    They cannot if they sum to less than the number of rows, or to so much that one row more is no difference.
    """
    return 1.0 if n_rows <= total <= 2.0**53 else n_rows / total


def are_copies(weight: NDArray[np.float64]) -> bool:
    """Tell weights that are numbers of copies of a row."""
    return bool(np.all(weight == np.floor(weight)))


def noise_of_weights(total: float, total_square: float, *, copies: bool) -> float:
    """Return how many times as much variance noise gives to weighted means as to means of copies.

    Whole weights are copies of rows, each with noise of its own. Others say how much a row counts, and its
    one noise counts as much. The ratio is the sum of weights over Kish's effective number of rows.
    """
    return 1.0 if copies else total_square / total


def check_row_weights(sample_weight: Any, n_rows: int) -> NDArray[np.float64] | None:
    """Return weights as they are, one for each row, none negative."""
    if sample_weight is None:
        return None
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.ndim == 0:
        weight = np.full(n_rows, float(weight))
    if weight.shape != (n_rows,):
        raise ValueError(
            f"sample_weight must have one value for each of {n_rows} rows, got shape {weight.shape}"
        )
    wrong = ~(weight >= 0) | ~np.isfinite(weight)
    if np.any(wrong):
        row = int(np.argmax(wrong))
        raise ValueError(f"sample_weight must be finite and not negative, got {weight[row]} at row {row}")
    return weight


def within_reason(weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return weights of which those beyond `_WEIGHTS` count as its ends, so that no product overflows."""
    usual = (weight == 0) | ((weight >= _WEIGHTS[0]) & (weight <= _WEIGHTS[1]))
    return weight if np.all(usual) else np.where(weight > 0, np.clip(weight, *_WEIGHTS), 0.0)


def check_n_bins(n_bins: Any, n_features: int) -> NDArray[np.int64]:
    """Return the number of bins asked for, column by column."""
    if isinstance(n_bins, (Integral, np.integer)) and not isinstance(n_bins, bool):
        per_column: list[Any] = [n_bins] * n_features
    elif isinstance(n_bins, (str, bool, Real)) or not hasattr(n_bins, "__len__"):
        raise ValueError(f"n_bins must be an integer of at least 1, or one for each column, got {n_bins!r}")
    else:
        per_column = list(n_bins)
    if len(per_column) != n_features:
        raise ValueError(
            f"n_bins must be one integer for each of {n_features} columns, got {len(per_column)}"
        )
    for column, number in enumerate(per_column):
        if not isinstance(number, (Integral, np.integer)) or isinstance(number, bool):
            raise ValueError(f"n_bins must be integers, got {number!r} for column {column}")
        if number < 1:
            raise ValueError(f"n_bins must be at least 1, got {number} for column {column}")
    return np.array([min(int(number), 1 << 40) for number in per_column], dtype=np.int64)


def check_number(name: str, number: Any, low: float = 0.0, high: float = np.inf) -> float:
    """Return a finite number within bounds."""
    is_number = isinstance(number, (int, float, np.number)) and not isinstance(number, bool)
    if not is_number or not np.isfinite(number) or not low <= number <= high:
        bounds = f"at least {low:g}" if high == np.inf else f"from {low:g} to {high:g}"
        raise ValueError(f"{name} must be a finite number, {bounds}, got {number!r}")
    return float(number)


def check_count(name: str, number: Any, low: int = 1) -> int:
    """Return a whole number of at least `low`."""
    if isinstance(number, bool) or not isinstance(number, Integral) or number < low:
        raise ValueError(f"{name} must be a whole number of at least {low}, got {number!r}")
    return int(number)


def check_range(feature_range: Any) -> tuple[float, float]:
    """Return the ends of the output range."""
    try:
        low, high = (float(end) for end in feature_range)
    except (TypeError, ValueError):
        raise ValueError(f"feature_range must be a pair of numbers, got {feature_range!r}") from None
    if not (np.isfinite(high - low) and low < high):
        raise ValueError(
            f"feature_range must go from a smaller to a larger finite number, got {feature_range!r}"
        )
    return low, high


def _sort_out_objects(y: NDArray[Any]) -> NDArray[Any]:
    """Turn an object array of numbers into numbers and check that labels are all there."""
    for row, label in enumerate(y.ravel()):
        if is_missing(label):
            raise ValueError(f"Input y contains NaN. First at row {row // (y.size // len(y))}.{_UNKNOWN}")
    if all(isinstance(label, (Real, np.number, np.bool_)) for label in y.ravel()):
        return np.array(y.tolist())
    if all(isinstance(label, str) for label in y.ravel()):
        return y
    kinds = sorted({type(label).__name__ for label in y.ravel()})
    raise ValueError(f"y must hold numbers only or strings only, got {kinds}")


def is_missing(label: Any) -> bool:
    """Tell None, NaN and pandas' NA, which cannot be compared."""
    return label is None or type(label).__name__ in ("NAType", "NaTType") or bool(label != label)


def named_columns(X: Any) -> Iterator[tuple[str, Any]]:
    """Yield the name and the content of every column of a data frame or an array of two dimensions."""
    if hasattr(X, "columns") and hasattr(X, "iloc"):
        yield from ((repr(name), X.iloc[:, j]) for j, name in enumerate(X.columns))
    elif hasattr(X, "columns") and hasattr(X, "get_column"):
        yield from ((repr(name), X.get_column(name)) for name in X.columns)
    elif isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind not in "fiu":
        yield from ((str(j), X[:, j]) for j in range(X.shape[1]))


def is_temporal(column: Any) -> bool:
    dtype = column.dtype
    return getattr(dtype, "kind", "") in tuple("mM") or (
        hasattr(dtype, "is_temporal") and dtype.is_temporal()
    )


def _find_culprit(X: Any, hint: str) -> str | None:
    """Return where the first text, complex or infinite value stands, in words; a hint follows text."""
    if isinstance(X, (list, tuple)):
        X = np.array(X, dtype=object)
    is_matrix = isinstance(X, np.ndarray) and X.ndim == 2
    for name, column in ((str(j), X[:, j]) for j in range(X.shape[1])) if is_matrix else named_columns(X):
        values = np.asarray(column)
        if values.dtype.kind == "c":
            return f"Column {name} is complex."
        for row, value in enumerate(values if values.dtype.kind not in "fiub" else []):
            try:
                number = float(value)
            except (TypeError, ValueError):
                if is_missing(value):
                    continue
                plain_value = value.item() if isinstance(value, np.generic) else value
                advice = hint if isinstance(value, str) else ""
                return f"First in column {name}, row {row}: {plain_value!r}.{advice}"
            if np.isinf(number):
                return f"First in column {name}, row {row}: {number}."
        if values.dtype.kind == "f" and np.any(np.isinf(values)):
            row = int(np.argmax(np.isinf(values)))
            return f"First in column {name}, row {row}: {values[row]}."
    return None
