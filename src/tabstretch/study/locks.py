"""Locked files: the operating system frees a lock when its process dies, however it dies."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Generator
from pathlib import Path
from typing import IO

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl


@contextlib.contextmanager
def alone_with(path: Path) -> Generator[None]:
    """Let one process at a time through; the others wait. The file is there only meanwhile.

    Raises
    ------
    OSError
        If the file cannot be written.
    """
    while True:
        with path.open("a") as file:
            while not try_lock(file):
                time.sleep(0.02)
            if is_at(file, path):  # else the one before has removed it, and a third may have a new one
                try:
                    yield
                finally:
                    path.unlink(missing_ok=True)
                return


def is_at(file: IO[str], path: Path) -> bool:
    """Tell whether an open file is the one of this name."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except (OSError, ValueError):  # removed; or closed
        return False


def try_lock(file: IO[str]) -> bool:
    """Lock an open file unless another has it locked. A child process does not inherit it."""
    try:
        if sys.platform == "win32":
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
