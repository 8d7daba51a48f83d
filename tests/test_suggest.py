"""`tabstretch.suggest`: what it says of columns whose answer is known, and what it takes."""

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_diabetes
from sklearn.model_selection import GroupKFold
from strategies import Table, tables

from tabstretch import suggest
from tabstretch._advice import STANDARDISE, SUPERVISED, UNSUPERVISED, Suggestions

N = 1000
RNG = np.random.default_rng(0)
X = RNG.uniform(-1, 1, size=N)
NOISE = RNG.normal(size=N)
STEP = np.tanh(20 * X) + 0.2 * NOISE


def one(x: Any, y: Any = None, **options: Any) -> Any:
    """The row of a table of one column."""
    (row,) = suggest(np.asarray(x).reshape(-1, 1), y, **options).columns
    return row


def test_a_step_asks_for_a_supervised_stretch() -> None:
    row = one(X, STEP)
    assert (row.suggestion, row.n_bins) == (SUPERVISED, 64)
    assert row.r2 > 0.8
    assert row.unevenness > 0.4
    assert "of the target's change" in row.why


def test_noise_does_not() -> None:
    found = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        shapes = [rng.normal(size=500), rng.uniform(size=500), np.exp(2 * rng.normal(size=500))]
        table = suggest(np.column_stack(shapes), rng.normal(size=500))
        found += [row.suggestion for row in table.columns]
    assert found.count(SUPERVISED) <= 2  # of 180
    assert found[2::3].count(UNSUPERVISED) >= 55  # the one with a long tail
    assert found[0::3].count(STANDARDISE) >= 58


def test_a_long_tail_without_signal_asks_for_an_unsupervised_stretch() -> None:
    row = one(np.exp(2 * NOISE), X)
    assert (row.suggestion, row.n_bins) == (UNSUPERVISED, 256)
    assert row.skewness > 0.5
    assert "of the range" in row.why


def test_a_line_needs_nothing_and_a_long_tail_makes_no_curve_of_it() -> None:
    row = one(X, X + 0.1 * NOISE)
    assert (row.suggestion, row.n_bins) == (STANDARDISE, None)
    assert "evenly" in row.why
    tail = np.exp(1.5 * RNG.normal(size=5000))
    assert one(tail, tail).suggestion == UNSUPERVISED
    assert one(tail, np.log(tail)).suggestion == SUPERVISED


@pytest.mark.parametrize(
    ("x", "n_distinct", "why"),
    [
        (np.full(50, 3.0), 1, "One value: nothing to gain, leave it out."),
        (np.full(50, np.nan), 0, "No values: nothing to gain, leave it out."),
        (np.arange(50.0) % 2, 2, "Nothing to gain: only 2 distinct values."),
        (np.arange(50.0) % 7, 7, "Nothing to gain: only 7 distinct values."),
    ],
)
def test_columns_with_nothing_to_stretch(x: np.ndarray, n_distinct: int, why: str) -> None:
    row = one(x, np.arange(50.0) + 0.5)
    assert (row.suggestion, row.n_bins, row.n_distinct, row.why) == (STANDARDISE, None, n_distinct, why)
    assert np.isnan(row.r2) == (n_distinct < 2)


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_few_rows(n: int) -> None:
    row = one(np.arange(float(n)), np.arange(n) + 0.5)
    assert row.suggestion == STANDARDISE
    assert row.n_distinct == n


def test_bins_are_fewer_than_distinct_values() -> None:
    row = one(np.round(20 * X), STEP)
    assert row.n_distinct == 41
    assert (row.suggestion, row.n_bins) == (SUPERVISED, 40)


def test_ties() -> None:
    x = np.where(RNG.random(N) < 0.8, 0.0, X)
    row = one(x, np.where(x == 0, 0.0, 1.0) + 0.1 * NOISE)
    assert 0.75 < row.top_share < 0.85
    assert np.isfinite([row.skewness, row.middle_share, row.r2, row.unevenness]).all()


@pytest.mark.parametrize("scale", [1e-310, 1e-200, 1e150, 1e307])
def test_magnitude_does_not_matter(scale: float) -> None:
    expected, found = one(X, STEP), one(X * scale, STEP)
    assert found.suggestion == expected.suggestion
    np.testing.assert_allclose(
        [found.skewness, found.r2, found.unevenness],
        [expected.skewness, expected.r2, expected.unevenness],
        atol=1e-3,
    )
    assert one(X, STEP * scale).suggestion == expected.suggestion


def test_float32_and_large_integers() -> None:
    assert one(X.astype(np.float32), STEP).suggestion == SUPERVISED
    codes = np.arange(N) + 2**60  # what float64 cannot tell apart counts once
    row = one(codes, STEP)
    assert row.n_distinct == len(np.unique(codes.astype(float))) < N


def test_classes_with_a_rare_one() -> None:
    y = np.where(X > 0.1, "b", "a").astype(object)
    y[:3] = "rare"
    for labels in (y, np.where(X > 0.1, "b", "a")):
        row = one(X, labels)
        assert row.suggestion == SUPERVISED
        assert row.r2 > 0.7
    y[1:3] = "a"
    assert one(X, y).suggestion == SUPERVISED


def test_several_outputs() -> None:
    row = one(X, np.column_stack([STEP, NOISE]))
    assert 0.3 < row.r2 < 0.6  # half of what there is
    assert row.suggestion == SUPERVISED


def test_whole_numbers_can_be_numbers() -> None:
    counts = np.round(10 * np.tanh(20 * X)).astype(int)
    as_classes = one(X, counts)
    assert "21 distinct whole numbers are taken for as many classes" in suggest(X[:, None], counts).advice
    for said in (counts % 20, counts.astype(str), counts + 0.5):
        assert "whole numbers" not in suggest(X[:, None], said).advice
    assert one(X, counts, target_type="continuous").r2 != as_classes.r2
    advice = suggest(X[:, None], counts, target_type="continuous").advice
    assert advice.startswith('SupervisedStretchTransformer(target_type="continuous") for all columns')
    with pytest.raises(ValueError, match="target_type must be"):
        one(X, counts, target_type="number")


def test_without_target_only_the_shape_is_measured() -> None:
    table = suggest(np.column_stack([X, np.exp(2 * NOISE)]))
    assert [row.suggestion for row in table.columns] == [STANDARDISE, UNSUPERVISED]
    assert all(np.isnan(row.r2) and np.isnan(row.unevenness) for row in table.columns)
    assert table.advice.startswith("StretchTransformer() for all columns, 1 of 2")


FRAME = pd.DataFrame(
    {
        "step": X,
        "city": np.where(X > 0, "Oslo", "Rome"),
        "noise": NOISE,
        "is it": X > 0,
        "when": pd.Timestamp("2020-01-01"),
        "count": pd.array(np.arange(N) % 50, dtype="Int64"),
    }
)


def test_mixed_frames_keep_names_and_leave_the_rest_alone() -> None:
    table = suggest(FRAME, STEP)
    assert [row.feature for row in table.columns] == ["step", "noise", "count"]
    assert table.not_numeric == ("city", "is it", "when")
    assert "left alone, not numbers: ['city', 'is it', 'when']" in str(table)
    only_text = suggest(FRAME[["city"]], STEP)
    assert only_text.columns == ()
    assert "no columns of numbers" in str(only_text)
    assert [row.feature for row in suggest(pd.DataFrame({3: X, 1: NOISE}), STEP).columns] == [3, 1]


def test_every_kind_of_table_gives_the_same() -> None:
    polars = pytest.importorskip("polars")
    matrix = np.column_stack([X, NOISE])
    expected = str(suggest(pd.DataFrame(matrix, columns=["a", "b"]), pd.Series(STEP)))
    assert str(suggest(polars.DataFrame({"a": X, "b": NOISE}), STEP)) == expected
    rows = suggest(matrix.tolist(), STEP.tolist()).columns
    assert [row.feature for row in rows] == ["x0", "x1"]
    assert [row.r2 for row in rows] == [row.r2 for row in suggest(matrix, STEP).columns]


def test_missing_rows_are_ignored() -> None:
    x, y = X.copy(), STEP.copy()
    x[::3] = np.nan
    row = one(x, y)
    assert row.suggestion == SUPERVISED
    assert row.n_distinct == len(np.unique(x[~np.isnan(x)]))


def test_infinity_is_refused_with_its_place() -> None:
    wrong = FRAME.assign(noise=np.where(np.arange(N) == 7, -np.inf, NOISE))
    with pytest.raises(ValueError, match=r"column 'noise', row 7: -inf"):
        suggest(wrong, STEP)
    with pytest.raises(ValueError, match=r"y contains NaN. First at row 2"):
        one(X, np.where(np.arange(N) == 2, np.nan, STEP))
    with pytest.raises(ValueError, match="max_rows must be a whole number of at least 2, got 1"):
        one(X, STEP, max_rows=1)


def test_threads_and_repetition_change_nothing() -> None:
    matrix = RNG.normal(size=(400, 12))
    y = np.tanh(9 * matrix[:, 0]) + RNG.normal(size=400)
    expected = suggest(matrix, y)
    for again in (suggest(matrix, y), suggest(matrix, y, n_jobs=3)):
        np.testing.assert_equal(again.columns, expected.columns)
        assert again.advice == expected.advice


def test_many_rows_are_sampled() -> None:
    table = suggest(X.reshape(-1, 1), STEP, max_rows=300)
    assert (table.n_rows, table.n_measured) == (N, 300)
    assert table.columns[0].n_distinct == 300
    assert "measured on 300 of 1,000 rows" in str(table)
    assert table.columns[0].suggestion == SUPERVISED
    other = suggest(X.reshape(-1, 1), STEP, max_rows=300, random_state=1)
    assert other.columns[0].r2 != table.columns[0].r2


def test_the_rows_drawn_have_nothing_to_do_with_numbers_drawn_from_the_same_seed() -> None:
    x = np.random.default_rng(0).random(N)
    sampled, whole = one(x, max_rows=300), one(x)
    assert abs(sampled.skewness - whole.skewness) < 0.2
    assert sampled.middle_share > 0.8
    assert one(x, np.tanh(20 * (x - 0.6)), max_rows=300).r2 > 0.8


def test_groups_stay_together() -> None:
    """A column that numbers the groups explains nothing of groups that were not seen."""
    group = np.arange(N) % 50
    y = RNG.normal(size=50)[group]
    x = group + 0.1 * RNG.random(N)
    splits = list(GroupKFold(5).split(x, y, group))
    assert one(x, y).r2 > one(x, y, cv=splits).r2 + 0.1
    assert one(x, y, cv=splits, max_rows=500).r2 < one(x, y, max_rows=500).r2
    assert one(X, STEP, cv=2).r2 != one(X, STEP, cv=9).r2


def test_the_table_goes_to_pandas() -> None:
    table = suggest(FRAME, STEP)
    frame = table.to_frame()
    assert list(frame.index) == ["step", "noise", "count"]
    assert frame.index.name == "feature"
    assert frame.attrs["advice"] == table.advice
    assert frame.loc["step", "n_bins"] == 64
    assert pd.isna(frame.loc["noise", "n_bins"])
    assert list(frame.columns) == [
        *("n_distinct", "top_share", "skewness", "middle_share", "r2", "unevenness"),
        *("suggestion", "n_bins", "why"),
    ]
    assert suggest(FRAME[["city"]]).to_frame().empty


def test_the_printed_table() -> None:
    data = load_diabetes(as_frame=True, scaled=False)
    lines = str(suggest(data.data, data.target, target_type="continuous")).splitlines()
    assert " ".join(lines[0].split()) == "column distinct top skew middle R² uneven suggestion bins why"
    assert [line.split()[0] for line in lines[1:11]] == list(data.data.columns)
    assert lines[11].startswith("In short: standardise, and stretch only the 1 of 10 columns")
    assert max(map(len, lines[:11])) < 160
    assert max(map(len, lines[11:])) <= 100
    assert (
        " ".join(lines[11:])
        == f"In short: {suggest(data.data, data.target, target_type='continuous').advice}"
    )
    assert repr(suggest(data.data)) == str(suggest(data.data))
    wide = str(suggest(RNG.normal(size=(40, 100)))).splitlines()
    assert len(wide) == 1 + 40 + 1 + 1
    assert wide[-2].startswith("… and 60 more")


@pytest.mark.parametrize(("n_equal", "shown"), [(1, "<1 %"), (3, "<1 %"), (4, "1 %")])
def test_a_share_that_is_not_zero_is_not_shown_as_zero(n_equal: int, shown: str) -> None:
    x = np.r_[np.zeros(n_equal), np.arange(1, 601 - n_equal)]
    assert f" {shown} " in str(suggest(x[:, None])).splitlines()[1]


def test_advice_for_the_table() -> None:
    few_steps = np.column_stack([X, *RNG.normal(size=(3, N))])
    assert suggest(few_steps, STEP).advice.startswith("standardise, and stretch only the 1 of 4 columns")
    assert suggest(few_steps[:, 1:], STEP).advice.startswith("standardise, there is little to gain")
    assert 'output="views"' in suggest(few_steps[:, :2], STEP).advice
    assert 'output="views"' not in suggest(np.round(few_steps[:, :2] * 20), STEP).advice


def promised(table: Suggestions, *, supervised: bool) -> None:
    for row in table.columns:
        values = [row.top_share]
        if row.n_distinct >= 1:
            values += [row.skewness, row.middle_share]
        if row.n_distinct >= 2 and supervised:
            values += [row.r2, row.unevenness]
        assert np.isfinite(values).all(), row
        assert 0 <= row.top_share <= 1
        assert row.n_distinct < 1 or (-1 <= row.skewness <= 1 and 0 <= row.middle_share <= 1)
        if supervised and row.n_distinct >= 2:
            assert row.r2 <= 1
            assert 0 <= row.unevenness <= 1
        assert (row.n_bins is None) == (row.suggestion == STANDARDISE)
        assert row.n_bins is None or 1 <= row.n_bins < row.n_distinct
        assert row.why.endswith(".")


@given(tables(max_columns=3), st.sampled_from(["none", "numbers", "classes", "outputs", "constant", "huge"]))
def test_any_finite_table_gets_its_numbers(table: Table, target: str) -> None:
    rng = np.random.default_rng(table.seed)
    y = {
        "none": None,
        "numbers": rng.normal(size=table.n_rows),
        "classes": rng.choice(["a", "b", "c"], table.n_rows),
        "outputs": rng.normal(size=(table.n_rows, 2)),
        "constant": np.full(table.n_rows, 1.5),
        "huge": rng.choice([-1e308, 1e-308, 1e308], table.n_rows) * rng.random(table.n_rows),
    }[target]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = suggest(table.X, y, target_type="auto" if target in ("none", "classes") else "continuous")
    promised(found, supervised=y is not None)
    assert str(found)
