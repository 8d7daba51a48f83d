"""The oracle against cases small enough to work out by hand, and its closed forms against brute force."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray
from oracle import (
    Array,
    Path,
    chi_mean,
    effective_dimension,
    encode_target,
    frequency_weights,
    kth_distance,
    leave_one_out_residuals,
    nadaraya_watson,
    noise_along,
    noise_variation_by_random_signs,
    noise_variation_within_folds,
    out_of_fold,
    paths_pooled,
    paths_within_folds,
    quantile_edges,
    split_at_edges,
    stretch,
    stretch_widths,
    supervised_widths,
    variation_along,
    variation_pooled,
    variation_within_folds,
)
from samples import every_kth
from scipy.optimize import minimize

EDGES = np.array([0.0, 1.0, 2.0, 10.0])


def column(*values: float) -> Array:
    return np.array(values, dtype=float)[:, None]


def test_targets_are_standardised_or_one_hot() -> None:
    assert_allclose(encode_target(np.array([1, 3]), "regression"), column(-1, 1))
    assert_allclose(encode_target(np.array([7, 7]), "regression"), column(0, 0))
    assert_array_equal(encode_target(np.array(["b", "a", "b"]), "classes"), [[0, 1], [1, 0], [0, 1]])


def test_small_weights_are_raised_to_mean_one_of_the_rows_they_keep() -> None:
    assert_allclose(frequency_weights(np.array([0.1, 0.3, 0.0])), [0.5, 1.5, 0.0])
    assert_allclose(frequency_weights(np.array([0.5, 2.0])), [0.5, 2.0])


def test_edges_are_quantiles_then_distinct_values() -> None:
    x = np.array([3.0, 0.0, 1.0, 2.0, 9.0])
    assert_allclose(quantile_edges(x, 1), [0, 9])
    assert_allclose(quantile_edges(x, 2), [0, 2, 9])
    assert_allclose(quantile_edges(x, 100_000), [0, 1, 2, 3, 9])
    assert_allclose(quantile_edges(np.array([0.0, 0, 0, 0, 1, 2, 3, 4]), 3), [0, 5 / 3, 4])
    assert_allclose(quantile_edges(np.array([0.0, 1, 5, 6]), 2, np.array([1.0, 5, 1, 1])), [0, 1, 6])


def test_kth_distance_counts_weight_and_stops_at_all_there_is() -> None:
    x, one = np.array([0.0, 1.0, 3.0]), np.ones(3)
    assert [kth_distance(0.0, x, k, one) for k in (1, 2, 3, 99)] == [0, 1, 3, 3]
    assert kth_distance(0.0, x, 3, np.array([1.0, 2.0, 1.0])) == 1
    assert kth_distance(0.0, np.array([*np.zeros(10), 7.0]), 1, np.full(11, 0.1)) == 0


def test_estimate_is_the_gaussian_mean_at_the_kth_distance() -> None:
    x, t = np.array([0.0, 1.0, 2.0]), column(0, 10, 100)
    near, far = math.exp(-1 / 2), math.exp(-2)
    expected = (10 * near + 100 * far) / (1 + near + far)
    assert_allclose(nadaraya_watson(0.0, x, t, 2, np.ones(3)), [expected])


def test_ties_give_the_mean_at_x_and_outliers_the_mean_of_all() -> None:
    x, t = np.array([0.0, 0.0, 1.0, 1.0]), column(1, 3, 10, 20)
    assert_allclose(nadaraya_watson(0.0, x, t, 2, np.ones(4)), [2])
    assert_allclose(nadaraya_watson(1.0, x, t, 1, np.array([1.0, 1, 3, 1])), [12.5])
    assert_allclose(nadaraya_watson(1e9, x, t, 2, np.ones(4)), [8.5])


def test_no_target_helps_to_predict_itself() -> None:
    x, T, one = np.arange(6.0), column(0, 1, 4, 9, 16, 25), np.ones(6)
    before = out_of_fold(x, T, every_kth(6, 3), 2, one)
    T[0] = 1e6
    after = out_of_fold(x, T, every_kth(6, 3), 2, one)
    assert_array_equal(np.flatnonzero((before == after).ravel()), [0, 3])  # the fold that holds row 0
    assert_allclose(out_of_fold(x[:2], column(5, 7), every_kth(2, 2), 1, one), column(7, 5))
    assert_allclose(leave_one_out_residuals(x[:2], column(5, 7), 1, np.ones(2)), column(-2, 2))


def test_an_increment_across_edges_is_split_pro_rata() -> None:
    parts = split_at_edges(np.array([0.5, 4.5]), np.array([8.0]), EDGES)
    assert_allclose(parts, [1, 2, 5])
    assert_allclose(split_at_edges(np.array([0.5, 4.5]), np.array([8.0]), EDGES[[0, 2, 3]]), [3, 5])
    assert_allclose(split_at_edges(np.array([3.0]), np.array([]), EDGES), [0, 0, 0])


def test_within_folds_compares_one_model_with_itself_and_pooled_compares_models() -> None:
    """Tied values: each fold predicts the other's means, 0 and 4 against 0 and 2."""
    x, T, one = np.array([0.0, 0.0, 1.0, 1.0]), column(0, 0, 2, 4), np.ones(4)
    splits, edges = every_kth(4, 2), np.array([0.0, 1.0])
    assert_allclose(variation_within_folds(x, T, splits, edges, 1, one), [(4 + 2) / 2])
    assert_allclose(variation_pooled(x, T, splits, edges, 1, one), [3])
    untied = np.array([0.0, 0.5, 1.0, 1.5])  # fold 0 sees 0.5 and 1.5: from 0 at h and 3h, from 1 at h both
    at_0, at_1 = 4 * math.exp(-4) / (1 + math.exp(-4)), 2
    fold_0 = paths_within_folds(untied, splits, 1, one)[:1]
    assert_allclose(variation_along(fold_0, T, np.array([0.0, 1.5])), [at_1 - at_0])


def test_variation_of_a_vector_is_its_l2_norm() -> None:
    x, splits, edges, one = np.array([0.0, 0, 1, 1]), every_kth(4, 2), np.array([0.0, 1.0]), np.ones(4)
    T = encode_target(np.array([0, 0, 1, 1]), "classes")
    assert_allclose(variation_within_folds(x, T, splits, edges, 1, one), [math.sqrt(2)])


def test_effective_dimension_and_chi_mean() -> None:
    assert_allclose([chi_mean(1), chi_mean(2)], [math.sqrt(2 / math.pi), math.sqrt(math.pi) / 2])
    two, three = (encode_target(np.arange(30) % c, "classes") - 1 / c for c in (2, 3))
    assert_allclose([effective_dimension(e, np.ones(30)) for e in (two[:, :1], two, three)], [1, 1, 2])
    p = np.array([0.2, 0.3, 0.5])
    C = np.diag(p) - np.outer(p, p)
    assert_allclose(effective_dimension(np.eye(3) - p, p), np.trace(C) ** 2 / np.trace(C @ C))
    assert effective_dimension(np.zeros((4, 2)), np.ones(4)) == 1


def noisy_targets(x: Array, rng: np.random.Generator) -> dict[str, Array]:
    uneven = np.sin(3 * x) + (0.2 + x) * rng.normal(size=len(x))
    logits = np.stack([np.zeros_like(x), 2 * x - 1, 1 - 2 * x], axis=1) + rng.gumbel(size=(len(x), 3))
    return {
        "scalar": encode_target(uneven, "regression"),
        "binary": encode_target(uneven > 1, "classes"),
        "3 classes": encode_target(logits.argmax(axis=1), "classes"),
    }


@pytest.mark.parametrize("paths_of", [paths_within_folds, paths_pooled])
@pytest.mark.parametrize(("target", "tolerance"), [("scalar", 0.03), ("binary", 0.03), ("3 classes", 0.05)])
def test_noise_in_closed_form_equals_random_signs(
    paths_of: Callable[..., list[Path]], target: str, tolerance: float
) -> None:
    rng = np.random.default_rng(0)
    x, one, k = rng.uniform(size=300), np.ones(300), 45
    T = noisy_targets(x, rng)[target]
    edges, paths = quantile_edges(x, 4), paths_of(x, every_kth(300, 5), k, one)
    residuals = leave_one_out_residuals(x, T, k, one)
    drawn = noise_variation_by_random_signs(paths, residuals, edges, 4000, rng)
    assert_allclose(noise_along(paths, residuals, edges, one), drawn, rtol=tolerance)


def test_noise_by_hand() -> None:
    """Two tied values, two rows each per fold: f is a mean of 2, so Var(step) = (2 + 2) e^2 / 4 = e^2."""
    x, T = np.repeat([0.0, 1.0], 4), column(-1, -1, 1, 1, -1, -1, 1, 1)
    e = 1 + 1 / 3  # the other three at x have mean 1/3 of the opposite sign
    S0 = noise_variation_within_folds(x, T, every_kth(8, 2), np.array([0.0, 1.0]), 1, np.ones(8))
    assert_allclose(S0, [math.sqrt(2 / math.pi) * e])


def test_widths_of_the_three_pure_methods() -> None:
    S = np.array([1.0, 2.0, 5.0])
    assert_allclose(stretch_widths(S, None, EDGES, 0, 0, 0), [1 / 8, 2 / 8, 5 / 8])
    assert_allclose(stretch_widths(S, None, EDGES, 1, 0, 0), [1 / 3] * 3)
    assert_allclose(stretch_widths(0 * S, None, EDGES, 0, 0, 0), [1 / 3] * 3)
    assert_allclose(stretch_widths(S, None, EDGES, 0, 0, 1e9), [0.1, 0.1, 0.8])
    assert_allclose(stretch_widths(np.array([0.0, 1, 1]), None, EDGES, 0, 0, 0)[0], 1e-6 / 3, rtol=1e-5)


def test_noise_is_taken_out_in_squares_and_handed_to_the_rank() -> None:
    S, noise = np.array([5.0, 3.0, 2.0]), np.array([3.0, 0.0, 2.0])
    for n_bandwidths, shrinkage in ((np.inf, 0.5**4), (121, (1.1 * 0.5) ** 4), (1.21, 1.0)):
        raw = np.hypot((1 - shrinkage) * np.array([4, 3, 0]) / 7, shrinkage / 3)
        widths = stretch_widths(S, noise, EDGES, 0, 0, 0, n_bandwidths)
        assert_allclose(widths, raw / raw.sum())
    assert_allclose(stretch_widths(S, 2 * S, EDGES, 0, 0, 0), [1 / 3] * 3)


def test_widths_minimise_the_anchored_dirichlet_energy() -> None:
    S, rank, value = np.array([1.0, 2.0, 5.0]), 0.7, 1.3
    size = (S / 8) ** 2 + (rank / 3) ** 2 + (value * np.diff(EDGES) / 10) ** 2
    optimum = minimize(
        lambda w: np.sum(size / w),
        np.full(3, 1 / 3),
        bounds=[(1e-3, 1)] * 3,
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
        options={"ftol": 1e-14},
    )
    assert_allclose(stretch_widths(S, None, EDGES, 0, rank, value), optimum.x, atol=1e-5)


def test_map_is_linear_in_each_bin_clips_and_keeps_nan() -> None:
    widths = np.array([0.5, 0.25, 0.25])
    x = np.array([-1, 0, 0.5, 1, 2, 6, 10, 11, np.nan])
    assert_allclose(stretch(x, EDGES, widths), [0, 0, 0.25, 0.5, 0.75, 0.875, 1, 1, np.nan])
    assert_allclose(stretch(np.array([4.0, np.nan]), np.array([4.0]), np.empty(0)), [0, np.nan])


def sample(kind: str, n: int = 90) -> tuple[Array, NDArray[Any]]:
    rng = np.random.default_rng(1)
    x = np.round(rng.normal(size=n), 1)
    y = np.tanh(2 * x) + 0.3 * rng.normal(size=n)
    return x, y if kind == "regression" else np.digitize(y, [-0.5, 0.5])


@pytest.mark.parametrize("kind", ["regression", "classes"])
@pytest.mark.parametrize("variation", ["within_fold", "pooled"])
def test_a_weight_is_a_repeated_row(kind: str, variation: str) -> None:
    x, y = sample(kind)
    x[5] = np.nan
    weight, splits = np.arange(90.0) % 4, every_kth(90, 3)
    copies = np.repeat(np.arange(90), weight.astype(int))
    fold = copies % 3
    repeated = [(np.flatnonzero(fold != i), np.flatnonzero(fold == i)) for i in range(3)]
    options: dict[str, Any] = {"kind": kind, "variation": variation, "n_bins": 6}
    weighted = supervised_widths(x, y, splits, weight=weight, **options)
    plain = supervised_widths(x[copies], y[copies], repeated, **options)
    for a, b in zip(weighted, plain, strict=True):
        assert_allclose(a, b, rtol=1e-9)


@pytest.mark.parametrize("kind", ["regression", "classes"])
def test_affine_changes_and_relabelling_leave_the_output_alone(kind: Any) -> None:
    x, y = sample(kind)
    splits = every_kth(90, 5)
    edges, widths = supervised_widths(x, y, splits, kind=kind, n_bins=6)
    other_y = 3 - 7 * y if kind == "regression" else np.array(["b", "c", "a"])[y]
    for slope in (4.0, -0.5):
        other_edges, other = supervised_widths(slope * x + 1, other_y, splits, kind=kind, n_bins=6)
        output = stretch(slope * x + 1, other_edges, other)
        assert_allclose(output if slope > 0 else 1 - output, stretch(x, edges, widths), atol=1e-9)


def test_limits_and_fallbacks() -> None:
    x, y = sample("regression")
    splits = every_kth(90, 5)
    edges, widths = supervised_widths(x, y, splits, kind="regression", n_bins=1)
    assert_allclose(stretch(x, edges, widths), (x - x.min()) / np.ptp(x))
    nothing: dict[str, Any] = {"kind": "regression", "n_bins": 4, "rank_weight": 0.5}
    assert_allclose(supervised_widths(x, 0 * y, splits, value_weight=0, **nothing)[1], 1 / 4)
    edges, widths = supervised_widths(x, 0 * y, splits, value_weight=2, **nothing)
    blend = np.hypot(1.5 / 4, 2 * np.diff(edges) / np.ptp(x))
    assert_allclose(widths, blend / blend.sum())
    assert len(supervised_widths(0 * x, y, splits, kind="regression", n_bins=4)[1]) == 0
    assert len(supervised_widths(np.nan * x, y, splits, kind="regression", n_bins=4)[1]) == 0


def test_a_line_gives_uniform_widths_and_a_step_takes_them_all() -> None:
    x = np.linspace(0, 1, 201)
    paper: dict[str, Any] = {"n_bins": 5, "n_neighbors": 5, "rank_weight": 0, "value_weight": 0}
    line = supervised_widths(x, 2 * x, every_kth(201, 5), kind="regression", **paper)[1]
    step = supervised_widths(x, x > 0.5, every_kth(201, 5), kind="regression", **paper)[1]
    assert_allclose(line, 1 / 5, atol=0.02)
    assert step[2] > 0.95
