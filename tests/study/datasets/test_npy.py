"""NumPy files: what is read is what was saved, and what is damaged is refused before it costs anything."""

import contextlib
import os
import tempfile
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_array_equal
from talent_folders import npy_of

from tabstretch.study.datasets.npy import read_npy

shapes = hnp.array_shapes(min_dims=1, max_dims=2, min_side=0, max_side=6)
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=5)


def read_bytes(data: bytes) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.npy"
        path.write_bytes(data)
        return read_npy(path)


def read_saved(array: np.ndarray) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder) / "a.npy", array)
        return read_npy(Path(folder) / "a.npy")


@given(
    hnp.arrays(
        st.one_of(
            hnp.boolean_dtypes(), hnp.integer_dtypes(), hnp.unsigned_integer_dtypes(), hnp.floating_dtypes()
        ),
        shapes,
    ),
    st.booleans(),
)
def test_numbers_come_back(array: np.ndarray, fortran: bool) -> None:
    saved = np.asfortranarray(array) if fortran else array
    back = read_saved(saved)
    assert back.dtype == array.dtype
    assert_array_equal(back, array)
    assert not isinstance(back, np.memmap)
    assert back.flags.owndata or back.base.flags.owndata


@given(hnp.arrays("<U5", shapes, elements=texts))
def test_text_comes_back_as_objects(array: np.ndarray) -> None:
    back = read_saved(array)
    assert back.dtype == object
    assert_array_equal(back, array.astype(object))


@given(
    hnp.arrays(object, shapes, elements=st.one_of(texts, st.integers(-9, 1 << 63), st.booleans(), st.none())),
    st.booleans(),
)
def test_objects_come_back(array: np.ndarray, fortran: bool) -> None:
    back = read_saved(np.asfortranarray(array) if fortran else array)
    assert back.tolist() == array.tolist()
    assert [type(value) for value in back.flat] == [type(value) for value in array.flat]


def refused(data: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=rf"a\.npy cannot be read: (.|\n)*{message}"):
        read_bytes(data)


FLOATS = npy_of(np.arange(3.0).tobytes(), (3,), "<f8")


def test_every_truncation_is_refused() -> None:
    assert_array_equal(read_bytes(FLOATS), [0, 1, 2])
    for end in range(len(FLOATS)):
        refused(FLOATS[:end], "")


def test_more_than_the_header_says() -> None:
    refused(FLOATS + b"\0", r"float64 of shape \(3,\), which is 24 bytes, but 25 follow")


def test_files_of_another_kind(tmp_path: Path) -> None:
    refused(b"", "")
    refused(b"\x93NUMPX" + FLOATS[6:], "magic")
    refused(b"cos\nsystem\n(S'true'\ntR.", "magic")  # np.load would take it for a pickle
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("a.npy", FLOATS)
    refused((tmp_path / "a.zip").read_bytes(), "magic")
    refused(b"\x93NUMPY\x03\x00" + FLOATS[8:], "structured")
    refused(b"\x93NUMPY\x09\x00" + FLOATS[8:], "version")


@pytest.mark.parametrize("shape", [(10**12,), (10**9, 10**9), (10**30,), (2**63, 2), (0, 10**12, 10**12)])
@pytest.mark.parametrize("descr", ["<f8", "|O", "<U1000000", "|b1"])
def test_a_header_cannot_ask_for_memory(shape: tuple[int, ...], descr: str) -> None:
    tracemalloc.start()
    try:
        refused(npy_of(b"12345678", shape, descr), "")
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("descr", ["<c16", "<M8[s]", "|V8", "|S4", "<U0", "|S0"])
def test_types_that_are_neither_text_nor_numbers(descr: str) -> None:
    refused(npy_of(b"", (0,), descr), "only text, numbers and truth values are accepted")


def test_subarrays_and_fields() -> None:
    refused(npy_of(b"", (0,), [("a", "<f8")]), "only text, numbers")  # type: ignore[arg-type]
    refused(npy_of(b"", (0,), ("<f8", (10**9,))), "")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "header",
    [
        b"__import__('os').system('true')",
        b"{'descr': __import__('os').system('true'), 'fortran_order': False, 'shape': (1,)}",
        b"{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}",
        b"{'descr': '<f8', 'fortran_order': False, 'shape': ()}",
        b"{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1, 1)}",
        b"{'descr': '<f8', 'fortran_order': False, 'shape': (1.5,)}",
        b"{'descr': '<f8', 'fortran_order': False}",
        b"(" * 5000,
        b"-" * 5000 + b"1",
        b"{" + b"'a': 1," * 3000 + b"}",
        b"'''",
        b"  x\n y\n",
        b"\xff\xfe",
    ],
)
def test_hostile_headers(header: bytes) -> None:
    for version, width in ((1, 2), (2, 4)):
        refused(b"\x93NUMPY" + bytes([version, 0]) + len(header).to_bytes(width, "little") + header, "")
    refused(b"\x93NUMPY\x02\x00\xff\xff\xff\xff" + header, "")


def test_python_2_headers_are_read() -> None:
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1L,)}"
    data = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + np.float64(7).tobytes()
    assert read_bytes(data).tolist() == [7]


def test_text_that_is_no_text() -> None:
    refused(npy_of((0x110000).to_bytes(4, "little"), (1,), "<U1"), "")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such pipes and devices")
def test_only_files_are_opened(tmp_path: Path) -> None:
    (tmp_path / "folder.npy").mkdir()
    os.mkfifo(tmp_path / "pipe.npy")
    (tmp_path / "dangling.npy").symlink_to(tmp_path / "nowhere")
    (tmp_path / "device.npy").symlink_to("/dev/zero")
    for name in ("folder", "pipe", "dangling", "device", "absent"):
        with pytest.raises(FileNotFoundError, match=rf"{name}\.npy does not exist or is no file"):
            read_npy(tmp_path / f"{name}.npy")


def test_what_was_read_does_not_follow_the_file(tmp_path: Path) -> None:
    """As a memory map would."""
    np.save(tmp_path / "a.npy", np.zeros(1000))
    array = read_npy(tmp_path / "a.npy")
    mapped = np.lib.format.open_memmap(tmp_path / "a.npy", mode="r+")
    mapped[:] = 1
    mapped.flush()
    assert not array.any()


@given(st.binary(max_size=200))
def test_any_bytes_after_a_header_are_an_array_or_refused(data: bytes) -> None:
    for start in (npy_of(b"", (1,), "|O"), npy_of(b"", (2,), "<f8"), b"", b"\x93NUMPY\x01\x00"):
        with contextlib.suppress(ValueError):
            assert isinstance(read_bytes(start + data), np.ndarray)
