"""Training, validation and test: 64/16/20, stratified, the same everywhere."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabstretch.study.datasets.splits import split_rows

PINNED = {"train": [11, 3, 13, 2, 8, 0, 7, 4, 10, 12], "val": [6, 5], "test": [1, 14, 9]}
PINNED_CLASSES = {"train": [11, 3, 13, 2, 1, 8, 6, 0, 10, 12], "val": [14, 4], "test": [7, 5, 9]}


def test_these_very_rows() -> None:
    """A split that changes would make old results incomparable."""
    assert {part: rows.tolist() for part, rows in split_rows(15).items()} == PINNED
    assert {part: rows.tolist() for part, rows in split_rows(15, list("aab" * 5)).items()} == PINNED_CLASSES


@pytest.mark.parametrize(("n_rows", "sizes"), [(3, (1, 1, 1)), (10, (6, 2, 2)), (1484, (950, 237, 297))])
def test_sizes(n_rows: int, sizes: tuple[int, ...]) -> None:
    assert tuple(map(len, split_rows(n_rows).values())) == sizes


def test_rows_are_shuffled() -> None:
    train = split_rows(1000)["train"]
    assert abs(np.corrcoef(np.arange(len(train)), train)[0, 1]) < 0.1


@given(st.integers(3, 300), st.integers(0, 40))
def test_each_row_once_and_each_class_in_training(n_rows: int, n_classes: int) -> None:
    rng = np.random.default_rng(n_rows + 1000 * n_classes)
    labels = [str(label) for label in rng.integers(0, n_classes + 1, n_rows)] if n_classes else None
    n_distinct = len(set(labels or []))
    if labels and n_rows - n_distinct < 2:
        with pytest.raises(ValueError, match="say task=regression"):
            split_rows(n_rows, labels)
        return
    split = split_rows(n_rows, labels)
    assert sorted(np.concatenate(list(split.values()))) == list(range(n_rows))
    assert all(len(rows) for rows in split.values())
    if labels:
        assert {labels[row] for row in split["train"]} == set(labels)
    if n_distinct <= 0.6 * n_rows:
        assert len(split["test"]) == max(1, round(0.2 * n_rows))
        assert len(split["val"]) == max(1, round(0.16 * n_rows))


@given(st.lists(st.integers(1, 200), min_size=2, max_size=8))
def test_classes_are_spread_by_their_share(class_sizes: list[int]) -> None:
    labels = [str(label) for label, size in enumerate(class_sizes) for _ in range(size)]
    if sum(class_sizes) < 3 * len(class_sizes):
        return
    split = split_rows(len(labels), labels)
    free = len(labels) - len(class_sizes)
    for part in ("val", "test"):
        counts = Counter(labels[row] for row in split[part])
        for label, size in enumerate(class_sizes):
            assert abs(counts[str(label)] - (size - 1) * len(split[part]) / free) < 2


def test_classes_of_one_row_are_trained_on() -> None:
    labels = ["common"] * 20 + ["rare", "rarer"]
    split = split_rows(22, labels)
    assert {20, 21} <= set(split["train"].tolist())


@pytest.mark.parametrize("n_rows", [0, 1, 2])
def test_too_few_rows(n_rows: int) -> None:
    with pytest.raises(ValueError, match=f"need a row each, got {n_rows} in all"):
        split_rows(n_rows)


def test_too_many_classes() -> None:
    with pytest.raises(ValueError, match="there are 9 classes in 10 rows"):
        split_rows(10, list("abcdefghii"))
    assert [len(rows) for rows in split_rows(10, list("abcdefghhh")).values()] == [8, 1, 1]
