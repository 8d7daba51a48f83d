"""Compress a table that comes in batches, in one pass and in bounded memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import chain
from numbers import Integral
from typing import Any

import numpy as np
from sklearn import config_context, get_config
from sklearn.base import clone

from tabstretch._folds import requested_splits
from tabstretch._parts import (
    Block,
    Merger,
    Plan,
    Request,
    SeparateColumns,
    TablePart,
    check_alike,
    compress,
    make_plan,
)
from tabstretch._sampling import seed_of
from tabstretch._target import TARGET_TYPES
from tabstretch._threads import count_threads, map_ahead
from tabstretch._validation import check_matrix, check_row_weights, check_target, within_reason

# Rows are compressed in blocks of a fixed size, so that nothing depends on the size of batches.
_BLOCK_ROWS = 1 << 19
_BLOCK_NUMBERS = 1 << 23
_FEWEST_ROWS = 1 << 12
# More blocks in memory at once would not be faster: beyond these, threads share the columns of a block.
_BLOCKS_AT_ONCE = 2
# The pooled variation sorts rows: at most this many.
_POOLED_ROWS = 100_000


def supervised_request(
    target_type: str, cv: Any, variation: str, teacher_rows: int, random_state: Any, n_jobs: int | None
) -> Request:
    """Check the parameters of a supervised stretch, and return what it wants to know of its data."""
    if target_type not in ("auto", *TARGET_TYPES):
        raise ValueError(f"target_type must be 'auto' or one of {TARGET_TYPES}, got {target_type!r}")
    if not isinstance(cv, Integral):
        raise ValueError(f"cv must be a number of folds where rows pass by only once, got {cv!r}")
    requested_splits(cv, None, None, {})
    seed = seed_of(random_state)
    if variation == "within_fold":
        return Request(target_type, int(cv), 0, seed, n_jobs)
    rows = teacher_rows if variation == "conditional" else _POOLED_ROWS
    return Request(target_type, 0, rows, seed, n_jobs)


def compress_batches(
    estimator: Any, batches: Any, request: Request, names: tuple[str, ...] | None = None
) -> tuple[TablePart, Plan]:
    """Compress all batches; columns that are given `names` are known to have no infinite values."""
    # scikit-learn looks for infinite values twice as long as it takes to sum a column by cells.
    with config_context(assume_finite=names is not None or get_config()["assume_finite"]):
        return _compress_batches(estimator, batches, request, names)


def _compress_batches(
    estimator: Any, batches: Any, request: Request, names: tuple[str, ...] | None
) -> tuple[TablePart, Plan]:
    checked = checked_batches(estimator, batches, request)
    blocks = in_blocks(checked if names is None else (replace(block, names=names) for block in checked))
    block = next(blocks, None)
    if block is None:
        raise ValueError(
            "there are no batches with rows of positive weight: a generator can be used only once"
        )
    plan = make_plan(block, request)
    merger = Merger(plan)
    following = next(blocks, None)
    if following is None:
        merger.add(compress(block, 0, plan, alone=True))
    else:
        for part in _compress_blocks(chain([block, following], blocks), plan):
            merger.add(part)
    return merger.result(), plan


def _compress_blocks(blocks: Iterable[Block], plan: Plan) -> Iterator[TablePart]:
    """Yield what is kept of each block, in order; some are compressed at once, while the next is read."""
    n_threads = count_threads(plan.request.n_jobs)
    n_at_once = min(n_threads, _BLOCKS_AT_ONCE)
    each = replace(plan, request=replace(plan.request, n_jobs=n_threads // n_at_once))

    def jobs() -> Iterator[tuple[Block, int, Plan]]:
        row = 0
        for block in blocks:
            yield block, row, each
            row += len(block.X)

    yield from map_ahead(compress, jobs(), n_at_once)


def checked_batches(estimator: Any, batches: Any, request: Request) -> Iterator[Block]:
    """Yield batches that have rows, checked; errors name the batch."""
    if callable(batches):
        batches = batches()
    if hasattr(batches, "shape") or not isinstance(batches, Iterable):
        raise TypeError(
            "batches must be an iterable of X, (X, y) or (X, y, weight), or a function that returns one, "
            f"got {type(batches).__name__}. For a single table use fit."
        )
    scout = clone(estimator)
    first: Block | None = None
    for number, batch in enumerate(batches):
        block = check_batch(scout, batch, request, f"batch {number}")
        if block is not None:
            first = first or block.take(slice(0))
            check_alike(block, first, "batch", number)
            yield block


def check_batch(scout: Any, batch: Any, request: Request, name: str) -> Block | None:
    """Return the rows of a batch that have weight, or None if there are none.

    The `scout` is an estimator that is used for checks only.
    """
    parts = batch if _is_split(batch) else (batch,)
    if not 1 <= len(parts) <= 3:
        raise ValueError(f"{name}: a batch must be X, (X, y) or (X, y, weight), got {len(parts)} parts")
    X, y, weight = (*parts, None, None)[:3]
    n_rows = X.shape[:1] if hasattr(X, "shape") else (len(X),) if hasattr(X, "__len__") else ()
    if n_rows == (0,):
        return None
    try:
        if not isinstance(X, SeparateColumns):  # these come from files, and have been checked
            X = check_matrix(scout, X, reset=True)
        y = check_target(scout, X, y) if request.target_type is not None else None
        weight = check_row_weights(weight, len(X))
    except (ValueError, TypeError) as error:
        raise type(error)(f"{name}: {error}") from error
    names = getattr(scout, "feature_names_in_", None)
    weight = None if weight is None else within_reason(weight)
    block = Block(X, y, weight, None if names is None else tuple(names))
    if weight is None or np.all(weight > 0):
        return block
    return block.take(weight > 0) if np.any(weight > 0) else None


def _is_split(batch: Any) -> bool:
    """Tell X, y and weight from X alone; data loaders of PyTorch put them into a list."""
    in_list = isinstance(batch, list) and len(batch) > 0 and len(getattr(batch[0], "shape", ())) == 2
    return in_list or isinstance(batch, tuple)


def in_blocks(batches: Iterable[Block]) -> Iterator[Block]:
    """Join and split batches into blocks of a fixed number of rows; the last one may have fewer."""
    waiting: list[Block] = []
    n_waiting = 0
    for batch in batches:
        size = block_rows(batch.X.shape[1])
        waiting.append(batch)
        n_waiting += len(batch.X)
        if n_waiting < size:
            continue
        joined = _join(waiting)
        n_whole = n_waiting - n_waiting % size
        for start in range(0, n_whole, size):
            yield joined.take(slice(start, start + size))
        n_waiting -= n_whole
        # A copy, or the rest of a batch would keep all of it in memory.
        waiting = [joined.take(np.arange(n_whole, len(joined.X)))] if n_waiting else []
    if waiting:
        yield _join(waiting)


def block_rows(n_columns: int) -> int:
    """Return how many rows are compressed at once."""
    return int(np.clip(_BLOCK_NUMBERS // max(n_columns, 1), _FEWEST_ROWS, _BLOCK_ROWS))


def _join(blocks: list[Block]) -> Block:
    if len(blocks) == 1:
        return blocks[0]

    def joined(part: Callable[[Block], Any]) -> Any:
        parts = [part(block) for block in blocks]
        return None if parts[0] is None else np.concatenate(parts)

    return Block(
        joined(lambda block: block.X),
        joined(lambda block: block.y),
        joined(lambda block: block.weight),
        blocks[0].names,
    )
