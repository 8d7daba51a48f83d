"""TableStretch: a whole mixed data frame in, the same with its numbers stretched out."""

from datetime import date
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from mixed_tables import (
    DATA,
    FRAMES,
    NUMBERS,
    OTHERS,
    N,
    Y,
    conditional,
    context_of,
    every,
    library,
    marginal,
    matrix,
    same_column,
    unsupervised,
)
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble import HistGradientBoostingRegressor

from tabstretch import TableStretch

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
    x, up = rng.normal(size=1200), rng.random(1200) < 0.5
    frame = pd.DataFrame({"way": np.where(up, "up", "down"), "x": x, "noise": rng.normal(size=1200)})
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
