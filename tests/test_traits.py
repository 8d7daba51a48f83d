"""What is measured of a column, against slow and obvious code."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from tabstretch._cells import cut_into_cells
from tabstretch._folds import Folds, make_folds
from tabstretch._smoothing import default_neighbors
from tabstretch._target import encode_target
from tabstretch._traits import measure_column, out_of_fold_r2, shape_of, unevenness_of
from tabstretch._variation import SmoothedColumn

RNG = np.random.default_rng(0)


def naive_r2(x: np.ndarray, one_hot: np.ndarray, folds: Folds) -> float:
    """Nadaraya-Watson with the distance to the k-th training point as bandwidth, row by row."""
    k = int(default_neighbors(len(x)))
    error = 0.0
    for train, test in folds.rows():
        for i in test:
            distance = np.abs(x[train] - x[i])
            weight = np.exp(-0.5 * (distance / np.sort(distance)[k - 1]) ** 2)
            error += np.sum((one_hot[i] - weight @ one_hot[train] / weight.sum()) ** 2)
    return 1 - error / np.sum((one_hot - one_hot.mean(axis=0)) ** 2)


@pytest.mark.parametrize("kind", ["continuous", "binary", "multiclass", "continuous-multioutput"])
def test_r2_is_that_of_a_row_by_row_estimate(kind: str) -> None:
    x = RNG.normal(size=300)
    signal = np.tanh(2 * x) + 0.3 * RNG.normal(size=300)
    y = {
        "continuous": signal,
        "binary": signal > 0,
        "multiclass": np.digitize(signal, [-0.5, 0.5]),
        "continuous-multioutput": np.column_stack([signal, x**2]),
    }[kind]
    target = encode_target(y, kind)
    folds = make_folds(5, target, 0)
    found = out_of_fold_r2(SmoothedColumn(cut_into_cells(x), target, folds, None, None))
    vector = np.eye(target.n_outputs)[target.codes] if target.codes is not None else target.values
    assert_allclose(found, naive_r2(x, vector, folds), atol=0.02)
    assert found > 0.2


def test_r2_of_many_outputs_is_that_of_their_blocks_together() -> None:
    x = RNG.normal(size=400)
    y = np.sin(x[:, None] + np.arange(100)) + RNG.normal(size=(400, 100))
    target = encode_target(y, "continuous-multioutput")
    folds = make_folds(5, target, 0)
    cells = cut_into_cells(x)
    found = out_of_fold_r2(SmoothedColumn(cells, target, folds, None, None))
    each = [
        out_of_fold_r2(SmoothedColumn(cells, encode_target(column, "continuous"), folds, None, None))
        for column in y.T
    ]
    assert_allclose(found, np.mean(each), rtol=1e-6)


def test_r2_of_overlapping_splits() -> None:
    x = RNG.normal(size=200)
    target = encode_target(x + 0.1 * RNG.normal(size=200), "continuous")
    rows = np.arange(200)
    once = Folds(2, None, [(rows[:100], rows[100:]), (rows[100:], rows[:100])])
    twice = Folds(4, None, once.splits * 2)
    cells = cut_into_cells(x)
    found = [out_of_fold_r2(SmoothedColumn(cells, target, folds, None, None)) for folds in (once, twice)]
    assert_allclose(found[0], found[1], rtol=1e-9)
    assert found[0] > 0.7


def test_skewness_hardly_moves_with_one_huge_value() -> None:
    values = np.sort(RNG.normal(size=1000))
    huge = values.copy()
    huge[-1] = 1e300
    assert_allclose(shape_of(huge)[0], shape_of(values)[0], atol=1e-12)
    assert abs(shape_of(values)[0]) < 0.1
    assert shape_of(np.sort(np.exp(values)))[0] > 0.4
    assert_allclose(shape_of(np.sort(-np.exp(values)))[0], -shape_of(np.sort(np.exp(values)))[0])
    assert shape_of(huge)[1] < 1e-290


def test_ties_are_counted() -> None:
    traits = measure_column(np.array([0.0, 0.0, 0.0, 1.0, np.nan]), None, None)
    assert (traits.n_values, traits.n_distinct, traits.top_share) == (4, 2, 0.75)


def test_unevenness_knows_where_the_target_changes() -> None:
    x = RNG.uniform(-1, 1, 3000)

    def measured(y: np.ndarray) -> float:
        target = encode_target(y, "continuous")
        return measure_column(x, target, make_folds(5, target, 0)).unevenness

    assert measured(x) < 0.03
    assert measured(np.tanh(20 * x)) > 0.6
    assert 0.15 < measured(x**2) < 0.35
    assert measured(x + 3 * RNG.normal(size=3000)) < 0.1  # noise alone would make it uneven
    assert_allclose(measured(np.tanh(5 * x)), measured(-3 * np.tanh(5 * x) + 7), atol=1e-3)
    assert unevenness_of(np.zeros(3), np.ones(3)) == 0.0


def test_a_straight_line_is_even_also_in_a_long_tail() -> None:
    x = np.exp(1.5 * RNG.normal(size=3000))
    target = encode_target(x, "continuous")
    log = encode_target(np.log(x), "continuous")
    line = measure_column(x, target, make_folds(5, target, 0))
    curve = measure_column(x, log, make_folds(5, log, 0))
    assert line.unevenness < 0.05 < 0.2 < curve.unevenness
