"""Small TALENT folders, and NumPy files that no NumPy would write."""

import json
import pickle
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

PARTS = ("train", "val", "test")


def write_talent(folder: Path, task: str = "regression", **changes: Any) -> Path:
    """Write two numbers, one category and a target; `changes` replace a file's array, or leave it out."""
    rng = np.random.default_rng(0)
    folder.mkdir(parents=True)
    info: dict[str, Any] = {"task_type": task, "n_num_features": 2, "n_cat_features": 1}
    for part, n_rows in zip(PARTS, (8, 4, 4), strict=True):
        labels = np.arange(n_rows) % (2 if task == "binclass" else 3)
        arrays: dict[str, Any] = {
            "N": rng.normal(size=(n_rows, 2)),
            "C": np.array([[f"c{i % 3}"] for i in range(n_rows)], dtype=object),
            "y": rng.normal(size=n_rows) if task == "regression" else labels,
        }
        for letter, array in arrays.items():
            array = changes.pop(f"{letter}_{part}", array)
            if array is not None:
                np.save(folder / f"{letter}_{part}.npy", array)
    info |= changes.pop("info", {})
    assert not changes, changes
    (folder / "info.json").write_text(json.dumps(info))
    return folder


def npy_of(payload: bytes, shape: tuple[int, ...] = (1,), descr: str = "|O", fortran: bool = False) -> bytes:
    """Return a .npy file with a header and whatever follows it."""
    file = BytesIO()
    header = {"descr": descr, "fortran_order": fortran, "shape": shape}
    np.lib.format.write_array_header_1_0(file, header)
    return file.getvalue() + payload


def pickled_npy(array: np.ndarray, protocol: int = 4) -> bytes:
    return npy_of(pickle.dumps(array, protocol), array.shape)
