"""Studies in processes of their own, which may be killed: start one, wait for its end, find its workers."""

import multiprocessing
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil

DRIVER = Path(__file__).with_name("driver.py")


def start(*arguments, environment=None, **options):
    command = [sys.executable, str(DRIVER), *map(str, arguments)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", **(environment or {})}
    return subprocess.Popen(
        command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True, **options
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
    """A command of the driver in a process whose libraries are loaded already, or in one with its own loader.

    Sessions fork from a process that has imported everything: a start costs milliseconds, not seconds.
    """

    def __init__(self, arguments, errors, preload=None):
        self._errors = errors
        words = [str(argument) for argument in arguments]
        if preload is None:
            self._process = _forking().Process(target=_drive, args=(words, str(errors)))
            self._process.start()
        else:
            with errors.open("w") as stream:
                self._process = subprocess.Popen(
                    [sys.executable, str(DRIVER), *words],
                    stdout=subprocess.DEVNULL,
                    stderr=stream,
                    env={**os.environ, **preload},
                )
        self.pid = self._process.pid

    @property
    def returncode(self):
        """None while it runs."""
        if isinstance(self._process, subprocess.Popen):
            return self._process.poll()
        return self._process.exitcode

    @property
    def errors(self):
        return self._errors.read_text() if self._errors.exists() else ""

    def send(self, number):
        if self.returncode is None:
            os.kill(self.pid, number)

    def end(self, timeout):
        """Wait, and return the exit code; one that does not end in time is killed, and has none."""
        if isinstance(self._process, subprocess.Popen):
            try:
                return self._process.wait(timeout)
            except subprocess.TimeoutExpired:
                pass
        else:
            self._process.join(timeout)
            if self._process.exitcode is not None:
                return self._process.exitcode
        self.send(signal.SIGKILL)
        return None


def _forking():
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["warmed"])
    return context


def _drive(words, errors):
    import driver

    stream = os.open(errors, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(stream, 2)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    sys.exit(driver.drive(words))
