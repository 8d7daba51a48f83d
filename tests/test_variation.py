"""Variation and widths of whole columns: fast against the oracle, compressed against exact."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from oracle import supervised_widths
from samples import COLUMNS, TARGETS, column, every_kth, half_l1, noisy_target, oracle_kind
from sklearn.model_selection import KFold, ShuffleSplit, TimeSeriesSplit

from tabstretch import SupervisedStretchTransformer, _cells
from tabstretch._cells import CELL_LIMIT
from tabstretch._variation import split_at_edges

N = 160
SPLITTERS: dict[str, Any] = {
    "KFold": KFold(4, shuffle=True, random_state=0),
    "ShuffleSplit": ShuffleSplit(3, test_size=0.3, random_state=0),
    "TimeSeriesSplit": TimeSeriesSplit(3),
}
splitters = pytest.mark.parametrize("splitter", SPLITTERS)
columns = pytest.mark.parametrize("name", COLUMNS)
targets = pytest.mark.parametrize("kind", TARGETS)
variations = pytest.mark.parametrize("variation", ["within_fold", "pooled"])
weights = pytest.mark.parametrize("weighted", [False, True])


def differences(name: str, kind: str, splitter: str, weighted: bool, seed: int = 0, **options: Any) -> float:
    """The largest difference between the fast and the slow widths of a column."""
    x = column(name, N, seed)
    y = noisy_target(x, kind, seed=seed + 1)
    weight = np.random.default_rng(seed).integers(0, 4, size=N).astype(float) if weighted else None
    splits = list(SPLITTERS[splitter].split(x))
    options = {"n_bins": 8, "variation": "within_fold", "rank_weight": 0.3, "value_weight": 0.2} | options
    fast = SupervisedStretchTransformer(cv=splits, **options).fit(x[:, None], y, sample_weight=weight)
    edges, slow = supervised_widths(x, y, splits, kind=oracle_kind(kind), weight=weight, **options)
    assert_allclose(fast.bin_edges_[0], edges, rtol=1e-12)
    return float(np.abs(fast.output_widths_[0] - slow).max())


@columns
@targets
@splitters
@weights
@variations
def test_uncorrected_widths_equal_the_oracle(
    name: str, kind: str, splitter: str, weighted: bool, variation: str
) -> None:
    assert differences(name, kind, splitter, weighted, variation=variation, shrinkage=0.0) < 1e-8


@columns
@targets
@splitters
@weights
def test_noise_corrected_widths_equal_the_oracle(name: str, kind: str, splitter: str, weighted: bool) -> None:
    assert differences(name, kind, splitter, weighted) < (5e-4 if kind == "3 classes" else 1e-7)


@columns
@targets
@weights
def test_pooled_noise_is_near_the_closed_form(name: str, kind: str, weighted: bool) -> None:
    """The noise of the pooled variation is drawn."""
    assert differences(name, kind, "KFold", weighted, variation="pooled") < 0.06


@pytest.mark.parametrize("seed", range(10))
@variations
def test_the_papers_widths_equal_the_oracle(seed: int, variation: str) -> None:
    paper: dict[str, Any] = {"variation": variation, "shrinkage": 0, "rank_weight": 0, "value_weight": 0}
    assert differences("normal", "regression", "KFold", False, seed, n_bins=16, **paper) < 1e-8


@pytest.mark.parametrize("n_neighbors", [1, 3, 50, 10_000])
@variations
def test_any_number_of_neighbours_equals_the_oracle(n_neighbors: int, variation: str) -> None:
    for name in ("normal", "ties"):
        options: dict[str, Any] = {"n_neighbors": n_neighbors, "variation": variation, "shrinkage": 0}
        assert differences(name, "regression", "KFold", True, **options) < 1e-8


@pytest.mark.parametrize("n_neighbors", [2, 3, 50, 10_000])
def test_noise_with_any_number_of_neighbours_equals_the_oracle(n_neighbors: int) -> None:
    for name in ("normal", "ties"):
        assert differences(name, "regression", "KFold", False, n_neighbors=n_neighbors) < 1e-6


def smooth_target(x: Any) -> Any:
    return np.tanh(3 * x) + 0.3 * np.sin(2 * x)


@pytest.mark.parametrize(
    ("n", "options"),
    [
        (20_000, {"variation": "within_fold", "shrinkage": "auto"}),
        (50_000, {"variation": "within_fold", "shrinkage": "auto"}),
        (30_000, {"variation": "within_fold", "shrinkage": "auto", "n_bins": 64, "cv": 10}),
        (20_000, {"variation": "pooled", "shrinkage": 0}),
        (9_000, {"variation": "pooled", "shrinkage": "auto"}),
    ],
)
@pytest.mark.parametrize("shape", ["normal", "lognormal", "uniform with ties"])
def test_compressed_columns_stay_close_to_exact_ones(
    shape: str, n: int, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The exact reference has a cell for every distinct value; numbers beyond 65535 need no reference."""
    rng = np.random.default_rng(0)
    z = rng.normal(size=n)
    x = {"normal": z, "lognormal": np.exp(z), "uniform with ties": np.round(rng.uniform(size=n), 4)}[shape]
    y = smooth_target(z if shape != "uniform with ties" else 4 * x - 2)
    drowns = options == {"variation": "pooled", "shrinkage": "auto"}  # in more noise its shrinkage is 1
    y += (0.02 if drowns else 0.3) * rng.normal(size=n)
    options = {
        "n_bins": 16,
        "variation": "within_fold",
        "cv": 3,
        "rank_weight": 0,
        "value_weight": 0,
    } | options
    assert len(np.unique(x)) > CELL_LIMIT
    compressed = SupervisedStretchTransformer(**options).fit(x[:, None], y)
    monkeypatch.setattr(_cells, "CELL_LIMIT", 60_000)
    exact = SupervisedStretchTransformer(**options).fit(x[:, None], y)
    assert np.array_equal(compressed.bin_edges_[0], exact.bin_edges_[0])
    assert not np.array_equal(compressed.output_widths_[0], exact.output_widths_[0])
    assert half_l1(compressed.output_widths_[0], exact.output_widths_[0]) < 0.01


@columns
@targets
@variations
def test_a_merged_bin_varies_as_its_parts_together(name: str, kind: str, variation: str) -> None:
    x = column(name, N)
    y = noisy_target(x, kind)
    options: dict[str, Any] = {"variation": variation, "shrinkage": 0, "cv": every_kth(N, 4)}
    fine = SupervisedStretchTransformer(12, **options).fit(x[:, None], y)
    coarse = SupervisedStretchTransformer(4, **options).fit(x[:, None], y)
    edges = coarse.bin_edges_[0]
    starts = np.flatnonzero(np.isin(fine.bin_edges_[0].round(9), edges[:-1].round(9)))
    assert len(starts) == len(edges) - 1
    assert_allclose(np.add.reduceat(fine.variation_[0], starts), coarse.variation_[0], atol=1e-9)


def test_steps_are_split_at_edges_pro_rata_and_none_is_lost() -> None:
    rng = np.random.default_rng(0)
    place = np.sort(rng.uniform(size=50))
    steps = rng.exponential(size=49)
    edges = np.concatenate([[0], np.sort(rng.uniform(size=9)), [1]])
    parts = split_at_edges(place, steps, edges)
    assert_allclose(parts.sum(), steps.sum())
    assert_allclose(split_at_edges(place, steps, edges[[0, 4, 10]]), [parts[:4].sum(), parts[4:].sum()])
    assert_allclose(split_at_edges(place[:1], steps[:0], edges), 0)


@variations
def test_no_label_helps_to_predict_itself(variation: str) -> None:
    """Two folds: widths change with a label, but the model that predicts its row does not."""
    x = np.arange(40.0)
    y = np.where(np.arange(40) == 7, 50.0, 0.5 * x)
    splits = [(np.arange(0, 40, 2), np.arange(1, 40, 2))]  # row 7 is only ever held out
    options: dict[str, Any] = {"cv": splits, "variation": variation, "shrinkage": 0, "n_neighbors": 3}
    outlier = SupervisedStretchTransformer(8, **options).fit(x[:, None], y)
    y_plain = np.where(np.arange(40) == 7, 3.5, y)
    plain = SupervisedStretchTransformer(8, **options).fit(x[:, None], y_plain)
    assert_allclose(outlier.output_widths_[0], plain.output_widths_[0], rtol=1e-9)


def test_no_share_of_a_step_is_negative_however_far_apart_places_are() -> None:
    place = np.array([-1e293, -6.5e11, -1.0, 2e-136, 1e305])
    edges = np.array([-1e293, -6.5e11, 1.8e-136, 1e305])
    for seed in range(50):
        steps = np.random.default_rng(seed).random(4) * 10.0 ** np.arange(0, -20, -5)
        assert np.all(split_at_edges(place, steps, edges) >= 0)
