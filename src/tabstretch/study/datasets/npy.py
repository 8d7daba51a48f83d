"""NumPy's .npy files from strangers: nothing is executed, and no more memory used than the file is long."""

from __future__ import annotations

import math
import os
import sys
import warnings
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy_format
from numpy.typing import NDArray

from tabstretch.study.datasets.pickles import read_pickled_array

_HEADER_READERS = {
    (1, 0): npy_format.read_array_header_1_0,
    (2, 0): npy_format.read_array_header_2_0,
}


def read_npy(path: Path) -> NDArray[Any]:
    """Return an array of one or two dimensions: truth values, integers, floats, or text as objects.

    `np.load` is not used: what it refuses with `allow_pickle=False` is needed, and what it does with
    `allow_pickle=True` executes code that a file may contain.
    """
    if not path.is_file():  # a pipe or a device would wait or never end
        raise FileNotFoundError(f"{path} does not exist or is no file")
    try:
        with path.open("rb") as file:
            return _read(file, os.fstat(file.fileno()).st_size)
    except (ValueError, OSError, MemoryError) as error:
        raise ValueError(f"{path} cannot be read: {error}") from error


def _read(file: BinaryIO, size: int) -> NDArray[Any]:
    shape, is_fortran, dtype = _read_header(file)
    if not 1 <= len(shape) <= 2 or min(shape) < 0:
        raise ValueError(f"it has shape {shape}; one or two dimensions are needed")
    if dtype.kind == "O":
        return _read_objects(file, shape)
    if dtype.kind not in "biufU" or dtype.itemsize == 0:
        raise ValueError(f"it holds {dtype}; only text, numbers and truth values are accepted")
    expected, found = math.prod(shape) * dtype.itemsize, size - file.tell()
    if expected != found:  # before memory is set aside for what the header promises
        raise ValueError(
            f"its header says {dtype} of shape {shape}, which is {expected} bytes, but {found} follow"
        )
    flat = np.fromfile(file, dtype=dtype, count=math.prod(shape))
    array = flat.reshape(shape, order="F" if is_fortran else "C")
    if dtype.kind != "U":
        return array
    if flat.size and flat.view(f"{dtype.byteorder}u4").max() > sys.maxunicode:
        raise ValueError("it holds text with characters that do not exist")
    return array.astype(object)


def _read_header(file: BinaryIO) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    version = npy_format.read_magic(file)
    if version not in _HEADER_READERS:
        raise ValueError(f"format version {version} is for structured arrays, which are not read")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about headers written by Python 2
            return _HEADER_READERS[version](file)
    except Exception as error:  # the text goes through Python's tokenizer, which has errors of its own
        raise ValueError(f"its header is damaged: {error}") from error


def _read_objects(file: BinaryIO, shape: tuple[int, ...]) -> NDArray[np.object_]:
    array = read_pickled_array(file.read())
    if array.shape != shape:
        raise ValueError(f"its header says shape {shape}, its content has shape {array.shape}")
    return array
