"""Folds: numbers, splitters and lists of splits."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from samples import column, every_kth, noisy_target
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneOut,
    PredefinedSplit,
    RepeatedKFold,
    StratifiedKFold,
)

from tabstretch import SupervisedStretchTransformer
from tabstretch._folds import (
    Dealer,
    deal_by_values,
    keep_rows,
    make_column_folds,
    make_folds,
    requested_splits,
)
from tabstretch._target import encode_target, resolve_target_type

N = 120
x = column("normal", N)
X = x[:, None]
Y = noisy_target(x)
GROUPS = np.repeat(np.arange(12), 10)


def widths(cv: Any, **fit_params: Any) -> Any:
    return (
        SupervisedStretchTransformer(8, variation="within_fold", cv=cv)
        .fit(X, Y, **fit_params)
        .output_widths_[0]
    )


def number_of_folds(y: Any, cv: int) -> int:
    return make_folds(cv, encode_target(y, resolve_target_type(y, "auto")), 0).n_folds


def test_a_number_a_splitter_and_a_list_are_the_same_folds() -> None:
    splitter = KFold(4, shuffle=True, random_state=3)
    expected = widths(splitter)
    assert_array_equal(widths(list(splitter.split(X))), expected)
    assert_array_equal(widths(splitter.split(X)), expected)
    assert not np.array_equal(widths(4), expected)
    assignment = make_column_folds(4, X, encode_target(Y, "continuous"), None, 0).along(x).assignment
    assert_array_equal(widths(PredefinedSplit(assignment)), widths(4))


def test_a_stratified_splitter_sees_the_labels() -> None:
    y = np.where(Y > 0, "up", "down")
    splitter = StratifiedKFold(5, shuffle=True, random_state=0)
    by_splitter = SupervisedStretchTransformer(8, variation="within_fold", cv=splitter).fit(X, y)
    by_list = SupervisedStretchTransformer(8, variation="within_fold", cv=list(splitter.split(X, y))).fit(
        X, y
    )
    assert_array_equal(by_splitter.output_widths_[0], by_list.output_widths_[0])


def test_a_partition_and_the_same_splits_row_by_row_agree() -> None:
    """Twice the same partition is no partition: its sums are made in the other way."""
    once, twice = every_kth(N, 4), [*every_kth(N, 4), *every_kth(N, 4)]
    target = encode_target(Y, "continuous")
    assert make_folds(list(once), target, 0).assignment is not None
    assert make_folds(twice, target, 0).assignment is None
    assert_allclose(widths(twice), widths(once), rtol=1e-9)


def test_repeated_folds_average_the_variation() -> None:
    repeated = RepeatedKFold(n_splits=3, n_repeats=2, random_state=0)
    splits = list(repeated.split(X))
    options: dict[str, Any] = {"n_bins": 8, "shrinkage": 0}
    both = (
        SupervisedStretchTransformer(variation="within_fold", cv=repeated, **options).fit(X, Y).variation_[0]
    )
    halves = [
        SupervisedStretchTransformer(variation="within_fold", cv=half, **options).fit(X, Y).variation_[0]
        for half in (splits[:3], splits[3:])
    ]
    assert_allclose(both, np.mean(halves, axis=0), rtol=1e-9)


def test_groups_reach_the_splitter() -> None:
    expected = widths(list(GroupKFold(3).split(X, Y, GROUPS)))
    assert_array_equal(widths(GroupKFold(3), groups=GROUPS), expected)
    together = SupervisedStretchTransformer(8, variation="within_fold", cv=GroupKFold(3)).fit_transform(
        X, Y, groups=GROUPS
    )
    apart = (
        SupervisedStretchTransformer(8, variation="within_fold", cv=GroupKFold(3))
        .fit(X, Y, groups=GROUPS)
        .transform(X)
    )
    assert_array_equal(together, apart)


def test_groups_that_nobody_uses_or_that_are_missing() -> None:
    with pytest.raises(ValueError, match=r"\['groups'\] need a splitter that uses them.*got cv=5"):
        widths(5, groups=GROUPS)
    with pytest.raises(ValueError, match="'groups' parameter should not be None"):
        widths(GroupKFold(3))
    with pytest.raises(TypeError, match=r"unexpected arguments \['colour'\]"):
        widths(5, colour="red")


def test_shuffled_folds_are_even_and_stratified() -> None:
    rng = np.random.default_rng(0)
    y = rng.choice(["a", "b", "c"], p=[0.7, 0.2, 0.1], size=997)
    target = encode_target(y, "multiclass")
    folds = make_folds(10, target, 0)
    assert folds.n_folds == 10
    sizes = np.array([np.bincount(folds.assignment[y == label], minlength=10) for label in "abc"])
    assert np.ptp(sizes, axis=1).max() <= 1
    assert np.ptp(sizes.sum(axis=0)) <= 1


@pytest.mark.parametrize("kind", ["continuous", "multiclass"])
def test_folds_are_dealt_along_the_values_of_a_column(kind: str) -> None:
    """By value, then target, then weight, class by class: as the slow way to say it."""
    rng = np.random.default_rng(0)
    values = rng.choice([-0.0, 0.0, 1.5, -2.0, np.nan], size=200)
    y = rng.integers(3, size=200).astype(float)
    weight = rng.choice([0.5, 1.0, 2.0], size=200)
    target = encode_target(y, kind)
    dealer = make_column_folds(5, values[:, None], target, weight, 3)
    assert isinstance(dealer, Dealer)
    assignment = dealer.along(values).assignment
    assert assignment is not None
    place = np.where(np.isnan(values), np.inf, values)
    keys = [place, y, weight]
    by_place = sorted(range(200), key=lambda i: (y[i] if kind == "multiclass" else 0, *(k[i] for k in keys)))
    alike = [tuple(key[i] for key in keys) for i in by_place]
    for copies in set(alike):
        found = [assignment[i] for i in by_place if tuple(key[i] for key in keys) == copies]
        dealt = [fold for fold, each in zip(dealer.dealt, alike, strict=True) if each == copies]
        assert sorted(found) == sorted(dealt)
    assert np.ptp(np.bincount(assignment)) <= 1


def test_more_rows_than_a_block_share_their_folds() -> None:
    target = encode_target(Y, "continuous")
    assert isinstance(make_column_folds(5, X, target, None, 0, block=N), Dealer)
    folds = make_column_folds(5, X, target, None, 0, block=N - 1)
    assert folds.along(x) is folds
    order = np.random.default_rng(0).permutation(N)
    shuffled = make_column_folds(5, X[order], encode_target(Y[order], "continuous"), None, 0, block=50)
    assert_array_equal(shuffled.along(x).assignment, folds.along(x).assignment[order])


@pytest.mark.parametrize("y", [Y, np.column_stack([Y, Y**2])])
def test_shuffled_folds_of_numbers_are_even(y: Any) -> None:
    folds = make_folds(7, encode_target(y, "continuous-multioutput" if y.ndim == 2 else "continuous"), 0)
    assert np.ptp(np.bincount(folds.assignment)) <= 1
    assert len(set(folds.assignment)) == 7


def test_folds_are_no_more_than_the_smallest_class() -> None:
    assert number_of_folds(np.repeat(["a", "b"], [96, 4]), 10) == 4
    assert number_of_folds(np.repeat(["a", "b"], [99, 1]), 10) == 2
    assert number_of_folds(np.repeat(["a", "b", "c"], [90, 7, 3]), 10) == 3
    assert number_of_folds(np.repeat(["a", "b"], [50, 50]), 10) == 10
    assert number_of_folds(np.arange(7) + 0.5, 10) == 3  # each holds out two rows at least
    assert number_of_folds(np.array([0.5, 1.5, 2.7]), 10) == 2


def test_the_random_state_shuffles() -> None:
    target = encode_target(Y, "continuous")
    first, again, other = (make_folds(5, target, seed).assignment for seed in (0, 0, 1))
    assert_array_equal(first, again)
    assert not np.array_equal(first, other)
    generator = np.random.RandomState(0)
    assert_array_equal(make_folds(5, target, generator).assignment, first)


def test_splits_follow_the_rows_that_are_kept() -> None:
    kept = np.array([True, False, True, True])
    splits = [(np.array([0, 1]), np.array([2, 3])), (np.array([2, 3]), np.array([0, 1]))]
    (train, test), (train_2, test_2) = keep_rows(splits, kept)
    assert [train.tolist(), test.tolist(), train_2.tolist(), test_2.tolist()] == [[0], [1, 2], [1, 2], [0]]
    assert keep_rows(5, kept) == 5
    assert requested_splits(np.int64(3), X, Y, {}) == 3


def test_folds_without_rows_to_train_or_to_hold_out_are_harmless() -> None:
    """A column that is only present in one fold."""
    sparse = np.where(np.arange(N) % 4 == 0, x, np.nan)[:, None]
    for variation in ("within_fold", "pooled"):
        fitted = SupervisedStretchTransformer(4, cv=every_kth(N, 4), variation=variation).fit(sparse, Y)
        assert np.all(np.isfinite(fitted.output_widths_[0]))


def test_ten_rows_are_enough_to_see_a_line_and_single_rows_are_a_reason() -> None:
    x = np.arange(10.0)[:, None]
    fitted = SupervisedStretchTransformer(3, variation="within_fold", shrinkage=0).fit(
        x, 2.5 * x.ravel() + 0.1
    )
    assert fitted.fallback_ == [None]
    assert fitted.variation_[0].sum() > 0.1
    alone = SupervisedStretchTransformer(3, variation="within_fold", cv=LeaveOneOut()).fit(
        x, 2.5 * x.ravel() + 0.1
    )
    assert alone.fallback_ == ["no fold holds out two values"]


def test_masks_and_row_numbers_are_the_same_splits() -> None:
    x = column("normal", 90)
    y = np.tanh(x)
    masks = [(np.arange(len(x)) % 3 != fold, np.arange(len(x)) % 3 == fold) for fold in range(3)]
    rows = [(np.flatnonzero(train), np.flatnonzero(test)) for train, test in masks]
    by_mask, by_row = (
        SupervisedStretchTransformer(8, variation="within_fold", cv=cv).fit(x[:, None], y)
        for cv in (masks, rows)
    )
    assert_array_equal(by_mask.output_widths_[0], by_row.output_widths_[0])


@pytest.mark.parametrize("labelled", [False, True])
def test_folds_dealt_by_values_follow_rows_and_copies_take_turns(labelled: bool) -> None:
    rng = np.random.default_rng(0)
    columns = [rng.normal(size=60_000), rng.poisson(3, 60_000).astype(float)]
    labels = rng.integers(3, size=60_000).astype(np.int32) if labelled else None
    fold = deal_by_values(10, columns, labels, 5)
    assert np.all(np.abs(np.bincount(fold, minlength=10) / 60_000 - 0.1) < 0.01)
    order = rng.permutation(60_000)
    shuffled = [column[order] for column in columns]
    assert_array_equal(
        deal_by_values(10, shuffled, None if labels is None else labels[order], 5), fold[order]
    )
    assert not np.array_equal(fold, deal_by_values(10, columns, labels, 6))
    of_count = deal_by_values(10, columns[1:], labels, 5)
    for count in np.unique(columns[1]):
        for label in range(3) if labels is not None else [0]:
            copies = (columns[1] == count) & (labels == label if labels is not None else True)
            assert np.ptp(np.bincount(of_count[copies], minlength=10)) <= 1
    values = rng.permutation(np.repeat(rng.normal(size=1000), 10))
    sizes = np.array(
        [np.bincount(deal_by_values(10, [values], None, 5)[values == v], minlength=10) for v in values[:99]]
    )
    assert np.mean(np.all(sizes == 1, axis=1)) > 0.95  # a few share a place where copies are looked for
