"""One decorator for all compiled kernels: compiled on first use, cached on disk, free of the GIL."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numba

# Sums may be reordered and fused so that loops vectorise; NaN and infinity keep their meaning.
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": {"reassoc", "contract", "nsz"}}
_warned = False


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile `function` on its first call, without the GIL, and keep the machine code on disk.

    Where numba finds no place for its cache (a read-only or zipped install) the kernel is compiled
    anew in every process, and the user is told so once.
    """
    try:
        compiled: Callable[..., Any] = numba.njit(function, cache=True, **_OPTIONS)
    except RuntimeError as error:
        _warn_once(error)
        compiled = numba.njit(function, **_OPTIONS)
    return compiled


def _warn_once(error: RuntimeError) -> None:
    global _warned
    if not _warned:
        _warned = True
        warnings.warn(
            f"tabstretch's compiled kernels cannot be cached and are compiled in every process: {error}. "
            "Set NUMBA_CACHE_DIR to a writable folder.",
            RuntimeWarning,
            stacklevel=3,
        )
