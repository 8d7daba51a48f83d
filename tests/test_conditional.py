"""Conditional variation: teachers that see all columns find what no column shows alone, and no more."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from oracle import Array, stretch_widths
from samples import column, half_l1
from sklearn.base import clone
from sklearn.ensemble import (
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, PoissonRegressor, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from taught import BINS, boosted, conditional, same_fit, stray, table

import tabstretch._conditional
import tabstretch._target
from tabstretch import SupervisedStretchTransformer
from tabstretch._conditional import Teaching, conditional_variation
from tabstretch._folds import make_folds
from tabstretch._order import key_of_rows
from tabstretch._widths import range_shares

# What noise shows


def test_under_pure_noise_columns_show_what_their_shadows_show() -> None:
    ratios = []
    for seed in range(4):
        X = table(300, 4, seed)
        y = np.random.default_rng(seed + 100).normal(size=300)
        target = tabstretch._target.encode_target(y, "continuous")
        folds = make_folds(4, target, 0)
        teaching = Teaching(
            boosted(), 100, target, folds, None, key_of_rows(X), len(X), np.random.RandomState(0), None
        )
        edges = [np.quantile(each, np.linspace(0, 1, BINS + 1)) for each in X.T]
        found = conditional_variation(X, None, edges, teaching, with_noise=True)
        ratios += [variation.observed.sum() / variation.noise.sum() for variation, _, _ in found]
    assert np.mean(ratios) == pytest.approx(1, abs=0.25)
    assert np.quantile(ratios, 0.9) < 2.4  # over 480 columns, one in twenty is beyond, and the largest 4.2


@pytest.mark.parametrize("n_columns", [1, 2, 3])
@pytest.mark.parametrize("classes", [False, True])
def test_a_step_is_seen_in_a_table_of_few_columns(n_columns: int, classes: bool) -> None:
    """Whatever trees make of noise is shared by many shadows, not by the column that has the signal."""
    for seed in range(2):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(1000, n_columns))
        y = rng.random(1000) < np.where(X[:, 0] > 0.3, 0.85, 0.15)
        if not classes:
            y = 2.0 * (X[:, 0] > 0.3) + 0.5 * rng.normal(size=1000)
        stretch = SupervisedStretchTransformer(16, value_weight=0).fit(X, y)
        assert stretch.shrinkage_[0] < 0.15
        assert np.all(stretch.shrinkage_[1:] > 0.5)
        assert stretch.output_widths_[0][8:12].sum() > 0.6  # 0.3 is at the 62nd of 100 ranks


@pytest.mark.parametrize("classes", [False, True])
def test_a_target_of_pure_noise_leaves_every_column_to_its_rank(classes: bool) -> None:
    strays = []
    for seed in range(4):
        rng = np.random.default_rng(seed + 50)
        y = rng.integers(0, 2, size=400) if classes else rng.normal(size=400)
        strays += stray(conditional(n_curves=200).fit(table(400, 4, seed), y), range(4))
    assert np.mean(strays) < 0.03
    assert np.mean(np.array(strays) < 1e-9) >= 0.8


@pytest.mark.parametrize("classes", [False, True])
def test_columns_of_noise_beside_a_strong_signal_are_left_to_their_rank(classes: bool) -> None:
    strays = []
    for seed in range(4):
        rng = np.random.default_rng(seed + 50)
        X = table(600, 5, seed)
        y = 2 * np.tanh(2 * X[:, 0]) + (0.5 if classes else 1.0) * rng.normal(size=600)
        fitted = conditional(n_curves=200).fit(X, y > 0 if classes else y)
        strays += stray(fitted, range(1, 5))
        assert fitted.shrinkage_[0] < 0.05
        assert stray(fitted, [0])[0] > 0.2
    assert np.mean(strays) < 0.03
    assert np.mean(np.array(strays) < 1e-9) >= 0.8


def test_without_taking_noise_out_noise_is_stretched_for() -> None:
    """The tests above mean something: teachers overfit."""
    y = np.random.default_rng(50).normal(size=400)
    fitted = conditional(n_curves=200, shrinkage=0).fit(table(400, 4), y)
    assert np.mean(stray(fitted, range(4))) > 0.1


# Interactions


def marginal(X: Array, y: Any) -> SupervisedStretchTransformer:
    return SupervisedStretchTransformer(
        BINS, variation="within_fold", rank_weight=0.0, value_weight=0.0, random_state=0
    ).fit(X, y)


def room_around_zero(fitted: SupervisedStretchTransformer, j: int) -> float:
    """The share of the output range between the neighbours of the bin that holds zero."""
    at = int(np.searchsorted(fitted.bin_edges_[j], 0.0)) - 1
    return float(fitted.output_widths_[j][at - 1 : at + 2].sum())


@pytest.mark.parametrize("seed", [0, 2])
def test_xor_is_invisible_to_each_column_alone_and_found_by_teachers(seed: int) -> None:
    X = table(800, 4, seed)
    y = np.where(X[:, 0] * X[:, 1] > 0, "same", "different")
    assert max(stray(marginal(X, y), [0, 1])) < 0.05
    found = conditional(n_curves=200).fit(X, y)
    for j in (0, 1):
        assert found.shrinkage_[j] < 0.01
        assert room_around_zero(found, j) > 0.8
        assert found.variation_[j].sum() > 10 * max(found.variation_[2].sum(), found.variation_[3].sum())


@pytest.mark.parametrize("seed", [0, 3])
def test_a_product_is_invisible_to_each_column_alone_and_found_by_teachers(seed: int) -> None:
    X = table(800, 4, seed)
    y = X[:, 0] * X[:, 1] + 0.1 * np.random.default_rng(seed + 9).normal(size=800)
    assert max(stray(marginal(X, y), [0, 1])) < 0.05
    found = conditional(n_curves=200).fit(X, y)
    assert np.all(found.shrinkage_[:2] < 0.05)
    signal, noise = (
        np.array([each.sum() for each in found.variation_[part]]) for part in (slice(2), slice(2, 4))
    )
    assert signal.min() > 8 * noise.max()
    summary = found.summary()
    assert np.all(summary["total_variation"][:2] > 4 * summary["marginal_variation"][:2])


def test_a_step_in_one_half_of_another_column_gets_the_room() -> None:
    X = table(800, 3, seed=1)
    y = np.where((X[:, 0] > 0.5) & (X[:, 1] > 0), 1.0, 0.0) + 0.05 * X[:, 2]
    fitted = conditional(n_curves=200).fit(X, y)
    at = int(np.searchsorted(fitted.bin_edges_[0], 0.5)) - 1
    assert fitted.output_widths_[0][at - 1 : at + 2].sum() > 0.7
    assert room_around_zero(fitted, 1) > 0.7


# Every kind of target, every kind of teacher


M = 120
KIND_X = np.column_stack([table(M, 2, seed=5), column("missing", M, 6)])
KIND_F = KIND_X[:, 0] * np.sign(KIND_X[:, 1]) + 0.3 * KIND_X[:, 0]
KINDS: dict[str, Any] = {
    "continuous": KIND_F,
    "binary": KIND_F > 0,
    "multiclass": np.digitize(KIND_F, [-0.5, 0.5]),
    "strings": np.array(["low", "middle", "up"])[np.digitize(KIND_F, [-0.5, 0.5])],
    "multilabel-indicator": np.column_stack([KIND_F > 0, KIND_X[:, 0] > 0]).astype(int),
    "continuous-multioutput": np.column_stack([KIND_F, 1e6 * KIND_X[:, 0]]),
    "multiclass-multioutput": np.column_stack([KIND_F > 0, np.digitize(KIND_X[:, 0], [-1, 1])]).astype(int),
}
TEACHERS: dict[str, tuple[Any, Any]] = {
    "default": (None, None),
    "forest": (RandomForestRegressor(n_estimators=5), RandomForestClassifier(n_estimators=5)),
    "tree": (DecisionTreeRegressor(), DecisionTreeClassifier()),
    "pipeline": (
        make_pipeline(SimpleImputer(), Ridge()),
        make_pipeline(SimpleImputer(), LogisticRegression()),
    ),
}


@pytest.mark.parametrize("teacher", TEACHERS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_target_and_teacher(kind: str, teacher: str) -> None:
    y = KINDS[kind]
    fitted = conditional(8, teacher=TEACHERS[teacher]["continuous" not in kind], n_curves=30, cv=2)
    output = fitted.fit_transform(KIND_X, y)
    assert fitted.target_type_ == {"strings": "multiclass"}.get(kind, kind)
    assert (fitted.classes_ is None) == ("continuous" in kind)
    assert_array_equal(np.isnan(output), np.isnan(KIND_X))
    assert np.nanmin(output) == 0
    assert np.nanmax(output) == 1
    assert all(np.all(np.diff(edges) > 0) for edges in fitted.output_edges_)
    assert np.all((fitted.shrinkage_ >= 0) & (fitted.shrinkage_ <= 1))
    raw = clone(fitted).set_params(shrinkage=0).fit(KIND_X, y)
    assert raw.variation_[0].sum() > 0.05
    assert_array_equal(raw.shrinkage_, 0)


def test_two_classes_as_numbers_labels_and_one_of_two_outputs() -> None:
    """However two classes are written, the maps are the same."""
    y = KIND_F > 0
    teacher = DecisionTreeClassifier(max_depth=4, random_state=0)
    first = conditional(8, teacher=teacher, cv=2).fit(KIND_X, y)
    for same in (y.astype(int), np.where(y, "b", "a"), np.where(y, 7, -2)):
        same_fit(first, conditional(8, teacher=teacher, cv=2).fit(KIND_X, same))


# Bins


def test_more_bins_than_places() -> None:
    X = table(1500, 1)
    y = np.tanh(4 * X[:, 0])
    fine = conditional(1400, teacher=boosted(), n_curves=20, shrinkage=0).fit(X, y)
    coarse = conditional(64, teacher=boosted(), n_curves=20, shrinkage=0).fit(X, y)
    assert fine.n_bins_[0] == 1400
    assert len(fine.variation_[0]) == 1400
    assert np.all(np.diff(fine.output_edges_[0]) > 0)
    assert_allclose(fine.variation_[0].sum(), coarse.variation_[0].sum(), rtol=0.02)
    assert_allclose(fine.transform(coarse.bin_edges_[0][:, None]).ravel(), coarse.output_edges_[0], atol=0.05)


def test_bins_column_by_column() -> None:
    X = np.column_stack([table(1200, 2), column("ties", 1200)])
    y = np.tanh(X[:, 0]) * X[:, 1]
    fitted = conditional([3, 1100, 40], teacher=boosted(), n_curves=20).fit(X, y)
    assert list(fitted.n_bins_[:2]) == [3, 1100]
    assert [len(each) for each in fitted.variation_] == list(fitted.n_bins_)
    assert fitted.n_bins_[2] < 20


def test_one_bin_is_min_max_scaling() -> None:
    X = table(100, 2)
    output = conditional(1, teacher=boosted(), n_curves=20).fit_transform(X, X[:, 0])
    assert_allclose(output, (X - X.min(axis=0)) / np.ptp(X, axis=0), atol=1e-12)


# Invariants


def test_the_units_of_the_target_do_not_matter() -> None:
    X = table(400, 3)
    y = X[:, 0] * X[:, 1] + 0.2 * X[:, 2]
    plain = conditional(teacher=boosted(), n_curves=100).fit(X, y)
    for changed in (1000 * y + 7, -y, 1e-200 * y, 1e250 * y):
        fitted = conditional(teacher=boosted(), n_curves=100).fit(X, changed)
        for a, b in zip(plain.output_widths_, fitted.output_widths_, strict=True):
            assert half_l1(a, b) < 0.02


def test_a_monotone_change_of_the_columns_hardly_moves_the_variation() -> None:
    X = table(600, 2)
    y = X[:, 0] * X[:, 1]
    plain = conditional(teacher=boosted(), n_curves=100).fit(X, y)
    changed = conditional(teacher=boosted(), n_curves=100).fit(np.exp(2 * X), y)
    for a, b in zip(plain.variation_, changed.variation_, strict=True):
        assert_allclose(b.sum(), a.sum(), rtol=0.05)
        assert half_l1(b / b.sum(), a / a.sum()) < 0.05


def test_a_column_upside_down_is_stretched_upside_down() -> None:
    X = table(400, 2)
    y = np.exp(X[:, 0]) * np.sign(X[:, 1])
    plain = conditional(teacher=boosted(), n_curves=100, shrinkage=0).fit(X, y)
    flipped = conditional(teacher=boosted(), n_curves=100, shrinkage=0).fit(-X, y)
    for a, b in zip(plain.output_widths_, flipped.output_widths_, strict=True):
        assert half_l1(a, b[::-1]) < 0.08
        assert half_l1(a, b) > 0.15 or half_l1(a, a[::-1]) < 0.1


def test_the_order_of_columns_hardly_matters() -> None:
    X = table(400, 3)
    y = X[:, 0] * X[:, 1] + 0.2 * X[:, 2]
    plain = conditional(teacher=boosted(), n_curves=100, shrinkage=0).fit(X, y)
    turned = conditional(teacher=boosted(), n_curves=100, shrinkage=0).fit(X[:, ::-1], y)
    for a, b in zip(plain.output_widths_, turned.output_widths_[::-1], strict=True):
        assert half_l1(a, b) < 0.01


def test_an_additive_target_gets_its_own_slopes() -> None:
    X = table(1200, 2)
    y = np.tanh(2 * X[:, 0]) + np.tanh(3 * X[:, 1] - 2) + 0.02 * np.random.default_rng(3).normal(size=1200)
    fitted = conditional(8, n_curves=100).fit(X, y)
    for j, f in enumerate((lambda x: np.tanh(2 * x), lambda x: np.tanh(3 * x - 2))):
        grid = np.linspace(fitted.bin_edges_[j][:-1], fitted.bin_edges_[j][1:], 100)
        slopes = np.abs(np.diff(f(grid), axis=0)).sum(axis=0)
        assert half_l1(fitted.output_widths_[j], slopes / slopes.sum()) < 0.12
        assert fitted.variation_[j].sum() == pytest.approx(slopes.sum() / y.std(), rel=0.15)


def test_blend_with_rank_and_value_as_for_any_variation() -> None:
    X = np.column_stack([table(150, 1), column("lognormal", 150)])
    y = X[:, 0] * np.log(X[:, 1])
    fitted = conditional(8, teacher=boosted(), n_curves=40, shrinkage=0.3, rank_weight=0.7, value_weight=1.5)
    fitted.fit(X, y)
    for variation, edges, widths in zip(
        fitted.variation_, fitted.bin_edges_, fitted.output_widths_, strict=True
    ):
        assert_allclose(widths, stretch_widths(variation, None, edges, 0.3, 0.7, 1.5), rtol=1e-9)


@pytest.mark.parametrize("times", [2.0, 5.0])
def test_rows_that_count_several_times_make_no_noise_a_signal(times: float) -> None:
    strays = []
    for seed in range(3):
        X, y = table(300, 4, seed), np.random.default_rng(seed + 70).normal(size=300)
        fitted = conditional(n_curves=100).fit(X, y, sample_weight=np.full(300, times))
        strays += stray(fitted, range(4))
    assert np.mean(strays) < 0.03


def test_a_linear_teacher_makes_nothing_of_wide_columns_of_noise() -> None:
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.uniform(size=(600, 4)), rng.lognormal(sigma=2, size=(600, 2))])
    y = X[:, 0] + 0.3 * rng.normal(size=600)
    fitted = conditional(teacher=Ridge(), n_curves=100).fit(X, y)
    assert fitted.shrinkage_[0] < 0.1
    assert np.mean(fitted.shrinkage_[1:]) > 0.75


def test_a_teacher_learns_counts_as_counts() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(400, 2))
    y = rng.poisson(np.exp(3 * X[:, 0]))
    fitted = conditional(teacher=PoissonRegressor(), target_type="continuous", n_curves=50).fit(X, y)
    assert fitted.shrinkage_[0] < 0.1
    assert fitted.output_widths_[0][-4:].sum() > 1.3 * fitted.output_widths_[0][:4].sum()


def test_a_column_that_moves_the_prediction_little_keeps_more_of_its_value() -> None:
    rng = np.random.default_rng(0)
    X = rng.lognormal(size=(3000, 2))
    steps = X > 1.0
    y = 10.0 * steps[:, 0] + steps[:, 1]
    settings = {"variation": "conditional", "shrinkage": 0.0, "target_type": "continuous"}
    stretch = SupervisedStretchTransformer(**settings).fit(X, y)
    for j, most in enumerate([1.0, 0.5]):
        total = stretch.variation_[j].sum()
        share = range_shares(stretch.bin_edges_[j])
        weight = min(1.0, total)
        assert weight == most if most == 1.0 else weight < most
        widths = np.hypot(weight * stretch.variation_[j] / total, 2.0 * share)
        assert_allclose(np.diff(stretch.maps_[j].values), widths / widths.sum(), rtol=1e-4, atol=1e-6)


def test_without_other_weights_the_target_alone_decides_however_little_it_moves() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(2000, 2))
    y = 10.0 * X[:, 0] + (X[:, 1] > 0.5)
    alone = {"shrinkage": 0.0, "rank_weight": 0.0, "value_weight": 0.0}
    stretch = SupervisedStretchTransformer(variation="conditional", **alone).fit(X, y)
    variation = stretch.variation_[1]
    assert variation.sum() < 1.0
    assert_allclose(np.diff(stretch.maps_[1].values), variation / variation.sum(), atol=1e-5)
