"""Studies in processes of their own, which may be killed: start one, wait for its end, find its workers."""

import multiprocessing
import os
import signal
import subprocess
import sys
from functools import cache
from multiprocessing import forkserver
from pathlib import Path

import psutil
from wrong_clock import loaded_first

DRIVER = Path(__file__).with_name("driver.py")


def start(*arguments):
    command = [sys.executable, str(DRIVER), *map(str, arguments)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True
    )


def finish(process, timeout=300):
    output, errors = process.communicate(timeout=timeout)
    return process.returncode, output, errors


def worker_processes(process):
    try:
        children = psutil.Process(process.pid).children(recursive=True)
        return [child for child in children if "tabstretch.study.worker" in " ".join(child.cmdline())]
    except psutil.Error:  # it has just ended
        return []


class Session:
    """A command of the driver in a process that can be disturbed.

    Sessions fork from one that has run a study: a start costs milliseconds, not many seconds.
    """

    def __init__(self, arguments, errors, clock=None):
        self._errors = errors
        words = [str(argument) for argument in arguments]
        self._process = forked(_drive, words, str(errors), clock)
        self.pid = self._process.pid

    @property
    def returncode(self):
        """None while it runs."""
        return self._process.exitcode

    @property
    def errors(self):
        return self._errors.read_text() if self._errors.exists() else ""

    def send(self, number):
        if self.returncode is None:
            os.kill(self.pid, number)

    def end(self, timeout):
        """Wait, and return the exit code; one that does not end in time is killed, and has none."""
        self._process.join(timeout)
        if self._process.exitcode is None:
            self.send(signal.SIGKILL)
            return None
        return self._process.exitcode


def forked(target, *arguments):
    """Start a process that has everything imported."""
    process = _forking().Process(target=target, args=arguments)
    process.start()
    return process


@cache
def _forking():
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["warmed"])
    with loaded_first():
        forkserver.ensure_running()
    return context


def _drive(words, errors, clock):
    import driver

    if clock:
        os.environ["WRONG_CLOCK"] = str(clock)
    stream = os.open(errors, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(stream, 2)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    sys.exit(driver.drive(words))
