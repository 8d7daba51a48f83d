"""A worker process of this machine: `python -m tabstretch.study.worker ADDRESS FOLDER`, by a coordinator.

It lives as long as its standard input is open: when the coordinator ends, however it ends, the pipe closes
and the worker is gone at once, in the middle of whatever it does. FOLDER is what workers share; the
coordinator removes it, and if it could not, they do.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import threading
from pathlib import Path

from distributed import Worker


def main(address: str, shared: Path) -> None:
    """Serve the scheduler until one of the two is gone."""
    threading.Thread(target=_leave_with_coordinator, args=(shared,), daemon=True).start()
    from tabstretch.study.workspace import share_fits  # it takes seconds, in which the thread listens already

    share_fits(shared)
    asyncio.run(_serve(address))


def _leave_with_coordinator(shared: Path) -> None:
    sys.stdin.buffer.read()
    shutil.rmtree(shared, ignore_errors=True)
    os._exit(0)


async def _serve(address: str) -> None:
    # Memory is the operating system's business: a worker that paused near a limit would never go on, since
    # what fills it is the data of the run it would wait for.
    async with Worker(address, nthreads=1, memory_limit=0, dashboard=False) as worker:
        await worker.finished()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
