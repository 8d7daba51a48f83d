"""The split on disk, with the checksum of the data: a study can prove what it ran on."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from tabstretch._files import written_whole
from tabstretch.study.datasets.dataset import Dataset


@dataclass(frozen=True)
class SplitRecord:
    """What is kept of a data set."""

    name: str
    source: str
    checksum: str
    sizes: dict[str, int]
    rows: dict[str, list[int]] | None
    """Row numbers in the source, from 0; None if the source has a split of its own."""


def record_of(dataset: Dataset) -> SplitRecord:
    """Return what is kept of a data set."""
    rows = None
    if dataset.split is not None:
        rows = {part: numbers.tolist() for part, numbers in dataset.split.items()}
    return SplitRecord(dataset.name, dataset.source, dataset.checksum, dataset.n_rows, rows)


def save_split(dataset: Dataset, path: Path) -> None:
    """Write the record of a data set. The file appears whole or not at all."""
    save_record(record_of(dataset), path)


def save_record(record: SplitRecord, path: Path) -> None:
    """Write a record. The file appears whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with written_whole(path) as temporary:
        temporary.write_text(json.dumps(asdict(record)), encoding="utf-8")


def read_split(path: Path) -> SplitRecord:
    """Read a record back."""
    try:
        return SplitRecord(**json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        raise FileNotFoundError(f"{path} does not exist; save_split writes it") from None
    except (ValueError, TypeError) as error:
        raise ValueError(f"{path} is no record of a split: {error}; remove it to write a new one") from error


def check_split(dataset: Dataset, path: Path) -> None:
    """Refuse a data set that is not the one that was recorded in a file."""
    check_record(dataset, read_split(path), str(path))


def check_record(dataset: Dataset, record: SplitRecord, place: str) -> None:
    """Refuse a data set that is not the one that was recorded; `place` says where."""
    if record.checksum != dataset.checksum:
        raise ValueError(
            f"{dataset.source}: the data changed since {place} was written. The checksum was "
            f"{record.checksum} ({_sizes(record.sizes)}), it is {dataset.checksum} "
            f"({_sizes(dataset.n_rows)}). Restore the data, or start a study of another name"
        )


def _sizes(sizes: dict[str, int]) -> str:
    return " / ".join(map(str, sizes.values())) + " rows"
