"""Figures: what they show, in studies of every size, and the files they become."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from study.results_maker import frame, full_study, panel

from tabstretch import StretchTransformer, SupervisedStretchTransformer
from tabstretch.study import figures, statistics
from tabstretch.study.figures.critical import joined_groups
from tabstretch.study.figures.style import look_of
from tabstretch.study.metrics import METRICS
from tabstretch.study.names import MODELS, TRANSFORMATIONS
from tabstretch.study.statistics.composition import COMPOSITIONS

STUDIES = {
    "one panel": frame(panel("a", ple=[0.9], minmax=[0.8])),
    "own names, one kind": frame(
        *[panel(name, ple=[0.9, 0.8], mine=[0.7, 0.9], yours=[None, None]) for name in "abc"]
    ),
    "half done": frame(
        panel("a", ple=[0.9], minmax=[0.8], standard=[None]),
        panel("b", metric="r2", ple=[0.9]),
        panel("c", metric="r2", ple=[-3.0], minmax=[0.2]),
    ),
    "thirteen": full_study(seeds=2, datasets=["yeast", "Diamonds", "htru", "socmob", "wine"]),
}


def noise_table(results: pd.DataFrame) -> pd.DataFrame:
    return statistics.noise_ranks(pd.concat([results.assign(noise=level) for level in (0.0, 0.25)]))


def critical_difference(results: pd.DataFrame) -> Figure:
    ranks = statistics.block_ranks(results)
    return figures.draw_critical_difference(ranks, statistics.critical_difference(ranks), title="All tasks")


def first_pair(results: pd.DataFrame) -> Figure:
    points = statistics.pair_points(results, "ple")
    return figures.draw_pair(points[points["second"] == points["second"].iloc[0]])


def win_rates(results: pd.DataFrame) -> Figure:
    return figures.draw_win_rates(
        statistics.win_rate_matrix(statistics.pairwise_counts(results)), title="All tasks"
    )


def scores(results: pd.DataFrame) -> Figure:
    intervals = statistics.bootstrap_scores(results, n_resamples=50)
    return figures.draw_scores(intervals, statistics.normalised_scores(results))


DRAWINGS: dict[str, Callable[[pd.DataFrame], Figure]] = {
    "sweep": lambda results: figures.draw_delta_sweep(statistics.delta_sweep(results)),
    "wins": win_rates,
    "pair": first_pair,
    "pairs": lambda results: figures.draw_pairs(statistics.pair_points(results, "ple"), "classification"),
    "noise": lambda results: figures.draw_noise_ranks(noise_table(results)),
    "noise by data set": lambda results: figures.draw_noise_ranks_by_dataset(noise_table(results)),
    "critical difference": critical_difference,
    "scores": scores,
}


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.findobj(mpl.text.Text) if text.get_text()]


@pytest.mark.parametrize("study", STUDIES)
@pytest.mark.parametrize("name", DRAWINGS)
def test_every_figure_is_drawn_for_every_study(name: str, study: str) -> None:
    """Warnings are errors: a figure without room for its labels, or with nothing to show, would fail."""
    results = STUDIES[study]
    figure = DRAWINGS[name](results)
    figure.draw_without_rendering()
    shown = " ".join(texts(figure))
    others = results["transformation"].unique() if name != "pair" else ["ple"]
    assert all(figures.display_name(other) in shown for other in others)


@pytest.mark.parametrize("name", ["sweep", "wins", "pairs", "critical difference", "scores"])
def test_labels_of_thirteen_transformations_do_not_leave_the_page(name: str) -> None:
    figure = DRAWINGS[name](STUDIES["thirteen"])
    figure.draw_without_rendering()
    page = figure.bbox
    for text in figure.findobj(mpl.text.Text):
        # Numbers of ticks outside the axes are there, but not drawn.
        if any(letter.isalpha() for letter in text.get_text()):
            box = text.get_window_extent()
            assert page.x0 - 2 <= box.x0, text.get_text()
            assert box.x1 <= page.x1 + 2, text.get_text()
            assert page.y0 - 2 <= box.y0, text.get_text()
            assert box.y1 <= page.y1 + 2, text.get_text()


def test_files_are_svg_and_png_and_the_same_every_time(tmp_path: Path) -> None:
    written = [figures.save_figure(win_rates(STUDIES["half done"]), tmp_path / f"{run}/v1.2") for run in "ab"]
    assert [file.name for file in written[0]] == ["v1.2.svg", "v1.2.png"]
    for first, again in zip(*written, strict=True):
        assert first.read_bytes() == again.read_bytes()
    assert written[0][0].read_text().startswith("<?xml")
    assert written[0][1].read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("name", [r"$\frac{$", "日本", "<b>-->"])
def test_names_may_hold_anything(name: str, tmp_path: Path) -> None:
    results = STUDIES["one panel"].assign(transformation=lambda r: r["transformation"].replace("ple", name))
    (svg,) = figures.save_figure(win_rates(results), tmp_path / "x", formats=["svg"])
    assert svg.read_text().startswith("<?xml")


def test_the_caller_s_settings_are_neither_used_nor_changed() -> None:
    with mpl.rc_context({"font.size": 30, "axes.grid": False}):
        figure = win_rates(STUDIES["one panel"])
        assert mpl.rcParams["font.size"] == 30
    assert max(text.get_fontsize() for text in figure.findobj(mpl.text.Text)) < 12


def test_every_name_has_a_display_name_of_its_own() -> None:
    known = (*TRANSFORMATIONS, *MODELS, *METRICS, *COMPOSITIONS)
    assert [name for name in known if name not in figures.DISPLAY_NAMES] == []
    assert len(set(figures.DISPLAY_NAMES.values())) == len(figures.DISPLAY_NAMES)
    assert figures.display_name("stretch_sup") == "Stretch (supervised)"
    assert figures.display_name("mine") == "mine"


def test_transformations_look_different_without_colour() -> None:
    looks = [look_of(name) for name in TRANSFORMATIONS]
    assert len({(look.marker, look.filled) for look in looks}) == len(looks)
    own = [f"mine {i}" for i in range(24)]
    assert len({(look_of(name, own).dash, look_of(name, own).marker) for name in own}) == 24
    assert not {look_of(name, own).marker for name in own} & {look.marker for look in looks}


def test_win_rates_show_percentages_from_strongest_to_weakest() -> None:
    results = frame(
        panel("a", ple=[0.9], minmax=[0.8], standard=[0.7]),
        panel("b", ple=[0.9], minmax=[0.9], standard=[0.7]),
    )
    (axis, *_) = win_rates(results).axes
    assert [label.get_text() for label in axis.get_yticklabels()] == ["PLE", "Min-max", "Standard"]
    assert [text.get_text() for text in axis.texts][:3] == ["75", "100", "88"]  # and the mean of the row


def test_the_sweep_draws_what_the_table_holds() -> None:
    sweep = statistics.delta_sweep(STUDIES["thirteen"])
    figure = figures.draw_delta_sweep(sweep, model="mlp")
    assert [axis.get_title() for axis in figure.axes] == ["All", "Classification", "Regression"]
    lines = {line.get_label(): line for line in figure.axes[2].lines}
    where = "tasks == 'regression' and model == 'mlp' and transformation == 'ple_t'"
    np.testing.assert_array_equal(lines["PLE-T"].get_ydata(), sweep.query(where)["score"])
    with pytest.raises(ValueError, match="no model 'xgboost', there are all, mlp"):
        figures.draw_delta_sweep(sweep, model="xgboost")


def test_pairs_count_what_they_cannot_place() -> None:
    """In one of two panels `standard` failed: a win without a point."""
    results = frame(panel("a", ple=[0.9], standard=[None]), panel("b", ple=[0.9], standard=[0.8]))
    figure = figures.draw_pair(statistics.pair_points(results, "ple"))
    assert figure.axes[0].get_title() == "Classification  ▲ 2  ▼ 0  ○ 0"
    assert sum(len(points.get_offsets()) for points in figure.axes[0].collections) == 1


def test_a_scatter_of_several_pairs_is_refused() -> None:
    points = statistics.pair_points(STUDIES["thirteen"], "ple")
    with pytest.raises(ValueError, match="one 'second' transformation, got 12"):
        figures.draw_pair(points)
    with pytest.raises(ValueError, match="no points of 'clustering', only of"):
        figures.draw_pairs(points, "clustering")


@pytest.mark.parametrize(
    ("means", "limit", "expected"),
    [
        ([1.0, 2.0, 3.0, 4.0], 1.5, [(0, 1), (1, 2), (2, 3)]),
        ([1.0, 1.2, 1.4, 4.0], 1.5, [(0, 2)]),
        ([1.0, 2.0, 3.0], 0.5, []),
        ([1.0, 2.0, 3.0], 9.0, [(0, 2)]),
        ([1.0, 2.0], float("nan"), [(0, 1)]),
    ],
)
def test_bars_join_the_largest_groups(
    means: list[float], limit: float, expected: list[tuple[int, int]]
) -> None:
    assert joined_groups(pd.Series(means), limit) == expected


def test_a_diagram_needs_a_data_set() -> None:
    with pytest.raises(ValueError, match="no data set has all transformations"):
        critical_difference(frame(panel("a", ple=[0.9]), panel("b", minmax=[0.9])))


def test_the_overview_has_a_row_of_panels_for_each_stretch() -> None:
    rng = np.random.default_rng(0)
    X = rng.lognormal(size=(200, 1))
    y = np.tanh(X[:, 0])
    stretches: dict[str, Any] = {
        "stretch_unsup": StretchTransformer(4).fit(X),
        "stretch_sup": SupervisedStretchTransformer(4, variation="pooled").fit(X, y),
    }
    figure = figures.draw_overview(stretches, X, y)
    assert len(figure.axes) == 6
    assert {"Stretch (unsupervised)", "Stretch (supervised)", "the stretch"} <= set(texts(figure))
    with pytest.raises(ValueError, match="at least one fitted transformer"):
        figures.draw_overview({}, X, y)
