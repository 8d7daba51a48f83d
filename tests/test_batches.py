"""Fits from batches, against fits in memory."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from oracle import Array
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.ensemble import RandomForestRegressor
from sklearn.model_selection import KFold
from streams import NAMES, assert_alike, batches, small_blocks, table, target

from tabstretch import StretchTransformer, SupervisedStretchTransformer, load

N = 20_000
ORDERS: dict[str, Callable[[Array, Any], Any]] = {
    "as it comes": lambda X, y: slice(None),
    "sorted by a column": lambda X, y: np.argsort(X[:, 0]),
    "sorted backwards": lambda X, y: np.argsort(-X[:, 1]),
    "zeros first": lambda X, y: np.argsort(X[:, 2] != 0, kind="stable"),
    "sorted by the target": lambda X, y: np.argsort(y),
}


def within_fold(**parameters: Any) -> SupervisedStretchTransformer:
    return SupervisedStretchTransformer(variation="within_fold", **parameters)


@pytest.mark.parametrize("order", ORDERS)
def test_unsupervised_as_in_memory(order: str, monkeypatch: pytest.MonkeyPatch) -> None:
    small_blocks(monkeypatch)
    X = table(N)
    X = X[ORDERS[order](X, X[:, 5])]
    found = StretchTransformer(64).fit_batches(batches(999, X))
    assert_alike(found, StretchTransformer(64).fit(X), X)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("kind", ["regression", "binary"])
def test_supervised_as_in_memory_in_any_order(kind: str, order: str, monkeypatch: pytest.MonkeyPatch) -> None:
    small_blocks(monkeypatch, 4096)
    X = table(N)
    y = target(X, kind)
    rows = ORDERS[order](X, y)
    found = within_fold(target_type="continuous" if kind == "regression" else "auto")
    found.fit_batches(batches(3000, X[rows], y[rows]))
    assert_alike(found, within_fold().fit(X, y), X)


@pytest.mark.parametrize("kind", ["classes", "several numbers", "labels", "several classes"])
def test_every_kind_of_target(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    small_blocks(monkeypatch, 4096)
    X = table(N)
    y = target(X, kind)
    found, expected = within_fold().fit_batches(batches(3000, X, y)), within_fold().fit(X, y)
    assert_alike(found, expected, X)
    assert found.target_type_ == expected.target_type_
    assert str(found.classes_) == str(expected.classes_)


@pytest.mark.parametrize("unit", [1.0, 1e-3])
def test_weights_count_rows(unit: float, monkeypatch: pytest.MonkeyPatch) -> None:
    small_blocks(monkeypatch, 4096)
    X = table(N)
    y, weight = target(X), unit * np.random.default_rng(0).integers(0, 4, size=N)
    found = within_fold().fit_batches(batches(3000, X, y, weight))
    assert_alike(found, within_fold().fit(X, y, sample_weight=weight), X, weight)


@pytest.mark.parametrize("variation", ["within_fold", "pooled", "conditional"])
@pytest.mark.parametrize("output", ["blend", "views"])
def test_one_block_has_the_folds_of_memory(variation: str, output: str) -> None:
    X = table(3000)[:, :5]
    y = target(X)
    stretch = SupervisedStretchTransformer(16, variation=variation, output=output)
    found = clone(stretch).fit_batches(batches(1000, X, y))
    assert_alike(found, stretch.fit(X, y), X)
    assert found.transform(X).shape == stretch.transform(X).shape
    pd.testing.assert_frame_equal(found.summary(), stretch.summary())


def test_teachers_learn_from_the_rows_that_fit_would_draw(monkeypatch: pytest.MonkeyPatch) -> None:
    small_blocks(monkeypatch)
    X = table(10_000)[:, [0, 3, 4]]
    y = np.tanh(X[:, 0]) * X[:, 2] + 0.5
    forest = RandomForestRegressor(20, min_samples_leaf=5, n_jobs=1)
    for teacher in (None, forest):
        X_or_filled = X if teacher is None else np.nan_to_num(X)
        stretch = SupervisedStretchTransformer(16, teacher=teacher, teacher_rows=800, n_curves=100)
        found = clone(stretch).fit_batches(batches(777, X_or_filled, y))
        assert_alike(found, stretch.fit(X_or_filled, y), X_or_filled)
        assert found.summary()["interaction"].notna().any()


@pytest.mark.parametrize("size", [1, 100, 1000, 5000])
def test_the_size_of_batches_does_not_matter(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    small_blocks(monkeypatch, 512)
    X = table(2000)
    y = target(X)
    whole = within_fold().fit_batches([(X, y)])
    found = within_fold().fit_batches(batches(size, X, y))
    for a, b in zip(found.output_widths_, whole.output_widths_, strict=True):
        assert_array_equal(a, b)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["numbers", "classes"])
def test_long_data_have_the_folds_of_memory(
    kind: str, weighted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_blocks(monkeypatch, 4096)
    rng = np.random.default_rng(0)
    X = rng.integers(0, 300, size=(N, 2)).astype(float)
    X[rng.random(N) < 0.2, 1] = np.nan
    y = rng.normal(size=N) if kind == "numbers" else rng.integers(0, 3, size=N)
    columns = (X, y, rng.exponential(size=N)) if weighted else (X, y)
    expected = within_fold(output="views").fit(X, y, sample_weight=columns[2] if weighted else None)
    found = within_fold(output="views").fit_batches(batches(999, *columns))
    for a, b in zip(found.output_widths_, expected.output_widths_, strict=True):
        assert_allclose(a, b, atol=1e-9)
    assert_allclose(found.shrinkage_, expected.shrinkage_, atol=1e-9)


def test_a_class_that_comes_last(monkeypatch: pytest.MonkeyPatch) -> None:
    small_blocks(monkeypatch)
    X = table(6000)[:, :5]
    y = target(X, "binary")
    y[-30:] = 2
    found, expected = within_fold().fit_batches(batches(1000, X, y)), within_fold().fit(X, y)
    assert found.classes_.tolist() == [0, 1, 2]
    assert found.target_type_ == "multiclass"
    assert_alike(found, expected, X)


def test_columns_that_have_no_values_at_first_or_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    small_blocks(monkeypatch)
    X = table(6000)[:, :3]
    X[:4000, 0] = np.nan
    X[:, 1] = np.nan
    y = target(table(6000))
    assert_alike(within_fold().fit_batches(batches(1000, X, y)), within_fold().fit(X, y), X)


@pytest.mark.parametrize("scale", [1e307, 1e-300])
def test_extreme_numbers(scale: float, monkeypatch: pytest.MonkeyPatch) -> None:
    small_blocks(monkeypatch)
    x = np.clip(np.sort(table(6000)[:, :1], axis=0), -9, 9) * scale
    x[:3000] *= 1e-3
    y = np.arange(6000) + 0.5
    found = within_fold(n_bins=8).fit_batches(batches(1000, x, y))
    assert_alike(found, within_fold(n_bins=8).fit(x, y), x)


def test_a_constant_target(monkeypatch: pytest.MonkeyPatch) -> None:
    small_blocks(monkeypatch)
    X = table(5000)
    for y in (np.full(5000, 2.5), np.zeros(5000, dtype=int)):
        found = within_fold().fit_batches(batches(1000, X, y))
        assert found.fallback_ == within_fold().fit(X, y).fallback_


def test_names_of_columns_are_kept_and_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    small_blocks(monkeypatch)
    X = table(5000)
    frame = pd.DataFrame(X, columns=list(NAMES))
    for make in (pd.DataFrame, pl.DataFrame):
        parts = [make(dict(frame.iloc[start : start + 1000])) for start in range(0, 5000, 1000)]
        found = StretchTransformer().fit_batches(parts)
        assert found.feature_names_in_.tolist() == list(NAMES)
        assert found.transform(parts[0]).shape == (1000, len(NAMES))
    with pytest.raises(
        ValueError, match=r"X has the columns \('heavy tails', 'normal', .* in the first batch"
    ):
        StretchTransformer().fit_batches([frame, frame[["heavy tails", "normal", *NAMES[2:]]]])
    with pytest.raises(ValueError, match="X has 2 columns, but 7 in the first batch"):
        StretchTransformer().fit_batches([X, X[:, :2]])
    refitted = found.fit_batches([X])
    assert not hasattr(refitted, "feature_names_in_")


def test_the_fit_can_be_saved(tmp_path: Any) -> None:
    X = table(2000)
    stretch = within_fold().fit_batches(batches(500, X, target(X)))
    stretch.to_json(tmp_path / "map.json")
    assert_array_equal(load(tmp_path / "map.json").transform(X), stretch.transform(X))


def test_a_function_may_give_the_batches_and_empty_ones_are_skipped() -> None:
    X = table(500)
    y = target(X)
    expected = within_fold().fit(X, y)
    assert_alike(within_fold().fit_batches(lambda: batches(100, X, y)), expected, X)
    assert_alike(within_fold().fit_batches([(X[:0], y[:0]), (X, y), (X[:0], y[:0])]), expected, X)


def test_many_bins_are_as_many_as_there_are_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    small_blocks(monkeypatch)
    x = np.random.default_rng(0).normal(size=(12_000, 1))
    stretch = StretchTransformer(100_000).fit_batches(batches(2000, x))
    assert 3000 < stretch.n_bins_[0] < 9000
    assert stretch.fallback_[0] == f"batches allow only {stretch.n_bins_[0]} of 100000 bins"


X5, Y5 = table(50), target(table(50))


@pytest.mark.parametrize(
    ("stretch", "given", "error"),
    [
        (within_fold(), [], "there are no batches with rows"),
        (within_fold(), [(X5, Y5, np.zeros(50))], "there are no batches with rows"),
        (within_fold(), [X5], "batch 0: .* requires y"),
        (within_fold(), [(X5, Y5), (X5, Y5[:3])], "batch 1: Found input variables with inconsistent"),
        (
            within_fold(),
            [(X5, Y5), (np.where(X5 == 0, np.inf, X5), Y5)],
            "batch 1: .*First in column 2, row",
        ),
        (
            within_fold(),
            [(X5, Y5, np.ones(50)), (X5, Y5)],
            "batch 1: either all batches have weights or none",
        ),
        (within_fold(), [(X5, Y5, -np.ones(50))], "batch 0: sample_weight must be finite and not negative"),
        (within_fold(), [(X5, Y5, None, None)], "batch 0: a batch must be X, .* got 4 parts"),
        (within_fold(), [()], "batch 0: a batch must be X, .* got 0 parts"),
        (within_fold(), [(X5, Y5), (X5, np.column_stack([Y5, Y5]))], "batch 1: y has 2 columns here, but 1"),
        (within_fold(), [(X5, Y5.astype(str)), (X5, Y5)], "batch 1: y holds numbers, but strings in the"),
        (
            within_fold(),
            [(pd.DataFrame(X5, columns=NAMES), Y5), (X5, Y5)],
            r"batch 1: X has columns without names, but the columns \('normal', ",
        ),
        (within_fold(cv=KFold(3)), [(X5, Y5)], "cv must be a number of folds"),
        (within_fold(cv=1), [(X5, Y5)], "cv must be an integer of at least 2"),
        (within_fold(target_type="odd"), [(X5, Y5)], "target_type must be 'auto' or one of"),
        (within_fold(target_type="binary"), [(X5, np.arange(50) % 3)], "needs at most two classes, got 3"),
    ],
)
def test_errors_name_the_batch_and_the_way_out(stretch: Any, given: Any, error: str) -> None:
    with pytest.raises(ValueError, match=error):
        stretch.fit_batches(given)


def test_a_table_is_no_iterable_of_batches() -> None:
    for thing in (X5, pd.DataFrame(X5), 3):
        with pytest.raises(TypeError, match="For a single table use fit"):
            StretchTransformer().fit_batches(thing)


def test_a_sparse_batch_is_refused_with_its_number() -> None:
    with pytest.raises(TypeError, match="batch 0: Sparse data was passed"):
        StretchTransformer().fit_batches([csr_array(X5[:, :1])])


def test_parts_of_a_batch_in_a_list_as_data_loaders_give_them() -> None:
    parts = [[X5[:30], Y5[:30]], [X5[30:], Y5[30:]]]
    assert_alike(within_fold().fit_batches(parts), within_fold().fit(X5, Y5), X5)
    rows = StretchTransformer().fit_batches([X5[:3].tolist(), X5[3:].tolist()])
    assert_array_equal(rows.bin_edges_[0], StretchTransformer().fit(X5).bin_edges_[0])


def test_targets_that_change_their_kind_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    small_blocks(monkeypatch, 50)
    whole = np.arange(50) % 4
    for later, error in (
        (whole + 0.5, "looked like 'multiclass' .* holds 0.5"),
        (whole.astype(str), "batch 1: y holds strings, but numbers in the first batch"),
    ):
        with pytest.raises(ValueError, match=error):
            within_fold().fit_batches([(X5, whole), (X5, later)])
    with pytest.raises(ValueError, match="y has 2 columns here, but 1 in the first batch"):
        within_fold().fit_batches([(X5, whole), (X5, np.column_stack([whole, whole]))])
    labels = np.column_stack([whole > 1, whole > 2]).astype(int)
    with pytest.raises(ValueError, match=r"looked like 'multilabel-indicator' .* holds 2"):
        within_fold().fit_batches([(X5, labels), (X5, labels + 1)])
    X, many = np.arange(2000.0)[:, None], np.arange(2000)
    with pytest.raises(ValueError, match=r"y has .* classes or more, too many for batches"):
        within_fold(target_type="multiclass").fit_batches(batches(50, X, many))


def test_a_value_that_only_later_rows_have_is_an_edge(monkeypatch: pytest.MonkeyPatch) -> None:
    small_blocks(monkeypatch, 100)
    x = np.r_[np.arange(100) % 10, np.full(95, 3), [3.5] * 5].astype(float)[:, None]
    found = StretchTransformer(64).fit_batches(batches(100, x, np.zeros(200)))
    assert_array_equal(found.bin_edges_[0], np.unique(x))
    assert found.fallback_ == StretchTransformer(64).fit(x).fallback_


@pytest.mark.parametrize("filling", [np.nan, 0.0])
def test_tiny_numbers_beside_a_batch_without_any(filling: float, monkeypatch: pytest.MonkeyPatch) -> None:
    small_blocks(monkeypatch, 50)
    x = np.r_[np.full(50, filling), np.arange(1, 51) * 5e-324, np.arange(1, 51) * 1e-323][:, None]
    y = np.sin(np.arange(150.0))
    stretch = SupervisedStretchTransformer(8, variation="within_fold", cv=2)
    found = stretch.fit_batches(batches(50, x, y)).bin_edges_[0]
    assert_array_equal(found, stretch.fit(x, y).bin_edges_[0])


@pytest.mark.parametrize("scale", [1e-310, 1.7e308])
def test_targets_at_the_ends_of_floats(scale: float, monkeypatch: pytest.MonkeyPatch) -> None:
    small_blocks(monkeypatch, 50)
    x = np.random.default_rng(0).normal(size=(200, 1))
    y = np.tanh(3 * x.ravel()) * scale
    found = SupervisedStretchTransformer(4, variation="within_fold").fit_batches(batches(50, x, y))
    expected = SupervisedStretchTransformer(4, variation="within_fold").fit(x, y)
    assert_allclose(found.output_widths_[0], expected.output_widths_[0], atol=0.1)


def test_a_target_far_larger_than_its_first_rows_is_refused_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    small_blocks(monkeypatch, 50)
    x = np.arange(100.0)[:, None]
    y = np.r_[np.arange(50) * 1e-200, np.arange(50) * 1e200] + 0.5e-200
    with pytest.raises(ValueError, match=r"y becomes too large .*: divide it by its largest value"):
        SupervisedStretchTransformer(4, variation="within_fold").fit_batches(batches(50, x, y))


def test_weights_at_the_ends_of_floats(monkeypatch: pytest.MonkeyPatch) -> None:
    small_blocks(monkeypatch, 50)
    x = np.arange(100.0)[:, None] ** 2
    for weight in (1e308, 1e-320):
        parts = batches(50, x, np.zeros(100), np.full(100, weight))
        assert_allclose(
            StretchTransformer(4).fit_batches(parts).bin_edges_[0], StretchTransformer(4).fit(x).bin_edges_[0]
        )
