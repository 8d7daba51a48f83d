"""The tidy table: one row per data set, network, transformation and seed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from tabstretch._extras import import_extra
from tabstretch._files import written_whole
from tabstretch.study.datasets.records import save_record
from tabstretch.study.errors import StudyError
from tabstretch.study.metrics import METRICS
from tabstretch.study.storage import StudyStorage

if TYPE_CHECKING:
    import pandas as pd

KEYS = ("dataset", "model", "transformation", "noise", "seed")
_MEASURES = (
    "val_score",
    "epochs",
    "best_epoch",
    "seconds",
    "fit_seconds",
    "peak_memory_mb",
    "seeds_together",
)
_COUNTS = ("n_train", "n_val", "n_test", "n_numeric", "n_categorical", "n_classes")
COLUMNS = (
    *KEYS,
    "status",
    "error",
    "note",
    "task",
    *METRICS,
    *_MEASURES,
    "trials",
    "failed_trials",
    "params",
    *_COUNTS,
    "checksum",
)
_WHOLE = ("seed", "trials", "failed_trials", *_COUNTS)
_MAYBE_WHOLE = ("epochs", "best_epoch", "seeds_together")


def results_table(store: StudyStorage) -> pd.DataFrame:
    """Return every finished run of a study, in the order of the keys."""
    pandas = import_extra("pandas", "study")
    datasets = {entry.name: entry for entry in store.dataset_entries().values()}
    rows: list[dict[str, Any]] = []
    for cell, run in store.runs():
        entry = datasets[cell.dataset]
        rows.append(
            {
                **cell._asdict(),
                "seed": run.seed,
                "status": run.status,
                "error": run.error or "",
                "note": run.note or "",
                **{name: run.metrics.get(name, float("nan")) for name in METRICS},
                **{name: run.measures.get(name, float("nan")) for name in _MEASURES},
                "trials": run.trials,
                "failed_trials": run.failed_trials,
                "params": json.dumps(run.params, sort_keys=True),
                **entry.description,
                "checksum": entry.checksum,
            }
        )
    table = pandas.DataFrame(rows, columns=list(COLUMNS))
    table = table.astype(dict.fromkeys(_WHOLE, "int64")).astype(dict.fromkeys(_MAYBE_WHOLE, "Int64"))
    return table.sort_values(list(KEYS), ignore_index=True)


def write_splits(store: StudyStorage, folder: Path) -> list[Path]:
    """Write the split of each data set to a file of its own, and return the files."""
    paths = []
    for entry in store.dataset_entries().values():
        # A name may be a whole source, with separators in it.
        path = folder / f"{quote(entry.name, safe=' ')}.json"
        try:
            save_record(entry.split, path)
        except OSError as error:
            raise StudyError(f"{path} cannot be written: {error}") from error
        paths.append(path)
    return paths


def write_table(table: pd.DataFrame, path: Path) -> None:
    """Write a table as CSV or Parquet, by its name. The file appears whole or not at all."""
    writers: dict[str, Callable[[Path], object]] = {
        ".csv": lambda place: table.to_csv(place, index=False),
        ".parquet": table.to_parquet,
    }
    ending = path.suffix.lower()
    if ending not in writers:
        raise StudyError(f"the name of {path} must end in {' or '.join(writers)}, got {path.suffix!r}")
    try:
        with written_whole(path) as temporary:
            writers[ending](temporary)
    except OSError as error:
        raise StudyError(f"{path} cannot be written: {error}") from error
