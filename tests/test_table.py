"""TableStretch: a whole mixed data frame in, the same with its numbers stretched out."""

import pickle
from collections.abc import Iterator
from datetime import date
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from samples import column, every_kth, noisy_target
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeRegressor

from tabstretch import StretchTransformer, SupervisedStretchTransformer, TableStretch

N = 120
RNG = np.random.default_rng(0)
DATA: dict[str, Any] = {
    "city": np.array(["Bern", "Oslo", "Rome"])[RNG.integers(0, 3, size=N)],
    "price": column("lognormal", N),
    "sold": RNG.random(N) < 0.5,
    "rooms": RNG.integers(1, 7, size=N),
    "day": np.datetime64("2020-01-01") + RNG.integers(0, 99, size=N),
    "size": np.array(["small", "large"])[RNG.integers(0, 2, size=N)],
    "age": column("missing", N),
}
NUMBERS = ["price", "rooms", "age"]
OTHERS = ["city", "sold", "day", "size"]
FRAMES: dict[str, Any] = {
    "pandas": pd.DataFrame(DATA).astype({"size": pd.CategoricalDtype(["small", "large"], ordered=True)}),
    "polars": pl.DataFrame(
        {**DATA, "age": [None if np.isnan(age) else age for age in DATA["age"]]}
    ).with_columns(pl.col("size").cast(pl.Categorical), pl.col("day").cast(pl.Date)),
}
Y = noisy_target(np.log(DATA["price"])) * np.where(DATA["city"] == "Oslo", -1, 1)
WEIGHT = np.arange(N) % 3 + 1.0
GROUPS = np.repeat(np.arange(12), 10)
library = pytest.mark.parametrize("library", FRAMES)


def unsupervised(**params: Any) -> StretchTransformer:
    return StretchTransformer(**{"n_bins": 8, "value_weight": 1.0, **params})


def marginal(**params: Any) -> SupervisedStretchTransformer:
    options: dict[str, Any] = {"variation": "within_fold", "rank_weight": 1.0, "value_weight": 1.0, "cv": 3}
    return SupervisedStretchTransformer(**{"n_bins": 8, **options, **params})


def conditional(**params: Any) -> SupervisedStretchTransformer:
    teacher = DecisionTreeRegressor(max_depth=4)
    return marginal(**{"variation": "conditional", "teacher": teacher, "n_curves": 30, **params})


MAKERS: dict[str, Any] = {"unsupervised": unsupervised, "marginal": marginal, "conditional": conditional}
every = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS.keys())


def matrix(frame: Any, names: list[str]) -> Any:
    """Columns of numbers as an array, missing ones as NaN."""
    return np.column_stack([np.asarray(frame[name], dtype=float) for name in names])


def same_column(a: Any, b: Any) -> None:
    assert a.dtype == b.dtype
    if isinstance(a, pd.Series):
        pd.testing.assert_series_equal(a, b)
    else:
        assert a.equals(b)


def context_of(frame: Any) -> dict[str, Any]:
    return {"context": frame[OTHERS]}


# What comes out


@every
@library
def test_other_columns_stay_as_they_are_where_they_are(make: Any, library: str) -> None:
    frame = FRAMES[library]
    output = TableStretch(make()).fit(frame, Y).transform(frame)
    assert type(output) is type(frame)
    assert list(output.columns) == list(frame.columns)
    for name in OTHERS:
        same_column(output[name], frame[name])
    for name in NUMBERS:
        values = np.asarray(output[name], dtype=float)
        assert_array_equal(np.isnan(values), np.isnan(np.asarray(frame[name], dtype=float)))
        assert (np.nanmin(values), np.nanmax(values)) == (0, 1)


@every
@library
def test_numbers_are_those_of_the_stretch_alone(make: Any, library: str) -> None:
    frame = FRAMES[library]
    fitted = TableStretch(make()).fit(frame, Y)
    assert fitted.numeric_columns_ == NUMBERS
    alone = make().fit(matrix(frame, NUMBERS), Y, **(context_of(frame) if make is conditional else {}))
    expected = alone.transform(matrix(frame, NUMBERS))
    assert_array_equal(matrix(fitted.transform(frame), NUMBERS), expected)
    assert_array_equal(matrix(TableStretch(make()).fit_transform(frame, Y), NUMBERS), expected)
    assert list(fitted.stretch_.summary().index) == NUMBERS


def test_teachers_see_the_other_columns() -> None:
    frame = FRAMES["pandas"]
    seeing = TableStretch(conditional(shrinkage=0)).fit(frame, Y)
    blind = conditional(shrinkage=0).fit(frame[NUMBERS], Y)
    assert not np.array_equal(seeing.stretch_.variation_[0], blind.variation_[0])
    assert_array_equal(
        TableStretch(conditional(shrinkage=0)).fit(frame[NUMBERS], Y).stretch_.variation_[0],
        blind.variation_[0],
    )


def test_what_depends_on_another_column_is_found() -> None:
    rng = np.random.default_rng(1)
    x, up = rng.normal(size=600), rng.random(600) < 0.5
    frame = pd.DataFrame({"way": np.where(up, "up", "down"), "x": x, "noise": rng.normal(size=600)})
    y = np.where(up, 1, -1) * np.tanh(4 * x)
    alone = TableStretch(marginal(rank_weight=0.0, value_weight=0.0)).fit(frame, y).stretch_
    booster = HistGradientBoostingRegressor(max_iter=30, early_stopping=False)
    stretch = conditional(teacher=booster, rank_weight=0.0, value_weight=0.0, n_curves=100)
    seeing = TableStretch(stretch).fit(frame, y).stretch_
    assert alone.shrinkage_[0] > 0.5
    assert seeing.shrinkage_[0] < 0.05
    assert seeing.output_widths_[0][3:5].sum() > 0.5


@library
def test_the_input_is_left_alone(library: str) -> None:
    frame = FRAMES[library]
    before = frame.copy() if library == "pandas" else frame.clone()
    TableStretch(conditional()).fit(frame, Y).transform(frame)
    assert frame.equals(before)


@pytest.mark.parametrize(
    "index", [np.arange(N)[::-1] + 1000, [f"row {i}" for i in range(N)], np.zeros(N, dtype=int)]
)
def test_the_index_is_kept(index: Any) -> None:
    frame = FRAMES["pandas"].set_axis(index)
    fitted = TableStretch(unsupervised()).fit(frame)
    output = fitted.transform(frame)
    assert output.index.equals(frame.index)
    plain = TableStretch(unsupervised()).fit_transform(FRAMES["pandas"])
    assert_array_equal(matrix(output, NUMBERS), matrix(plain, NUMBERS))
    assert list(output["city"]) == list(DATA["city"])
    assert fitted.inverse_transform(output).index.equals(frame.index)


@library
def test_new_rows(library: str) -> None:
    frame = FRAMES[library]
    fitted = TableStretch(marginal()).fit(frame, Y)
    some = frame[5:9]
    assert_array_equal(matrix(fitted.transform(some), NUMBERS), matrix(fitted.transform(frame), NUMBERS)[5:9])
    assert list(fitted.transform(some)["city"]) == list(DATA["city"][5:9])


# Views


@library
def test_views_stand_in_the_place_of_their_column(library: str) -> None:
    frame = FRAMES[library]
    fitted = TableStretch(marginal(output="views")).fit(frame, Y)
    output = fitted.transform(frame)
    expected = [
        new
        for name in frame.columns
        for new in ([f"{name}_value", f"{name}_rank", f"{name}_target"] if name in NUMBERS else [name])
    ]
    assert list(output.columns) == list(fitted.get_feature_names_out()) == expected
    assert type(output) is type(frame)
    views = [name for name in expected if name not in OTHERS]
    alone = marginal(output="views").fit(matrix(frame, NUMBERS), Y)
    assert_array_equal(matrix(output, views), alone.transform(matrix(frame, NUMBERS)))
    for name in OTHERS:
        same_column(output[name], frame[name])


@library
def test_back_from_views(library: str) -> None:
    frame = FRAMES[library]
    fitted = TableStretch(marginal(output="views")).fit(frame, Y)
    output = fitted.transform(frame)
    for view in (None, "value", "rank", "target"):
        back = fitted.inverse_transform(output, view=view)
        assert list(back.columns) == list(frame.columns)
        assert_allclose(matrix(back, NUMBERS), matrix(frame, NUMBERS), rtol=1e-5, atol=1e-7)
    with pytest.raises(ValueError, match="view must be one of"):
        fitted.inverse_transform(output, view="blend")


@pytest.mark.parametrize("text", ["price_value", "price_rank"])
def test_a_view_never_replaces_another_column(text: str) -> None:
    frame = pd.DataFrame({"price": np.arange(20.0), text: ["a", "b"] * 10})
    with pytest.raises(ValueError, match=text):
        TableStretch(unsupervised(output="views")).fit(frame).transform(frame)
    TableStretch(unsupervised(output="blend")).fit(frame).transform(frame)


# Back again


@every
@library
def test_back_again(make: Any, library: str) -> None:
    frame = FRAMES[library]
    fitted = TableStretch(make()).fit(frame, Y)
    back = fitted.inverse_transform(fitted.transform(frame))
    assert type(back) is type(frame)
    assert list(back.columns) == list(frame.columns)
    assert_allclose(matrix(back, NUMBERS), matrix(frame, NUMBERS), rtol=1e-9, atol=1e-12)
    for name in OTHERS:
        same_column(back[name], frame[name])


def test_back_needs_all_columns() -> None:
    fitted = TableStretch(unsupervised()).fit(FRAMES["pandas"])
    output = fitted.transform(FRAMES["pandas"])
    with pytest.raises(ValueError, match=r"X lacks the columns \['rooms'\]"):
        fitted.inverse_transform(output.drop(columns="rooms"))
    reordered = output[output.columns[::-1]]
    back = fitted.inverse_transform(reordered)
    assert_allclose(matrix(back, NUMBERS), matrix(FRAMES["pandas"], NUMBERS), rtol=1e-9, atol=1e-12)


# Which columns are numbers


def test_what_counts_as_a_number_in_pandas() -> None:
    frame = pd.DataFrame(
        {
            "float": np.arange(30.0),
            "float32": np.arange(30, dtype=np.float32),
            "small": np.arange(30, dtype=np.uint8),
            "nullable": pd.array([None, *range(29)], dtype="Int64"),
            "Float32": pd.array(np.arange(30), dtype="Float32"),
            "bool": np.arange(30) % 2 == 0,
            "boolean": pd.array([None, True, False] * 10, dtype="boolean"),
            "object": pd.Series([1.5, "x", None] * 10, dtype=object),
            "span": pd.to_timedelta(np.arange(30), unit="h"),
            "moment": pd.date_range("2020", periods=30, tz="Europe/Rome"),
            "category": pd.Series(range(30), dtype="category"),
            "complex": np.arange(30) * 1j,
        }
    )
    fitted = TableStretch(unsupervised()).fit(frame)
    assert fitted.numeric_columns_ == ["float", "float32", "small", "nullable", "Float32"]
    output = fitted.transform(frame)
    assert np.isnan(output["nullable"].iloc[0])
    assert output["nullable"].max() == 1
    pd.testing.assert_frame_equal(output.iloc[:, 5:], frame.iloc[:, 5:])
    TableStretch(conditional()).fit(frame, np.arange(30.0) ** 2 + 0.5)


def test_what_counts_as_a_number_in_polars() -> None:
    frame = pl.DataFrame(
        {
            "float": np.arange(30.0),
            "int": [None, *range(29)],
            "small": pl.Series(range(30), dtype=pl.UInt8),
            "decimal": pl.Series(range(30)).cast(pl.Decimal(10, 2)),
            "text": ["a", "b", None] * 10,
            "bool": [True, False, None] * 10,
            "day": [date(2020, 1, 1 + i) for i in range(30)],
            "list": [[1, 2]] * 30,
            "nothing": [None] * 30,
        }
    )
    fitted = TableStretch(unsupervised()).fit(frame)
    assert fitted.numeric_columns_ == ["float", "int", "small", "decimal"]
    output = fitted.transform(frame)
    assert_allclose(np.asarray(output["decimal"]), np.asarray(output["float"]))
    assert output[:, 4:].equals(frame[:, 4:])


def test_numbers_only() -> None:
    for frame in (FRAMES["pandas"][NUMBERS], FRAMES["polars"].select(NUMBERS)):
        output = TableStretch(conditional()).fit_transform(frame, Y)
        assert_array_equal(matrix(output, NUMBERS), conditional().fit_transform(matrix(frame, NUMBERS), Y))


def test_single_precision_stays() -> None:
    frame = pd.DataFrame({"a": np.arange(20, dtype=np.float32), "b": ["x"] * 20})
    assert TableStretch(unsupervised()).fit_transform(frame)["a"].dtype == np.float32


# Targets, weights and groups


def test_an_unsupervised_stretch_needs_no_target() -> None:
    frame = FRAMES["pandas"]
    without, with_target = TableStretch(unsupervised()).fit(frame), TableStretch(unsupervised()).fit(frame, Y)
    pd.testing.assert_frame_equal(without.transform(frame), with_target.transform(frame))
    assert not without.__sklearn_tags__().target_tags.required


def test_a_supervised_stretch_needs_a_target() -> None:
    for transformer in (TableStretch(), TableStretch(marginal())):
        assert transformer.__sklearn_tags__().target_tags.required
        with pytest.raises(ValueError, match="requires y to be passed"):
            transformer.fit(FRAMES["pandas"])


def test_the_default_is_the_supervised_stretch() -> None:
    frame = FRAMES["pandas"]
    fitted = TableStretch().fit(frame, Y)
    assert fitted.stretch is None
    assert type(fitted.stretch_) is SupervisedStretchTransformer
    assert fitted.stretch_.get_params() == SupervisedStretchTransformer().get_params()


@every
def test_weights(make: Any) -> None:
    frame = FRAMES["pandas"]
    weighted = TableStretch(make()).fit(frame, Y, sample_weight=WEIGHT)
    more = context_of(frame) if make is conditional else {}
    alone = make().fit(matrix(frame, NUMBERS), Y, sample_weight=WEIGHT, **more)
    expected = alone.transform(matrix(frame, NUMBERS))
    assert_array_equal(matrix(weighted.transform(frame), NUMBERS), expected)
    plain = TableStretch(make()).fit_transform(frame, Y)
    assert not np.allclose(matrix(plain, NUMBERS), expected, equal_nan=True)


@pytest.mark.parametrize("make", [marginal, conditional])
def test_groups(make: Any) -> None:
    frame = FRAMES["pandas"]
    splits = list(GroupKFold(3).split(frame, Y, GROUPS))
    grouped = TableStretch(make(cv=GroupKFold(3))).fit(frame, Y, groups=GROUPS)
    by_hand = TableStretch(make(cv=splits)).fit(frame, Y)
    pd.testing.assert_frame_equal(grouped.transform(frame), by_hand.transform(frame))
    other = TableStretch(make(cv=every_kth(N, 3))).fit_transform(frame, Y)
    assert not grouped.transform(frame).equals(other)


@pytest.mark.parametrize("y", [Y > 0, np.where(Y > 0, "up", "down"), np.column_stack([Y, -Y])])
def test_targets_of_other_kinds(y: Any) -> None:
    frame = FRAMES["pandas"]
    output = TableStretch(conditional(teacher=None, n_curves=10, cv=2)).fit_transform(frame, y)
    assert list(output.columns) == list(frame.columns)
    assert output["price"].between(0, 1).all()


@pytest.fixture
def routing() -> Iterator[None]:
    with config_context(enable_metadata_routing=True):
        yield


@pytest.mark.usefixtures("routing")
def test_weights_and_groups_are_routed() -> None:
    frame = FRAMES["pandas"][NUMBERS].fillna(0.0)
    table = TableStretch(marginal(cv=GroupKFold(3))).set_fit_request(sample_weight=True, groups=True)
    pipe = make_pipeline(table, Ridge().set_fit_request(sample_weight=False))
    pipe.fit(frame, Y, sample_weight=WEIGHT, groups=GROUPS)
    with config_context(enable_metadata_routing=False):
        expected = TableStretch(marginal(cv=GroupKFold(3)))
        expected.fit(frame, Y, sample_weight=WEIGHT, groups=GROUPS)
    pd.testing.assert_frame_equal(pipe[:-1].transform(frame), expected.transform(frame))


# As an estimator


@every
def test_in_a_pipeline(make: Any) -> None:
    frame = FRAMES["pandas"][["city", "price", "rooms"]]
    encode = make_column_transformer(
        (OneHotEncoder(), make_column_selector(dtype_exclude="number")), remainder="passthrough"
    )
    pipe = make_pipeline(TableStretch(make()), encode, Ridge()).fit(frame, Y)
    stretched = TableStretch(make()).fit_transform(frame, Y)
    dummies = (DATA["city"][:, None] == np.unique(DATA["city"])).astype(float)
    by_hand = np.column_stack([dummies, stretched[["price", "rooms"]]])
    assert_allclose(pipe.predict(frame), Ridge().fit(by_hand, Y).predict(by_hand))
    assert list(pipe[:-1].get_feature_names_out())[-2:] == ["remainder__price", "remainder__rooms"]


def test_in_a_search() -> None:
    frame = FRAMES["pandas"][["price", "rooms"]]
    pipe = make_pipeline(TableStretch(marginal()), Ridge())
    grid = {"tablestretch__stretch__n_bins": [2, 8], "tablestretch__stretch__output": ["blend", "views"]}
    search = GridSearchCV(pipe, grid, cv=2).fit(frame, Y)
    assert np.all(np.isfinite(search.cv_results_["mean_test_score"]))


def test_parameters_clone_and_pickle() -> None:
    frame = FRAMES["pandas"]
    stretch = marginal()
    transformer = TableStretch(stretch)
    transformer.set_params(stretch__n_bins=3)
    assert stretch.n_bins == 3
    fitted = clone(transformer).fit(frame, Y)
    assert list(fitted.stretch_.n_bins_) == [3, 3, 3]
    assert fitted.stretch_ is not fitted.stretch
    assert not hasattr(fitted.stretch, "maps_")
    thawed = pickle.loads(pickle.dumps(fitted))
    pd.testing.assert_frame_equal(thawed.transform(frame), fitted.transform(frame))
    pd.testing.assert_frame_equal(clone(fitted).fit(frame, Y).transform(frame), fitted.transform(frame))
    assert "TableStretch" in fitted._repr_html_()


@pytest.mark.parametrize("wanted", ["pandas", "polars", "default"])
@library
def test_output_containers(library: str, wanted: str) -> None:
    frame = FRAMES[library]
    fitted = TableStretch(unsupervised(output="views")).set_output(transform=wanted).fit(frame)
    output = fitted.transform(frame)
    assert type(output) is type(FRAMES[library if wanted == "default" else wanted])
    assert list(output.columns) == list(fitted.get_feature_names_out())
    expected = TableStretch(unsupervised(output="views")).fit_transform(frame)
    names = [name for name in output.columns if name not in OTHERS]
    assert_array_equal(matrix(output, names), matrix(expected, names))


def test_a_stretch_with_containers_of_its_own_does_no_harm() -> None:
    frame = FRAMES["pandas"]
    own = TableStretch(unsupervised().set_output(transform="polars")).fit_transform(frame)
    pd.testing.assert_frame_equal(own, TableStretch(unsupervised()).fit_transform(frame))
    with config_context(transform_output="pandas"):
        everywhere = TableStretch(unsupervised()).fit(frame).transform(frame)
    pd.testing.assert_frame_equal(everywhere, own)


def test_names_seen() -> None:
    fitted = TableStretch(unsupervised()).fit(FRAMES["polars"])
    assert fitted.n_features_in_ == 7
    assert list(fitted.feature_names_in_) == list(FRAMES["polars"].columns)


# Refusals


@pytest.mark.parametrize("table", [np.ones((5, 2)), [[1.0, 2.0]], pd.Series([1.0, 2.0])])
def test_only_frames(table: Any) -> None:
    with pytest.raises(
        TypeError,
        match=r"TableStretch takes a DataFrame of pandas or polars, got \w+. For an array of numbers",
    ):
        TableStretch(unsupervised()).fit(table)
    fitted = TableStretch(unsupervised()).fit(FRAMES["pandas"])
    with pytest.raises(TypeError, match="TableStretch takes a DataFrame"):
        fitted.transform(table)


def test_going_back_takes_frames_only() -> None:
    fitted = TableStretch(unsupervised()).fit(FRAMES["pandas"])
    with pytest.raises(TypeError, match="TableStretch takes a DataFrame of pandas or polars, got ndarray"):
        fitted.inverse_transform(np.ones((5, 7)))


def test_names_differ_and_are_strings() -> None:
    twice = pd.DataFrame([[1.0, 2.0], [3.0, 4.0]], columns=["a", "a"])
    with pytest.raises(ValueError, match=r"column names must differ, got \['a'\] more than once"):
        TableStretch(unsupervised()).fit(twice)
    for names in ([0, 1], ["a", 1], [("a", 1), ("a", 2)]):
        frame = pd.DataFrame([[1.0, 2.0], [3.0, 4.0]])
        frame.columns = pd.Index(names)
        with pytest.raises(TypeError, match="column names must be strings, got "):
            TableStretch(unsupervised()).fit(frame)


@library
def test_no_numbers_at_all(library: str) -> None:
    with pytest.raises(ValueError, match=r"X has no numeric columns to stretch, only \['city', 'sold'\]"):
        TableStretch(unsupervised()).fit(FRAMES[library][["city", "sold"]])


@library
def test_columns_missing_added_or_reordered(library: str) -> None:
    frame = FRAMES[library]
    fitted = TableStretch(unsupervised()).fit(frame)
    with pytest.raises(ValueError, match="Feature names must be in the same order"):
        fitted.transform(frame[list(frame.columns)[::-1]])
    with pytest.raises(ValueError, match=r"(?s)now missing.*city"):
        fitted.transform(frame[[name for name in frame.columns if name != "city"]])
    more = frame.assign(more=1.0) if library == "pandas" else frame.with_columns(pl.lit(1.0).alias("more"))
    with pytest.raises(ValueError, match=r"(?s)unseen at fit time.*more"):
        fitted.transform(more)


def test_numbers_that_became_text() -> None:
    fitted = TableStretch(unsupervised()).fit(FRAMES["pandas"])
    changed = FRAMES["pandas"].astype({"rooms": str}).replace({"rooms": {"1": "one"}})
    with pytest.raises(ValueError, match="'rooms'"):
        fitted.transform(changed)


def test_infinities_are_refused_by_name() -> None:
    frame = FRAMES["pandas"].assign(price=np.inf)
    with pytest.raises(ValueError, match=r"First in column 'price', row 0: inf"):
        TableStretch(unsupervised()).fit(frame)


def test_nothing_before_fit() -> None:
    for method in ("transform", "inverse_transform"):
        with pytest.raises(NotFittedError):
            getattr(TableStretch(), method)(FRAMES["pandas"])
    with pytest.raises(NotFittedError):
        TableStretch().get_feature_names_out()
