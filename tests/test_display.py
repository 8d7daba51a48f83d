"""The overview figure: what it shows is computed first, and checked as data."""

from collections.abc import Iterator
from io import BytesIO
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

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
    model = SupervisedStretchTransformer(8, variation="within_fold").fit(X, y)
    display = StretchDisplay.from_estimator(model, X, y, feature="price")
    assert np.all(np.diff(display.positions) > 0)
    truth = 100 + 20 * np.tanh(display.positions - 1)
    inner = (display.positions > 0.3) & (display.positions < 3)
    assert np.max(np.abs(display.target[inner, 0] - truth[inner])) < 4


def test_three_panels_share_bins_and_labels(table: tuple[Any, np.ndarray]) -> None:
    X, y = table
    model = SupervisedStretchTransformer(8, variation="within_fold").fit(X, y)
    display = StretchDisplay.from_estimator(model, X, y, feature="price")
    left, middle, right = display.axes_
    assert len(left.patches) == len(right.patches) == model.n_bins_[0] == 8
    assert left.get_xlabel() == middle.get_xlabel() == "price"
    assert right.get_xlabel() == "stretched price"
    assert right.get_xlim() == pytest.approx((0, 1))


@pytest.mark.filterwarnings("ignore:Glyph .* missing from")
@pytest.mark.parametrize(
    "name", [r"$\frac{$", "US$", "two\nlines", "\x1b[31m\0", "\u202eabc", "日本", "<b>-->"]
)
def test_names_of_columns_and_classes_may_hold_anything(name: str, table: tuple[Any, np.ndarray]) -> None:
    X, y = table
    X = X.rename(columns={"price": name})
    classes = np.where(y > 100, name, "else")
    model = SupervisedStretchTransformer(4, variation="within_fold").fit(X, classes)
    display = StretchDisplay.from_estimator(model, X, classes, feature=name)
    file = BytesIO()
    display.figure_.savefig(file, format="svg")
    ElementTree.fromstring(file.getvalue())
    assert display.feature_name == name
    shown = display.axes_[0].get_xlabel()
    assert shown.isprintable()
    assert shown.replace(r"\$", "$") == (name if name.isprintable() else ascii(name)[1:-1])


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
    model = SupervisedStretchTransformer(4, variation="within_fold").fit(x[:, None], y)
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
    model = SupervisedStretchTransformer(4, variation="within_fold").fit(x[:, None], y)
    _, curves, names = smoothed_target(model, x, y)
    assert curves.shape[1] == len(names) == 8
    assert "7" in names


@pytest.mark.parametrize("feature", ["weight", 2, -1])
def test_unknown_feature_is_named(table: tuple[Any, np.ndarray], feature: Any) -> None:
    X, y = table
    with pytest.raises(ValueError, match=f"feature must be .* got {feature!r}"):
        StretchDisplay.from_estimator(
            SupervisedStretchTransformer(4, variation="within_fold").fit(X, y), X, y, feature=feature
        )


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
    model = SupervisedStretchTransformer(4, variation="within_fold", target_type=kind).fit(x, y)
    display = StretchDisplay.from_estimator(model, x, y)
    assert display.target.shape[1] == len(display.curve_names) == n_curves
    if kind == "continuous-multioutput":
        assert display.target.mean() == pytest.approx(100, abs=3)


def test_a_constant_column_has_no_picture() -> None:
    x, y = np.zeros((20, 1)), np.arange(20) % 2
    with pytest.raises(ValueError, match="1 distinct values, at least two"):
        StretchDisplay.from_estimator(
            SupervisedStretchTransformer(4, variation="within_fold").fit(x, y), x, y
        )


# Conditional fits and views


def conditional(*, classes: bool = False, **params: Any) -> SupervisedStretchTransformer:
    booster = HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor
    options: dict[str, Any] = {"teacher": booster(max_iter=30, early_stopping=False), "n_curves": 60}
    options |= {"variation": "conditional", "rank_weight": 1.0, "value_weight": 1.0}
    return SupervisedStretchTransformer(8, **{**options, **params})


@pytest.fixture(scope="module")
def product() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3))
    return X, 100 + 20 * X[:, 0] * X[:, 1] + rng.normal(size=500)


def bands(axis: Any) -> list[Any]:
    """What `fill_between` has drawn, as arrays of points."""
    return [
        collection.get_paths()[0].vertices
        for collection in axis.collections
        if type(collection).__name__ in ("PolyCollection", "FillBetweenPolyCollection")
    ]


def test_a_conditional_fit_has_four_panels_and_a_band(product: tuple[Any, Any]) -> None:
    X, y = product
    model = conditional().fit(X, y)
    display = StretchDisplay.from_estimator(model, X, y, feature=0)
    left, middle, right, comparison = display.axes_
    assert len(display.figure_.axes) == 4
    assert left.get_title() == "prediction over the column"
    assert right.get_title() == "prediction over the stretched column"
    assert left.get_ylabel() == "mean prediction"
    assert middle.get_title() == "the stretch"
    assert comparison.get_title() == "variation in each bin"
    assert [text.get_text() for text in comparison.get_legend().get_texts()] == ["marginal", "conditional"]
    for axis in (left, right):
        (band,) = bands(axis)
        assert np.ptp(band[:, 1]) > 20  # a product: each row has a slope of its own


def test_what_a_conditional_display_shows_is_what_was_fitted(product: tuple[Any, Any]) -> None:
    X, y = product
    model = conditional().fit(X, y)
    display = StretchDisplay.from_estimator(model, X, y, feature=1)
    np.testing.assert_array_equal(display.positions, model.bin_edges_[1])
    assert display.variations is not None
    np.testing.assert_array_equal(display.variations["conditional"], model.variation_[1])
    assert display.variations["marginal"].sum() == pytest.approx(
        model.summary()["marginal_variation"].iloc[1]
    )
    assert display.spread is not None
    assert display.spread.shape == display.target.shape == (9, 1)
    assert display.target.mean() == pytest.approx(100, abs=5)
    assert display.spread.max() > 10
    assert display.spread[4] < 5  # near zero, where all rows cross
    (stairs, _) = (patch for patch in display.axes_[3].patches if hasattr(patch, "get_data"))
    assert len(stairs.get_data().values) == 8


def test_the_curve_of_an_additive_target_is_the_target_in_its_own_units() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(600, 2))
    y = 100 + 20 * np.tanh(X[:, 0]) + 0.5 * rng.normal(size=600)
    model = conditional().fit(X, y)
    display = StretchDisplay.from_estimator(model, X, y)
    inner = slice(1, -1)
    truth = 100 + 20 * np.tanh(display.positions)
    assert np.max(np.abs(display.target[inner, 0] - truth[inner])) < 4
    assert display.spread is not None
    assert display.spread.max() < 2


def test_marginal_fits_keep_three_panels_without_a_band(table: tuple[Any, np.ndarray]) -> None:
    X, y = table
    model = SupervisedStretchTransformer(8, variation="within_fold", rank_weight=1.0, value_weight=1.0)
    display = StretchDisplay.from_estimator(model.fit(X, y), X, y)
    assert len(display.axes_) == 3
    assert display.spread is None
    assert display.variations is None
    assert bands(display.axes_[0]) == []
    assert display.axes_[0].get_title() == "target over the column"


def test_draws_into_four_given_axes_or_three_of_them(product: tuple[Any, Any]) -> None:
    X, y = product
    model = conditional().fit(X, y)
    figure, axes = pyplot.subplots(1, 4)
    display = StretchDisplay.from_estimator(model, X, y, axes=axes)
    assert display.figure_ is figure
    assert list(display.axes_) == list(axes)
    _, axes = pyplot.subplots(1, 3)
    assert len(StretchDisplay.from_estimator(model, X, y, axes=axes).axes_) == 3


@pytest.mark.parametrize("labels", [["no", "yes"], [3, 7], [False, True]])
def test_two_classes_are_one_probability(product: tuple[Any, Any], labels: list[Any]) -> None:
    X, y = product
    y = np.array(labels)[(y > 100).astype(int)]
    display = StretchDisplay.from_estimator(conditional(classes=True).fit(X, y), X, y)
    assert display.curve_names == [f"mean probability of {labels[1]}"]
    assert display.target.shape == (9, 1)
    assert 0 <= display.target.min() <= display.target.max() <= 1
    assert display.axes_[0].get_ylabel() == display.curve_names[0]


def test_more_classes_have_names_and_sum_to_one(product: tuple[Any, Any]) -> None:
    X, y = product
    y = np.array(["low", "middle", "up"])[np.digitize(y, [90, 110])]
    display = StretchDisplay.from_estimator(conditional(classes=True).fit(X, y), X, y)
    assert display.curve_names == ["low", "middle", "up"]
    np.testing.assert_allclose(display.target.sum(axis=1), 1)
    assert [text.get_text() for text in display.axes_[2].get_legend().get_texts()] == display.curve_names
    assert len(bands(display.axes_[0])) == 3
    assert display.axes_[0].get_ylabel() == "mean prediction"


def test_of_many_classes_the_teachers_keep_those_that_vary_most() -> None:
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=600), rng.integers(0, 12, size=600)
    y[x > 0.5] = 7
    names = np.array([f"class {j}" for j in range(12)])
    tree = DecisionTreeClassifier(max_depth=3)
    model = conditional(teacher=tree).fit(x[:, None], names[y])
    display = StretchDisplay.from_estimator(model, x[:, None], names[y])
    assert len(display.curve_names) == display.target.shape[1] == 8
    assert set(display.curve_names) <= set(names)
    busiest = display.curve_names[int(np.argmax(np.ptp(display.target, axis=0)))]
    assert busiest == "class 7"


def test_very_many_classes_are_projections_for_the_default_teacher() -> None:
    rng = np.random.default_rng(2)
    x = rng.normal(size=(200, 1))
    y = np.digitize(x[:, 0], np.linspace(-1.5, 1.5, 19))
    model = conditional(teacher=None, n_curves=10, cv=2).fit(x, y)
    display = StretchDisplay.from_estimator(model, x, y)
    assert display.curve_names == [f"projection {j}" for j in range(8)]


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("continuous-multioutput", ["output 0", "output 1"]),
        ("multilabel-indicator", ["label 0", "label 1"]),
        (
            "multiclass-multioutput",
            ["output 0: 0", "output 0: 1", "output 1: 0", "output 1: 1", "output 1: 2"],
        ),
    ],
)
def test_several_outputs_have_names(kind: str, names: list[str]) -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=(200, 1))
    noisy = x + 0.3 * rng.normal(size=(200, 2))
    y = {
        "continuous-multioutput": noisy * [5, 50] + [100, 1000],
        "multilabel-indicator": (noisy > 0).astype(int),
        "multiclass-multioutput": np.column_stack(
            [noisy[:, 0] > 0, np.digitize(noisy[:, 1], [-1, 1])]
        ).astype(int),
    }[kind]
    tree = DecisionTreeRegressor if kind.startswith("continuous") else DecisionTreeClassifier
    model = conditional(teacher=tree(max_depth=3), target_type=kind).fit(x, y)
    display = StretchDisplay.from_estimator(model, x, y)
    assert display.curve_names == names
    assert display.target.shape == (9, len(names))
    if kind == "continuous-multioutput":
        np.testing.assert_allclose(display.target.mean(axis=0), [100, 1000], rtol=0.05)
        assert np.all(np.ptp(display.target, axis=0) > [5, 50])
    else:
        assert 0 <= display.target.min() <= display.target.max() <= 1


@pytest.mark.parametrize("variation", ["within_fold", "conditional"])
def test_of_views_the_target_view_is_shown(product: tuple[Any, Any], variation: str) -> None:
    X, y = product
    options: dict[str, Any] = {} if variation == "conditional" else {"variation": variation, "teacher": None}
    model = conditional(output="views", **options).fit(X, y)
    for feature in range(3):
        display = StretchDisplay.from_estimator(model, X, y, feature=feature)
        assert display.feature_name == f"x{feature}"
        (position,) = (j for j, map_ in enumerate(model.maps_) if map_ is display.stretch)
        assert model.get_feature_names_out()[position] == f"x{feature}_target"
    rank = StretchTransformer(8, value_weight=1.0, output="views").fit(X)
    assert StretchDisplay.from_estimator(rank, X, y, feature=2).stretch == rank.maps_[5]


def test_a_constant_target_is_drawn_as_any_other() -> None:
    X = np.random.default_rng(0).normal(size=(60, 1))
    display = StretchDisplay.from_estimator(conditional(teacher=None).fit(X, np.ones(60)), X, np.ones(60))
    assert len(display.axes_) == 3


def test_missing_values_and_constant_columns_of_a_conditional_fit(product: tuple[Any, Any]) -> None:
    X, y = product
    X = np.column_stack([X, np.full(500, 2.0)])
    X[::7, 0] = np.nan
    model = conditional().fit(X, y)
    assert np.all(np.isfinite(StretchDisplay.from_estimator(model, X, y).target))
    with pytest.raises(ValueError, match="1 distinct values, at least two"):
        StretchDisplay.from_estimator(model, X, y, feature=3)
