"""One decorator for all compiled kernels: compiled on first use, cached on disk, free of the GIL."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numba

# Sums may be reordered and fused so that loops vectorise; NaN and infinity keep their meaning.
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": {"reassoc", "contract", "nsz"}}
_warned = False


def strict_kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile `function` as `kernel` does, with all operations in the order in which they are written."""
    return kernel(function, fastmath=False)


def kernel(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    """Compile `function` on its first call, without the GIL, and keep the machine code on disk.

    Where numba finds no place for its cache (a read-only or zipped install), or loses it later (a full
    disk), the kernel is compiled anew in every process, and the user is told so once.
    """
    options = _OPTIONS | options
    try:
        compiled: Any = numba.njit(function, cache=True, **options)
    except RuntimeError as error:
        _warn_once(error)
        compiled = numba.njit(function, **options)
    else:
        if hasattr(compiled, "_cache"):  # not where the user has switched compiling off
            compiled._cache = ForgivingCache(compiled._cache)
    return compiled


class ForgivingCache:
    """numba's cache of one kernel, whose failures are no failures of the kernel."""

    def __init__(self, cache: Any) -> None:
        self._cache = cache

    def load_overload(self, *args: Any) -> Any:
        """Return machine code, or None if there is none that can be read."""
        try:
            return self._cache.load_overload(*args)
        except Exception:  # whatever a damaged file raises: a new one helps against all of it
            self._start_anew()
            return None

    def save_overload(self, *args: Any) -> None:
        """Keep machine code, if that is possible."""
        try:
            self._cache.save_overload(*args)
        except OSError as error:
            _warn_once(error)

    def _start_anew(self) -> None:
        try:
            self._cache.flush()
        except OSError as error:
            _warn_once(error)

    def __getattr__(self, name: str) -> Any:
        if name == "_cache":  # while it is unpickled
            raise AttributeError(name)
        return getattr(self._cache, name)


def _warn_once(error: Exception) -> None:
    global _warned
    if not _warned:
        _warned = True
        warnings.warn(
            f"tabstretch's compiled kernels cannot be cached and are compiled in every process: {error}. "
            "Set NUMBA_CACHE_DIR to a writable folder.",
            RuntimeWarning,
            stacklevel=3,
        )
