"""What the workers of one machine share: small things that take long to make, in a folder of their own."""

from __future__ import annotations

import hashlib
import os
import pickle
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, TypeVar

from tabstretch.study.locks import alone_with

Made = TypeVar("Made")

_SHELF_BYTES = 200_000_000


class Shelf:
    """Keeps what one process has made for the others, up to so many bytes, the newest first.

    Only the user may write to the folder: what lies there is a pickle, which is trusted. A process that is
    killed leaves its lock free and nothing half written.
    """

    def __init__(self, folder: Path, limit: int = _SHELF_BYTES) -> None:
        self._folder = folder
        self._limit = limit

    def get(self, made_from: tuple[Any, ...], make: Callable[[], Made]) -> Made:
        """Return what was made from the same things before, by any process, or make it."""
        name = hashlib.sha256(repr(made_from).encode()).hexdigest()
        path = self._folder / f"{name}.pickle"
        with ExitStack() as stack:
            # Without room or folder there is nothing to share: then each makes its own.
            with suppress(OSError):
                stack.enter_context(alone_with(path.with_suffix(".lock")))
            try:
                made: Made = pickle.loads(path.read_bytes())
            except OSError:
                made = make()
                with suppress(OSError):
                    self._put(path, pickle.dumps(made))
            return made

    def _put(self, path: Path, content: bytes) -> None:
        if len(content) > self._limit:
            return
        room = self._limit - len(content)
        with_ages = [(kept.stat().st_mtime_ns, kept.stat().st_size, kept) for kept in self._kept()]
        for _, size, kept in sorted(with_ages, reverse=True):
            room -= size
            if room < 0:
                kept.unlink(missing_ok=True)
        unfinished = path.with_suffix(f".{os.getpid()}")
        unfinished.write_bytes(content)
        unfinished.replace(path)

    def _kept(self) -> list[Path]:
        return list(self._folder.glob("*.pickle"))
