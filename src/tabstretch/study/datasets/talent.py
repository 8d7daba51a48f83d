"""Folders of the TALENT benchmark: `{N,C,y}_{train,val,test}.npy` and `info.json`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabstretch.study.datasets.npy import read_npy
from tabstretch.study.datasets.sources import Source
from tabstretch.study.datasets.tables import (
    PARTS,
    Table,
    as_labels,
    as_numbers,
    check_names,
    check_no_missing,
)

_TASKS = ("regression", "binclass", "multiclass")


def read_talent(source: Source, folder: Path) -> Table:
    """Return the table of a folder, with its own split. N (numbers) or C (categories) may be absent."""
    path = source.path(folder)
    if not path.is_dir():
        raise FileNotFoundError(f"{path} is no folder; TALENT's hold y_train.npy, info.json and others")
    info = _read_info(path / "info.json")
    targets = {part: _read_target(path / f"y_{part}.npy") for part in PARTS}
    sizes = {part: len(values) for part, values in targets.items()}
    numeric = _read_matrices(path, "N", sizes)
    categorical = _read_matrices(path, "C", sizes)
    if not numeric.shape[1] and not categorical.shape[1]:
        raise ValueError(f"{path} has neither numbers (N_train.npy) nor categories (C_train.npy)")
    numeric_names = _names(info, "num", numeric.shape[1])
    categorical_names = _names(info, "cat", categorical.shape[1])
    check_names(numeric_names + categorical_names)
    target = _as_target(np.concatenate(list(targets.values())), info["task_type"])
    return Table(
        path.resolve().name,
        {name: as_numbers(name, numeric[:, j]) for j, name in enumerate(numeric_names)},
        {name: as_labels(categorical[:, j]) for j, name in enumerate(categorical_names)},
        target,
        "y",
        _fixed_rows(sizes),
    )


def _read_info(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise FileNotFoundError(f"{path} does not exist")
    try:
        info = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, OSError, RecursionError) as error:
        raise ValueError(f"{path} cannot be read: {error}") from error
    task = info.get("task_type") if isinstance(info, dict) else None
    if task not in _TASKS:
        raise ValueError(f"{path} must have a task_type of {', '.join(_TASKS)}, got {task!r}")
    return dict(info)


def _read_target(path: Path) -> NDArray[Any]:
    values = read_npy(path)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1 or len(values) == 0:
        raise ValueError(f"{path} must have one value for each row, got shape {values.shape}")
    return values


def _read_matrices(path: Path, letter: str, sizes: dict[str, int]) -> NDArray[Any]:
    """Return the three parts of N or C below each other; without columns if there is no such file."""
    files = {part: path / f"{letter}_{part}.npy" for part in PARTS}
    if not any(file.exists() for file in files.values()):
        return np.empty((sum(sizes.values()), 0))
    matrices = {part: read_npy(file) for part, file in files.items()}
    n_columns = matrices["train"].shape[-1]
    for part, matrix in matrices.items():
        if matrix.shape != (sizes[part], n_columns):
            raise ValueError(
                f"{files[part]} must have shape {(sizes[part], n_columns)}, the rows of y_{part}.npy and the "
                f"columns of {letter}_train.npy, got {matrix.shape}"
            )
    return np.concatenate(list(matrices.values()))


def _names(info: dict[str, Any], kind: str, n_columns: int) -> list[str]:
    """Return the names that the folder gives to its columns, or numbers where it has none."""
    if info.get(f"n_{kind}_features", n_columns) != n_columns:
        raise ValueError(
            f"info.json says n_{kind}_features is {info[f'n_{kind}_features']!r}, the files have {n_columns}"
        )
    names = info.get(f"{kind}_feature_names")
    if isinstance(names, list) and len(names) == n_columns:
        return [str(name) for name in names]
    return [f"{kind}_{j}" for j in range(n_columns)]


def _as_target(values: NDArray[Any], task: str) -> NDArray[np.float64] | list[str]:
    if task == "regression":
        numbers = as_numbers("y", values)
        check_no_missing("y", np.isnan(numbers))
        return numbers
    labels = as_labels(values)
    check_no_missing("y", [label is None for label in labels])
    n_classes = len(set(labels))
    if task == "binclass" and n_classes > 2:
        raise ValueError(f"info.json says binclass, y has {n_classes} classes; should it say multiclass?")
    return [label for label in labels if label is not None]


def _fixed_rows(sizes: dict[str, int]) -> dict[str, NDArray[np.int64]]:
    ends = np.cumsum(list(sizes.values()))
    return {part: np.arange(end - sizes[part], end) for part, end in zip(PARTS, ends, strict=True)}
