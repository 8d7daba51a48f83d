"""A clock that can be set for some processes alone: a library that they load first, where a compiler is."""

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from functools import cache
from pathlib import Path


@cache
def wrong_clock():
    """Return the library, or None where there is no compiler.

    Not libfaketime: after a jump its sleeps fail, which no clock that is set does to anybody.
    """
    compiler = shutil.which("cc") or shutil.which("gcc")
    if not compiler or not sys.platform.startswith("linux"):
        return None
    folder = tempfile.mkdtemp(prefix="clock")
    atexit.register(shutil.rmtree, folder)
    library = f"{folder}/wrong_clock.so"
    source = Path(__file__).with_suffix(".c")
    done = subprocess.run([compiler, "-shared", "-fPIC", "-o", library, str(source)], check=False)
    return library if done.returncode == 0 else None


@contextmanager
def loaded_first():
    """Let processes that start now load it; their clock is right until WRONG_CLOCK names a file."""
    if wrong_clock() is None:
        yield
        return
    os.environ["LD_PRELOAD"] = wrong_clock()
    try:
        yield
    finally:
        del os.environ["LD_PRELOAD"]
