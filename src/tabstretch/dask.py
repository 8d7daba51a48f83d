"""Fit and apply a stretch on a cluster: Dask DataFrames and Arrays stay where they are.

Every partition is compressed by the worker that holds it, the results are merged in pairs, and a worker fits
the columns from what is left. The client gets the fitted transformer; nothing is shuffled.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from tabstretch._base import BaseStretch
from tabstretch._batches import check_batch
from tabstretch._extras import import_extra
from tabstretch._parts import Plan, Request, TablePart, check_alike, compress, make_plan, merge_tables
from tabstretch._sources import shortened

dask = import_extra("dask", "dask")

__all__ = ["fit", "transform"]

# What is drawn at random for a partition depends on its number only; no partition has more rows than this.
_MOST_ROWS = 1 << 40


def fit(transformer: Any, X: Any, y: Any = None, sample_weight: Any = None, client: Any = None) -> Any:
    """Fit a stretch on a Dask DataFrame or Array.

    The map is that of `fit` on all rows together, within the tolerance that `fit_batches` states. It depends
    on the partitions, but not on the workers, their number or their failures.

    Parameters
    ----------
    transformer : SupervisedStretchTransformer or StretchTransformer
        What to fit.
    X : Dask DataFrame or Array
        Columns of numbers.
    y : Dask Series, DataFrame or Array, or str or list of str, default=None
        Target in the same partitions as X, or the names of columns of X that are the target.
    sample_weight : Dask Series or Array, or str, default=None
        Weights of rows in the same partitions as X, or the name of a column of X.
    client : distributed.Client, default=None
        Cluster to work on; None means Dask's default scheduler, the current client if there is one.

    Returns
    -------
    The transformer, fitted
    """
    if not isinstance(transformer, BaseStretch):
        raise TypeError(
            f"transformer must be a SupervisedStretchTransformer or a StretchTransformer, got {transformer!r}"
        )
    request = transformer._request()
    scout = clone(transformer)
    read = partial(_read, scout, request, *(_named(part) for part in (y, sample_weight)))
    _check_named(X, y, sample_weight)
    partitions = _partitions(X, y, sample_weight)
    plan = _first_plan(read, partitions, request, client)
    # Delayed once: the plan goes to each worker once, not into every task.
    shared = dask.delayed(plan, pure=True)
    alone = len(partitions) == 1
    compressed = dask.delayed(_compress, pure=True)
    parts = [
        compressed(read, number, *partition, shared, alone) for number, partition in enumerate(partitions)
    ]
    merged = dask.delayed(_merge, pure=True)
    while len(parts) > 1:
        pairs = [parts[start : start + 2] for start in range(0, len(parts), 2)]
        parts = [merged(*pair, shared) if len(pair) == 2 else pair[0] for pair in pairs]
    fitted = _compute(dask.delayed(_finish, pure=True)(scout, parts[0], shared), client)
    transformer._remember_columns(plan.first)
    for name, value in vars(fitted).items():
        if name not in scout.get_params(deep=False):
            setattr(transformer, name, value)
    return transformer


def transform(transformer: Any, X: Any) -> Any:
    """Stretch every column of a Dask DataFrame or Array, lazily.

    Parameters
    ----------
    transformer : SupervisedStretchTransformer or StretchTransformer
        Fitted, here or elsewhere.
    X : Dask DataFrame or Array
        Data with the columns seen in `fit`.

    Returns
    -------
    Dask DataFrame or Array, in the same partitions
    """
    check_is_fitted(transformer, "maps_")
    if not _is_array(X) and not hasattr(X, "map_partitions"):
        raise TypeError(
            f"X must be a Dask DataFrame or Array, got {type(X).__name__}; "
            "the transformer's own transform takes what is in memory"
        )
    if _is_array(X):
        if X.ndim != 2 or X.shape[1] != transformer.n_features_in_:
            raise ValueError(
                f"X must have {transformer.n_features_in_} columns, as in fit, "
                f"got an array of shape {X.shape}"
            )
        X = X.rechunk({1: -1})
        dtype = X.dtype if X.dtype in (np.float32, np.float64) else np.dtype(np.float64)
        return X.map_blocks(
            partial(_transform_array, transformer),
            dtype=dtype,
            chunks=(X.chunks[0], (len(transformer.maps_),)),
        )
    meta = _transform_frame(transformer, X._meta_nonempty).iloc[:0]
    return X.map_partitions(partial(_transform_frame, transformer), meta=meta)


def _transform_array(transformer: Any, X: Any) -> Any:
    if len(X) == 0:
        return np.empty((0, len(transformer.maps_)), dtype=X.dtype)
    return np.asarray(transformer.transform(X))  # `set_output` may have made a frame of it


def _transform_frame(transformer: Any, X: Any) -> Any:
    stretched = transformer.transform(X) if len(X) else np.empty((0, len(transformer.maps_)))
    pandas = import_extra("pandas", "dask")
    names = transformer.get_feature_names_out()
    return pandas.DataFrame(np.asarray(stretched), columns=names, index=X.index)


def _is_array(X: Any) -> bool:
    return hasattr(X, "map_blocks") and hasattr(X, "chunks")


def _named(part: Any) -> Any:
    """Return the names of columns, if these were given; else None."""
    return part if isinstance(part, (str, list, tuple)) else None


def _check_named(X: Any, y: Any, sample_weight: Any) -> None:
    """Check that X has the columns that were named, once each."""
    names = [name for part in (y, sample_weight) if _named(part) is not None for name in _as_list(part)]
    if names and not hasattr(X, "columns"):
        raise TypeError(f"X has no columns named {names}: give y and sample_weight as Dask Arrays")
    missing = [name for name in names if name not in X.columns]
    if missing:
        raise ValueError(f"X lacks the columns {shortened(missing)}; it has {shortened(list(X.columns))}")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"each column has one part, got {twice} more than once")


def _partitions(X: Any, y: Any, sample_weight: Any) -> list[tuple[Any, Any, Any]]:
    """Return X, y and weight of each partition, all delayed."""
    blocks = _blocks("X", X)
    columns = [blocks]
    for name, part in (("y", y), ("sample_weight", sample_weight)):
        others = [None] * len(blocks) if part is None or _named(part) is not None else _blocks(name, part)
        if len(others) != len(blocks):
            raise ValueError(
                f"{name} has {len(others)} partitions, X has {len(blocks)}: repartition it as X is"
            )
        columns.append(others)
    return list(zip(*columns, strict=True))


def _blocks(name: str, part: Any) -> list[Any]:
    if _is_array(part):
        return list((part.rechunk({1: -1}) if part.ndim == 2 else part).to_delayed().ravel())
    if not hasattr(part, "to_delayed"):
        raise TypeError(f"{name} must be a Dask DataFrame or Array, got {type(part).__name__}")
    return list(part.to_delayed())


def _first_plan(read: Any, partitions: list[tuple[Any, Any, Any]], request: Request, client: Any) -> Plan:
    """Make the plan on a worker, from the first partition that has rows."""
    for number, partition in enumerate(partitions):
        plan = _compute(dask.delayed(_plan)(read, number, *partition, request), client)
        if plan is not None:
            return plan
    raise ValueError("X has no rows of positive weight")


def _compute(task: Any, client: Any) -> Any:
    return task.compute() if client is None else client.compute(task).result()


# What follows runs on workers.


def _read(
    scout: Any, request: Request, targets: Any, weight_name: Any, number: int, X: Any, y: Any, weight: Any
) -> Any:
    """Return the rows of a partition, checked; None if there are none."""
    if targets is not None:
        y = X[targets]
    if weight_name is not None:
        weight = X[weight_name]
    names = [name for part in (targets, weight_name) if part is not None for name in _as_list(part)]
    X = X.drop(columns=names) if names else X
    return check_batch(scout, (X, y, weight), request, f"partition {number}")


def _as_list(names: Any) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def _plan(read: Any, number: int, X: Any, y: Any, weight: Any, request: Request) -> Plan | None:
    block = read(number, X, y, weight)
    return None if block is None else make_plan(block, request)


def _compress(
    read: Any, number: int, X: Any, y: Any, weight: Any, plan: Plan, alone: bool
) -> TablePart | None:
    block = read(number, X, y, weight)
    if block is None:
        return None
    check_alike(block, plan.first, "partition", number)
    return compress(block, number * _MOST_ROWS, plan, alone=alone)


def _merge(a: TablePart | None, b: TablePart | None, plan: Plan) -> TablePart | None:
    if a is None or b is None:
        return a if b is None else b
    return merge_tables(a, b, plan)


def _finish(scout: Any, part: TablePart, plan: Plan) -> Any:
    return scout._fit_part(part, plan)
