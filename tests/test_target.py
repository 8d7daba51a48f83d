"""Every kind of target: what it is taken for, and that labels are only labels."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from oracle import encode_target as naive_encoding
from oracle import supervised_widths
from samples import column, every_kth, noisy_target

from tabstretch import SupervisedStretchTransformer
from tabstretch._target import encode_target, resolve_target_type

N = 150
x = column("normal", N)
X = x[:, None]
SIGN = (noisy_target(x) > 0).astype(int)
LEVEL = np.digitize(noisy_target(x), [-0.4, 0.3])


def fit(y: Any, X: Any = X, **params: Any) -> SupervisedStretchTransformer:
    params = {"n_bins": 6, "variation": "within_fold", "cv": 3} | params
    return SupervisedStretchTransformer(**params).fit(X, y)


def widths(y: Any, **params: Any) -> Any:
    return fit(y, **params).output_widths_[0]


WORDS = np.array(["no", "yes"])[SIGN]
BINARY: dict[str, Any] = {
    "int": SIGN,
    "float": SIGN.astype(float),
    "bool": SIGN == 1,
    "str": WORDS,
    "object": WORDS.astype(object),
    "list": WORDS.tolist(),
    "-1 and 1": 2 * SIGN - 1,
    "pandas": pd.Series(WORDS, index=np.arange(N)[::-1]),
    "pandas categorical": pd.Series(pd.Categorical(WORDS, categories=["yes", "no", "never"])),
    "pandas boolean": pd.Series(SIGN, dtype="boolean"),
    "polars": pl.Series(WORDS),
    "polars categorical": pl.Series(WORDS, dtype=pl.Categorical),
    "polars bool": pl.Series(SIGN == 1),
}


@pytest.mark.parametrize("kind", BINARY)
def test_two_classes_by_any_name(kind: str) -> None:
    fitted = fit(BINARY[kind])
    assert fitted.target_type_ == "binary"
    assert len(fitted.classes_) == 2
    assert_array_equal(fitted.output_widths_[0], widths(SIGN))


LETTERS = np.array(["a", "b", "c"])[LEVEL]
MULTICLASS: dict[str, Any] = {
    "int": LEVEL,
    "other ints": np.array([-7, 0, 1000])[LEVEL],
    "str": LETTERS,
    "pandas categorical": pd.Categorical(LETTERS),
    "pandas Int64": pd.Series(LEVEL, dtype="Int64"),
    "polars": pl.Series(LETTERS),
    "polars categorical": pl.Series(LETTERS, dtype=pl.Categorical),
}


@pytest.mark.parametrize("kind", MULTICLASS)
def test_three_classes_by_any_name(kind: str) -> None:
    fitted = fit(MULTICLASS[kind])
    assert fitted.target_type_ == "multiclass"
    assert_array_equal(fitted.output_widths_[0], widths(LEVEL))
    if kind != "pandas Int64":
        assert_array_equal(fitted.classes_, np.unique(np.asarray(MULTICLASS[kind])))


def test_the_order_of_labels_does_not_matter() -> None:
    splits = every_kth(N, 3)
    shuffled = np.array(["m", "z", "a"])[LEVEL]
    assert_allclose(widths(shuffled, cv=splits), widths(LEVEL, cv=splits), rtol=1e-9)


def test_two_classes_are_one_hot_as_three_are() -> None:
    binary = fit(SIGN, cv=every_kth(N, 3), shrinkage=0).variation_[0]
    indicator = np.column_stack([SIGN, 1 - SIGN])
    multilabel = fit(indicator, cv=every_kth(N, 3), shrinkage=0)
    assert multilabel.target_type_ == "multilabel-indicator"
    assert_allclose(multilabel.variation_[0], binary, rtol=1e-9)


def test_regression_ignores_units() -> None:
    y = noisy_target(x)
    assert fit(y).target_type_ == "continuous"
    assert fit(y).classes_ is None
    for other in (1e-300 * y, 1e300 * y, 5 - 3 * y, 1e6 + y):
        assert_allclose(widths(other, target_type="continuous"), widths(y), rtol=1e-6)


def test_several_outputs_are_one_vector() -> None:
    y = np.column_stack([noisy_target(x), x**2 + 0.01 * np.sin(99 * x)])
    fitted = fit(y, cv=every_kth(N, 3), shrinkage=0)
    assert fitted.target_type_ == "continuous-multioutput"
    expected = supervised_widths(x, y, every_kth(N, 3), kind="regression", n_bins=6, shrinkage=0)[1]
    assert_allclose(fitted.output_widths_[0], expected, rtol=1e-8)
    for frame in (pd.DataFrame(y), pl.DataFrame(y)):
        assert_allclose(widths(frame, cv=every_kth(N, 3), shrinkage=0), fitted.output_widths_[0], rtol=1e-12)
    scaled = widths(y * [1e-6, 1e9], cv=every_kth(N, 3), shrinkage=0)
    assert_allclose(scaled, fitted.output_widths_[0], rtol=1e-8)


def test_several_labels_and_several_classes() -> None:
    y = np.column_stack([SIGN, LEVEL > 0])
    fitted = fit(y)
    assert fitted.target_type_ == "multilabel-indicator"
    assert_array_equal(widths(y.astype(bool)), fitted.output_widths_[0])
    words = np.column_stack([LETTERS, WORDS])
    several = fit(words)
    assert several.target_type_ == "multiclass-multioutput"
    assert [list(classes) for classes in several.classes_] == [["a", "b", "c"], ["no", "yes"]]
    one_hot = np.hstack([naive_encoding(LETTERS, "classes"), naive_encoding(WORDS, "classes")])
    assert_allclose(several.output_widths_[0], widths(one_hot), rtol=1e-8)


def test_the_kind_can_be_overridden() -> None:
    counts = LEVEL * 10
    assert fit(counts).target_type_ == "multiclass"
    continuous = fit(counts, target_type="continuous")
    assert continuous.target_type_ == "continuous"
    assert continuous.classes_ is None
    assert_allclose(continuous.output_widths_[0], widths(counts + 0.5), rtol=1e-9)
    classes = fit(LEVEL + 0.5, target_type="multiclass")
    assert_array_equal(classes.classes_, [0.5, 1.5, 2.5])
    assert_array_equal(classes.output_widths_[0], widths(LEVEL))
    assert (
        fit(np.column_stack([LEVEL, SIGN]), target_type="continuous").target_type_ == "continuous-multioutput"
    )


@pytest.mark.parametrize(
    ("y", "target_type", "message"),
    [
        (LEVEL, "binary", "needs at most two classes, got 3"),
        (np.column_stack([LEVEL, SIGN]), "multiclass", r"needs one target column, got y of shape \(150, 2\)"),
        (LETTERS, "continuous", "could not convert string to float"),
        (
            np.array(["a", 1] * 75, dtype=object),
            "auto",
            r"numbers only or strings only, got \['int', 'str'\]",
        ),
        (np.array([["a", "b", "c"]] * 150)[:, :, None], "auto", "Found array with dim 3"),
    ],
)
def test_targets_that_do_not_fit(y: Any, target_type: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fit(y, target_type=target_type)


@pytest.mark.parametrize("variation", ["within_fold", "pooled"])
@pytest.mark.parametrize(
    "y", [np.zeros(N), np.full(N, 0.1), np.ones(N, int), np.full(N, "a"), np.ones((N, 2))]
)
def test_a_constant_target_gives_the_blend_of_rank_and_value(y: Any, variation: str) -> None:
    fitted = fit(y, variation=variation)
    assert fitted.fallback_ == ["constant target"]
    assert_array_equal(fitted.shrinkage_, [1.0])
    blend = np.hypot(1 / 6, 2 * np.diff(fitted.bin_edges_[0]) / np.ptp(x))
    assert_allclose(fitted.output_widths_[0], blend / blend.sum())
    assert_allclose(widths(y, variation=variation, rank_weight=0, value_weight=0), 1 / 6)


@pytest.mark.parametrize("variation", ["within_fold", "pooled"])
@pytest.mark.parametrize("n_rare", [1, 2, 5])
def test_classes_rarer_than_the_folds(n_rare: int, variation: str) -> None:
    y = np.where(np.argsort(np.argsort(x)) < n_rare, "rare", LETTERS)
    fitted = fit(y, cv=10, variation=variation)
    assert len(fitted.classes_) == 4
    assert np.all(fitted.output_widths_[0] > 0)
    assert_allclose(fitted.output_widths_[0].sum(), 1)
    assert np.all(np.isfinite(fitted.transform(X)))


def test_every_row_a_class_of_its_own() -> None:
    fitted = fit(np.arange(N), cv=10, target_type="multiclass")
    assert fitted.target_type_ == "multiclass"
    assert np.all(np.isfinite(fitted.transform(X)))


@pytest.mark.parametrize(("shrinkage", "tolerance"), [(0.0, 1e-8), ("auto", 2e-3)])
def test_more_classes_than_are_smoothed_at_once(shrinkage: Any, tolerance: float) -> None:
    rng = np.random.default_rng(0)
    place = rng.normal(size=900)
    y = np.clip(150 + 60 * place + 10 * rng.normal(size=900), 0, 299).astype(int)
    assert len(np.unique(y)) > 200
    options: dict[str, Any] = {"n_bins": 6, "variation": "within_fold", "shrinkage": shrinkage}
    fast = SupervisedStretchTransformer(cv=every_kth(900, 3), target_type="multiclass", **options)
    fast.fit(place[:, None], y)
    slow = supervised_widths(place, y, every_kth(900, 3), kind="classes", **options)[1]
    assert_allclose(fast.output_widths_[0], slow, atol=tolerance)


def test_many_outputs_equal_the_oracle() -> None:
    rng = np.random.default_rng(0)
    y = np.sin(x[:, None] * rng.uniform(0.5, 3, size=100)) + 0.1 * rng.normal(size=(N, 100))
    fast = widths(y, cv=every_kth(N, 3), shrinkage=0)
    slow = supervised_widths(x, y, every_kth(N, 3), kind="regression", n_bins=6, shrinkage=0)[1]
    assert_allclose(fast, slow, atol=1e-8)


def test_encoding_equals_the_oracles() -> None:
    weight = np.arange(N) % 4 + 1.0
    y = noisy_target(x)
    assert_allclose(encode_target(y, "continuous").values, naive_encoding(y, "regression"))
    assert_allclose(encode_target(y, "continuous", weight).values, naive_encoding(y, "regression", weight))
    three = encode_target(LETTERS, resolve_target_type(LETTERS, "auto"))
    assert three.codes is not None
    assert_array_equal(np.eye(3)[three.codes], naive_encoding(LETTERS, "classes"))
    assert_array_equal(three.labels, LEVEL)


@pytest.mark.parametrize("target_type", ["continuous", "continuous-multioutput", "multilabel-indicator"])
@pytest.mark.parametrize("y", [WORDS, WORDS.astype(object)], ids=["str", "object"])
def test_text_is_no_number(y: Any, target_type: str) -> None:
    error = (
        f"target_type='{target_type}' needs numbers, but y holds text .*'(no|yes)'.*'multiclass' for labels"
    )
    with pytest.raises(ValueError, match=error):
        fit(y, target_type=target_type)
    with pytest.raises(ValueError, match=error):
        SupervisedStretchTransformer(target_type=target_type).fit_batches([(X, y)])
