"""Whether transformations differ at all over data sets, and which pairs do: Friedman and Nemenyi."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import stats

from tabstretch._extras import import_extra
from tabstretch.study.statistics.panels import ALL, by_tasks
from tabstretch.study.statistics.ranks import panel_ranks

FEW = 10
"""With fewer data sets, the chi-square and the studentised range are rough."""


def block_ranks(results: pd.DataFrame, *, tasks: str = ALL, metric: str | None = None) -> pd.DataFrame:
    """Rank the transformations of each data set by their mean rank over its models.

    Panels of one data set resemble each other, so the tests below count a data set once, however many models
    it was run with. To look at one model, pass its results only.

    Parameters
    ----------
    results : DataFrame
        One row per (dataset, model, transformation, seed).
    tasks : {"all", "classification", "regression"}, default="all"
        Which data sets.
    metric : str, default=None
        See `cell_table`; by default accuracy or R².

    Returns
    -------
    DataFrame
        Ranks, data sets down and transformations across. Panels that are not complete are left out (see
        `panel_ranks`), and so are data sets without any other.
    """
    return _block_ranks(panel_ranks(results, metric=metric), tasks)


def friedman_test(results: pd.DataFrame, *, alpha: float = 0.05, metric: str | None = None) -> pd.DataFrame:
    """Test whether some transformations rank better than others over data sets.

    Parameters
    ----------
    results : DataFrame
        One row per (dataset, model, transformation, seed).
    alpha : float, default=0.05
        Level of the critical difference.
    metric : str, default=None
        See `cell_table`; by default accuracy or R².

    Returns
    -------
    DataFrame
        For each of "all", "classification" and "regression" that has data sets:

        - tasks, n_datasets, n_transformations;
        - statistic, p_value: Friedman's chi-square;
        - f_statistic, f_p_value: Iman and Davenport's correction, better for few data sets;
        - critical_difference: of mean ranks, by Nemenyi, at level alpha;
        - note: why there is no p-value, or why not to trust it; or empty.
    """
    _check_alpha(alpha)
    ranks = panel_ranks(results, metric=metric)
    rows = []
    for tasks in (ALL, *sorted(ranks["tasks"].unique())):
        blocks = _block_ranks(ranks, tasks)
        difference = critical_difference(blocks, alpha=alpha)
        rows.append({"tasks": tasks, **_friedman(blocks), "critical_difference": difference})
    table = pd.DataFrame(rows)
    return table[[*table.columns.drop("note"), "note"]]


def critical_difference(ranks: pd.DataFrame, *, alpha: float = 0.05) -> float:
    """Return by how much the mean ranks of `block_ranks` must differ to be told apart by Nemenyi's test."""
    _check_alpha(alpha)
    n, k = ranks.shape
    if n < 2 or k < 2:
        return float("nan")
    q = stats.studentized_range.ppf(1 - alpha, k, np.inf) / np.sqrt(2)
    return float(q * np.sqrt(k * (k + 1) / (6 * n)))


def nemenyi_test(ranks: pd.DataFrame) -> pd.DataFrame:
    """Return the p-values of all pairs, as a square, by Nemenyi's test after Friedman's.

    Parameters
    ----------
    ranks : DataFrame
        What `block_ranks` returns. With fewer than two data sets or transformations all p-values are 1.
    """
    names = list(ranks.columns)
    if min(ranks.shape) < 2:
        return pd.DataFrame(1.0, index=names, columns=names)
    posthocs = import_extra("scikit_posthocs", "report")
    p_values = posthocs.posthoc_nemenyi_friedman(ranks.to_numpy())
    return pd.DataFrame(p_values.to_numpy(), index=names, columns=names)


def _block_ranks(ranks: pd.DataFrame, tasks: str) -> pd.DataFrame:
    chosen = by_tasks(ranks)
    chosen = chosen[chosen["complete"] & (chosen["tasks"] == tasks)]
    means = chosen.groupby(["dataset", "transformation"], sort=False, observed=True)["rank"].mean()
    names = ranks["transformation"].unique().tolist()
    # Means of the same ranks in another order may differ in the last digit, and would not tie.
    return means.round(9).unstack().reindex(columns=names).rank(axis=1)


def _friedman(ranks: pd.DataFrame) -> dict[str, object]:
    n, k = ranks.shape
    found: dict[str, object] = {"n_datasets": n, "n_transformations": k}
    found |= dict.fromkeys(("statistic", "p_value", "f_statistic", "f_p_value"), float("nan"))
    if n < 2 or k < 3:
        what = f"{n} complete data sets and {k} transformations"
        return {**found, "note": f"the test needs two data sets and three transformations, there are {what}"}
    if (ranks.nunique(axis=1) == 1).all():
        return {
            **found,
            "statistic": 0.0,
            "p_value": 1.0,
            "f_statistic": 0.0,
            "f_p_value": 1.0,
            "note": "all transformations tie on every data set",
        }
    statistic, p_value = stats.friedmanchisquare(*ranks.to_numpy().T)
    rest = n * (k - 1) - statistic
    f_statistic = (n - 1) * statistic / rest if rest > 1e-9 else np.inf  # all data sets agree
    found |= {"statistic": float(statistic), "p_value": float(p_value), "f_statistic": float(f_statistic)}
    found["f_p_value"] = float(stats.f.sf(f_statistic, k - 1, (k - 1) * (n - 1)))
    note = f"{n} data sets are few: take p-values as rough" if n < FEW else ""
    return {**found, "note": note}


def _check_alpha(alpha: float) -> None:
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must be between 0 and 1, got {alpha}")
