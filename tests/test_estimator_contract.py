"""scikit-learn's own checks, and what it expects of a transformer beyond them."""

import pickle
from typing import Any

import joblib
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray
from samples import COLUMNS, column, noisy_target
from sklearn.base import BaseEstimator, clone
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks

from tabstretch import StretchTransformer, SupervisedStretchTransformer

CONDITIONAL: dict[str, Any] = {"variation": "conditional", "cv": 2, "n_curves": 10, "teacher_rows": 300}
TREE = DecisionTreeRegressor(max_depth=2)
CHECKED = [
    StretchTransformer(),
    StretchTransformer(n_bins=3, value_weight=0, feature_range=(-1, 2), out_of_range="extrapolate"),
    SupervisedStretchTransformer(variation="within_fold"),
    SupervisedStretchTransformer(variation="within_fold", n_bins=1),
    SupervisedStretchTransformer(n_bins=8, variation="pooled", cv=3),
    SupervisedStretchTransformer(
        variation="within_fold", shrinkage=0, rank_weight=0, value_weight=0, n_jobs=2
    ),
    StretchTransformer(n_bins=8, output="views"),
    SupervisedStretchTransformer(variation="within_fold", n_bins=8, cv=3, output="views"),
    SupervisedStretchTransformer(n_bins=8, **CONDITIONAL),
    SupervisedStretchTransformer(
        n_bins=4, output="views", target_type="continuous", teacher=TREE, n_jobs=2, **CONDITIONAL
    ),
]
BOTH = [
    StretchTransformer(n_bins=8),
    SupervisedStretchTransformer(variation="within_fold", n_bins=8, cv=3),
    SupervisedStretchTransformer(n_bins=8, rank_weight=1.0, value_weight=1.0, **CONDITIONAL),
]
BOTH_IDS = ["unsupervised", "supervised", "conditional"]
both = pytest.mark.parametrize("transformer", BOTH, ids=BOTH_IDS)


@pytest.fixture(name="X", scope="module")
def matrix() -> NDArray[np.float64]:
    return np.column_stack([column(name, 120, seed) for seed, name in enumerate(COLUMNS)])


@pytest.fixture(scope="module")
def y(X: NDArray[np.float64]) -> NDArray[np.float64]:
    return noisy_target(X[:, 0])


@parametrize_with_checks(CHECKED)
def test_scikit_learn_checks(estimator: BaseEstimator, check: Any) -> None:
    check(estimator)


@both
def test_no_scikit_learn_check_fails_or_is_expected_to(transformer: BaseEstimator) -> None:
    checks = check_estimator(transformer, on_skip=None, on_fail=None)
    status = [check["status"] for check in checks]
    assert set(status) <= {"passed", "skipped"}
    assert status.count("passed") > 30


@both
def test_fit_then_transform_is_fit_transform(transformer: Any, X: Any, y: Any) -> None:
    together = clone(transformer).fit_transform(X, y)
    assert_array_equal(together, clone(transformer).fit(X, y).transform(X))
    assert_array_equal(np.isnan(together), np.isnan(X))


@both
def test_float32_stays_and_integers_become_float64(transformer: Any, X: Any, y: Any) -> None:
    narrow = X.astype(np.float32)
    fitted = clone(transformer).fit(narrow, y)
    assert fitted.transform(narrow).dtype == np.float32
    assert fitted.inverse_transform(fitted.transform(narrow)).dtype == np.float32
    wide = clone(transformer).fit(narrow.astype(float), y).transform(narrow.astype(float))
    assert_allclose(fitted.transform(narrow), wide, atol=1e-7)
    counts = np.arange(240).reshape(120, 2) % 17
    output = clone(transformer).fit_transform(counts, y)
    assert output.dtype == np.float64
    assert_array_equal(output, clone(transformer).fit_transform(counts.astype(float), y))


def strided(X: NDArray[Any]) -> NDArray[Any]:
    larger = np.full((2 * X.shape[0], 3 * X.shape[1]), 7.0, dtype=X.dtype)
    larger[::2, ::3] = X
    return larger[::2, ::3]


LAYOUTS = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "strided": strided,
    "reversed": lambda X: np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1],
}


@both
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_read_only_input_of_any_layout_is_left_alone(
    transformer: Any, layout: str, dtype: Any, X: Any, y: Any
) -> None:
    original = np.ascontiguousarray(X, dtype=dtype)
    expected = clone(transformer).fit_transform(original.copy(), y)
    given, target = LAYOUTS[layout](original), y.copy()
    given.setflags(write=False)
    target.setflags(write=False)
    fitted = clone(transformer).fit(given, target)
    output = fitted.transform(given)
    assert_array_equal(output, expected)
    assert_array_equal(fitted.inverse_transform(output), fitted.inverse_transform(expected))
    assert_array_equal(given, original)
    assert_array_equal(target, y)
    assert output.flags.writeable
    assert not np.shares_memory(output, given)


def test_clone_keeps_every_parameter() -> None:
    transformer = SupervisedStretchTransformer([3, 4], n_neighbors=7, cv=4, shrinkage=0.5, random_state=3)
    assert clone(transformer).get_params() == transformer.get_params()


@both
def test_pickle_keeps_the_map(transformer: Any, X: Any, y: Any) -> None:
    fitted = clone(transformer).fit(X, y)
    thawed = pickle.loads(pickle.dumps(fitted))
    assert_array_equal(thawed.transform(X), fitted.transform(X))
    assert_array_equal(thawed.inverse_transform(X * 0 + 0.3), fitted.inverse_transform(X * 0 + 0.3))
    assert thawed.summary().equals(fitted.summary())


@both
def test_html_repr_names_the_estimator(transformer: Any, X: Any, y: Any) -> None:
    assert type(transformer).__name__ in transformer._repr_html_()
    assert type(transformer).__name__ in clone(transformer).fit(X, y)._repr_html_()


@both
def test_as_a_step_of_pipeline_and_column_transformer(transformer: Any, X: Any, y: Any) -> None:
    present = X[:, [0, 1, 2]]
    stretched = clone(transformer).fit_transform(present, y)
    pipe = make_pipeline(clone(transformer), StandardScaler(), Ridge()).fit(present, y)
    by_hand = make_pipeline(StandardScaler(), Ridge()).fit(stretched, y)
    assert_allclose(pipe.predict(present), by_hand.predict(stretched))
    some: ColumnTransformer = make_column_transformer((clone(transformer), [0, 2]), remainder="passthrough")
    two = clone(transformer).fit_transform(present[:, [0, 2]], y)
    assert_array_equal(some.fit_transform(present, y), np.column_stack([two, present[:, 1]]))


def test_grid_search_over_the_number_of_bins() -> None:
    x = np.random.default_rng(0).lognormal(0, 2, size=(300, 1))
    y = np.log(x.ravel())
    pipe = make_pipeline(StretchTransformer(value_weight=0), Ridge(alpha=1e-6))
    search = GridSearchCV(pipe, {"stretchtransformer__n_bins": [1, 2, 30]}, cv=3).fit(x, y)
    assert search.best_params_ == {"stretchtransformer__n_bins": 30}
    supervised = make_pipeline(
        SupervisedStretchTransformer(variation="within_fold", cv=3, rank_weight=0, value_weight=0),
        Ridge(alpha=1e-6),
    )
    grid = {"supervisedstretchtransformer__n_bins": [1, 2, 30]}
    search = GridSearchCV(supervised, grid, cv=3).fit(x, y)
    assert search.best_params_ == {"supervisedstretchtransformer__n_bins": 30}


@both
def test_threads_do_not_change_a_bit(transformer: Any) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90_000, 4))  # enough values for transform to use both threads
    y = np.tanh(X[:, 0]) + rng.normal(size=len(X))
    one, two = (clone(transformer).set_params(n_jobs=n).fit(X, y) for n in (1, 2))
    for a, b in zip(one.output_widths_, two.output_widths_, strict=True):
        assert_array_equal(a, b)
    assert_array_equal(one.transform(X), two.transform(X))
    assert_array_equal(one.inverse_transform(X), two.inverse_transform(X))


@both
def test_the_same_seed_gives_the_same_fit(transformer: Any, X: Any, y: Any) -> None:
    first, second = (clone(transformer).fit_transform(X, y) for _ in range(2))
    assert_array_equal(first, second)
    if "random_state" in transformer.get_params():
        other = clone(transformer).set_params(random_state=1).fit_transform(X, y)
        assert not np.array_equal(first, other, equal_nan=True)


def test_process_backends_leave_transform_alone() -> None:
    X = np.random.default_rng(0).normal(size=(100_000, 4))
    fitted = StretchTransformer().fit(X)
    with joblib.parallel_backend("loky", n_jobs=2):
        assert_array_equal(fitted.transform(X), StretchTransformer(n_jobs=1).fit(X).transform(X))
