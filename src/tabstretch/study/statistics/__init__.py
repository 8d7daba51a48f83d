"""Statistics of a study: pure functions from the tidy table of results to tables.

    results            one row per (dataset, model, transformation, seed)
      -> panels        one row per (dataset, model, transformation): mean and spread over seeds
      -> scores        from 0 to 1 within a panel; ties
      -> averages, composition    the paper's tables
      -> pairwise      wins, losses and ties
      -> ranks, significance      mean ranks, Friedman's and Nemenyi's tests
      -> bootstrap     intervals over data sets
         coverage, grids          what is missing; tables as printed

A cell that was not run is left out wherever it would be needed; a cell whose seeds all failed is worst: it
scores 0, ranks last and loses. Tables count both.
"""

from tabstretch.study.statistics.averages import metric_table, metric_tables, table1
from tabstretch.study.statistics.bootstrap import bootstrap_differences, bootstrap_ranks, bootstrap_scores
from tabstretch.study.statistics.composition import breakdown, composition_of
from tabstretch.study.statistics.coverage import complete_panels, coverage, troubles
from tabstretch.study.statistics.grids import as_grid, printed
from tabstretch.study.statistics.pairwise import pair_points, pairwise_counts, win_rate_matrix
from tabstretch.study.statistics.panels import cell_table
from tabstretch.study.statistics.ranks import mean_ranks, noise_ranks, panel_ranks
from tabstretch.study.statistics.scores import delta_sweep, normalised_scores
from tabstretch.study.statistics.significance import (
    block_ranks,
    critical_difference,
    friedman_test,
    nemenyi_test,
)

__all__ = [
    "as_grid",
    "block_ranks",
    "bootstrap_differences",
    "bootstrap_ranks",
    "bootstrap_scores",
    "breakdown",
    "cell_table",
    "complete_panels",
    "composition_of",
    "coverage",
    "critical_difference",
    "delta_sweep",
    "friedman_test",
    "mean_ranks",
    "metric_table",
    "metric_tables",
    "nemenyi_test",
    "noise_ranks",
    "normalised_scores",
    "pair_points",
    "pairwise_counts",
    "panel_ranks",
    "printed",
    "table1",
    "troubles",
    "win_rate_matrix",
]
