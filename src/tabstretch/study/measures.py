"""How long something takes and how much memory it needs at its peak."""

from __future__ import annotations

import sys
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

_STATUS = Path("/proc/self/status")
_RESET = Path("/proc/self/clear_refs")


@dataclass
class Measures:
    """Filled in when the measured block ends."""

    seconds: float = 0.0
    peak_memory_mb: float = float("nan")
    """Peak resident memory of the whole process, its libraries and data included."""


@contextmanager
def measured() -> Generator[Measures]:
    """Measure a block, also if it fails."""
    measures = Measures()
    _reset_peak()
    begin = time.perf_counter()
    try:
        yield measures
    finally:
        measures.seconds = time.perf_counter() - begin
        measures.peak_memory_mb = _peak_mb()


def _reset_peak() -> None:
    """Let Linux count the peak anew; elsewhere, or where that is forbidden, it is the peak so far."""
    with suppress(OSError):
        _RESET.write_text("5")


def _peak_mb() -> float:
    try:
        for line in _STATUS.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    except OSError:
        pass
    try:
        import resource  # not on Windows
    except ImportError:
        return float("nan")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2**20 if sys.platform == "darwin" else peak / 2**10
