"""Folders of the TALENT benchmark: `{N,C,y}_{train,val,test}.npy` and `info.json`."""

from __future__ import annotations

import json
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

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
    targets = [_read_target(path / f"y_{part}.npy", info["task_type"]) for part in PARTS]
    sizes = {part: len(values) for part, values in zip(PARTS, targets, strict=True)}
    numeric = _read_matrices(path, "N", sizes)
    categorical = _read_matrices(path, "C", sizes)
    if not _n_columns(numeric) and not _n_columns(categorical):
        raise ValueError(f"{path} has neither numbers (N_train.npy) nor categories (C_train.npy)")
    numeric_names = _names(info, "num", _n_columns(numeric))
    categorical_names = _names(info, "cat", _n_columns(categorical))
    check_names(numeric_names + categorical_names)
    return Table(
        path.resolve().name,
        {name: _numbers(name, numeric, j) for j, name in enumerate(numeric_names)},
        {name: _labels(categorical, j) for j, name in enumerate(categorical_names)},
        _joined(targets, info["task_type"]),
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


def _read_target(path: Path, task: str) -> NDArray[np.float64] | list[str]:
    values = read_npy(path)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1 or len(values) == 0:
        raise ValueError(f"{path} must have one value for each row, got shape {values.shape}")
    with _file_named(path):
        if task == "regression":
            numbers = as_numbers("y", values)
            check_no_missing("y", np.isnan(numbers))
            return numbers
        labels = as_labels(values)
        check_no_missing("y", [label is None for label in labels])
    return [label for label in labels if label is not None]


@contextmanager
def _file_named(path: Path) -> Generator[None]:
    """Begin complaints about rows with their file: each counts its own."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


Matrices: TypeAlias = dict[Path, NDArray[Any]]
"""The three parts of N or C by their files; none if the folder has no such columns."""


def _read_matrices(path: Path, letter: str, sizes: dict[str, int]) -> Matrices:
    files = {part: path / f"{letter}_{part}.npy" for part in PARTS}
    if not any(file.exists() for file in files.values()):
        return {}
    matrices = {part: read_npy(file) for part, file in files.items()}
    shape = matrices["train"].shape
    if len(shape) != 2:
        raise ValueError(f"{files['train']} must have two dimensions, rows and columns, got shape {shape}")
    for part, matrix in matrices.items():
        if matrix.shape != (sizes[part], shape[1]):
            raise ValueError(
                f"{files[part]} must have shape {(sizes[part], shape[1])}, the rows of y_{part}.npy and the "
                f"columns of {letter}_train.npy, got {matrix.shape}"
            )
    return {files[part]: matrices[part] for part in PARTS}


def _numbers(name: str, matrices: Matrices, j: int) -> NDArray[np.float64]:
    parts = []
    for path, matrix in matrices.items():
        with _file_named(path):
            parts.append(as_numbers(name, matrix[:, j]))
    return np.concatenate(parts)


def _labels(matrices: Matrices, j: int) -> list[str | None]:
    return [label for matrix in matrices.values() for label in as_labels(matrix[:, j])]


def _n_columns(matrices: Matrices) -> int:
    return next((matrix.shape[1] for matrix in matrices.values()), 0)


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


def _joined(targets: list[NDArray[np.float64] | list[str]], task: str) -> NDArray[np.float64] | list[str]:
    """Return the three parts of the target below each other."""
    if task == "regression":
        return np.concatenate(targets)
    labels = [str(label) for part in targets for label in part]
    n_classes = len(set(labels))
    if task == "binclass" and n_classes > 2:
        raise ValueError(f"info.json says binclass, y has {n_classes} classes; should it say multiclass?")
    return labels


def _fixed_rows(sizes: dict[str, int]) -> dict[str, NDArray[np.int64]]:
    ends = np.cumsum(list(sizes.values()))
    return {part: np.arange(end - sizes[part], end) for part, end in zip(PARTS, ends, strict=True)}
