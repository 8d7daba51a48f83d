"""Long tables -> tables as they are printed: transformations across, figures as text."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from tabstretch.study.names import TRANSFORMATIONS
from tabstretch.study.statistics.panels import in_order


def as_grid(table: pd.DataFrame, rows: Sequence[str], values: str = "value") -> pd.DataFrame:
    """Arrange a long table with transformations across.

    Parameters
    ----------
    table : DataFrame
        With a column `transformation` and one row for each transformation and combination of `rows`.
    rows : sequence of str
        Columns that name a row, such as `["statistic", "model"]`.
    values : str, default="value"
        Column to show.
    """
    wide = table.set_index([*rows, "transformation"])[values].unstack("transformation")
    # unstack sorts; the long table has the order we want.
    order = table[list(rows)].drop_duplicates()
    index = order.iloc[:, 0] if len(rows) == 1 else pd.MultiIndex.from_frame(order)
    return wide.reindex(index=index, columns=in_order(table["transformation"], TRANSFORMATIONS))


def printed(table: pd.DataFrame, digits: int = 3) -> pd.Series:
    """Return values as the paper prints them: "0.827 ± .004", "0.545 ± > .05", "-" where there is none.

    Parameters
    ----------
    table : DataFrame
        With a column `value` and, for what follows "±", `sem` and `flagged`.
    digits : int, default=3
        Decimals.
    """
    values = [f"{value:.{digits}f}" if value == value else "-" for value in table["value"]]
    text = pd.Series(values, index=table.index, dtype=object)
    if "sem" not in table.columns:
        return text
    errors = [f" ± {sem:.3f}".replace(" 0.", " .") if sem == sem else "" for sem in table["sem"]]
    error = pd.Series(errors, index=table.index, dtype=object).mask(table["flagged"], " ± > .05")
    return text + error.where(table["value"].notna(), "")
