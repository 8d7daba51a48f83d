"""Every transformation against every other, panel by panel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tabstretch.study.statistics.panels import ALL, PANEL, by_tasks, cell_table, exceeds, with_all


@dataclass(frozen=True, eq=False)  # arrays have no single answer to ==
class _Duels:
    """What `cell_table` holds as arrays of shape (n_panels, n_transformations)."""

    panels: pd.DataFrame
    transformations: list[str]
    gain: NDArray[np.float64]
    value: NDArray[np.float64]
    std: NDArray[np.float64]
    failed: NDArray[np.bool_]

    def outcomes(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return who wins, and which pairs count, of shape (n_panels, n_transformations, same)."""
        first, second = self.gain[:, :, None], self.gain[:, None, :]
        wins = exceeds(first - second, self.margin())
        # A cell whose seeds all failed loses against a value. Pairs without a value do not count.
        wins |= ~np.isnan(first) & self.failed[:, None, :]
        some = ~np.isnan(self.gain) | self.failed
        counts = some[:, :, None] & some[:, None, :] & ~(self.failed[:, :, None] & self.failed[:, None, :])
        return wins, counts

    def margin(self) -> NDArray[np.float64]:
        """Return by how much the first must be better: the larger standard deviation over seeds."""
        std = np.nan_to_num(self.std, nan=0.0, posinf=np.inf)  # one seed has none
        return np.maximum(std[:, :, None], std[:, None, :])


def _duels(results: pd.DataFrame, metric: str | None) -> _Duels:
    cells = cell_table(results, metric)
    names = cells["transformation"].unique().tolist()
    panels = cells[[*PANEL, "tasks"]].drop_duplicates(ignore_index=True)
    shape = (len(panels), len(names))  # the table has every transformation in every panel, in this order
    return _Duels(
        panels=panels,
        transformations=names,
        gain=cells["gain"].to_numpy().reshape(shape),
        value=cells["value"].to_numpy().reshape(shape),
        std=cells["std"].to_numpy().reshape(shape),
        failed=(cells["state"] == "failed").to_numpy().reshape(shape),
    )


def pairwise_counts(results: pd.DataFrame, *, metric: str | None = None) -> pd.DataFrame:
    """Count wins, losses and ties of every ordered pair of transformations.

    The first wins a panel if its mean is better by more than the larger of the two standard deviations over
    seeds; if neither wins the panel is a tie.

    Parameters
    ----------
    results : DataFrame
        One row per (dataset, model, transformation, seed).
    metric : str, default=None
        See `cell_table`; by default accuracy or R².

    Returns
    -------
    DataFrame
        tasks ("all", "classification", "regression"), model ("all" or one), first, second, wins, losses,
        ties, n_panels (their sum), n_left_out, and win_rate: wins and half the ties by n_panels.

    Notes
    -----
    NOTE[DIFF]: a cell whose seeds all failed loses against any value. Panels in which one of the two was not
    run, or neither has a value, are left out; the paper only says that those lacking both are.
    """
    duels = _duels(results, metric)
    wins, counts = duels.outcomes()
    k = len(duels.transformations)
    pairs = np.argwhere(~np.eye(k, dtype=bool))
    first, second = pairs.T
    names = np.array(duels.transformations, dtype=object)
    numbered = duels.panels.assign(number=np.arange(len(duels.panels)))
    tables = []
    for (tasks, model), panels in by_tasks(with_all(numbered, "model")).groupby(
        ["tasks", "model"], sort=False, observed=True
    ):
        chosen = panels["number"].to_numpy()
        won, counted = wins[chosen].sum(axis=0), counts[chosen].sum(axis=0)
        table = pd.DataFrame({"first": names[first], "second": names[second]})
        table["wins"], table["losses"] = won[first, second], won[second, first]
        table["ties"] = counted[first, second] - table["wins"] - table["losses"]
        table["n_panels"] = counted[first, second]
        table["n_left_out"] = len(chosen) - table["n_panels"]
        tables.append(table.assign(tasks=str(tasks), model=str(model)))
    joined = pd.concat(tables, ignore_index=True)
    counted = joined["n_panels"].where(joined["n_panels"] > 0)
    joined["win_rate"] = (joined["wins"] + 0.5 * joined["ties"]) / counted
    return joined[["tasks", "model", *joined.columns.drop(["tasks", "model"])]]


def win_rate_matrix(counts: pd.DataFrame, *, tasks: str = ALL, model: str = ALL) -> pd.DataFrame:
    """Arrange `pairwise_counts` as a square: how often the row wins against the column, ties as half."""
    chosen = counts[(counts["tasks"] == tasks) & (counts["model"] == model)]
    if chosen.empty:
        raise ValueError(f"there are no panels of tasks={tasks!r} and model={model!r}")
    names = chosen["first"].unique().tolist()
    return chosen.pivot(index="first", columns="second", values="win_rate").reindex(
        index=names, columns=names
    )


def pair_points(
    results: pd.DataFrame, first: str, second: str | None = None, *, metric: str | None = None
) -> pd.DataFrame:
    """Return the panels of one pair, with the outcome for the first.

    Parameters
    ----------
    results : DataFrame
        One row per (dataset, model, transformation, seed).
    first : str
        A transformation.
    second : str, default=None
        Another; by default every other, one below the other.
    metric : str, default=None
        See `cell_table`; by default accuracy or R².

    Returns
    -------
    DataFrame
        dataset, model, tasks, first, second, first_value, second_value (NaN if all seeds failed), margin (the
        larger standard deviation) and outcome: "win", "loss" or "tie". Panels that do not count are left out.
    """
    duels = _duels(results, metric)
    names = duels.transformations
    for name in (first, second or first):
        if name not in names:
            raise ValueError(f"no transformation {name!r}, there are {', '.join(names)}")
    wins, counts = duels.outcomes()
    margin = duels.margin()
    i = names.index(first)
    tables = []
    for j in [j for j, name in enumerate(names) if j != i and second in (None, name)]:
        points = duels.panels.assign(
            first=first,
            second=names[j],
            first_value=duels.value[:, i],
            second_value=duels.value[:, j],
            margin=margin[:, i, j],
            outcome=np.select([wins[:, i, j], wins[:, j, i]], ["win", "loss"], "tie"),
        )
        tables.append(points[counts[:, i, j]])
    if not tables:
        raise ValueError(f"{first!r} has no other transformation to be compared with")
    return pd.concat(tables, ignore_index=True)
