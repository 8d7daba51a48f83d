"""The table of what a fit found."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from samples import column, every_kth, noisy_target

from tabstretch import StretchTransformer, SupervisedStretchTransformer, dirichlet_energy
from tabstretch._column import ColumnFit
from tabstretch._summary import steepest_share, summary_row

N = 200
FRAME = pd.DataFrame(
    {
        "signal": column("normal", N),
        "few": column("ties", N) > 4,
        "constant": np.full(N, 3.0),
        "empty": np.full(N, np.nan),
        "noise": column("normal", N, seed=9),
    }
).astype(float)
Y = np.tanh(4 * FRAME["signal"]) + 0.05 * noisy_target(column("normal", N, seed=3))


def test_a_row_for_every_column() -> None:
    table = SupervisedStretchTransformer(8).fit(FRAME, Y).summary()
    assert isinstance(table, pd.DataFrame)
    assert list(table.index) == list(FRAME.columns)
    assert list(table["n_bins"]) == [8, 1, 0, 0, 8]
    numbers = ["total_variation", "energy_before", "energy_after", "steepest_tenth", "shrinkage"]
    assert set(table.columns) == {"n_bins", *numbers, "fallback"}
    assert table.loc[["constant", "empty"], numbers].isna().all(axis=None)
    assert table.loc[["signal", "few", "noise"], numbers].notna().all(axis=None)


def test_fallbacks_have_reasons() -> None:
    fitted = SupervisedStretchTransformer(8).fit(FRAME, Y)
    assert fitted.fallback_[0] is None
    assert fitted.fallback_[2:] == ["one distinct value", "no values", "variation no larger than noise"]
    assert (
        SupervisedStretchTransformer(8, shrinkage=0).fit(FRAME, Y).fallback_[1]
        == "2 distinct values allow only 1 of 8 bins"
    )
    told = fitted.summary()["fallback"]
    assert pd.isna(told["signal"])
    assert told["empty"] == "no values"
    unsupervised = StretchTransformer(8).fit(FRAME).fallback_
    assert unsupervised[1] == "2 distinct values allow only 1 of 8 bins"
    assert unsupervised[2:] == ["one distinct value", "no values", None]


def test_negligible_variation_is_a_reason() -> None:
    x = np.repeat([0.0, 1.0, 2.0], 20)
    y = np.tile([-1.5, 1.5], 30)  # the same mean at every x, in every fold
    splits = [
        (rows, np.setdiff1d(np.arange(60), rows)) for rows in (np.arange(60) // 2 % 2 == i for i in (0, 1))
    ]
    splits = [(np.flatnonzero(train), np.flatnonzero(~train)) for train, _ in splits]
    fitted = SupervisedStretchTransformer(2, n_neighbors=1, cv=splits, shrinkage=0).fit(x[:, None], y)
    assert fitted.fallback_ == ["negligible variation of the target"]
    assert fitted.shrinkage_[0] == 1


def test_numbers_follow_from_the_fit() -> None:
    fitted = SupervisedStretchTransformer(8, cv=every_kth(N, 4)).fit(FRAME, Y)
    row = fitted.summary().loc["signal"]
    f = np.concatenate([[0.0], np.cumsum(fitted.variation_[0])])
    edges = fitted.bin_edges_[0]
    assert_allclose(row["total_variation"], fitted.variation_[0].sum())
    assert_allclose(row["energy_before"], dirichlet_energy(f, (edges - edges[0]) / np.ptp(edges)))
    assert_allclose(row["energy_after"], dirichlet_energy(f, fitted.output_edges_[0]))
    assert row["energy_after"] < row["energy_before"]
    assert row["shrinkage"] == fitted.shrinkage_[0]


def test_the_output_range_does_not_change_the_summary() -> None:
    unit = SupervisedStretchTransformer(8).fit(FRAME, Y).summary()
    wide = SupervisedStretchTransformer(8, feature_range=(-5, 5)).fit(FRAME, Y).summary()
    pd.testing.assert_frame_equal(unit, wide)


def test_the_steepest_tenth_by_hand() -> None:
    """Bins of 5, 20 and 75 percent of the rows; steepest first: all of bin 2, then a quarter of bin 1."""
    edges, variation = np.array([0.0, 1.0, 2.0, 3.0]), np.array([0.1, 2.0, 4.0])
    widths, rows = np.array([0.1, 0.4, 0.5]), np.array([0.75, 0.2, 0.05])
    fit = ColumnFit(edges, widths, rows, variation)
    assert_allclose(steepest_share(fit), 0.5 + 0.4 / 4)
    assert_allclose(summary_row(fit)["steepest_tenth"], 0.6)


def test_a_straight_line_gives_the_steepest_tenth_a_tenth() -> None:
    x = np.linspace(0, 1, 2000)[:, None]
    table = SupervisedStretchTransformer(20).fit(x, x.ravel()).summary()
    assert_allclose(table["steepest_tenth"], 0.1, atol=0.01)
    assert_allclose(table["energy_after"] / table["energy_before"], 1, atol=0.03)


def test_without_a_target_only_bins_and_reasons_are_known() -> None:
    table = StretchTransformer(8).fit(FRAME).summary()
    assert list(table["n_bins"]) == [8, 1, 0, 0, 8]
    assert table.drop(columns=["n_bins", "fallback"]).isna().all(axis=None)


def test_arrays_get_made_up_names() -> None:
    table = StretchTransformer(8).fit(FRAME.to_numpy()).summary()
    assert list(table.index) == ["x0", "x1", "x2", "x3", "x4"]
    assert table.index.name == "feature"


def test_no_summary_before_fit() -> None:
    with pytest.raises(ValueError, match="is not fitted yet"):
        SupervisedStretchTransformer().summary()
