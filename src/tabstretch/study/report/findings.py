"""`Findings`: every statistic of a study, computed once, before anything is written or drawn."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from tabstretch.study import statistics
from tabstretch.study.paper import beside_paper
from tabstretch.study.statistics.panels import ALL, PANEL


@dataclass(frozen=True, eq=False)
class Findings:
    """What the comparison of transformations gives. Without two of them in some panel it gives nothing."""

    rows: pd.DataFrame
    """The results that are compared."""
    n_begun: int
    """Panels of which any transformation was run."""
    n_complete: int
    """Panels of which all were."""
    restricted: bool
    """Whether only complete panels are compared."""

    @cached_property
    def scores(self) -> pd.DataFrame:
        """Of every cell."""
        return statistics.normalised_scores(self.rows)

    @property
    def comparable(self) -> bool:
        """Whether some panel compares anything."""
        return bool(self.scores["score"].notna().any())

    @cached_property
    def table1(self) -> pd.DataFrame:
        """The paper's Table 1, beside the paper's."""
        return beside_paper(statistics.table1(self.rows), "table1")

    @cached_property
    def metrics(self) -> pd.DataFrame:
        """The tables of single metrics, beside the paper's."""
        return beside_paper(statistics.metric_tables(self.rows), "metrics")

    @cached_property
    def breakdown(self) -> pd.DataFrame | None:
        """By feature composition, beside the paper's; None if the numbers of columns are not known."""
        counts = [name for name in ("n_numeric", "n_categorical") if name in self.rows.columns]
        if len(counts) < 2 or self.rows[counts].isna().any(axis=None):
            return None
        return beside_paper(statistics.breakdown(self.rows), "breakdown")

    @cached_property
    def sweep(self) -> pd.DataFrame:
        """Scores under fixed thresholds."""
        return statistics.delta_sweep(self.rows)

    @cached_property
    def pairs(self) -> pd.DataFrame:
        """Wins, losses and ties, beside the paper's."""
        return beside_paper(statistics.pairwise_counts(self.rows), "win_loss")

    @cached_property
    def ranks(self) -> pd.DataFrame:
        """Mean ranks over complete panels."""
        return statistics.mean_ranks(self.rows)

    @cached_property
    def friedman(self) -> pd.DataFrame:
        """Whether transformations differ at all."""
        return statistics.friedman_test(self.rows)

    @cached_property
    def blocks(self) -> dict[str, pd.DataFrame]:
        """Ranks by data set, for each group of tasks that has any."""
        found = {tasks: statistics.block_ranks(self.rows, tasks=tasks) for tasks in self.friedman["tasks"]}
        if len(found) == 2:  # one kind of task is the same as all
            del found[ALL]
        return {tasks: ranks for tasks, ranks in found.items() if len(ranks)}

    @cached_property
    def intervals(self) -> pd.DataFrame:
        """Mean scores with their intervals over data sets."""
        return statistics.bootstrap_scores(self.rows)

    @cached_property
    def order(self) -> list[str]:
        """Transformations that have a score, by its mean over all panels, the best first."""
        overall = self.intervals[(self.intervals["tasks"] == ALL) & (self.intervals["model"] == ALL)]
        best = overall.dropna(subset="value").sort_values("value", ascending=False, kind="stable")
        return best["transformation"].tolist()

    @cached_property
    def lead(self) -> pd.DataFrame:
        """By how much the first of `order` leads each other, with intervals."""
        return statistics.bootstrap_differences(self.rows, self.order[0])


def find(results: pd.DataFrame) -> Findings:
    """Choose the panels to compare; the rest is computed when it is asked for.

    Means over panels that lack some transformations would compare different data. If at least half of the
    panels that were begun are complete, only those are compared; otherwise all are, since too much would
    be lost.
    """
    complete = statistics.complete_panels(results)
    n_begun, n_complete = (len(rows[PANEL].drop_duplicates()) for rows in (results, complete))
    restricted = n_complete < n_begun <= 2 * n_complete
    return Findings(complete if restricted else results, n_begun, n_complete, restricted)
