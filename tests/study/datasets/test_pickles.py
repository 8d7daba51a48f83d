"""Pickles in NumPy files: plain values are read, and nothing is ever executed."""

import builtins
import copyreg
import os
import pickle
import struct
import time
import tracemalloc
from collections import OrderedDict
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from talent_folders import npy_of, pickled_npy

from tabstretch.study.datasets.npy import read_npy
from tabstretch.study.datasets.pickles import read_pickled_array

PROTOCOLS = (2, 3, 4, 5)
VALUES = ["a", "", "ü\n\0", "long " * 100, 0, -1, 1 << 40, 1.5, float("-inf"), True, False, None]
SCALARS = [np.str_("ü"), np.float64(1.5), np.float32(0.5), np.float16(2), np.int8(-1), np.uint64(1 << 63)]
SCALARS += [np.bool_(True), np.array([3.5], dtype=">f8")[0], np.array(["x"], dtype=">U1")[0]]


def text(value: str) -> bytes:
    """Return the instruction that pushes a short text."""
    return b"\x8c" + bytes([len(value)]) + value.encode()


def objects(values: list[Any]) -> np.ndarray:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_plain_values_and_numpy_scalars(protocol: int) -> None:
    back = read_pickled_array(pickle.dumps(objects([*VALUES, *SCALARS]), protocol))
    expected = VALUES + [scalar.item() for scalar in SCALARS]
    assert back.tolist() == expected
    assert [type(value) for value in back] == [type(value) for value in expected]


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("module", ["numpy.core.multiarray", "numpy._core.multiarray"])
def test_both_names_of_numpys_module(module: str, protocol: int) -> None:
    data = pickle.dumps(objects(["a", np.float64(2)]), protocol)
    for other in ("numpy._core.multiarray", "numpy.core.multiarray"):
        data = data.replace(text(other), text(module))
        data = data.replace(f"c{other}\n".encode(), f"c{module}\n".encode())
    assert module.encode() in data
    assert read_pickled_array(data).tolist() == ["a", 2]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_many_values_and_both_orders(protocol: int) -> None:
    array = objects([f"v{i % 400}" if i % 7 else i for i in range(3000)]).reshape(1000, 3)
    for saved in (array, np.asfortranarray(array), array[:0], array[:, :0]):
        back = read_pickled_array(pickle.dumps(saved, protocol))
        assert back.shape == saved.shape
        assert back.tolist() == saved.tolist()


class Calling:
    """Pickles as a call."""

    def __init__(self, *call: Any) -> None:
        self.call = call

    def __reduce__(self) -> Any:
        return self.call


class Building(Calling):
    """Pickles as an object that executes when it is given its state."""

    def __reduce__(self) -> Any:
        return (OrderedDict, (), {"a": self.call[0]})


def hostile_values(marker: Path) -> dict[str, Any]:
    write = f"open({str(marker)!r}, 'w').close()"
    return {
        "os.system": Calling(os.system, (f"touch {marker}",)),
        "eval": Calling(eval, (write,)),
        "exec": Calling(builtins.exec, (write,)),
        "open": Calling(open, (str(marker), "w")),
        "getattr": Calling(getattr, ("", "join")),
        "os.mkdir": Calling(os.mkdir, (str(marker),)),
        "memmap": Calling(np.memmap, (str(marker), "uint8", "w+", 0, (8,))),
        "np.load": Calling(np.load, (str(marker), "r", True)),
        "np.dtype": np.dtype("f8"),
        "state": Building(Calling(eval, (write,))),
        "date": date(2024, 1, 1),
        "class": Calling,
        "bytes": b"bytes",
        "complex": np.complex128(1),
        "datetime64": np.datetime64("2024-01-01"),
        "longdouble": np.longdouble(1) if np.dtype(np.longdouble).itemsize > 8 else 1j,
        "list": ["a"],
        "tuple": ("a",),
        "dict": {"a": 1},
        "set": {"a"},
        "bytearray": bytearray(b"a"),
        "numeric array": np.zeros(3),
        "object array": objects(["a"]),
        "object array with a call": objects([Calling(os.system, (f"touch {marker}",))]),
        "structured": np.zeros(1, dtype=[("a", "f8")])[0],
        "a long number": 10**5000,
        "a number beyond 64 bits": 1 << 64,
    }


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("name", hostile_values(Path("marker")))
def test_anything_else_is_refused_and_not_executed(name: str, protocol: int, tmp_path: Path) -> None:
    marker = tmp_path / "executed"
    value = hostile_values(marker)[name]
    path = tmp_path / "C_train.npy"
    path.write_bytes(pickled_npy(objects(["a", value]), protocol))
    with pytest.raises(ValueError, match=r"C_train\.npy cannot be read: its (pickle|value)"):
        read_npy(path)
    assert not marker.exists()


def test_the_marker_would_have_been_written(tmp_path: Path) -> None:
    """The files above are hostile: numpy's own reader falls for them."""
    for name in ("os.system", "eval", "object array with a call"):
        marker = tmp_path / name.replace(" ", "_")
        path = tmp_path / "a.npy"
        path.write_bytes(pickled_npy(objects([hostile_values(marker)[name]])))
        np.load(path, allow_pickle=True)
        assert marker.exists()


RECONSTRUCT = b"cnumpy.core.multiarray\n_reconstruct\n"
ARRAY = RECONSTRUCT + b"(cnumpy\nndarray\n(K\x00tC\x01btR"
DTYPE = b"cnumpy\ndtype\n(" + text("O8") + b"\x89\x88tR(K\x03" + text("|") + b"NNNK\x00K\x00K\x3ftb"


def array_of(values: bytes, n_values: int = 1, dtype: bytes = DTYPE) -> bytes:
    """Return the pickle of an array whose list is made by instructions of our own."""
    shape = b"(K\x01K" + bytes([n_values]) + b"\x85"
    return b"\x80\x04" + ARRAY + shape + dtype + b"\x89](" + values + b"etb."


def test_instructions_written_by_hand() -> None:
    assert read_pickled_array(array_of(text("a"))).tolist() == ["a"]
    assert pickle.loads(array_of(text("a"))).tolist() == ["a"]


def scalar(dtype: str, data: bytes, order: str = "<") -> bytes:
    made = b"cnumpy\ndtype\n(" + text(dtype) + b"\x89\x88tR(K\x03" + text(order) + b"NNNK\x08K\x08K\x00tb"
    return b"cnumpy.core.multiarray\nscalar\n(" + made + b"C" + bytes([len(data)]) + data + b"tR"


OS_SYSTEM = b"cos\nsystem\n"
BY_HAND = {
    "GLOBAL": OS_SYSTEM + text("true") + b"\x85R",
    "STACK_GLOBAL": text("os") + text("system") + b"\x93" + text("true") + b"\x85R",
    "STACK_GLOBAL of numbers": b"K\x01K\x02\x93",
    "a dotted name": text("numpy") + text("ndarray.__class__.__base__") + b"\x93",
    "a name with a blank": text("numpy ndarray.__class__") + text("x") + b"\x93",
    "INST": b"(" + text("true") + b"ios\nsystem\n",
    "OBJ": b"(" + OS_SYSTEM + text("true") + b"o",
    "NEWOBJ": b"cnumpy\nndarray\n(K\x01t\x81",
    "NEWOBJ_EX": b"cnumpy\nndarray\n(K\x01t}\x92",
    "EXT1": b"\x82\x01",
    "EXT4": b"\x84\x01\x00\x00\x00",
    "PERSID": b"Pos.system\n",
    "BINPERSID": text("a") + b"Q",
    "NEXT_BUFFER": b"\x97",
    "READONLY_BUFFER": text("a") + b"\x98",
    "DUP": text("a") + b"2",
    "POP of nothing": b"0",
    "old numbers": b"I1\n",
    "old text": b"S'a'\n",
    "an ever longer number": b"L" + b"9" * 10000 + b"L\n",
    "a class as a value": b"cnumpy\nndarray\n",
    "a call of a class": b"cnumpy\nndarray\n(K\x01K\x01\x85tR",
    "a call of text": text("a") + b")R",
    "a call without arguments": b"cnumpy\ndtype\nNR",
    "a huge array": RECONSTRUCT + b"(cnumpy\nndarray\n(\x8a\x06\0\0\0\0\0\x01tC\x01btR",
    "a subclass": RECONSTRUCT + b"(cnumpy\nmemmap\n(K\x00tC\x01btR",
    "encode with another codec": b"c_codecs\nencode\n(" + text("a") + text("zlib") + b"tR",
    "state for text": text("a") + b"Nb",
    "state for a class": b"cnumpy\nndarray\n}b",
    "state that is none": b"cnumpy\ndtype\n(" + text("f8") + b"\x89\x88tRNb",
    "append to text": text("a") + text("b") + b"a",
    "a scalar too short": scalar("f8", b"1234"),
    "a scalar too long": scalar("U1", b"12345678"),
    "a scalar of nothing": scalar("U0", b""),
    "a scalar of objects": scalar("O8", b"12345678"),
    "a scalar with fields": scalar("f8,f8", b"1234567812345678"),
    "a scalar with an odd order": scalar("f8", b"12345678", "x"),
    "a scalar of impossible text": scalar("U1", b"\xff\xff\xff\xff"),
    "an unknown memo": b"h\x07",
    "no mark": b"ttt",
}


@pytest.mark.parametrize("name", BY_HAND)
def test_hostile_instructions(name: str) -> None:
    with pytest.raises(ValueError, match=r"its (pickle|value)"):
        read_pickled_array(array_of(BY_HAND[name]))


def test_registered_extensions_stay_out() -> None:
    """`copyreg` keeps a cache that a restricted `find_class` never sees."""
    copyreg.add_extension("os", "system", 240)
    try:
        with pytest.raises(ValueError, match="EXT1"):
            read_pickled_array(array_of(b"\x82\xf0" + text("true") + b"\x85R"))
    finally:
        copyreg.remove_extension("os", "system", 240)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "pickle"),
        (b".", "not exactly one array"),
        (b"\x80\x04" + text("a") + b".", "not exactly one array"),
        (b"\x80\x04" + ARRAY + b".", "pickle is damaged or no plain array"),
        (array_of(text("a")) + b"x", "not exactly one array"),
        (array_of(text("a"), n_values=2), r"has 1 values for shape \(2,\)"),
        (array_of(text("a"), dtype=DTYPE.replace(b"O8", b"f8")), "no array of Python objects"),
        (array_of(text("a")).replace(b"(K\x01K\x01\x85", b"(K\x02K\x01\x85"), "no array of Python objects"),
        (array_of(text("a")).replace(b"K\x01\x85", b"J\xff\xff\xff\xff\x85"), "no array of Python objects"),
        (array_of(text("a")).replace(b"K\x01\x85", b"K\x01\x85\x85"), "no array of Python objects"),
        (array_of(text("a"))[:-1], "pickle"),
    ],
)
def test_damaged_arrays(data: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_pickled_array(data)


BOMBS = {
    "memo": array_of(text("a") + b"r" + struct.pack("<I", (1 << 32) - 1)),
    "bytes": array_of(b"\x8e" + struct.pack("<Q", 1 << 50)),
    "text": array_of(b"\x8d" + struct.pack("<Q", 1 << 63)),
    "frame": b"\x80\x04\x95" + struct.pack("<Q", 1 << 60) + array_of(text("a"))[2:],
    "number": array_of(b"\x8b" + struct.pack("<i", (1 << 31) - 1)),
    "negative number": array_of(b"\x8b" + struct.pack("<i", -1)),
}
# Each list holds the one before twice: 2 ** 60 values to print or compare, in a few hundred bytes.
BOMBS["nesting"] = array_of(b"]q\x00" + b"".join(b"](h%ch%ceq%c" % (i, i, i + 1) for i in range(60)), 61)
BOMBS["depth"] = array_of(b"]" * 100_000 + b"a" * 99_999)


@pytest.mark.parametrize("name", BOMBS)
def test_bombs_cost_nothing(name: str) -> None:
    message = ""
    tracemalloc.start()
    begin = time.perf_counter()
    try:
        assert read_pickled_array(BOMBS[name]).tolist() == ["a"]
    except ValueError as error:
        message = str(error)
    finally:
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert len(message) < 300
    assert peak < 50_000_000
    assert time.perf_counter() - begin < 10


def test_every_truncation_is_refused() -> None:
    for protocol in PROTOCOLS:
        data = pickle.dumps(objects(["a", 1, 1.5, np.float64(2)]), protocol)
        for end in range(len(data)):
            with pytest.raises(ValueError, match="pickle"):
                read_pickled_array(data[:end])


VALID = pickle.dumps(objects(["a", 1, 1.5, True, None, np.float64(2), np.str_("x")]), 4)


@given(st.integers(0, len(VALID) - 1), st.binary(min_size=1, max_size=8))
def test_a_changed_file_is_an_array_of_plain_values_or_refused(position: int, change: bytes) -> None:
    data = VALID[:position] + change + VALID[position + len(change) :]
    try:
        array = read_pickled_array(data)
    except ValueError:
        return
    assert {type(value) for value in array.flat} <= {str, int, float, bool, type(None)}


def test_the_header_and_the_pickle_must_agree(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    path.write_bytes(npy_of(pickle.dumps(objects(["a", "b"]), 4), (1, 2)))
    with pytest.raises(ValueError, match=r"its header says shape \(1, 2\), its content has shape \(2,\)"):
        read_npy(path)
