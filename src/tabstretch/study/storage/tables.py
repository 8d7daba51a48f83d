"""Tables of a study. Their names begin with `tabstretch_`; those of Optuna are its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Column, ColumnElement, Float, ForeignKey, Integer, MetaData, String, Table, Text, and_

SCHEMA_VERSION = 1
metadata = MetaData()

studies = Table(
    "tabstretch_studies",
    metadata,
    Column("study_id", Integer, primary_key=True),
    Column("name", String(100), nullable=False, unique=True),
    Column("schema_version", Integer, nullable=False),
    Column("plan", Text, nullable=False),  # JSON
    Column("environment", Text, nullable=False),  # JSON: versions and machine of the first run
)


def _study_id() -> Column[int]:
    return Column("study_id", Integer, ForeignKey("tabstretch_studies.study_id"), primary_key=True)


datasets = Table(
    "tabstretch_datasets",
    metadata,
    _study_id(),
    Column("source", Text, primary_key=True),
    Column("dataset", Text, nullable=False),  # its name in the results
    Column("checksum", String(64), nullable=False),
    Column("description", Text, nullable=False),  # JSON: task and counts
    Column("split", Text, nullable=False),  # JSON: `SplitRecord`
)

coordinators = Table(
    "tabstretch_coordinators",
    metadata,
    Column("owner", Integer, primary_key=True),
    Column("host", Text, nullable=False),
    Column("pid", Integer, nullable=False),
)


def _cell() -> list[Column[str] | Column[float]]:
    names = (Column(name, Text, primary_key=True) for name in ("dataset", "model", "transformation"))
    return [*names, Column("noise", Float, primary_key=True)]


# A cell has one owner at a time: the primary key decides between two that reach for it.
claims = Table(
    "tabstretch_claims",
    metadata,
    _study_id(),
    *_cell(),
    Column("owner", Integer, ForeignKey("tabstretch_coordinators.owner"), nullable=False),
)

# A run has one row: the primary key refuses a second, whatever else may go wrong.
runs = Table(
    "tabstretch_runs",
    metadata,
    _study_id(),
    *_cell(),
    Column("seed", Integer, primary_key=True),
    Column("status", String(10), nullable=False),
    Column("error", Text),
    Column("note", Text),
    Column("params", Text, nullable=False),  # JSON
    Column("metrics", Text, nullable=False),  # JSON
    Column("measures", Text, nullable=False),  # JSON: epochs, seconds, memory
    Column("trials", Integer, nullable=False),
    Column("failed_trials", Integer, nullable=False),
)


def at(table: Table, key: Mapping[str, Any]) -> ColumnElement[bool]:
    """Return the condition that some columns have these values."""
    return and_(*(table.c[name] == value for name, value in key.items()))
