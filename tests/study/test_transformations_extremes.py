"""The thirteen transformations where tables are extreme: no columns, no variation, no ordinary numbers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numeric_tables import BEYOND, numeric_dataset, ordinary, ordinary_dataset
from numpy.testing import assert_allclose, assert_array_equal

from tabstretch.study.stretches import STRETCHES
from tabstretch.study.transformations import TRANSFORMATIONS, fit_transformation

WITH_BINS = (*STRETCHES, "ple", "ple_t")
WITH_TEACHERS = ("stretch_conditional", "stretch_views")  # seconds for each fit

every_transformation = pytest.mark.parametrize("name", TRANSFORMATIONS)


@every_transformation
def test_without_numeric_columns(name: str) -> None:
    X = np.empty((30, 0))
    fitted = fit_transformation(name, numeric_dataset(X, np.arange(30.0)))
    assert fitted.n_outputs == 0
    assert fitted.transform(X[:4]).shape == (4, 0)


@every_transformation
def test_constant_columns_are_zero_whatever_comes_later(name: str) -> None:
    X = np.tile([0.1, 0.0, -1e300], (30, 1))
    fitted = fit_transformation(name, numeric_dataset(X, np.arange(30.0)))
    Z = fitted.transform(np.column_stack([BEYOND] * 3))
    assert Z.shape == (len(BEYOND), 9 if name == "stretch_views" else 3)
    assert_allclose(Z, 0, atol=1e-6)
    assert fitted.note is None


@pytest.mark.parametrize("name", STRETCHES)
def test_stretches_with_more_bins_than_rows(name: str) -> None:
    """A hundred thousand bins are as many as there are distinct values."""
    dataset = ordinary_dataset(n=150)
    most = fit_transformation(name, dataset, n_bins=100_000).transform(dataset.numeric["test"])
    enough = fit_transformation(name, dataset, n_bins=149).transform(dataset.numeric["test"])
    assert_allclose(most, enough, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", ["ple", "ple_t"])
def test_encodings_with_more_bins_than_rows(name: str) -> None:
    X = ordinary(20)
    fitted = fit_transformation(name, numeric_dataset(X, X[:, 0]), n_bins=256)
    assert fitted.n_outputs <= 4 * 19
    assert fitted.note is None


HOSTILE = {
    "huge": lambda z: 1e300 * z,
    "both ends": lambda z: np.where(z > 0, 1.7e308, -1.7e308),
    "tiny": lambda z: 1e-300 * z,
    "subnormal": lambda z: np.round(3 * z) * 5e-324,
    "last digit": lambda z: 1 + np.round(z) * 2.0**-52,
    "far from zero": lambda z: 1e9 + 1e-6 * z,
    "outlier": lambda z: np.append(z[1:], 1e300),
    "all sizes": lambda z: np.sign(z) * 10.0 ** (100 * z),
    "rare": lambda z: np.append(np.zeros(len(z) - 1), 1.0),
    "dense with outliers": lambda z: np.where(z > 1, 1.0, 1e-200 * z),
}


@every_transformation
@pytest.mark.parametrize("is_regression", [True, False])
def test_hostile_columns(name: str, is_regression: bool) -> None:
    z = ordinary(90)[:, 0]
    X = np.column_stack([column(z) for column in HOSTILE.values()])
    y = np.sin(z) if is_regression else np.where(z > 0, "a", "b").tolist()
    new = np.vstack([X, np.column_stack([BEYOND] * len(HOSTILE))])
    for n_bins in (2, 256) if name in WITH_BINS else (None,):
        Z = fit_transformation(name, numeric_dataset(X, y), n_bins=n_bins).transform(new)
        assert np.isfinite(Z).all()


@pytest.mark.parametrize("name", [name for name in TRANSFORMATIONS if name not in WITH_TEACHERS])
@settings(max_examples=20)
@given(data=st.data())
def test_any_finite_numbers(name: str, data: st.DataObject) -> None:
    number = st.floats(allow_nan=False, allow_infinity=False)
    few = st.lists(number, min_size=1, max_size=3).flatmap(st.sampled_from)
    n_rows = data.draw(st.integers(2, 30))
    column = st.lists(number, min_size=n_rows, max_size=n_rows) | st.lists(
        few, min_size=n_rows, max_size=n_rows
    )
    X = np.array([data.draw(column), data.draw(column)]).T
    y = np.arange(n_rows) % 3.0
    new = np.array(data.draw(st.lists(st.tuples(number, number), min_size=1, max_size=5)))
    for target in (y, [str(label) for label in y]):
        fitted = fit_transformation(name, numeric_dataset(X, target))
        assert np.isfinite(fitted.transform(np.vstack([X, new]))).all()


def test_what_extreme_numbers_become() -> None:
    """Finite is not enough: an outlier must not become the middle, nor a small column nothing."""
    z = ordinary(90)[:, :1]
    outlier = numeric_dataset(z, z[:, 0])
    beyond = np.array([[1e300], [-1e300]])
    assert_array_equal(fit_transformation("rs_sc", outlier).transform(beyond), [[3], [-3]])
    largest = np.finfo(np.float32).max
    assert_array_equal(fit_transformation("standard", outlier).transform(beyond), [[largest], [-largest]])
    for unit in (1e-300, 1e-20, 1e300):
        scaled = numeric_dataset(z * unit, z[:, 0])
        for name in ("standard", "minmax", "rs_sc", "quantile", "ple", "stretch_unsup"):
            expected = fit_transformation(name, outlier).transform(z)
            assert_allclose(
                fit_transformation(name, scaled).transform(z * unit), expected, rtol=1e-3, atol=1e-3
            )


def test_yeo_johnson_says_what_it_could_not_do() -> None:
    X = np.column_stack([ordinary(), 37.5 + 1e-3 * ordinary()[:, 1], np.ones(150)])
    dataset = numeric_dataset(X, X[:, 0])
    fitted = fit_transformation("yeo_johnson", dataset)
    assert fitted.note == (
        "yeo_johnson overflowed or found no power for 1 of 6 columns, now just standardised: 'x4'"
    )
    standard = fit_transformation("standard", dataset).transform(X)
    assert_allclose(fitted.transform(X)[:, 4], standard[:, 4], rtol=1e-5)
    assert np.abs(fitted.transform(X)[:, 1] - standard[:, 1]).max() > 1


def test_denormal_numbers_beside_huge_ones() -> None:
    """Found by hypothesis: scikit-learn divides by the difference of two quantiles."""
    column = np.array([0.0] * 8 + [8.98846567431158e307, -6.648518051884e-32, -1.175494351e-38])
    fitted = fit_transformation("quantile", numeric_dataset(column[:, None], np.arange(11.0)))
    assert np.isfinite(fitted.transform(column[:, None])).all()
