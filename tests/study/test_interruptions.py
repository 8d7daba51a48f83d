"""Ctrl-C and SIGTERM at any moment: one message that says how to go on, and a quick end."""

import hashlib
import itertools
import os
import signal
import sys
import threading
import time

import pytest
from driver import MOMENTS
from sessions import Session, forked

from tabstretch.cli import interruptions
from tabstretch.cli.interruptions import Interruption

PLAN = """
name = "example"
datasets = ["sklearn:wine"]
models = ["mlp"]
transformations = ["standard"]
trials = 0
seeds = 1
epochs = 2
"""


# In turn: all at all moments would take long.
SIGNALS = itertools.cycle(["SIGTERM", "SIGINT", "SIGINT,SIGTERM"])


@pytest.mark.parametrize(("moment", "signals"), zip([*MOMENTS, "the end"], SIGNALS))  # noqa: B905 (without end)
def test_a_study_says_how_to_go_on(tmp_path, moment, signals):
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN)
    n_workers = int("worker" in moment or "job" in moment)
    session = Session(
        ["--strike", moment, signals, "run", plan, "--workers", n_workers], tmp_path / "errors.txt"
    )
    assert session.end(120) == 130, session.errors
    *before, empty, interrupted, command = session.errors.splitlines()
    assert [empty, interrupted] == ["", "interrupted; everything finished is stored. Go on with:"]
    assert command == f"  tabstretch run {plan} --workers {n_workers}"
    assert all("runs are stored" in line or line.startswith("[1/1]") for line in before), session.errors


def loses_it():
    try:
        time.sleep(30.0)
    except BaseException:
        time.sleep(30.0)


def makes_an_error_of_it():
    try:
        time.sleep(30.0)
    except KeyboardInterrupt:
        raise RuntimeError("release unlocked lock") from None


def is_deaf():
    hashlib.pbkdf2_hmac("sha256", b"a", b"b", 2**31 - 1)  # no handler runs before it is over: many minutes


@pytest.mark.parametrize("work", [loses_it, makes_an_error_of_it, is_deaf])
def test_whatever_comes_of_it(tmp_path, work):
    process = forked(struck, work, str(tmp_path / "errors.txt"))
    process.join(60.0)
    assert process.exitcode == interruptions.EXIT_CODE
    assert (tmp_path / "errors.txt").read_text() == "\ninterrupted; all is well\n"


def struck(work, errors):
    os.dup2(os.open(errors, os.O_WRONLY | os.O_CREAT), 2)
    interruptions.GRACE_SECONDS = 0.2
    interruption = Interruption("all is well")
    interruption.listen()
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGTERM)).start()
    try:
        work()
    except BaseException:
        interruption.tell()
        sys.exit(interruptions.EXIT_CODE)


def test_signals_are_given_back():
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    hooks = sys.unraisablehook, threading.excepthook
    interruption = Interruption("all is well")
    with pytest.raises(KeyboardInterrupt):
        interrupted(interruption)
    interruption.forget()
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before
    assert (sys.unraisablehook, threading.excepthook) == hooks


def interrupted(interruption):
    interruption.listen()
    signal.raise_signal(signal.SIGINT)
