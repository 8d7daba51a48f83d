"""The map itself: strictly increasing, piecewise linear, exactly invertible on its range."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.parallel import Parallel, delayed

from tabstretch._kernels import apply_maps
from tabstretch._search import guide_table

OUT_OF_RANGE = ("clip", "extrapolate")
# Threads are worth their start-up from about this many values on.
_VALUES_PER_THREAD = 1 << 17


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
                f"a map has the keys edges, values and out_of_range; missing {sorted(missing)}, unknown {sorted(unknown)}"
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
        tables = [_layout(map_, inverse=inverse) for map_ in maps]
        self._arrays = {
            name: np.concatenate([table[name] for table in tables]) for name in ("edges", "values", "first")
        }
        self._edge_start = _starts([len(table["edges"]) for table in tables])
        self._first_start = _starts([len(table["first"]) for table in tables])
        self._numbers = np.array([table["numbers"] for table in tables], dtype=np.float64)
        self._extrapolate = np.array([map_.out_of_range == "extrapolate" for map_ in maps])

    def __call__(self, X: NDArray[Any], n_jobs: int | None = 1) -> NDArray[Any]:
        """Map every column of a float32 or float64 matrix, in threads; the output has its dtype and layout."""
        out = np.empty_like(X)
        n_threads = max(1, min(effective_n_jobs(n_jobs), X.size // _VALUES_PER_THREAD))
        bounds = np.linspace(0, len(X), n_threads + 1).astype(np.intp)
        pieces = [slice(start, stop) for start, stop in zip(bounds[:-1], bounds[1:], strict=True)]
        if n_threads == 1:
            self._map_rows(X, out)
        else:
            Parallel(n_jobs=n_threads, prefer="threads")(
                delayed(self._map_rows)(X[piece], out[piece]) for piece in pieces
            )
        return out

    def _map_rows(self, X: NDArray[Any], out: NDArray[Any]) -> None:
        apply_maps(
            X,
            out,
            self._arrays["edges"],
            self._arrays["values"],
            self._arrays["first"],
            self._edge_start,
            self._first_start,
            self._numbers,
            self._extrapolate,
        )


def _layout(map_: MonotoneMap, *, inverse: bool) -> dict[str, Any]:
    """Return a map's arrays and numbers for the compiled loop.

    Halving inputs or outputs whose range overflows keeps every difference finite.
    """
    if len(map_.edges) == 0:
        edges, values = np.zeros(1), np.array([np.nan]) if inverse else map_.values
    else:
        edges, values = (map_.values, map_.edges) if inverse else (map_.edges, map_.values)
    edge_scale, value_scale = _safe_scale(edges), _safe_scale(values)
    edges, values = edges * edge_scale, values * value_scale
    if len(edges) == 1:
        return {"edges": edges, "values": values, "first": np.zeros(0, np.int32), "numbers": [edge_scale, value_scale, 0, 0, 0, 0]}
    # Halving may merge neighbours among the smallest numbers; the search needs them apart.
    center, scale, origin, slots_per_unit, first = guide_table(edges)
    return {
        "edges": edges,
        "values": values,
        "first": first,
        "numbers": [edge_scale, value_scale, center, scale, origin, slots_per_unit],
    }


def _safe_scale(numbers: NDArray[np.float64]) -> float:
    with np.errstate(over="ignore"):
        return 1.0 if np.isfinite(2.0 * (numbers[-1] - numbers[0])) or np.isnan(numbers[0]) else 0.25


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
