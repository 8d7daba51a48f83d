"""The normalised score of every cell, the tie filter, and the sweep of fixed thresholds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from tabstretch.study.statistics.panels import PANEL, by_tasks, cell_table, exceeds, with_all

TIE = 0.5
DELTAS = (0.0, *(float(delta) for delta in np.geomspace(0.001, 0.5, 28).round(5)))


def normalised_scores(
    results: pd.DataFrame, *, metric: str | None = None, delta: float | None = None
) -> pd.DataFrame:
    """Score the transformations of each panel from 0, the worst, to 1, the best.

    Parameters
    ----------
    results : DataFrame
        One row per (dataset, model, transformation, seed).
    metric : str, default=None
        See `cell_table`; by default accuracy or R².
    delta : float, default=None
        A panel whose best and worst differ by no more than this is a tie. By default the median over
        transformations of the standard deviation over seeds: the paper's adaptive filter.

    Returns
    -------
    DataFrame
        The columns of `cell_table`, and

        - gap, delta, tie: difference between best and worst, the threshold, whether the panel is a tie;
        - compared: whether the panel has two transformations to compare, and a value;
        - score: 0.5 in a tie, NaN for missing cells and in panels that compare nothing.

    Notes
    -----
    NOTE[DIFF]: the paper has no rule for runs that fail. Here a cell whose seeds all failed scores 0, also
    in a tie, and the others are scored among themselves. Seeds that failed beside others that did not are
    left out of the mean and of the standard deviation. A cell that was not run has no score.
    """
    return score_cells(cell_table(results, metric), delta)


def score_cells(cells: pd.DataFrame, delta: float | None = None) -> pd.DataFrame:
    """Add scores to what `cell_table` returns; see `normalised_scores`."""
    if delta is not None:
        _check_delta(delta)
    panels = cells.groupby(PANEL, sort=False, observed=True)
    lowest = panels["gain"].transform("min")
    gap = panels["gain"].transform("max") - lowest
    # One seed has no standard deviation; if no cell has one, only equal values tie.
    threshold = panels["std"].transform("median").fillna(0.0) if delta is None else delta
    present = cells["state"] != "missing"
    n_present = present.groupby([cells[key] for key in PANEL], sort=False, observed=True).transform("sum")
    compared = (n_present >= 2) & gap.notna()
    table = cells.assign(gap=gap, delta=threshold, compared=compared)
    table["tie"] = compared & ~exceeds(gap, table["delta"])
    score = ((cells["gain"] - lowest) / gap.where(gap > 0)).where(~table["tie"], TIE)
    score = score.mask(cells["state"] == "failed", 0.0)
    table["score"] = score.where(compared & present)
    return table


def delta_sweep(
    results: pd.DataFrame, deltas: Sequence[float] = DELTAS, *, metric: str | None = None
) -> pd.DataFrame:
    """Return mean scores under fixed thresholds, from which panels are ties.

    Parameters
    ----------
    results : DataFrame
        One row per (dataset, model, transformation, seed).
    deltas : sequence of float
        Thresholds, in units of the metric; by default 0 and 28 steps from 0.001 to 0.5.
    metric : str, default=None
        See `cell_table`; by default accuracy or R².

    Returns
    -------
    DataFrame
        delta, tasks ("all", "classification", "regression"), model ("all" or one), transformation, score,
        n_panels, tie_share.
    """
    for delta in deltas:
        _check_delta(delta)
    scored = score_cells(cell_table(results, metric), 0.0)
    scored = by_tasks(with_all(scored, "model")).dropna(subset="score")
    ties = ~exceeds(scored["gap"].to_numpy()[:, None], np.asarray(deltas, np.float64))
    scores = np.where(
        ties & (scored["state"] == "ok").to_numpy()[:, None], TIE, scored["score"].to_numpy()[:, None]
    )
    keys = [scored[key] for key in ("tasks", "model", "transformation")]
    means, shares = (
        pd.DataFrame(values, index=scored.index).groupby(keys, sort=False, observed=True).mean()
        for values in (scores, ties)
    )
    n_panels = scored.groupby(keys, sort=False, observed=True).size().to_numpy()
    swept = [
        means.index.to_frame(index=False).assign(
            delta=float(delta),
            score=means[place].to_numpy(),
            n_panels=n_panels,
            tie_share=shares[place].to_numpy(),
        )
        for place, delta in enumerate(deltas)
    ]
    table = pd.concat(swept, ignore_index=True)
    return table[["delta", *table.columns.drop("delta")]]


def _check_delta(delta: float) -> None:
    """Raise if a threshold is negative or NaN."""
    if not delta >= 0:
        raise ValueError(f"delta must be at least 0, got {delta}")
