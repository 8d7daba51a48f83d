"""The thirteen transformations of numeric columns, each fitted on the training part only.

Whatever finite numbers there are, in the training part or beyond it, networks get finite float32.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import optuna
from numpy.typing import NDArray
from sklearn.preprocessing import MinMaxScaler, QuantileTransformer, StandardScaler

from tabstretch.study.columns import Matrix, PiecewiseLinear, SafeRange, YeoJohnson
from tabstretch.study.datasets import Dataset
from tabstretch.study.datasets.tables import listed
from tabstretch.study.names import TRANSFORMATIONS
from tabstretch.study.stretches import STRETCHES, fit_stretch

__all__ = [
    "ENCODINGS",
    "STRETCH_BINS",
    "TRANSFORMATIONS",
    "FittedTransformation",
    "default_params",
    "fit_transformation",
    "suggest",
    "why_too_wide",
]

STRETCH_BINS = (2, 4, 8, 16, 32, 64, 128, 256, 512, 100000)
ENCODINGS = ("ple", "ple_t")
_AS_THEY_ARE = ("minmax", "rs_sc")  # and standard, which is nothing but standardisation
_DEFAULT_PLE_BINS = 48  # of rtdl_num_embeddings
_BLOCK = 2**22  # numbers that are transformed at once
_LARGEST = float(np.finfo(np.float32).max)


@dataclass(frozen=True, eq=False)
class FittedTransformation:
    """A transformation that has seen the training part. It can be pickled."""

    name: str
    steps: tuple[Any, ...]
    """Each has `transform`; none if there are no numeric columns."""
    n_columns: int
    n_outputs: int
    """How many numbers a row becomes."""
    note: str | None = None
    """What was done instead of what was asked for, if so."""

    def transform(self, X: Matrix) -> NDArray[np.float32]:
        """Return finite float32, `n_outputs` for each row, of finite numbers, `n_columns` for each row."""
        X = np.asarray(X, dtype=np.float64)
        if X.ndim != 2 or X.shape[1] != self.n_columns:
            raise ValueError(f"{self.name} was fitted on {self.n_columns} columns, got shape {X.shape}")
        if not np.isfinite(X).all():
            row, column = np.argwhere(~np.isfinite(X))[0]
            raise ValueError(
                f"column {column} is {X[row, column]} in row {row} (both from 0); replace it by a number"
            )
        out = np.empty((len(X), self.n_outputs), dtype=np.float32)
        if self.steps:
            for rows in _blocks(len(X), self.n_outputs):
                out[rows] = np.clip(_through(self.steps, X[rows]), -_LARGEST, _LARGEST)
        return out


def suggest(name: str, trial: optuna.Trial) -> dict[str, Any]:
    """Draw the parameters of a transformation from the paper's space."""
    _check_name(name)
    if name in ENCODINGS:
        return {"n_bins": trial.suggest_int("n_bins", 2, 256)}
    if name not in STRETCHES:
        return {}
    is_tuned = trial.suggest_categorical("optional_n_bins", [False, True])
    return {"n_bins": trial.suggest_categorical("n_bins", STRETCH_BINS) if is_tuned else 1}


def default_params(name: str) -> dict[str, Any]:
    """Return the parameters without tuning; stretches have their estimator's own number of bins."""
    _check_name(name)
    return {"n_bins": _DEFAULT_PLE_BINS} if name in ENCODINGS else {}


def fit_transformation(
    name: str,
    dataset: Dataset,
    *,
    n_bins: int | None = None,
    memory_limit: float = 2e9,
    memory: Callable[[int], float] | None = None,
) -> FittedTransformation:
    """Fit one of `TRANSFORMATIONS` on the training part.

    Parameters
    ----------
    name : str
        One of `TRANSFORMATIONS`.
    dataset : Dataset
        Perhaps without numeric columns: then there are no outputs.
    n_bins : int, default=None
        Number of bins of stretches and of piecewise linear encodings, at most; by default that of
        `default_params`. No other transformation has bins.
    memory_limit : float, default=2e9
        Bytes. A piecewise linear encoding that needs more gives way to `standard`, and `note` says so.
    memory : callable, default=None
        From the number of inputs to the bytes that a network needs for one step of training.
    """
    _check_name(name)
    _check_bins(name, n_bins)
    X = dataset.numeric["train"]
    if not X.shape[1]:
        return FittedTransformation(name, (), 0, 0)
    steps: tuple[Any, ...]
    note = None
    if name == "yeo_johnson":
        power = YeoJohnson.of(X)
        steps, note = (power,), _why_no_power(power.broken, dataset.numeric_names)
    else:
        safe = SafeRange.of(X)
        steps = (safe, *_fitted_steps(name, replace(dataset, numeric={"train": safe.transform(X)}), n_bins))
    if name in ENCODINGS:
        note = why_too_wide(name, dataset, _width(steps, X), memory_limit, memory)
        steps = steps if note is None else steps[:1]
    if name not in _AS_THEY_ARE:
        steps += (_fitted_scaler(steps, X),)
    return FittedTransformation(name, steps, X.shape[1], _width(steps, X), note)


def _fitted_steps(name: str, dataset: Dataset, n_bins: int | None) -> tuple[Any, ...]:
    """Return what comes between the safe range and standardisation: for `standard`, nothing."""
    X, y = dataset.numeric["train"], dataset.y["train"]
    if name in STRETCHES:
        return (fit_stretch(name, dataset, n_bins=n_bins),)
    if name in ENCODINGS:
        target = _tree_target(y) if name == "ple_t" else None
        return (PiecewiseLinear.of(X, n_bins or _DEFAULT_PLE_BINS, target),)
    if name == "quantile":
        n_quantiles = min(max(min(len(X) // 30, 1000), 10), len(X))
        quantiles = QuantileTransformer(
            n_quantiles=n_quantiles, output_distribution="normal", subsample=None, random_state=0
        )
        return (quantiles.fit(X),)
    if name == "minmax":
        return (MinMaxScaler().fit(X),)
    if name == "rs_sc":
        return (
            load_library(name).SquashingScaler(max_absolute_value=3.0, quantile_range=(25.0, 75.0)).fit(X),
        )
    return ()


def load_library(name: str) -> Any:
    """Import the library of a transformation that needs one of its own, and return it; else None.

    Not with this module: skrub takes a second, in every worker, and only one transformation is made of it.
    """
    return importlib.import_module("skrub") if name == "rs_sc" else None


def _tree_target(y: NDArray[Any]) -> NDArray[Any]:
    """Return classes as they are, and a quantity standardised.

    NOTE[DIFF]: TALENT's trees see the quantity in its own unit, so that the same `min_impurity_decrease` is
    nothing for prices and too much for shares.
    """
    if y.dtype.kind != "f":
        return y
    column = y[:, np.newaxis]
    return StandardScaler().fit_transform(SafeRange.of(column).transform(column))[:, 0]


def _fitted_scaler(steps: tuple[Any, ...], X: Matrix) -> Any:
    """Standardise what comes out of `steps`, a block of rows at a time since it may be wide."""
    scaler = StandardScaler()
    for rows in _blocks(len(X), _width(steps, X)):
        scaler.partial_fit(_through(steps, X[rows]))
    return scaler


def _through(steps: tuple[Any, ...], X: NDArray[Any]) -> NDArray[Any]:
    for step in steps:
        X = step.transform(X)
    return X


def _width(steps: tuple[Any, ...], X: Matrix) -> int:
    return _through(steps, X[:1]).shape[1]


def _blocks(n_rows: int, width: int) -> Iterator[slice]:
    step = max(_BLOCK // width, 1)
    return (slice(start, start + step) for start in range(0, n_rows, step))


def why_too_wide(
    name: str, dataset: Dataset, width: int, limit: float, memory: Callable[[int], float] | None
) -> str | None:
    """Say that an encoding would need too much memory, if so."""
    n_rows = sum(dataset.n_rows.values())
    matrix, network = 4.0 * n_rows * width, memory(width) if memory else 0.0
    if matrix + network <= limit:
        return None
    for_network = f" and {network / 1e9:.3g} GB for the network" if memory else ""
    return (
        f"{name} would make {width} inputs of {dataset.numeric['train'].shape[1]} columns and need "
        f"{matrix / 1e9:.3g} GB for {n_rows} rows{for_network}, more than the limit of {limit / 1e9:.3g} GB: "
        "standard was used instead"
    )


def _why_no_power(broken: tuple[int, ...], names: tuple[str, ...]) -> str | None:
    """Say which columns Yeo-Johnson could not transform, if there are any."""
    if not broken:
        return None
    columns = listed([names[j] for j in broken])
    return (
        f"yeo_johnson overflowed or found no power for {len(broken)} of {len(names)} columns, now just "
        f"standardised: {columns}"
    )


def _check_name(name: str) -> None:
    if name not in TRANSFORMATIONS:
        raise ValueError(f"unknown transformation {name!r}, known are {', '.join(TRANSFORMATIONS)}")


def _check_bins(name: str, n_bins: int | None) -> None:
    if n_bins is None:
        return
    if name not in (*STRETCHES, *ENCODINGS):
        raise ValueError(f"{name} has no bins, got n_bins={n_bins}; leave n_bins out")
    least = 2 if name in ENCODINGS else 1
    if n_bins < least:
        raise ValueError(f"n_bins of {name} must be at least {least}, got {n_bins}")
