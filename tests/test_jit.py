"""Kernels work where their machine code cannot be kept."""

import importlib.util
import shutil
from pathlib import Path
from typing import Any

import numba
import pytest

from tabstretch import _jit


def make_function() -> Any:
    """Return a function without a source file, for which numba finds no place to cache."""
    names: dict[str, Any] = {}
    exec("def double(x):\n    return 2 * x\n", names)
    return names["double"]


def test_a_kernel_without_a_cache_works_and_is_told_of_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_jit, "_warned", False)
    with pytest.warns(RuntimeWarning, match="cannot be cached .* NUMBA_CACHE_DIR"):
        double = _jit.kernel(make_function())
    assert double(2.0) == 4.0
    assert _jit.kernel(make_function())(3.0) == 6.0  # a second warning would be an error


def module_with_kernel(folder: Path) -> Any:
    """Import a kernel from a file of its own, whose cache is in `folder`."""
    path = folder / "doubling.py"
    if not path.exists():  # a file that was written anew has no cache
        path.write_text("from tabstretch._jit import kernel\n@kernel\ndef double(x):\n    return 2 * x\n")
    spec = importlib.util.spec_from_file_location("doubling", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.double


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(_jit, "_warned", False)
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_a_cache_that_cannot_be_written_any_more(cache: Path, tmp_path: Path) -> None:
    double = module_with_kernel(tmp_path)
    shutil.rmtree(cache)
    cache.write_text("no folder any more")
    with pytest.warns(RuntimeWarning, match="cannot be cached .* NUMBA_CACHE_DIR"):
        assert double(2.0) == 4.0
    assert double(2) == 4  # another type, and no second warning


def test_a_cache_that_was_damaged_is_made_anew(cache: Path, tmp_path: Path) -> None:
    assert module_with_kernel(tmp_path)(2.0) == 4.0
    files = list(cache.rglob("*.nb?"))
    assert len(files) == 2
    for path in files:
        path.write_bytes(b"cut off")
    assert module_with_kernel(tmp_path)(3.0) == 6.0
    mended = module_with_kernel(tmp_path)
    assert mended(4.0) == 8.0
    assert sum(mended.stats.cache_hits.values()) == 1


def test_a_cache_that_works_is_used(cache: Path, tmp_path: Path) -> None:
    assert module_with_kernel(tmp_path)(2.0) == 4.0
    again = module_with_kernel(tmp_path)
    assert again(3.0) == 6.0
    assert sum(again.stats.cache_hits.values()) == 1
