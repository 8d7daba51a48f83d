"""What a fit found, as a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tabstretch._column import ColumnFit
from tabstretch._extras import import_extra
from tabstretch._widths import dirichlet_energy, range_shares

_STEEP_SHARE = 0.1


def summary_table(names: Sequence[str], columns: Sequence[ColumnFit]) -> Any:
    """Return a DataFrame with one row per column (see `StretchTransformer.summary`)."""
    pandas = import_extra("pandas", "pandas")
    rows = [summary_row(column) for column in columns]
    return pandas.DataFrame(rows, index=pandas.Index(names, name="feature"))


def summary_row(column: ColumnFit) -> dict[str, Any]:
    """Return one column's row."""
    row: dict[str, Any] = {
        "n_bins": len(column.widths),
        "total_variation": np.nan,
        "marginal_variation": np.nan,
        "interaction": np.nan,
        "energy_before": np.nan,
        "energy_after": np.nan,
        "steepest_tenth": np.nan,
        "shrinkage": np.nan,
        "fallback": column.fallback,
    }
    if len(column.variation) == 0:
        return row
    travelled = np.concatenate([[0.0], np.cumsum(column.variation)])
    row["total_variation"] = float(travelled[-1])
    row["energy_before"] = _energy(travelled, range_shares(column.edges))
    row["energy_after"] = _energy(travelled, column.widths)
    if travelled[-1] > 0:
        row["steepest_tenth"] = steepest_share(column)
    row["shrinkage"] = column.shrinkage
    row["interaction"] = column.interaction
    if column.marginal is not None:
        row["marginal_variation"] = float(column.marginal.sum())
    return row


def steepest_share(column: ColumnFit) -> float:
    """Return the share of the output range that the steepest tenth of the data got.

    Steepness is variation of the target per unit of the column; the bin that fills up the tenth counts
    in part.
    """
    lengths = range_shares(column.edges)
    with np.errstate(over="ignore"):  # a bin that is too short for its steepness to be a number is steepest
        steepness = np.divide(
            column.variation, lengths, out=np.full_like(lengths, np.inf), where=lengths > np.finfo(float).tiny
        )
    order = np.argsort(-steepness, kind="stable")
    rows, widths = column.bin_weight[order], column.widths[order]
    room = np.clip(_STEEP_SHARE - (np.cumsum(rows) - rows), 0.0, rows)
    return float(np.sum(widths * np.divide(room, rows, out=np.zeros_like(rows), where=rows > 0)))


def _energy(
    travelled: np.ndarray[Any, np.dtype[np.float64]], shares: np.ndarray[Any, np.dtype[np.float64]]
) -> float:
    # Shares below the resolution of their sum would make equal positions; keep them apart as they are.
    axis = np.concatenate([[0.0], np.cumsum(shares)])
    with np.errstate(over="ignore"):  # an energy larger than all numbers is infinite
        if np.all(np.diff(axis) > 0):
            return dirichlet_energy(travelled, axis)
        return float(np.sum(np.diff(travelled) ** 2 / np.maximum(shares, np.finfo(float).tiny)))
