"""The overview figure: what it shows is computed first, and checked as data."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tabstretch import StretchDisplay, StretchTransformer, SupervisedStretchTransformer
from tabstretch._display import smoothed_target

pyplot = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def _no_window() -> Iterator[None]:
    pyplot.switch_backend("Agg")
    yield
    pyplot.close("all")


@pytest.fixture
def table() -> tuple[Any, np.ndarray]:
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X = pandas.DataFrame({"price": rng.lognormal(size=800), "noise": rng.normal(size=800)})
    X.loc[::50, "price"] = np.nan
    return X, 100 + 20 * np.tanh(X["price"].fillna(1).to_numpy() - 1) + rng.normal(size=800)


def test_curve_is_the_target_in_its_own_units(table: tuple[Any, np.ndarray]) -> None:
    X, y = table
    model = SupervisedStretchTransformer(8).fit(X, y)
    display = StretchDisplay.from_estimator(model, X, y, feature="price")
    assert np.all(np.diff(display.positions) > 0)
    truth = 100 + 20 * np.tanh(display.positions - 1)
    inner = (display.positions > 0.3) & (display.positions < 3)
    assert np.max(np.abs(display.target[inner, 0] - truth[inner])) < 4


def test_three_panels_share_bins_and_labels(table: tuple[Any, np.ndarray]) -> None:
    X, y = table
    model = SupervisedStretchTransformer(8).fit(X, y)
    display = StretchDisplay.from_estimator(model, X, y, feature="price")
    left, middle, right = display.axes_
    assert len(left.patches) == len(right.patches) == model.n_bins_[0] == 8
    assert left.get_xlabel() == middle.get_xlabel() == "price"
    assert right.get_xlabel() == "stretched price"
    assert right.get_xlim() == pytest.approx((0, 1))


def test_draws_into_given_axes_and_for_unsupervised(table: tuple[Any, np.ndarray]) -> None:
    X, y = table
    figure, axes = pyplot.subplots(1, 3)
    display = StretchDisplay.from_estimator(StretchTransformer(4).fit(X), X, y, feature=1, axes=axes)
    assert display.figure_ is figure
    assert display.feature_name == "noise"


@pytest.mark.parametrize(
    ("labels", "names"),
    [(["no", "yes"], ["share of yes"]), (["a", "b", "c"], ["a", "b", "c"])],
)
def test_classes_are_shown_as_shares(labels: list[str], names: list[str]) -> None:
    rng = np.random.default_rng(1)
    x = rng.uniform(size=600)
    y = np.array(labels)[np.minimum((x * len(labels)).astype(int), len(labels) - 1)]
    model = SupervisedStretchTransformer(4).fit(x[:, None], y)
    _, curves, curve_names = smoothed_target(model, x, y)
    assert curve_names == names
    assert curves.min() >= -1e-9
    assert curves.max() <= 1 + 1e-9
    if len(labels) > 2:
        np.testing.assert_allclose(curves.sum(axis=1), 1)


def test_many_classes_keep_those_that_vary_most() -> None:
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=900), rng.integers(0, 30, size=900)
    y[x > 1] = 7
    model = SupervisedStretchTransformer(4).fit(x[:, None], y)
    _, curves, names = smoothed_target(model, x, y)
    assert curves.shape[1] == len(names) == 8
    assert "7" in names


@pytest.mark.parametrize("feature", ["weight", 2, -1])
def test_unknown_feature_is_named(table: tuple[Any, np.ndarray], feature: Any) -> None:
    X, y = table
    with pytest.raises(ValueError, match=f"feature must be .* got {feature!r}"):
        StretchDisplay.from_estimator(SupervisedStretchTransformer(4).fit(X, y), X, y, feature=feature)


@pytest.mark.parametrize(
    ("kind", "n_curves"),
    [
        ("continuous", 1),
        ("continuous-multioutput", 2),
        ("multilabel-indicator", 2),
        ("multiclass-multioutput", 5),
        ("multiclass", 3),
    ],
)
def test_every_kind_of_target_is_drawn(kind: str, n_curves: int) -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=(300, 1))
    noisy = x + 0.3 * rng.normal(size=(300, 2))
    y = {
        "continuous": noisy[:, 0],
        "continuous-multioutput": noisy * 5 + 100,
        "multilabel-indicator": (noisy > 0).astype(int),
        "multiclass-multioutput": np.column_stack([noisy[:, 0] > 0, np.digitize(noisy[:, 1], [-1, 1])]),
        "multiclass": np.digitize(noisy[:, 1], [-1, 1]),
    }[kind]
    model = SupervisedStretchTransformer(4, target_type=kind).fit(x, y)
    display = StretchDisplay.from_estimator(model, x, y)
    assert display.target.shape[1] == len(display.curve_names) == n_curves
    if kind == "continuous-multioutput":
        assert display.target.mean() == pytest.approx(100, abs=3)


def test_a_constant_column_has_no_picture() -> None:
    x, y = np.zeros((20, 1)), np.arange(20) % 2
    with pytest.raises(ValueError, match="1 distinct values, at least two"):
        StretchDisplay.from_estimator(SupervisedStretchTransformer(4).fit(x, y), x, y)
