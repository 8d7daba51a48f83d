"""The same data and seed give the same bits, however the data come and whoever computes."""

import multiprocessing
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from samples import noisy_target
from sklearn.base import clone

from tabstretch import StretchTransformer, SupervisedStretchTransformer, TableStretch

N = 150
NAMES = ["a", "b", "c"]
# Values that float32 holds exactly, with ties and gaps.
X = np.random.default_rng(0).normal(size=(N, 3)).astype(np.float32).astype(np.float64)
X[:, 1] = X[:, 1].round(0) + 0.0  # integers have no -0.0
X[::11, 2] = np.nan
Y = noisy_target(X[:, 0])
CLASSES = noisy_target(X[:, 0], "3 classes")


def supervised(variation: str, **parameters: Any) -> SupervisedStretchTransformer:
    return SupervisedStretchTransformer(8, variation=variation, cv=3, n_curves=30, **parameters)


STRETCHES: dict[str, tuple[Any, Any]] = {
    f"{variation} {output} {kind}": (supervised(variation, output=output), y)
    for variation in ("within_fold", "pooled", "conditional")
    for output in ("blend", "views")
    for kind, y in (("numbers", Y), ("classes", CLASSES))
    if (output, kind) != ("views", "classes")
}
STRETCHES |= {
    "unsupervised": (StretchTransformer(8), None),
    "unsupervised views": (StretchTransformer(8, output="views"), None),
}
every_stretch = pytest.mark.parametrize("name", STRETCHES)


def bits(stretch: Any) -> bytes:
    """Everything that was fitted, to the bit."""
    parts = [part for map_ in stretch.maps_ for part in (map_.edges, map_.values)]
    parts += [*stretch.output_widths_, *getattr(stretch, "variation_", []), getattr(stretch, "shrinkage_", 0)]
    return b"".join(np.asarray(part, dtype=np.float64).tobytes() for part in parts)


def fit(name: str, X: Any = X, y: Any = None, **parameters: Any) -> Any:
    stretch, target = STRETCHES[name]
    return clone(stretch).set_params(**parameters).fit(X, target if y is None else y)


def strided(X: Any) -> Any:
    larger = np.full((2 * len(X), 3 * X.shape[1]), 7.0)
    larger[::2, ::3] = X
    return larger[::2, ::3]


def read_only(X: Any) -> Any:
    X = X.copy()
    X.setflags(write=False)
    return X


FORMS: dict[str, Callable[[Any], Any]] = {
    "Fortran": np.asfortranarray,
    "strided": strided,
    "reversed": lambda X: np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1],
    "read-only": read_only,
    "float32": lambda X: X.astype(np.float32),
    "other byte order": lambda X: X.astype(X.dtype.newbyteorder()),
    "objects": lambda X: X.astype(object),
    "lists": lambda X: X.tolist(),
    "pandas": lambda X: pd.DataFrame(X, columns=NAMES),
    "pandas, other index": lambda X: pd.DataFrame(X, columns=NAMES, index=np.arange(N)[::-1] % 7),
    "pandas, float32": lambda X: pd.DataFrame(X, columns=NAMES, dtype=np.float32),
    "pandas, with NA": lambda X: pd.DataFrame(X, columns=NAMES).convert_dtypes(),
    "polars": lambda X: pl.DataFrame(X, schema=NAMES),
    "polars, nulls": lambda X: pl.DataFrame(X, schema=NAMES).fill_nan(None),
}


@every_stretch
def test_the_form_of_a_table_does_not_matter(name: str) -> None:
    expected = bits(fit(name))
    for form, make in FORMS.items():
        assert bits(fit(name, make(X))) == expected, form


@every_stretch
def test_neither_does_that_of_a_target(name: str) -> None:
    y = STRETCHES[name][1]
    if y is None:
        return
    expected = bits(fit(name))
    forms = [y.tolist(), pd.Series(y, index=np.arange(N)[::-1]), pl.Series(y), y[::-1].copy()[::-1]]
    forms += [pd.Series(y).astype("category"), y.astype(object)] if y.dtype.kind == "U" else []
    for number, form in enumerate(forms):
        assert bits(fit(name, y=form)) == expected, f"form {number}"


@every_stretch
def test_neither_do_threads_clones_pickles_and_earlier_fits(name: str) -> None:
    stretch = fit(name)
    expected = bits(stretch)
    for n_jobs in (2, 3, -1):
        assert bits(fit(name, n_jobs=n_jobs)) == expected, n_jobs
    assert bits(pickle.loads(pickle.dumps(stretch))) == expected
    assert bits(pickle.loads(pickle.dumps(STRETCHES[name][0])).fit(X, STRETCHES[name][1])) == expected
    stretch.fit(X[::-1][:100], None if STRETCHES[name][1] is None else STRETCHES[name][1][:100])
    assert bits(stretch.fit(X, STRETCHES[name][1])) == expected
    table = TableStretch(clone(STRETCHES[name][0])).fit(pd.DataFrame(X, columns=NAMES), STRETCHES[name][1])
    assert bits(table.stretch_) == expected


def fit_elsewhere(name: str) -> tuple[bytes, bytes]:
    stretch = fit(name, n_jobs=2)
    return bits(stretch), stretch.transform(X).tobytes()


def test_neither_does_the_process() -> None:
    """A new one, with another hash seed and nothing of ours in memory."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found = pool.map(fit_elsewhere, STRETCHES)
    for name, (fitted, output) in zip(STRETCHES, found, strict=True):
        stretch = fit(name)
        assert fitted == bits(stretch), name
        assert output == stretch.transform(X).tobytes(), name


@every_stretch
def test_the_form_of_what_is_transformed_does_not_matter(name: str) -> None:
    stretch = fit(name)
    expected = stretch.transform(X)
    for form, make in FORMS.items():
        if form.startswith("pandas") or form.startswith("polars"):
            stretch = fit(name, pd.DataFrame(X, columns=NAMES))
        output = np.asarray(stretch.transform(make(X)))
        if output.dtype == np.float32:
            assert_allclose(output, expected, rtol=0, atol=1e-7, err_msg=form)
        else:
            assert_array_equal(output, expected, err_msg=form)
    rows = [stretch.transform(pd.DataFrame(X[[row]], columns=NAMES)) for row in range(0, N, 10)]
    assert_array_equal(np.vstack(rows), expected[::10])


@pytest.mark.parametrize("variation", ["within_fold", "pooled", "conditional"])
def test_with_given_folds_the_order_of_rows_changes_nothing(variation: str) -> None:
    """But for the rounding of sums."""
    order = np.random.default_rng(1).permutation(N)
    fold = np.arange(N) % 3

    def widths(rows: Any) -> Any:
        splits = [(np.flatnonzero(fold[rows] != k), np.flatnonzero(fold[rows] == k)) for k in range(3)]
        stretch = supervised(variation).set_params(cv=splits)
        return np.concatenate(stretch.fit(X[rows], Y[rows]).output_widths_)

    assert_allclose(widths(order), widths(np.arange(N)), rtol=0, atol=1e-9)


@pytest.mark.parametrize("target", ["numbers", "classes"])
@pytest.mark.parametrize("teacher_rows", [100_000, 60])
@pytest.mark.parametrize("columns", [[0], [0, 1, 2]], ids=["one column", "three columns"])
def test_with_teachers_the_order_of_rows_changes_nothing(
    target: str, teacher_rows: int, columns: list[int]
) -> None:
    """Neither for fits nor for batches, whose sample of rows is that of their values."""
    y = Y if target == "numbers" else CLASSES
    order = np.random.default_rng(1).permutation(N)
    stretch = supervised("conditional", teacher_rows=teacher_rows)
    expected = np.concatenate(clone(stretch).fit(X[:, columns], y).variation_)
    assert expected.sum() > 0.1
    Z, y = X[order][:, columns], y[order]
    batches = [(Z[rows], y[rows]) for rows in (slice(0, 17), slice(17, N))]
    for other in (clone(stretch).fit(Z, y), clone(stretch).fit_batches(batches)):
        assert_allclose(np.concatenate(other.variation_), expected, rtol=0, atol=1e-9)


TIED = {
    "numbers": Y,
    "a count": np.floor(np.abs(3 * Y)) + 0.5,
    "classes": CLASSES,
    "two numbers": np.column_stack([Y, Y.round()]),
    "labels": np.column_stack([Y > 0, Y > 1]).astype(int),
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("target", TIED)
@pytest.mark.parametrize("variation", ["within_fold", "pooled"])
def test_along_columns_the_order_of_rows_changes_nothing(variation: str, target: str, weighted: bool) -> None:
    """Nor do other columns and units: each column deals the folds to the order of its own values."""
    y = TIED[target]
    weight = np.linspace(0.3, 2.7, N).round(1) if weighted else None
    order = np.random.default_rng(1).permutation(N)
    stretch = supervised(variation, rank_weight=0, value_weight=0)
    expected = np.concatenate(clone(stretch).fit(X, y, sample_weight=weight).variation_)
    assert expected.sum() > 0.1
    Z, y_shuffled = X[order], y[order]
    shuffled = [Z, y_shuffled] if weight is None else [Z, y_shuffled, weight[order]]
    batches = [tuple(part[rows] for part in shuffled) for rows in (slice(0, 17), slice(17, N))]
    in_memory = clone(stretch).fit(Z, y_shuffled, sample_weight=None if weight is None else weight[order])
    in_batches = clone(stretch).fit_batches(batches)
    by_column = [clone(stretch).fit(4 * X[:, [j]], y, sample_weight=weight).variation_[0] for j in range(3)]
    for found in (in_memory.variation_, in_batches.variation_, by_column):
        assert_allclose(np.concatenate(found), expected, rtol=0, atol=1e-9)


def test_without_a_target_the_order_of_rows_changes_nothing() -> None:
    order = np.random.default_rng(1).permutation(N)
    assert bits(fit("unsupervised", X[order])) == bits(fit("unsupervised"))
    assert bits(fit("unsupervised views", X[order])) == bits(fit("unsupervised views"))


@every_stretch
def test_neither_do_the_sizes_of_batches(name: str) -> None:
    stretch, y = STRETCHES[name]
    found = set()
    for size in (N, 64, 17, 1):
        rows = [slice(start, start + size) for start in range(0, N, size)]
        batches = [X[part] if y is None else (X[part], y[part]) for part in rows]
        for n_jobs in (1, 2):
            found.add(bits(clone(stretch).set_params(n_jobs=n_jobs).fit_batches(batches)))
    assert len(found) == 1
