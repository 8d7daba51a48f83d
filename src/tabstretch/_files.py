"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def written_whole(path: str | os.PathLike[str]) -> Generator[Path]:
    """Give a temporary name beside `path` to write to, and rename it once everything is on the disk.

    Where the writing fails, whatever was at `path` stays as it was and nothing is left beside it.
    """
    target = Path(os.path.realpath(path))  # a link stays a link
    if target.is_dir():
        raise IsADirectoryError(f"{path} is a directory: give the name of a file in it")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"the directory {target.parent} of {path} does not exist: create it first")
    temporary = target.with_name(f".{target.name[:100]}.{secrets.token_hex(8)}.part")
    try:
        yield temporary
        _flush(temporary)
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    with suppress(OSError):  # not every system opens directories
        _flush(target.parent)


def _flush(path: Path) -> None:
    """Have the system put a file, or the names in a directory, on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
