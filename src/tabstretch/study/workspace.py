"""What a worker keeps between jobs: data sets it has read and transformations it has fitted."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Generic, TypeVar

from numpy.typing import NDArray

from tabstretch._sharing import TeacherMemory, shared_teachers
from tabstretch.study.datasets import Dataset, load_dataset
from tabstretch.study.errors import StudyError
from tabstretch.study.inputs import Inputs, inputs_of
from tabstretch.study.noise import with_noise
from tabstretch.study.shelf import Shelf
from tabstretch.study.subsets import with_fewer_rows
from tabstretch.study.transformations import (
    ENCODINGS,
    FittedTransformation,
    fit_transformation,
    load_library,
    why_too_wide,
)

Value = TypeVar("Value")

_CACHE_BYTES = 1_000_000_000


@dataclass(frozen=True)
class DatasetRef:
    """Where a worker finds a data set, and what it must be."""

    source: str
    folder: Path
    checksum: str
    noise: float = 0.0
    train_rows: int = 0
    """The most rows of the training part; 0 for all."""


@dataclass(frozen=True)
class Prepared:
    """A data set as networks see it through a transformation."""

    inputs: Inputs
    targets: dict[str, NDArray[Any]]
    """The target of each part in its own units."""
    note: str | None
    """What a reader of the results should know, such as a fallback."""
    fit_seconds: float
    """Also where another worker had fitted it, or another number of bins the teachers."""


class Cache(Generic[Value]):
    """Keeps what was used last, up to so many bytes, and always the newest."""

    def __init__(self, size_of: Callable[[Value], int], limit: int = _CACHE_BYTES) -> None:
        self._size_of = size_of
        self._limit = limit
        self._kept: OrderedDict[Hashable, Value] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """Return what is kept under a key, or make it."""
        if key not in self._kept:
            self._kept[key] = make()
        self._kept.move_to_end(key)
        while len(self._kept) > 1 and sum(map(self._size_of, self._kept.values())) > self._limit:
            self._kept.popitem(last=False)
        return self._kept[key]


_datasets: Cache[Dataset] = Cache(lambda dataset: sum(each.nbytes for each in dataset.numeric.values()))
_prepared: Cache[Prepared] = Cache(lambda prepared: sum(x.nbytes for x in prepared.inputs.numeric.values()))
_teachers = TeacherMemory()
_shelf: Shelf | None = None


def share_fits(folder: Path) -> None:
    """Share fitted transformations with the other workers of this machine."""
    global _shelf
    _shelf = Shelf(folder)


def dataset_of(ref: DatasetRef) -> Dataset:
    """Read a data set, once, and refuse one that is not what the study was started with."""
    return _datasets.get(ref, lambda: _read(ref))


def _read(ref: DatasetRef) -> Dataset:
    try:
        dataset = load_dataset(ref.source, ref.folder)
    except (ValueError, OSError) as error:
        raise StudyError(f"a worker cannot read {error}") from error
    if dataset.checksum != ref.checksum:
        raise StudyError(
            f"{ref.source}: the data changed while the study ran: its checksum was {ref.checksum}, it is "
            f"{dataset.checksum}. Restore the data, or start a study of another name"
        )
    return with_noise(with_fewer_rows(dataset, ref.train_rows), ref.noise)


def prepared_inputs(
    ref: DatasetRef,
    transformation: str,
    n_bins: int | None,
    memory_limit: float,
    memory: Callable[[int, int], float],
) -> Prepared:
    """Fit a transformation, once for each data set and number of bins, and apply it.

    `memory` tells from the numbers of inputs and of training rows how many bytes a step of training needs.
    An encoding that multiplies the inputs is fitted for all networks alike; for those that it makes too large
    it gives way to `standard`.
    """
    dataset = dataset_of(ref)
    prepared = _fitted_and_applied(ref, transformation, n_bins, memory_limit)
    if transformation not in ENCODINGS or prepared.note:
        return prepared

    def needed(width: int) -> float:
        return memory(width, dataset.n_rows["train"])

    note = why_too_wide(transformation, dataset, prepared.inputs.width, memory_limit, needed)
    if note is None:
        return prepared
    instead = _fitted_and_applied(ref, "standard", None, memory_limit)
    return replace(instead, note=note, fit_seconds=prepared.fit_seconds + instead.fit_seconds)


def _fitted_and_applied(
    ref: DatasetRef, transformation: str, n_bins: int | None, memory_limit: float
) -> Prepared:
    dataset = dataset_of(ref)
    key = (ref, transformation, n_bins, memory_limit)

    def fit() -> tuple[FittedTransformation, float]:
        load_library(transformation)  # an import is no part of a fit
        begin = time.perf_counter() + _teachers.seconds_saved
        with shared_teachers(_teachers):  # a search tries many numbers of bins
            fitted = fit_transformation(transformation, dataset, n_bins=n_bins, memory_limit=memory_limit)
        return fitted, time.perf_counter() + _teachers.seconds_saved - begin

    def prepare() -> Prepared:
        fitted, seconds = fit() if _shelf is None else _shelf.get(key, fit)
        begin = time.perf_counter()
        inputs = inputs_of(dataset, fitted.transform)
        return Prepared(inputs, dataset.y, fitted.note, seconds + time.perf_counter() - begin)

    return _prepared.get(key, prepare)
