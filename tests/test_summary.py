"""The table of what a fit found."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from samples import column, every_kth, noisy_target
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from tabstretch import StretchTransformer, SupervisedStretchTransformer, dirichlet_energy
from tabstretch._column import ColumnFit
from tabstretch._conditional import Curves, interaction_share
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
    table = SupervisedStretchTransformer(8, variation="within_fold").fit(FRAME, Y).summary()
    assert isinstance(table, pd.DataFrame)
    assert list(table.index) == list(FRAME.columns)
    assert list(table["n_bins"]) == [8, 1, 0, 0, 8]
    numbers = ["total_variation", "energy_before", "energy_after", "steepest_tenth", "shrinkage"]
    assert set(table.columns) == {"n_bins", *numbers, "marginal_variation", "interaction", "fallback"}
    assert table.loc[["constant", "empty"], numbers].isna().all(axis=None)
    assert table.loc[["signal", "few", "noise"], numbers].notna().all(axis=None)


def test_fallbacks_have_reasons() -> None:
    fitted = SupervisedStretchTransformer(8, variation="within_fold").fit(FRAME, Y)
    assert fitted.fallback_[0] is None
    assert fitted.fallback_[2:] == ["one distinct value", "no values", "variation no larger than noise"]
    assert (
        SupervisedStretchTransformer(8, variation="within_fold", shrinkage=0).fit(FRAME, Y).fallback_[1]
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
    fitted = SupervisedStretchTransformer(
        2, variation="within_fold", n_neighbors=1, cv=splits, shrinkage=0
    ).fit(x[:, None], y)
    assert fitted.fallback_ == ["negligible variation of the target"]
    assert fitted.shrinkage_[0] == 1


def test_numbers_follow_from_the_fit() -> None:
    fitted = SupervisedStretchTransformer(8, variation="within_fold", cv=every_kth(N, 4)).fit(FRAME, Y)
    row = fitted.summary().loc["signal"]
    f = np.concatenate([[0.0], np.cumsum(fitted.variation_[0])])
    edges = fitted.bin_edges_[0]
    assert_allclose(row["total_variation"], fitted.variation_[0].sum())
    assert_allclose(row["energy_before"], dirichlet_energy(f, (edges - edges[0]) / np.ptp(edges)))
    assert_allclose(row["energy_after"], dirichlet_energy(f, fitted.output_edges_[0]))
    assert row["energy_after"] < row["energy_before"]
    assert row["shrinkage"] == fitted.shrinkage_[0]


def test_the_output_range_does_not_change_the_summary() -> None:
    unit = SupervisedStretchTransformer(8, variation="within_fold").fit(FRAME, Y).summary()
    wide = (
        SupervisedStretchTransformer(8, variation="within_fold", feature_range=(-5, 5))
        .fit(FRAME, Y)
        .summary()
    )
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
    table = SupervisedStretchTransformer(20, variation="within_fold").fit(x, x.ravel()).summary()
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
        SupervisedStretchTransformer(variation="within_fold").summary()


# Conditional fits


def conditional(**params: Any) -> SupervisedStretchTransformer:
    options: dict[str, Any] = {"rank_weight": 1.0, "value_weight": 1.0, "n_curves": 100, "random_state": 0}
    options |= {"teacher": HistGradientBoostingRegressor(max_iter=30, early_stopping=False)}
    return SupervisedStretchTransformer(8, **{**options, "variation": "conditional", **params})


@pytest.mark.parametrize("variation", ["within_fold", "pooled"])
@pytest.mark.parametrize("output", ["blend", "views"])
def test_only_teachers_know_of_interactions(variation: str, output: str) -> None:
    fitted = SupervisedStretchTransformer(
        8, variation=variation, output=output, rank_weight=1.0, value_weight=1.0
    )
    table = fitted.fit(FRAME, Y).summary()
    assert table[["marginal_variation", "interaction"]].isna().all(axis=None)


def test_a_row_for_every_column_of_a_conditional_fit() -> None:
    frame = FRAME.drop(columns="empty")
    fitted = conditional().fit(frame, Y)
    table = fitted.summary()
    assert list(table.index) == list(frame.columns)
    numbers = table.drop(columns=["n_bins", "fallback"])
    assert numbers.loc["constant"].isna().all()
    # A column that no tree splits on has no steepest tenth.
    # Nor has a column that is all noise an interaction.
    assert numbers.drop(index="constant", columns=["steepest_tenth", "interaction"]).notna().all(axis=None)
    assert_allclose(table["total_variation"]["signal"], fitted.variation_[0].sum())
    assert 0 <= table["interaction"]["signal"] <= 1
    assert (table["interaction"].isna() == ~(table["shrinkage"] < 1)).all()
    assert table["fallback"]["constant"] == "one distinct value"
    assert table["shrinkage"]["noise"] > 0.5 > table["shrinkage"]["signal"]


def test_the_marginal_variation_is_that_of_a_marginal_fit() -> None:
    splits = every_kth(N, 4)
    alone = SupervisedStretchTransformer(
        8, variation="within_fold", rank_weight=1.0, value_weight=1.0, cv=splits, n_neighbors=20
    ).fit(FRAME, Y)
    frame = FRAME.drop(columns="empty")
    table = conditional(cv=splits, n_neighbors=20).fit(frame, Y).summary()
    for name in ("signal", "few", "noise"):
        assert_allclose(
            table["marginal_variation"][name], alone.summary()["total_variation"][name], rtol=1e-9
        )


@pytest.mark.parametrize("classes", [False, True])
def test_a_product_is_all_interaction_and_a_sum_none(classes: bool) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 2))
    booster = HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor
    fitted = conditional(teacher=booster(max_iter=30, early_stopping=False))
    product = X[:, 0] * X[:, 1]
    table = fitted.fit(X, product > 0 if classes else product).summary()
    assert np.all(table["interaction"] > 0.85)
    assert np.all(table["total_variation"] > 3 * table["marginal_variation"])
    if not classes:  # a probability is no sum: it cannot leave the range from 0 to 1
        table = fitted.fit(X, np.tanh(X[:, 0]) + np.tanh(2 * X[:, 1])).summary()
        assert np.all(table["interaction"] < 0.1)
    table = fitted.fit(X, X[:, 0] > 0 if classes else np.tanh(X[:, 0])).summary()
    assert table["interaction"]["x0"] < 0.05


def test_an_interaction_by_hand() -> None:
    """Two rows, one output: curves 0, 1, 2 and 0, 0, 0; then the same curve at two heights; then a cross."""

    def share(*rows: list[float]) -> float:
        curves = np.array(rows)[:, :, None]
        centred = curves - curves.mean(axis=1, keepdims=True)
        spread = centred.std(axis=0)
        nothing = np.zeros(curves.shape[1] - 1)
        return interaction_share(
            Curves(np.arange(3.0), nothing, curves.mean(axis=0), spread, np.arange(1), np.zeros(1))
        )

    assert share([0, 1, 2], [0, 0, 0]) == pytest.approx(0.5)
    assert share([0, 1, 2], [5, 6, 7]) == 0
    assert share([0, 1, 2], [2, 1, 0]) == 1
    assert share([1, 1, 1], [3, 3, 3]) == 0


def test_a_constant_target_has_no_interaction_to_tell() -> None:
    table = conditional(teacher=None).fit(FRAME[["signal", "noise"]], np.ones(N)).summary()
    assert table[["marginal_variation", "interaction"]].isna().all(axis=None)
    assert list(table["fallback"]) == ["constant target"] * 2
