"""What was run and what was not: counts, the cells in trouble, the panels that are complete."""

from __future__ import annotations

import pandas as pd

from tabstretch.study.statistics.panels import PANEL, cell_table, texts, with_all


def coverage(results: pd.DataFrame) -> pd.DataFrame:
    """Count cells by model and transformation.

    Returns
    -------
    DataFrame
        model ("all" or one), transformation, n_panels (those of which any transformation was run), n_ok,
        n_partial (some seeds failed, counted in n_ok too), n_failed, n_missing, n_noted, n_seeds,
        n_failed_seeds.
    """
    cells = cell_table(results)
    cells = cells.assign(**{state: cells["state"] == state for state in ("ok", "failed", "missing")})
    cells["partial"] = cells["ok"] & (cells["n_failed_seeds"] > 0)
    table = (
        with_all(cells, "model")
        .groupby(["model", "transformation"], sort=False, observed=True)
        .agg(
            n_panels=("dataset", "size"),
            n_ok=("ok", "sum"),
            n_partial=("partial", "sum"),
            n_failed=("failed", "sum"),
            n_missing=("missing", "sum"),
            n_noted=("noted", "sum"),
            n_seeds=("n_seeds", "sum"),
            n_failed_seeds=("n_failed_seeds", "sum"),
        )
    )
    return table.reset_index()


def troubles(results: pd.DataFrame) -> pd.DataFrame:
    """List the cells that were not run, failed in part or in all, or have a note.

    Returns
    -------
    DataFrame
        dataset, model, transformation, state ("ok", "failed" or "missing"), n_seeds, n_failed_seeds, errors
        and notes: the distinct texts, separated by "; ".
    """
    cells = cell_table(results)
    keys = [*PANEL, "transformation"]
    cells = cells[(cells["state"] != "ok") | (cells["n_failed_seeds"] > 0) | cells["noted"]]
    for column, text in (("errors", "error"), ("notes", "note")):
        said = results[keys].assign(**{column: texts(results, text)})
        said = said[said[column] != ""].drop_duplicates()
        joined = said.groupby(keys, sort=False, observed=True)[column].agg("; ".join)
        cells = cells.merge(joined.reset_index(), on=keys, how="left")
        cells[column] = cells[column].fillna("")
    return cells[[*keys, "state", "n_seeds", "n_failed_seeds", "errors", "notes"]].reset_index(drop=True)


def complete_panels(results: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of those panels in which every transformation was run, to compare like with like.

    The means of a study that is not finished are over different panels for each transformation; those of
    the rows returned here are not.
    """
    cells = cell_table(results)
    run = (
        (cells["state"] != "missing").groupby([cells[key] for key in PANEL], sort=False, observed=True).all()
    )
    complete = run[run].index
    return results[pd.MultiIndex.from_frame(results[PANEL]).isin(complete)]
