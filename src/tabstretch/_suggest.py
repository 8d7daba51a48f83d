"""Suggest what to do with each column of a table, before anything is fitted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabstretch._advice import Suggestions, advise, suggest_column
from tabstretch._folds import keep_rows, make_folds, requested_splits
from tabstretch._sampling import random_keys, seed_of, smallest_keys
from tabstretch._table import is_numeric
from tabstretch._target import encode_target, remark_on_classes, resolve_target_type
from tabstretch._threads import map_in_threads
from tabstretch._traits import Traits, measure_column
from tabstretch._transformers import StretchTransformer
from tabstretch._validation import check_count, check_matrix, check_not_lazy, check_target, named_columns

MAX_ROWS = 20_000


def suggest(
    X: Any,
    y: Any = None,
    *,
    target_type: str = "auto",
    cv: Any = 5,
    max_rows: int = MAX_ROWS,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> Suggestions:
    """Measure every numeric column and suggest what to do with it, before anything is fitted.

    Each column is looked at by itself: a column that matters only together with others shows no signal
    here, and only `SupervisedStretchTransformer` with its default `variation` finds it.

    Parameters
    ----------
    X : DataFrame of pandas or polars, or array-like of shape (n_samples, n_features)
        Numbers; NaN is allowed and ignored. Columns of a data frame that hold no numbers are left alone.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
        Target: numbers, labels of any kind, several numbers, or label indicators. Without it only the
        shape of columns is measured.
    target_type : str, default="auto"
        Kind of target, as in `SupervisedStretchTransformer`. Whole numbers look like classes: say
        "continuous" for counts.
    cv : int, splitter or iterable of splits, default=5
        Folds for what a column explains. For groups, pass the splits: `GroupKFold().split(X, y, groups)`.
    max_rows : int, default=20000
        How many rows to look at; of more, so many are drawn at random.
    random_state : int, RandomState instance or None, default=0
        Draws the rows and shuffles them into folds.
    n_jobs : int, default=None
        Number of threads; None means 1, -1 all cores. The result does not depend on it.

    Returns
    -------
    Suggestions
        A table to print, with the attributes `columns` (its rows), `advice` (for the table as a whole) and
        `not_numeric`, and with a method `to_frame`. Each row has

        - `n_distinct`, `top_share`: number of distinct values, and share of rows in the most frequent one;
        - `skewness`: how much farther from the median the 95th percentile is than the 5th, from -1 to 1;
        - `middle_share`: the share of the range that the middle nine tenths of the rows fill;
        - `r2`: out-of-fold R² of the column alone; of the one-hot target for classes, of all outputs
          together for several;
        - `unevenness`: how unevenly the target changes along the column, from 0 (as a straight line does)
          to 1: the share of its change that lies where the column has no room for it, less what a straight
          line under the same noise would show;
        - `suggestion`: "SupervisedStretchTransformer", "StretchTransformer" or "standardise";
        - `n_bins`: for a stretch, its default or what the distinct values allow; else None;
        - `why`: the reason, in a sentence.

        Without a target, and for a column of fewer than two values, `r2` and `unevenness` are NaN; so are
        `skewness` and `middle_share` of a column without values.

    See Also
    --------
    SupervisedStretchTransformer, StretchTransformer : What is suggested.

    Examples
    --------
    >>> import numpy as np
    >>> from tabstretch import suggest
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(1000, 2))
    >>> y = np.tanh(20 * X[:, 0]) + 0.1 * rng.normal(size=1000)
    >>> [row.suggestion for row in suggest(X, y).columns]
    ['SupervisedStretchTransformer', 'standardise']
    """
    max_rows = check_count("max_rows", max_rows, low=2)
    numbers, names, others = _numeric_part(X)
    if numbers is None:
        return make_table([], others, [], n_rows=len(X), n_measured=0, supervised=y is not None)
    validator = StretchTransformer()  # for its name in what scikit-learn complains of
    matrix = check_matrix(validator, numbers, reset=True)
    n_rows = len(matrix)
    splits: Any = None
    if y is not None:
        y = check_target(validator, matrix, y)
        splits = requested_splits(cv, matrix, y, {})
    seed = seed_of(random_state)
    if n_rows > max_rows:
        kept = np.zeros(n_rows, dtype=bool)
        kept[smallest_keys(random_keys(seed, 0, n_rows), max_rows)] = True
        matrix = matrix[kept]
        if y is not None:
            y, splits = y[kept], keep_rows(splits, kept)
    traits = measure_table(matrix, y, splits, target_type=target_type, seed=seed, n_jobs=n_jobs)
    names = [f"x{j}" for j in range(matrix.shape[1])] if names is None else names
    return make_table(
        names,
        others,
        traits,
        n_rows=n_rows,
        n_measured=len(matrix),
        supervised=y is not None,
        target_type=target_type,
        remark=remark_on_target(y, target_type),
    )


def remark_on_target(y: NDArray[Any] | None, target_type: str) -> str | None:
    """Return what to tell of a target that was taken for classes unasked."""
    if y is None or target_type != "auto" or resolve_target_type(y, "auto") != "multiclass":
        return None
    return remark_on_classes(y)


def measure_table(
    X: NDArray[Any], y: NDArray[Any] | None, splits: Any, *, target_type: str, seed: int, n_jobs: int | None
) -> list[Traits]:
    """Measure every column of a matrix."""
    target = folds = None
    if y is not None:
        target = encode_target(y, resolve_target_type(y, target_type))
        folds = make_folds(splits, target, seed)
    jobs = ((X[:, j], target, folds) for j in range(X.shape[1]))
    return map_in_threads(measure_column, jobs, n_jobs)


def make_table(
    names: Sequence[Any],
    others: Sequence[Any],
    traits: Sequence[Traits],
    *,
    n_rows: int,
    n_measured: int,
    supervised: bool,
    target_type: str = "auto",
    remark: str | None = None,
) -> Suggestions:
    """Return the table of columns that were measured, with a remark in front of the advice."""
    rows = [suggest_column(*pair, supervised=supervised) for pair in zip(names, traits, strict=True)]
    advice = advise(rows, supervised=supervised, target_type=target_type)
    advice = advice if remark is None else f"{remark} As it is: {advice}"
    return Suggestions(tuple(rows), tuple(others), advice, n_rows, n_measured)


def _numeric_part(X: Any) -> tuple[Any, list[Any] | None, list[Any]]:
    """Return the columns of numbers, if any, their names, if there are names, and those of the others."""
    check_not_lazy(X)
    if not hasattr(X, "columns"):
        return X, None, []
    names = list(X.columns)
    numeric = [is_numeric(column) for _, column in named_columns(X)]
    places = [j for j, number in enumerate(numeric) if number]
    others = [name for name, number in zip(names, numeric, strict=True) if not number]
    if not places:
        return None, [], others
    chosen = X.iloc[:, places] if hasattr(X, "iloc") else X[[names[j] for j in places]]
    return chosen, [names[j] for j in places], others
