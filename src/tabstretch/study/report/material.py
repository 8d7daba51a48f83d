"""`Material`: what a report is made of, from a study in its storage or from a file of results."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from tabstretch.study.errors import StudyError
from tabstretch.study.metrics import METRICS
from tabstretch.study.plan import StudyPlan
from tabstretch.study.report.signals import Signals, read_signals
from tabstretch.study.statistics import cell_table
from tabstretch.study.statistics.panels import ALL, texts

_TEXTS = ("dataset", "model", "transformation", "status", "error", "note", "task", "params", "checksum")
_NEEDED = ("dataset", "model", "transformation", "seed", "task")

_NUMBERS = [
    *("n_train", "n_val", "n_test", "n_numeric", "n_categorical", "n_classes", "trials", "failed_trials"),
    *("epochs", "best_epoch", "seconds", "fit_seconds", "peak_memory_mb", "seeds_together"),
]
_LARGEST = 1e15


@dataclass(frozen=True, eq=False)
class Record:
    """What only the storage of a study knows."""

    plan: StudyPlan
    environment: dict[str, Any]
    place: str
    sources: dict[str, str]
    """By the name of the data set."""
    checksums: dict[str, str]
    """The same way."""
    own_split: frozenset[str]
    """Data sets that came with a split."""
    n_runs: int
    n_trainings: int
    trainings_done: int


@dataclass(frozen=True, eq=False)
class Material:
    """Everything a report is made of."""

    title: str
    results: pd.DataFrame
    commands: tuple[str, ...]
    """To run it again."""
    record: Record | None = None
    noise: pd.DataFrame | None = None
    """Results with several levels of label noise, of this study or of the noise study beside it."""
    signals: Signals | None = None
    """What the data tell; None for results from elsewhere, which come without data."""

    @property
    def n_missing(self) -> int:
        """How many of the planned runs are not there."""
        return 0 if self.record is None else self.record.n_runs - len(self.results)


def material_of_plan(path: Path, storage: str | None = None) -> Material:
    """Read a study from its storage.

    Parameters
    ----------
    path : Path
        The plan.
    storage : str, default=None
        A SQLite file or a `postgresql://` URL; by default the file beside the plan.
    """
    results, record = _stored(path, storage)
    shown = ["--storage", record.place] if storage else []
    commands = [
        shlex.join(["tabstretch", verb, str(path), *shown, *rest])
        for verb, *rest in (
            ("run",),
            ("results", "-o", "results.csv"),
            ("splits", "-o", "splits"),
            ("report", "-o", "report.html"),
        )
    ]
    return Material(
        title=record.plan.name,
        results=_clean(results),
        commands=tuple(commands),
        record=record,
        noise=results if _has_noise(results) else _noise_study(path, storage),
        signals=read_signals(record.sources, record.checksums, path.parent),
    )


def material_of_results(path: Path) -> Material:
    """Read results from elsewhere, a CSV or Parquet file with the columns of the tidy table.

    Needed are dataset, model, transformation, seed and task, and the metrics there are; see
    `read_results`.
    """
    results = read_results(path)
    return Material(
        title=path.stem,
        results=_clean(results),
        commands=(shlex.join(["tabstretch", "report", "--results", str(path), "-o", "report.html"]),),
        noise=results if _has_noise(results) else None,
    )


def read_results(path: Path) -> pd.DataFrame:
    """Read a tidy table of results; what it may lack is filled in.

    Without `status` a run is "ok" if it has a value of accuracy or R², "failed" otherwise.
    """
    readers: dict[str, Callable[[Path], pd.DataFrame]] = {".csv": _read_csv, ".parquet": pd.read_parquet}
    if path.suffix not in readers:
        raise StudyError(f"the name of {path} must end in {' or '.join(readers)}, got {path.suffix!r}")
    try:
        table = readers[path.suffix](path)
    except FileNotFoundError:
        raise StudyError(f"there is no file {path}") from None
    except Exception as error:  # parsers raise whatever they like at bytes they cannot read
        raise StudyError(f"{path} cannot be read as {path.suffix[1:]}: {error}") from error
    try:
        return checked_results(table)
    except ValueError as error:
        raise StudyError(f"{path}: {error}") from error


def _read_csv(path: Path) -> pd.DataFrame:
    # A data set may be called NA, or 007: only what has to be a number becomes one.
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    for name in table.columns.difference([*_TEXTS, *METRICS, "noise"]):
        with suppress(ValueError):
            table[name] = pd.to_numeric(table[name])
    return table


def checked_results(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with all columns that a report looks at, or raise ValueError."""
    lacking = [name for name in _NEEDED if name not in table.columns]
    if lacking:
        raise ValueError(
            f"the columns {', '.join(lacking)} are missing; a report needs one row per dataset, model, "
            "transformation and seed, with a task (regression, binclass or multiclass) and metrics"
        )
    table = table.reset_index(drop=True)
    for name in METRICS:
        table[name] = _numbers(table, name, np.nan)
    for name in table.columns.intersection(_NUMBERS):
        table[name] = _finite(table, name)
    for name in ("error", "note"):
        table[name] = texts(table, name)
    for name, what in (("model", "models"), ("dataset", "data sets")):
        if ALL in table[name].unique():
            raise ValueError(
                f"a {name} is called {ALL!r}, which stands for all {what} in the tables: rename it"
            )
    for name in ("dataset", "model", "transformation", "task"):
        if table[name].isna().any():
            raise ValueError(f"the column {name} has gaps: every row needs a {name}")
        table[name] = table[name].astype(str).astype(object)
    if "status" not in table.columns:
        found = table["r2"].where(table["task"] == "regression", table["accuracy"]).notna()
        table["status"] = np.where(found, "ok", "failed")
    table["noise"] = _numbers(table, "noise", 0.0)
    if len(table):
        cell_table(table, by_noise=True)  # what it refuses, a report cannot show
    return table


def _numbers(table: pd.DataFrame, name: str, otherwise: float) -> pd.Series:
    if name not in table.columns:
        return pd.Series(otherwise, index=table.index, dtype=np.float64)
    try:
        return pd.to_numeric(table[name]).astype(np.float64)
    except (ValueError, TypeError, OverflowError) as error:
        raise ValueError(f"the column {name} must hold numbers: {error}") from None


def _finite(table: pd.DataFrame, name: str) -> pd.Series:
    """Return a column that stays as it is, or becomes floats if it was text with gaps."""
    numbers = _numbers(table, name, np.nan)
    wrong = numbers.abs() > _LARGEST
    if wrong.any():
        raise ValueError(
            f"the column {name} must hold numbers up to {_LARGEST:g}, got {numbers[wrong].iloc[0]}"
        )
    return table[name] if pd.api.types.is_numeric_dtype(table[name]) else numbers


def _has_noise(results: pd.DataFrame) -> bool:
    return bool(results["noise"].nunique() > 1)


def _clean(results: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the lowest level of noise: those of all others are another study."""
    return results[results["noise"] == results["noise"].min()].reset_index(drop=True)


def _stored(path: Path, storage: str | None) -> tuple[pd.DataFrame, Record]:
    # Here, so that results from elsewhere need neither Optuna nor a database.
    from tabstretch.study.results import results_table
    from tabstretch.study.storage import opened_study
    from tabstretch.study.tally import tally

    with opened_study(path, storage) as (plan, store):
        entries = store.dataset_entries().values()
        counted = tally(plan, store)
        record = Record(
            plan=plan,
            environment=store.environment(),
            place=store.place,
            sources={entry.name: entry.source for entry in entries},
            checksums={entry.name: entry.split.checksum for entry in entries},
            own_split=frozenset(entry.name for entry in entries if entry.split.rows is None),
            n_runs=counted.n_runs,
            n_trainings=counted.n_trainings,
            trainings_done=counted.trainings_done,
        )
        return checked_results(results_table(store)), record


def _noise_study(path: Path, storage: str | None) -> pd.DataFrame | None:
    """Return the results of the noise study that `tabstretch noise` made of a plan, if there is one."""
    from tabstretch.study.noise_study import noise_plan_path

    beside = noise_plan_path(path)
    if not beside.is_file():
        return None
    try:
        results = _stored(beside, storage)[0]
    except StudyError:  # it was never started
        return None
    return results if _has_noise(results) else None
