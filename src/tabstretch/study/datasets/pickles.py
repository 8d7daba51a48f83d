"""Arrays of Python objects as `np.save` pickles them, read without executing anything.

A pickle is a program for a small stack machine, and two of its instructions call whatever the file names.
This reader is a machine without them: it knows the instructions that `np.save` writes (NumPy 1 and 2,
pickle protocols 2 to 5) and the six names that occur in them, which it takes as marks, not as functions to
call. Nothing named by a file is imported or called, and memory is bounded by the length of the file.
"""

from __future__ import annotations

import math
import pickletools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray


class _Name(Enum):
    """What a file may name."""

    RECONSTRUCT = "numpy's empty array, to be filled"
    NDARRAY = "the class of arrays"
    DTYPE = "the class of data types"
    SCALAR = "a NumPy number or text of its own"
    ENCODE = "bytes, in the words of protocol 2"


_NAMES = {
    "numpy.core.multiarray _reconstruct": _Name.RECONSTRUCT,
    "numpy._core.multiarray _reconstruct": _Name.RECONSTRUCT,
    "numpy.core.multiarray scalar": _Name.SCALAR,
    "numpy._core.multiarray scalar": _Name.SCALAR,
    "numpy ndarray": _Name.NDARRAY,
    "numpy dtype": _Name.DTYPE,
    "_codecs encode": _Name.ENCODE,
}
_PLAIN = {"BININT", "BININT1", "BININT2", "LONG1", "LONG4", "BINFLOAT"}
_PLAIN |= {"BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8", "BINBYTES", "SHORT_BINBYTES", "BINBYTES8"}
_FIXED: dict[str, Any] = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False, "EMPTY_TUPLE": ()}
_TUPLES = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}
_IGNORED = {"PROTO", "FRAME"}
_SCALAR_DTYPE = re.compile(r"b1|[iu][1248]|f[248]|U\d{1,9}")


@dataclass
class _PickledDtype:
    text: str
    byte_order: str = "="


@dataclass
class _PickledArray:
    state: Any = None


def read_pickled_array(data: bytes) -> NDArray[np.object_]:
    """Return the array of text, numbers, truth values and None that a pickle holds, or refuse it."""
    try:
        pickled = _Machine().run(data)
        version, shape, dtype, _, values = pickled.state
        is_array = version == 1 and isinstance(dtype, _PickledDtype) and dtype.text.startswith("O")
    except (ValueError, TypeError, LookupError, AttributeError, OverflowError) as error:
        raise ValueError(f"its pickle is damaged or no plain array: {error}") from None
    if not is_array or not isinstance(values, list) or not _is_shape(shape):
        raise ValueError("its pickle is no array of Python objects with one or two dimensions")
    if math.prod(shape) != len(values):
        raise ValueError(f"its pickle has {len(values)} values for shape {shape}")
    for position, value in enumerate(values):
        if not _is_plain(value):
            # Only the type: the value may be nested so that printing it would take forever.
            raise ValueError(
                f"its value {position} is {_described(value)}; "
                "only text, numbers of 64 bits, truth values and None are accepted"
            )
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array.reshape(shape)  # objects are pickled row by row, in Fortran's order or not


class _Machine:
    """The stack, the memo and the few instructions."""

    def __init__(self) -> None:
        self.stack: list[Any] = []
        self.below_mark: list[list[Any]] = []
        self.memo: dict[int, Any] = {}

    def run(self, data: bytes) -> _PickledArray:
        instructions: Iterator[tuple[Any, Any, Any]] = pickletools.genops(data)
        for opcode, argument, position in instructions:
            name = opcode.name
            if name in _PLAIN:
                self.stack.append(argument)
            elif name == "MEMOIZE":
                self.memo[len(self.memo)] = self.stack[-1]
            elif name in ("BINPUT", "LONG_BINPUT"):
                self.memo[argument] = self.stack[-1]
            elif name in ("BINGET", "LONG_BINGET"):
                self.stack.append(self.memo[argument])
            elif name == "STOP":
                return self._result(len(data) - position - 1)
            elif name not in _IGNORED:
                self._build(name, argument)
        raise ValueError("it has no end")

    def _result(self, n_left: int) -> _PickledArray:
        if n_left or len(self.stack) != 1 or not isinstance(self.stack[0], _PickledArray):
            raise ValueError("it is not exactly one array")
        return self.stack[0]

    def _build(self, name: str, argument: Any) -> None:
        """Carry out what is rare: everything but values."""
        stack = self.stack
        if name in _FIXED:
            stack.append(_FIXED[name])
        elif name == "EMPTY_LIST":
            stack.append([])
        elif name == "MARK":
            self.below_mark.append(stack)
            self.stack = []
        elif name == "APPENDS":
            self.stack = self.below_mark.pop()
            _as_list(self.stack[-1]).extend(stack)
        elif name == "APPEND":
            value = stack.pop()
            _as_list(stack[-1]).append(value)
        elif name == "TUPLE":
            self.stack = self.below_mark.pop()
            self.stack.append(tuple(stack))
        elif name in _TUPLES:
            values = [stack.pop() for _ in range(_TUPLES[name])]
            stack.append(tuple(reversed(values)))
        elif name == "GLOBAL":
            stack.append(_known(argument))
        elif name == "STACK_GLOBAL":
            attribute, module = stack.pop(), stack.pop()
            stack.append(_known(f"{module} {attribute}" if type(module) is type(attribute) is str else ""))
        elif name == "REDUCE":
            arguments, function = stack.pop(), stack.pop()
            stack.append(_reduced(function, arguments))
        elif name == "BUILD":
            state = stack.pop()
            _give_state(stack[-1], state)
        else:
            raise ValueError(f"instruction {name} is not one that np.save writes for plain values")


def _as_list(value: Any) -> list[Any]:
    if type(value) is not list:
        raise ValueError(f"values are appended to {_described(value)}")
    return value


def _known(name: str) -> _Name:
    if name not in _NAMES:
        raise ValueError(f"it names {name[:100]!r}, which is not read, since it could execute code")
    return _NAMES[name]


def _reduced(function: Any, arguments: Any) -> Any:
    """Return what the file wants from one of the known names."""
    kinds = tuple(map(type, arguments))
    if function is _Name.RECONSTRUCT and arguments == (_Name.NDARRAY, (0,), b"b"):
        return _PickledArray()
    if function is _Name.DTYPE and kinds == (str, bool, bool):
        return _PickledDtype(arguments[0])
    if function is _Name.SCALAR and kinds == (_PickledDtype, bytes):
        return _scalar(*arguments)
    if function is _Name.ENCODE and kinds == (str, str) and arguments[1] == "latin1":
        return arguments[0].encode("latin1")
    raise ValueError(f"it calls {_described(function)} in a way that np.save does not")


def _give_state(target: Any, state: Any) -> None:
    if isinstance(target, _PickledArray):
        target.state = state
    elif isinstance(target, _PickledDtype) and state[1] in ("<", ">", "=", "|"):
        target.byte_order = state[1]
    else:
        raise ValueError(f"it gives a state to {_described(target)}")


def _scalar(dtype: _PickledDtype, data: bytes) -> str | int | float | bool:
    if not _SCALAR_DTYPE.fullmatch(dtype.text):
        raise ValueError(f"it has a NumPy value of type {dtype.text[:100]!r}")
    numpy_dtype = np.dtype(dtype.byte_order + dtype.text)
    if numpy_dtype.itemsize == 0 or numpy_dtype.itemsize != len(data):
        raise ValueError(f"it has a NumPy value of type {dtype.text!r} with {len(data)} bytes")
    if numpy_dtype.kind == "U":  # NumPy does not check that these are characters
        codes = np.frombuffer(data, dtype.byte_order + "u4").astype("<u4")
        return codes.tobytes().decode("utf-32-le").rstrip("\0")
    value: int | float | bool = np.frombuffer(data, numpy_dtype)[0].item()
    return value


def _is_shape(shape: Any) -> bool:
    is_short = type(shape) is tuple and len(shape) <= 2
    return is_short and all(type(size) is int and 0 <= size < 1 << 63 for size in shape)


def _is_plain(value: Any) -> bool:
    if type(value) is int:  # one of a million digits could not even be printed
        return -(1 << 63) <= value < 1 << 64
    return type(value) in (str, float, bool, type(None))


def _described(value: Any) -> str:
    return value.value if isinstance(value, _Name) else f"of type {type(value).__name__.lstrip('_')}"
