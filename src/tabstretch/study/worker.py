"""A worker process of this machine: `python -m tabstretch.study.worker ADDRESS`, started by a coordinator.

It lives as long as its standard input is open: when the coordinator ends, however it ends, the pipe closes
and the worker is gone at once, in the middle of whatever it does.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading

from distributed import Worker


def main(address: str) -> None:
    """Serve the scheduler until one of the two is gone."""
    threading.Thread(target=_leave_with_coordinator, daemon=True).start()
    asyncio.run(_serve(address))


def _leave_with_coordinator() -> None:
    sys.stdin.buffer.read()
    os._exit(0)


async def _serve(address: str) -> None:
    # Memory is the operating system's business: a worker that paused near a limit would never go on, since
    # what fills it is the data of the run it would wait for.
    async with Worker(address, nthreads=1, memory_limit=0, dashboard=False) as worker:
        await worker.finished()


if __name__ == "__main__":
    main(sys.argv[1])
