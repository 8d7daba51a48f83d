"""`StudyPlan`: one TOML file -> everything a study runs, checked before anything else happens."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, NamedTuple

from tabstretch.study.datasets.sources import parse_source
from tabstretch.study.errors import StudyError
from tabstretch.study.names import MODELS, TRANSFORMATIONS

_MOST = 10**9
"""The largest whole number in a plan; a database could not store much larger ones."""
_MOST_BYTES = 1 << 20
_PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')"""
_DEEP_KEY = re.compile(rf"(?<![\w-])(?:{_PART}[ \t]*+\.[ \t]*+){{64}}")
"""Keys of many parts, on which tomllib spends time by the square of their number; a plan's have one."""


class CellKey(NamedTuple):
    """One search and its evaluation: a network under a transformation on a data set."""

    dataset: str
    model: str
    transformation: str
    noise: float = 0.0

    def __str__(self) -> str:
        text = f"{self.dataset}/{self.model}/{self.transformation}"
        return f"{text}/noise {self.noise}" if self.noise else text


class RunKey(NamedTuple):
    """One row of the results: a network trained with one seed."""

    cell: CellKey
    seed: int


@dataclass(frozen=True)
class StudyPlan:
    """What a study runs: each network under each transformation on each data set.

    Parameters
    ----------
    name : str
        The study's name in its storage.
    datasets : tuple of str
        Sources, see `tabstretch.study.datasets.load_dataset`.
    models : tuple of str
        Some of "mlp", "mlp_plr", "resnet", "ftt" and "realmlp".
    transformations : tuple of str
        Some of the paper's nine and our four, see `tabstretch.study.names`.
    trials : int, default=100
        Configurations that are tried for each cell; 0 takes the networks' published defaults.
    seeds : int, default=15
        How often the chosen configuration is trained.
    epochs : int, default=200
        The most that a network is trained.
    patience : int, default=20
        Training stops after as many epochs without improvement on the validation part.
    batch_size : int, default=1024
        Rows in a step of training; RealMLP keeps its own 256.
    memory_limit_gb : float, default=4.0
        Above this the piecewise linear encodings fall back to standardisation, and the row says so.
    noise : tuple of float, default=(0.0,)
        Shares of training labels that are flipped, or standard deviations of noise on a training target in
        units of its own; every level is a study of its own beside the others.
    train_rows : int, default=0
        The most rows of a training part that anything is fitted on, drawn at random but the same for all;
        0 takes every row.
    folder : Path, default=Path()
        Where relative paths in sources begin; the folder of the file for a plan that was read from one.
    """

    name: str
    datasets: tuple[str, ...]
    models: tuple[str, ...]
    transformations: tuple[str, ...]
    trials: int = 100
    seeds: int = 15
    epochs: int = 200
    patience: int = 20
    batch_size: int = 1024
    memory_limit_gb: float = 4.0
    noise: tuple[float, ...] = (0.0,)
    train_rows: int = 0
    folder: Path = field(default_factory=Path, compare=False)

    def __post_init__(self) -> None:
        for name in ("datasets", "models", "transformations"):
            _set(self, name, _texts(name, getattr(self, name)))
        _check_name(self.name)
        _check_known("models", self.models, MODELS)
        _check_known("transformations", self.transformations, TRANSFORMATIONS)
        for source in self.datasets:
            try:
                parse_source(source)
            except ValueError as error:
                raise StudyError(f"datasets: {_cut(source)}: {_cut(str(error))}") from None
        for name, least in _LEAST.items():
            _check_whole(name, getattr(self, name), least)
        _set(self, "memory_limit_gb", _number("memory_limit_gb", self.memory_limit_gb, 0.0, math.inf))
        _set(self, "noise", _levels(self.noise))
        _set(self, "folder", Path(self.folder).resolve())

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as plain values; `folder` is left out, since a study may move."""
        values = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "folder"}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], folder: Path | None = None) -> StudyPlan:
        """Make a plan of plain values, such as those of a TOML file."""
        known = [each.name for each in fields(cls) if each.name != "folder"]
        for name in values:
            if name not in known:
                raise StudyError(f"unknown key {_shown(name)} in the plan; known are {', '.join(known)}")
        for name in ("name", "datasets", "models", "transformations"):
            if name not in values:
                raise StudyError(f"the plan has no {name!r}; it needs {_REQUIRED[name]}")
        return cls(**values, folder=folder or Path())


_LEAST = {"trials": 0, "seeds": 1, "epochs": 1, "patience": 1, "batch_size": 2, "train_rows": 0}
_REQUIRED = {
    "name": 'a name, such as name = "example"',
    "datasets": 'a list of sources, such as datasets = ["sklearn:diabetes"]',
    "models": f"a list of some of {', '.join(MODELS)}",
    "transformations": f"a list of some of {', '.join(TRANSFORMATIONS)}",
}


def read_plan(path: Path | str) -> StudyPlan:
    """Read a plan from a TOML file.

    Parameters
    ----------
    path : Path or str
        Relative paths in the plan begin at its folder.
    """
    path = Path(path)
    try:
        content = _read_text(path)
    except FileNotFoundError:
        raise StudyError(f"there is no plan {path}") from None
    except (OSError, ValueError) as error:
        raise StudyError(f"the plan {path} cannot be read: {error}") from error
    if _DEEP_KEY.search(content):
        raise StudyError(f"{path} has a key of more than 64 parts with dots between them; a plan's have one")
    try:
        values = tomllib.loads(content)
    except (ValueError, RecursionError) as error:  # also about numbers of thousands of digits
        raise StudyError(f"{path} is not TOML: {error}") from error
    try:
        return StudyPlan.from_dict(values, path.parent)
    except StudyError as error:
        raise StudyError(f"{path}: {error}") from error


def _read_text(path: Path) -> str:
    with path.open("rb") as file:
        content = file.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        raise ValueError(f"it has more than {_MOST_BYTES} bytes, which no plan needs")
    return content.decode("utf-8")


def differences(old: StudyPlan, new: StudyPlan) -> list[str]:
    """Return one line for each key in which two plans differ."""
    lines = []
    before, after = old.to_dict(), new.to_dict()
    for name in after:
        if before[name] == after[name]:
            continue
        if isinstance(after[name], list) and set(before[name]) != set(after[name]):
            lines += [f"{name}: - {value}" for value in before[name] if value not in after[name]]
            lines += [f"{name}: + {value}" for value in after[name] if value not in before[name]]
        else:
            lines.append(f"{name}: {before[name]} -> {after[name]}")
    return lines


def _shown(value: Any) -> str:
    """Return a value for a message, which may come from anywhere."""
    try:
        text = repr(value)
    except ValueError:  # a whole number of thousands of digits, written in hexadecimal
        return "a number of thousands of digits"
    return _cut(text)


def _cut(text: str) -> str:
    return text if len(text) <= 500 else f"{text[:500]}…"


def _set(plan: StudyPlan, name: str, value: Any) -> None:
    object.__setattr__(plan, name, value)  # the plan is frozen; this is its constructor


def _texts(name: str, values: Any) -> tuple[str, ...]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise StudyError(f"{name} must be a list of texts, got {_shown(values)}")
    texts = tuple(values)
    for text in texts:
        if not isinstance(text, str):
            raise StudyError(f"{name} must be a list of texts, got {_shown(text)} in it")
        if texts.count(text) > 1:
            raise StudyError(f"{name} has {_shown(text)} {texts.count(text)} times")
    if not texts:
        raise StudyError(f"{name} must have at least one entry")
    return texts


def _check_name(name: Any) -> None:
    if not isinstance(name, str) or not name.strip() or len(name) > 100 or not name.isprintable():
        raise StudyError(f"name must be a text of 1 to 100 printable characters, got {_shown(name)}")


def _check_known(name: str, texts: Iterable[str], known: tuple[str, ...]) -> None:
    for text in texts:
        if text not in known:
            raise StudyError(f"{name} has {_shown(text)}; known are {', '.join(known)}")


def _check_whole(name: str, value: Any, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= _MOST:
        most = f" and at most {_MOST}" if isinstance(value, int) and value > _MOST else ""
        raise StudyError(f"{name} must be a whole number of at least {least}{most}, got {_shown(value)}")


def _number(name: str, value: Any, least: float, most: float) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not least <= value <= most:
        raise StudyError(f"{name} must be a number from {least:g} to {most:g}, got {_shown(value)}")
    try:
        return float(value)
    except OverflowError:
        raise StudyError(f"{name} must be a number that a float can hold, got {_shown(value)}") from None


def _levels(values: Any) -> tuple[float, ...]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise StudyError(f"noise must be a list of numbers from 0 to 1, got {_shown(values)}")
    levels = tuple(_number("noise", value, 0.0, 1.0) for value in values)
    if not levels or len(set(levels)) < len(levels):
        raise StudyError(f"noise must have at least one level and none twice, got {list(levels)}")
    return levels
