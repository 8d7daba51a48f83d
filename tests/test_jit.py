"""Kernels work where their machine code cannot be kept."""

from typing import Any

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
