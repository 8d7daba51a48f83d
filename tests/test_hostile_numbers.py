"""Numbers from hell, one column at a time: fit, transform and inverse keep their promises."""

from typing import Any

import numpy as np
import pytest
from fuzz import cases
from hypothesis import example, given
from hypothesis import strategies as st
from promises import assert_sound, assert_sound_map
from strategies import (
    Table,
    make_table,
    make_target,
    make_weight,
    supervised_parameters,
    tables,
    targets,
    unsupervised_parameters,
    weights,
    with_weight,
)

from tabstretch import MonotoneMap, StretchTransformer, SupervisedStretchTransformer

finite = st.floats(allow_nan=False, allow_infinity=False)
HUGE = [1e300, 2e300, 3e300, 4e300, 5e300, 6e300]
PLAIN = {"value_weight": 0.0, "rank_weight": 0.0, "shrinkage": 0.0, "cv": 2}


@cases(100, nightly=25_000)
@given(table=tables(), weight=weights, parameters=unsupervised_parameters)
def test_without_a_target(table: Table, weight: str, parameters: dict[str, Any]) -> None:
    row_weight = make_weight(weight, table.n_rows, table.seed)
    stretch = StretchTransformer(**parameters).fit(table.X, sample_weight=row_weight)
    assert_sound(stretch, with_weight(table.X, row_weight))


@pytest.mark.parametrize("variation", ["within_fold", "pooled"])
@cases(60, nightly=15_000)
@given(table=tables(), target=targets, weight=weights, parameters=supervised_parameters)
# Neighbours so close, in columns so long, that slopes between them are no floats.
@example(
    table=make_table(("landmarks",), 30, "float64", 317),
    target="adjacent",
    weight="none",
    parameters={**PLAIN, "n_bins": 7},
)
@example(
    table=make_table(("any floats",), 17, "float64", 1),
    target="labels",
    weight="of all sizes",
    parameters={**PLAIN, "n_bins": 64},
)
@example(
    table=make_table(("any floats",), 4, "float64", 0),
    target="adjacent",
    weight="of all sizes",
    parameters={**PLAIN, "n_bins": 3},
)
# The nearest row, at a distance that is almost no float, must be found again.
@example(
    table=make_table(("heavy",), 27, "float64", 257),
    target="adjacent",
    weight="counts",
    parameters={**PLAIN, "n_bins": 1, "shrinkage": "auto", "n_neighbors": 1},
)
@example(
    table=make_table(("heavy",), 24, "float64", 6505256),
    target="any floats",
    weight="counts",
    parameters={**PLAIN, "n_bins": 1, "shrinkage": "auto", "n_neighbors": 1},
)
# A bin so short that its steepness is no float.
@example(
    table=make_table(("any floats",), 28, "float64", 28),
    target="adjacent",
    weight="of all sizes",
    parameters={**PLAIN, "n_bins": 64},
)
def test_with_a_target(
    variation: str, table: Table, target: str, weight: str, parameters: dict[str, Any]
) -> None:
    stretch = SupervisedStretchTransformer(variation=variation, **parameters)
    y = make_target(target, table.n_rows, table.seed)
    row_weight = make_weight(weight, table.n_rows, table.seed)
    stretch.fit(table.X, y, sample_weight=row_weight)
    assert_sound(stretch, with_weight(table.X, row_weight))
    assert np.all((stretch.shrinkage_ >= 0) & (stretch.shrinkage_ <= 1))
    assert all(np.all(np.isfinite(variation) & (variation >= 0)) for variation in stretch.variation_)


@cases(100, nightly=25_000)
@given(st.lists(finite, min_size=1, max_size=12), unsupervised_parameters)
def test_any_column_that_can_be_written_down(values: list[float], parameters: dict[str, Any]) -> None:
    X = np.array(values)[:, None]
    assert_sound(StretchTransformer(**parameters).fit(X), X)


@cases(100, nightly=60_000)
@given(
    st.lists(finite, min_size=1, max_size=8, unique=True),
    st.lists(finite, min_size=8, max_size=8, unique=True),
    st.lists(finite, max_size=8),
    st.sampled_from(["clip", "extrapolate"]),
)
# An end so small that it loses digits beside the other.
@example([-1.0, 0.0], [-1e294, 2.2250738585e-313, *HUGE], [], "extrapolate")
# The inverse is so flat in one bin and so steep in another that no common scale keeps both slopes.
@example([-2.0, 0.0, 1.0, 1.7e243], [-2.35e170, -1.0, 0.0, 1e-200, *HUGE], [-1.0], "clip")
@example([-1.0, 1.0, 2.0, 1.57e203], [-9.4e294, 0.0, 1.1e-158, 3e-116, *HUGE], [0.0], "clip")
def test_any_map(edges: list[float], values: list[float], x: list[float], out_of_range: str) -> None:
    map_ = MonotoneMap(np.unique(edges), np.unique(values)[: len(np.unique(edges))], out_of_range)
    assert_sound_map(map_, np.array([*x, *edges, np.nan]))
