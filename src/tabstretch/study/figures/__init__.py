"""Figures of a study: each function receives a table of `tabstretch.study.statistics` and returns a figure.

Colours are Okabe and Ito's, which colour-blind people can tell apart; markers and dashes say the same in
grey. `save_figure` writes SVG and PNG.
"""

from tabstretch.study.figures.critical import draw_critical_difference
from tabstretch.study.figures.heatmap import draw_win_rates
from tabstretch.study.figures.names import DISPLAY_NAMES, display_name
from tabstretch.study.figures.noise import draw_noise_ranks, draw_noise_ranks_by_dataset
from tabstretch.study.figures.overview import draw_overview
from tabstretch.study.figures.scatter import draw_pair, draw_pairs
from tabstretch.study.figures.scores import draw_scores
from tabstretch.study.figures.sensitivity import draw_delta_sweep
from tabstretch.study.figures.style import save_figure

__all__ = [
    "DISPLAY_NAMES",
    "display_name",
    "draw_critical_difference",
    "draw_delta_sweep",
    "draw_noise_ranks",
    "draw_noise_ranks_by_dataset",
    "draw_overview",
    "draw_pair",
    "draw_pairs",
    "draw_scores",
    "draw_win_rates",
    "save_figure",
]
