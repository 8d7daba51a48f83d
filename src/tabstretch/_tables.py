"""Maps of several columns as one table of straight pieces, for engines that work on whole arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tabstretch._base import BaseStretch
from tabstretch._monotone import MonotoneMap, straight_pieces
from tabstretch._table import TableStretch


class PieceTable(NamedTuple):
    """The pieces of every map, one map per row; short maps repeat their last piece.

    An input is multiplied by its `edge_scale`, brought between `low` and `high`, and belongs to the last
    piece whose edge is not above it, or else to the first. With the `left` edge, its output, the slope and
    the output at the right edge of this piece (`bins`), the output is
    `min(value + (input - left) * slope, right) * output_scale`.
    """

    edges: NDArray[np.float64]
    """Of shape (n_maps, n_pieces); infinite where a piece is a repetition."""
    bins: NDArray[np.float64]
    """Of shape (n_maps, n_pieces, 4)."""
    low: NDArray[np.float64]
    """Of shape (n_maps,), as are the others."""
    high: NDArray[np.float64]
    edge_scale: NDArray[np.float64]
    output_scale: NDArray[np.float64]
    n_bins: NDArray[np.int64]


def piece_table(maps: Sequence[MonotoneMap]) -> PieceTable:
    """Lay out maps side by side."""
    pieces = [straight_pieces(map_) for map_ in maps]
    n_pieces = max(len(each.bins) for each in pieces)
    table = np.empty((len(maps), n_pieces, 4))
    edges = np.full((len(maps), n_pieces), np.inf)
    limits = np.empty((2, len(maps)))
    for j, (map_, (bins, _, _)) in enumerate(zip(maps, pieces, strict=True)):
        edges[j, : len(bins)] = bins[:, 0]
        limits[:, j] = bins[[0, -1], 0]
        table[j, : len(bins)] = bins
        if map_.out_of_range == "extrapolate":
            end_slopes = bins[[0, max(len(bins) - 2, 0)], 2]
            # Where the map is level it stays so: infinitely far away, a product with no slope would be NaN.
            limits[:, j] = np.where(end_slopes > 0, [-np.inf, np.inf], limits[:, j])
            table[j, len(bins) - 1, 2:] = end_slopes[1], np.inf
        table[j, len(bins) :] = table[j, len(bins) - 1]
    return PieceTable(
        edges,
        table,
        limits[0],
        limits[1],
        np.array([each.edge_scale for each in pieces]),
        np.array([each.output_scale for each in pieces]),
        np.array([len(each.bins) - 1 for each in pieces]),
    )


def fitted_stretch(estimator: Any) -> BaseStretch:
    """Return the stretch of an estimator: itself, or that of a table's numeric columns."""
    stretch = getattr(estimator, "stretch_", None) if isinstance(estimator, TableStretch) else estimator
    if not isinstance(stretch, BaseStretch) or not hasattr(stretch, "maps_"):
        is_pipeline = hasattr(estimator, "named_steps")
        raise TypeError(
            "a fitted StretchTransformer, SupervisedStretchTransformer or TableStretch is needed, "
            f"got {estimator!r}{'; pass a step of it, such as pipeline[0]' if is_pipeline else ''}"
        )
    return stretch
