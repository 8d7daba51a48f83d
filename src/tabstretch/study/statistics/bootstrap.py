"""How far means would move with other data sets: intervals from resampling them with all their panels."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tabstretch.study.statistics.panels import PANEL, by_tasks, with_all
from tabstretch.study.statistics.ranks import panel_ranks
from tabstretch.study.statistics.scores import normalised_scores

_KEYS = ["tasks", "model", "transformation"]


def bootstrap_scores(
    results: pd.DataFrame,
    *,
    metric: str | None = None,
    n_resamples: int = 2000,
    level: float = 0.95,
    random_state: int = 0,
) -> pd.DataFrame:
    """Return percentile intervals of the mean normalised score.

    Parameters
    ----------
    results : DataFrame
        One row per (dataset, model, transformation, seed).
    metric : str, default=None
        See `cell_table`; by default accuracy or R².
    n_resamples : int, default=2000
        How often data sets are drawn, with replacement, each with all its models.
    level : float, default=0.95
        Share of the resampled means that an interval holds.
    random_state : int, default=0
        Seed of the draws.

    Returns
    -------
    DataFrame
        tasks ("all", "classification", "regression"), model ("all" or one), transformation, value, low, high
        (NaN for fewer than two data sets), n_datasets.
    """
    frame = normalised_scores(results, metric=metric).rename(columns={"score": "mean"})
    return _intervals(frame, n_resamples, level, random_state)


def bootstrap_ranks(
    results: pd.DataFrame,
    *,
    metric: str | None = None,
    n_resamples: int = 2000,
    level: float = 0.95,
    random_state: int = 0,
) -> pd.DataFrame:
    """Return percentile intervals of the mean rank over complete panels; see `bootstrap_scores`."""
    frame = panel_ranks(results, metric=metric).rename(columns={"rank": "mean"})
    return _intervals(frame, n_resamples, level, random_state)


def bootstrap_differences(
    results: pd.DataFrame,
    reference: str,
    *,
    metric: str | None = None,
    n_resamples: int = 2000,
    level: float = 0.95,
    random_state: int = 0,
) -> pd.DataFrame:
    """Return percentile intervals of the score of a reference less that of each other transformation.

    An interval above 0 says that the reference is better on data sets like these. Panels in which one of
    the two has no score are left out.

    Parameters
    ----------
    results : DataFrame
        One row per (dataset, model, transformation, seed).
    reference : str
        A transformation.
    metric, n_resamples, level, random_state
        As in `bootstrap_scores`.

    Returns
    -------
    DataFrame
        The columns of `bootstrap_scores`, and reference.
    """
    scored = normalised_scores(results, metric=metric)
    its_own = scored[scored["transformation"] == reference]
    if its_own.empty:
        raise ValueError(
            f"no transformation {reference!r}, there are {', '.join(scored['transformation'].unique())}"
        )
    others = scored[scored["transformation"] != reference]
    pairs = others.merge(its_own[[*PANEL, "score"]], on=PANEL, suffixes=("", "_reference"))
    pairs["mean"] = pairs["score_reference"] - pairs["score"]
    return _intervals(pairs, n_resamples, level, random_state).assign(reference=reference)


def _intervals(frame: pd.DataFrame, n_resamples: int, level: float, random_state: int) -> pd.DataFrame:
    """Resample the data sets of each group of tasks; the column to average is `mean`."""
    if n_resamples < 1:
        raise ValueError(f"n_resamples must be at least 1, got {n_resamples}")
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, got {level}")
    frame = by_tasks(with_all(frame, "model"))
    cells = frame.groupby([*_KEYS, "dataset"], sort=False, observed=True)["mean"].agg(["sum", "count"])
    tables = []
    for _, group in cells.reset_index().groupby("tasks", sort=False, observed=True):
        datasets, _ = pd.factorize(group["dataset"])
        means, _ = pd.factorize(pd.MultiIndex.from_frame(group[_KEYS]))
        sums, counts = np.zeros((2, datasets.max() + 1, means.max() + 1))
        sums[datasets, means], counts[datasets, means] = group["sum"], group["count"]
        total = counts.sum(axis=0)
        n_datasets = np.count_nonzero(counts, axis=0)
        table = group[_KEYS].drop_duplicates(ignore_index=True)
        table["value"] = np.divide(sums.sum(axis=0), total, out=np.full(len(total), np.nan), where=total > 0)
        bounds = _percentiles(sums, counts, n_resamples, level, random_state)
        table["low"], table["high"] = np.where(n_datasets >= 2, bounds, np.nan)
        tables.append(table.assign(n_datasets=n_datasets))
    return pd.concat(tables, ignore_index=True)


def _percentiles(
    sums: NDArray[np.float64], counts: NDArray[np.float64], n_resamples: int, level: float, random_state: int
) -> NDArray[np.float64]:
    """Return both bounds of sums / counts, of shape (n_datasets, n_groups), when the rows are resampled."""
    n = len(sums)
    times = np.random.default_rng(random_state).multinomial(n, np.full(n, 1 / n), size=n_resamples)
    drawn, total = times @ counts, times @ sums
    means = np.divide(total, drawn, out=np.full_like(drawn, np.nan), where=drawn > 0)
    tail = (1 - level) / 2
    empty = np.isnan(means).all(axis=0)
    means[:, empty] = 0.0  # no data set has a value: the caller knows
    return np.nanquantile(means, [tail, 1 - tail], axis=0)
