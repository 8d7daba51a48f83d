"""A progress bar for terminals; silent everywhere else."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from typing import Any

_WIDTH = 30
_SECONDS_BETWEEN = 0.1


def with_progress(batches: Iterable[tuple[int, Any]], total: int, what: str) -> Iterator[Any]:
    """Yield what comes with a number of rows, and show on standard error how many have passed."""
    if not sys.stderr.isatty():
        yield from (batch for _, batch in batches)
        return
    done, start, shown = 0, time.monotonic(), 0.0
    try:
        for n_rows, batch in batches:
            yield batch
            done += n_rows
            if (now := time.monotonic()) - shown > _SECONDS_BETWEEN:
                shown = now
                print(f"\r{_line(done, total, now - start, what)}", end="", file=sys.stderr, flush=True)
        print(f"\r{_line(done, total, time.monotonic() - start, what)}", end="", file=sys.stderr)
    finally:
        print(file=sys.stderr)


def _line(done: int, total: int, seconds: float, what: str) -> str:
    share = done / max(total, 1)
    bar = "█" * int(share * _WIDTH)
    return f"{what} |{bar:<{_WIDTH}}| {share:4.0%} of {total:,} rows, {seconds:.0f} s"
