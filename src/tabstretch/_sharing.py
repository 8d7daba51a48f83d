"""Teachers that several fits share: those of the same data differ in nothing but what they are asked."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

import joblib

Made = TypeVar("Made")


class TeacherMemory:
    """Keeps the teachers that were used last, by everything they were made from.

    Attributes
    ----------
    seconds_saved : float
        How long those that were used again had taken to make.
    """

    def __init__(self, most: int = 2) -> None:
        self.seconds_saved = 0.0
        self._most = most
        self._kept: OrderedDict[str, tuple[Any, float]] = OrderedDict()

    def get(self, made_from: tuple[Any, ...], make: Callable[[], Made]) -> Made:
        """Return what was made from the same things before, or make it."""
        key = str(joblib.hash(made_from))
        if key in self._kept:
            self.seconds_saved += self._kept[key][1]
        else:
            begin = time.perf_counter()
            made = make()
            self._kept[key] = made, time.perf_counter() - begin
        self._kept.move_to_end(key)
        while len(self._kept) > self._most:
            self._kept.popitem(last=False)
        made, _ = self._kept[key]
        return made


_memory: ContextVar[TeacherMemory | None] = ContextVar("tabstretch teachers", default=None)


@contextmanager
def shared_teachers(memory: TeacherMemory) -> Generator[None]:
    """Let all fits within share teachers, where theirs would be the same. No result changes by it."""
    token = _memory.set(memory)
    try:
        yield
    finally:
        _memory.reset(token)


def remembered(made_from: tuple[Any, ...], make: Callable[[], Made]) -> Made:
    """Return what `make` returns, from the memory if there is one that has it."""
    memory = _memory.get()
    return make() if memory is None else memory.get(made_from, make)
