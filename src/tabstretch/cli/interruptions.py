"""Ctrl-C and SIGTERM: a command tidies up and ends with one message, whatever it was doing."""

from __future__ import annotations

import logging
import os
import signal
import socket
import sys
import threading
from contextlib import ExitStack, suppress
from types import FrameType

EXIT_CODE = 130
GRACE_SECONDS = 3.0
"""How long a command may take to tidy up."""
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_SHOW_CURSOR = "\x1b[?25h"
"""For a terminal whose live view had hidden it."""


class Interruption:
    """Ends a command at a signal.

    The first signal raises `KeyboardInterrupt`, so that files are removed and claims given back. It may
    strike anywhere, also in code that loses it or makes another error of it. So whatever comes of it has the
    same end, and after `GRACE_SECONDS`, or at a second signal, the process ends as it stands: what it
    promises is kept even then, since a study survives `kill -9`.
    """

    def __init__(self, what: str) -> None:
        self.is_received = False
        self._text = f"\ninterrupted; {what}\n"
        self._is_told = False
        self._telling = threading.RLock()
        self._is_over = False
        self._undo = ExitStack()
        # Python's handlers wait until the main thread is back from compiled code; this pair does not.
        self._reader, self._writer = socket.socketpair()
        self._writer.setblocking(False)

    def listen(self) -> None:
        """Take the signals; only the main thread can."""
        signal.set_wakeup_fd(self._writer.fileno(), warn_on_full_buffer=False)
        for number in _SIGNALS:
            self._undo.callback(signal.signal, number, signal.signal(number, self._strike))
        threading.Thread(target=self._watch, name="tabstretch interruption", daemon=True).start()

    def over(self) -> None:
        """Note that the command is done: from here on a signal finds nothing to tidy up."""
        self._is_over = True

    def forget(self) -> None:
        """Leave everything to whoever had it before."""
        self._undo.close()
        signal.set_wakeup_fd(-1)
        self._writer.close()  # which ends the thread

    def tell(self) -> None:
        """Print the message."""
        with self._telling, suppress(OSError, ValueError):  # nobody may listen
            print(self._text, end="", file=sys.stderr, flush=True)
            self._is_told = True

    def _strike(self, _signal: int, _frame: FrameType | None) -> None:
        if self._is_over:
            self._end_now()
        if not self.is_received:
            self.is_received = True
            self._be_quiet()
            raise KeyboardInterrupt

    def _watch(self) -> None:
        if self._hears_one():
            self._reader.settimeout(GRACE_SECONDS)
            if self._hears_one():
                self._end_now()
        self._reader.close()

    def _hears_one(self) -> bool:
        """Wait for a signal; False if they were given back. A time that is over counts as one."""
        try:
            while heard := self._reader.recv(1):
                if heard[0] in _SIGNALS:
                    return True
        except TimeoutError:
            return True
        return False

    def _end_now(self) -> None:
        self._telling.acquire(timeout=1.0)
        if not self._is_told:  # else the process is on its way out
            text = self._text if not os.isatty(2) else f"{_SHOW_CURSOR}{self._text}"
            with suppress(OSError):
                os.write(2, text.encode())  # not by the stream: who was struck may hold its lock
        os._exit(EXIT_CODE)

    def _be_quiet(self) -> None:
        """Keep libraries from telling what the interruption did to them, in threads and at the very end."""
        self._undo.callback(logging.disable, logging.root.manager.disable)
        logging.disable()
        for module, hook in ((sys, "unraisablehook"), (threading, "excepthook")):
            self._undo.callback(setattr, module, hook, getattr(module, hook))
            setattr(module, hook, lambda _: None)
