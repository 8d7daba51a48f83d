"""The map itself: strictly increasing, piecewise linear, exactly invertible on its range."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tabstretch._kernels import apply_maps
from tabstretch._search import guide_table
from tabstretch._threads import count_threads, map_in_threads

OUT_OF_RANGE = ("clip", "extrapolate")
# Threads are worth their start-up from about this many values on.
_VALUES_PER_THREAD = 1 << 17
# Slopes from 2**-1000 to 2**1000 are far from the ends of floats; no output is scaled by more than 2**620.
_LARGEST_EXPONENT, _MOST_SCALE = 1000, 620


class MonotoneMap:
    """A strictly increasing piecewise-linear map.

    Parameters
    ----------
    edges : array-like of shape (n_bins + 1,)
        Where the slope changes, strictly increasing. A single edge makes a constant map, and no edge
        (of a column that had no values) a map to `values[0]`.
    values : array-like
        Outputs at the edges, strictly increasing, as many as edges (one where there is no edge).
    out_of_range : {"clip", "extrapolate"}, default="clip"
        Whether inputs beyond the edges get the end values or continue the end slopes.

    Examples
    --------
    >>> from tabstretch import MonotoneMap
    >>> stretch = MonotoneMap([0, 1, 10], [0, 0.5, 1])
    >>> stretch([0.5, 1, 5.5, 99, float("nan")])
    array([0.25, 0.5 , 0.75, 1.  ,  nan])
    >>> stretch.inverse([0.25, 0.75])
    array([0.5, 5.5])
    >>> stretch.slopes
    array([0.5       , 0.05555556])
    """

    def __init__(self, edges: ArrayLike, values: ArrayLike, out_of_range: str = "clip") -> None:
        self.edges = _checked("edges", edges)
        self.values = _checked("values", values)
        if len(self.values) != max(len(self.edges), 1):
            raise ValueError(
                f"values must be as many as edges, got {len(self.values)} values for {len(self.edges)} edges"
            )
        if out_of_range not in OUT_OF_RANGE:
            raise ValueError(f"out_of_range must be one of {OUT_OF_RANGE}, got {out_of_range!r}")
        self.out_of_range = out_of_range

    def __call__(self, x: ArrayLike) -> NDArray[np.float64]:
        """Map `x` elementwise; NaN stays NaN."""
        return self._apply(x, inverse=False)

    def inverse(self, y: ArrayLike) -> NDArray[np.float64]:
        """Map `y` back, exactly on the range of the map but for rounding."""
        return self._apply(y, inverse=True)

    @property
    def slopes(self) -> NDArray[np.float64]:
        """Slope in each bin."""
        with np.errstate(over="ignore"):
            return np.asarray(np.diff(self.values) / np.diff(self.edges))

    def to_dict(self) -> dict[str, Any]:
        """Return a dictionary of plain lists and strings, fit for JSON."""
        return {
            "edges": self.edges.tolist(),
            "values": self.values.tolist(),
            "out_of_range": self.out_of_range,
        }

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> MonotoneMap:
        """Build a map from the dictionary of `to_dict`, checking everything."""
        unknown = set(document) - {"edges", "values", "out_of_range"}
        missing = {"edges", "values"} - set(document)
        if unknown or missing:
            raise ValueError(
                "a map has the keys edges, values and out_of_range; "
                f"missing {sorted(missing)}, unknown {sorted(unknown)}"
            )
        return cls(**document)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MonotoneMap):
            return NotImplemented
        return (
            np.array_equal(self.edges, other.edges)
            and np.array_equal(self.values, other.values)
            and self.out_of_range == other.out_of_range
        )

    __hash__ = None  # type: ignore[assignment]  # it holds arrays

    def __repr__(self) -> str:
        n_bins = max(len(self.edges) - 1, 0)
        if n_bins == 0:
            return f"MonotoneMap(constant {self.values[0]:.6g})"
        ends = [f"{end:.6g}" for end in (self.edges[0], self.edges[-1], self.values[0], self.values[-1])]
        return f"MonotoneMap({n_bins} bins, [{ends[0]}, {ends[1]}] -> [{ends[2]}, {ends[3]}])"

    def _apply(self, x: ArrayLike, *, inverse: bool) -> NDArray[np.float64]:
        x = np.asarray(x, dtype=np.float64)
        flat = np.ascontiguousarray(x).reshape(-1, 1)
        return MapTable([self], inverse=inverse)(flat).reshape(x.shape)


class MapTable:
    """The maps of several columns, laid out one after the other for the compiled loop."""

    def __init__(self, maps: Sequence[MonotoneMap], *, inverse: bool = False) -> None:
        layouts = [_layout(map_, inverse=inverse) for map_ in maps]
        edges, bins, first, numbers = zip(*layouts, strict=True)
        self._tables = (
            inverse,
            np.concatenate(edges),
            np.concatenate(bins),
            np.concatenate(first),
            _starts([len(table) for table in edges]),
            _starts([len(table) for table in first]),
            np.array(numbers),
            np.array([map_.out_of_range == "extrapolate" for map_ in maps]),
        )
        largest = max(np.abs(map_.edges if inverse else map_.values).max(initial=0.0) for map_ in maps)
        extrapolates = any(map_.out_of_range == "extrapolate" for map_ in maps)
        self._may_leave_float32 = extrapolates or largest > np.finfo(np.float32).max

    def __call__(self, X: NDArray[Any], n_jobs: int | None = 1) -> NDArray[Any]:
        """Map every column of a float32 or float64 matrix, in threads; the output keeps dtype and layout."""
        out = np.empty_like(X)
        n_pieces = max(1, min(count_threads(n_jobs), X.size // _VALUES_PER_THREAD))
        bounds = np.linspace(0, len(X), n_pieces + 1).astype(np.intp)
        pieces = [(X[start:stop], out[start:stop], *self._tables) for start, stop in pairwise(bounds)]
        map_in_threads(apply_maps, pieces, n_pieces)
        if out.dtype == np.float32 and self._may_leave_float32:
            # The loop keeps to the range of float64, whose ends are infinite in float32.
            largest = np.finfo(np.float32).max
            np.clip(out, -largest, largest, out=out)
        return out


class Pieces(NamedTuple):
    """The straight pieces of a map.

    Each row of `bins` holds the left edge, its output, the slope and the output at the right edge; the last
    row has the last edge and no slope. Powers of two bring extreme inputs or outputs to where differences and
    slopes are finite: inputs are to be multiplied by `edge_scale`, outputs by `output_scale`.
    """

    bins: NDArray[np.float64]
    edge_scale: float
    output_scale: float


def straight_pieces(map_: MonotoneMap) -> Pieces:
    """Return the pieces of a map."""
    edges, values = (map_.edges, map_.values) if len(map_.edges) else (np.zeros(1), map_.values)
    edge_scale, value_scale = _safe_scale(edges), _safe_scale(values)
    value_scale *= _slope_scale(edges * edge_scale, values * value_scale)
    edges, values = edges * edge_scale, _scaled_inward(values, value_scale)
    lengths = np.diff(edges)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        slopes = np.diff(values) / lengths
    # A bin far shorter than the others, whose slope overflows, gets its left output throughout.
    slopes = np.where(np.isfinite(slopes), slopes, 0.0)
    return Pieces(_rows_of_bins(edges, values, slopes), edge_scale, 1.0 / value_scale)


def _pieces_of_inverse(map_: MonotoneMap) -> Pieces:
    """Return the pieces of a map's inverse, with lengths instead of slopes.

    Maps have steep pieces beside flat ones, and no power of two keeps the slopes of all of them from the
    ends of floats. Nothing but our own loop needs the inverse, and it can afford a division.
    """
    edges, values = (map_.values, map_.edges) if len(map_.edges) else (np.zeros(1), np.array([np.nan]))
    edge_scale, value_scale = _safe_scale(edges), _safe_scale(values)
    edges, values = edges * edge_scale, _scaled_inward(values, value_scale)
    return Pieces(_rows_of_bins(edges, values, np.diff(edges)), edge_scale, 1.0 / value_scale)


def _rows_of_bins(
    edges: NDArray[np.float64], values: NDArray[np.float64], slopes: NDArray[np.float64]
) -> NDArray[np.float64]:
    return np.column_stack([edges, values, np.append(slopes, 0.0), np.append(values[1:], values[-1])])


def careful_slopes(bins: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return slopes with which no piece rounds up beyond its right end, so that none has to be checked."""
    slope = bins[:-1, 2].copy()
    longest = np.nextafter(bins[1:, 0], -np.inf) - bins[:-1, 0]
    while np.any(too_steep := bins[:-1, 1] + longest * slope > bins[1:, 1]):
        slope[too_steep] = np.nextafter(slope[too_steep], 0.0)
    return slope


def _layout(map_: MonotoneMap, *, inverse: bool) -> tuple[Any, Any, Any, list[float]]:
    """Return a map's edges, its bins, its guide table and its numbers for the compiled loop."""
    bins, *scales = _pieces_of_inverse(map_) if inverse else straight_pieces(map_)
    edges = np.ascontiguousarray(bins[:, 0])
    outputs = map_.edges if inverse else map_.values
    ends = [outputs[0], outputs[-1]] if len(outputs) else [np.nan, np.nan]
    if len(edges) == 1:
        return edges, bins, np.zeros(0, np.uint32), [*scales, *ends, 0.0, 0.0, 0.0, 0.0]
    center, scale, origin, slots_per_unit, first = guide_table(edges)
    return edges, bins, first, [*scales, *ends, center, scale, origin, slots_per_unit]


def _safe_scale(numbers: NDArray[np.float64]) -> float:
    largest = max(abs(numbers[0]), abs(numbers[-1]))
    if largest > 1e292:  # the largest of all numbers, less these, is infinite
        return 2.0**-4
    return 2.0**400 if 0.0 < largest < 1e-200 else 1.0


def _scaled_inward(numbers: NDArray[np.float64], scale: float) -> NDArray[np.float64]:
    """Return scaled numbers; where that rounds, as with the smallest of all, the ends go inward."""
    scaled = numbers * scale
    if scaled[0] / scale < numbers[0]:
        scaled[0] = np.nextafter(scaled[0], np.inf)
    if scaled[-1] / scale > numbers[-1]:
        scaled[-1] = np.nextafter(scaled[-1], -np.inf)
    return np.clip(scaled, scaled[0], scaled[-1])


def _slope_scale(edges: NDArray[np.float64], values: NDArray[np.float64]) -> float:
    """Return a power of two for the outputs with which slopes have all their digits.

    Where no power of two does that for the steepest and for the flattest piece, the flattest is kept, which
    is that of the longest bin.
    """
    rises, lengths = np.diff(values), np.diff(edges)
    sloped = (rises > 0) & (lengths > 0)
    if not np.any(sloped):
        return 1.0
    exponent = (np.frexp(rises)[1] - np.frexp(lengths)[1])[sloped]
    # By how much slopes may fall before the flattest, and rise before the steepest, loses digits.
    fall, rise = int(exponent.min()) + _LARGEST_EXPONENT, _LARGEST_EXPONENT - int(exponent.max())
    shift = -fall if fall < 0 else -min(max(-rise, 0), fall)
    largest = int(np.frexp(max(abs(values[0]), abs(values[-1])))[1])
    return 2.0 ** max(min(shift, _MOST_SCALE, max(_LARGEST_EXPONENT - largest, 0)), -_MOST_SCALE)


def _starts(lengths: Sequence[int]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def _checked(name: str, numbers: ArrayLike) -> NDArray[np.float64]:
    array = np.array(numbers, dtype=np.float64)
    if array.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, got shape {array.shape}")
    if not np.all(np.isfinite(array)):
        raise ValueError(f"{name} must be finite, got {array[~np.isfinite(array)][0]}")
    falling = np.flatnonzero(array[1:] <= array[:-1])
    if len(falling):
        first = int(falling[0])
        raise ValueError(f"{name} must be strictly increasing, got {array[first]} before {array[first + 1]}")
    array.setflags(write=False)
    return array
