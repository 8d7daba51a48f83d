"""The thirteen transformations: what each is, its search space, and that only training rows matter."""

import pickle
from dataclasses import replace
from functools import cache

import numpy as np
import optuna
import pytest
from numeric_tables import numeric_dataset, ordinary, ordinary_dataset
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, PowerTransformer, QuantileTransformer, StandardScaler
from skrub import SquashingScaler

from tabstretch.study import transformations
from tabstretch.study.columns import PiecewiseLinear
from tabstretch.study.datasets import Dataset
from tabstretch.study.stretches import STRETCHES, fit_stretch
from tabstretch.study.transformations import (
    TRANSFORMATIONS,
    FittedTransformation,
    default_params,
    fit_transformation,
    suggest,
)

WITH_BINS = (*STRETCHES, "ple", "ple_t")
STANDARDISED = tuple(name for name in TRANSFORMATIONS if name not in ("minmax", "rs_sc"))

every_transformation = pytest.mark.parametrize("name", TRANSFORMATIONS)


@pytest.fixture(scope="module", params=["regression", "binclass"])
def dataset(request: pytest.FixtureRequest) -> Dataset:
    return ordinary_dataset(request.param)


@cache
def default_fit(name: str, task: str) -> FittedTransformation:
    return fit_transformation(name, ordinary_dataset(task))


def test_names() -> None:
    paper = "stretch_sup stretch_unsup minmax ple ple_t quantile rs_sc standard yeo_johnson"
    ours = "stretch_within stretch_anchored stretch_conditional stretch_views"
    assert list(TRANSFORMATIONS) == paper.split() + ours.split()
    assert set(STRETCHES) <= set(TRANSFORMATIONS)


@pytest.mark.parametrize("name", STRETCHES)
def test_the_space_of_stretches(name: str) -> None:
    trial = optuna.trial.FixedTrial({"optional_n_bins": True, "n_bins": 100000})
    assert suggest(name, trial) == {"n_bins": 100000}
    assert list(trial.distributions) == ["optional_n_bins", "n_bins"]  # yes or no is drawn first
    assert trial.distributions["optional_n_bins"].choices == (False, True)
    assert trial.distributions["n_bins"].choices == (*(2**power for power in range(1, 10)), 100000)
    assert suggest(name, optuna.trial.FixedTrial({"optional_n_bins": False})) == {"n_bins": 1}


@pytest.mark.parametrize("name", ["ple", "ple_t"])
def test_the_space_of_piecewise_linear_encodings(name: str) -> None:
    trial = optuna.trial.FixedTrial({"n_bins": 77})
    assert suggest(name, trial) == {"n_bins": 77}
    assert trial.distributions == {"n_bins": optuna.distributions.IntDistribution(2, 256)}


def test_the_others_have_nothing_to_tune() -> None:
    for name in set(TRANSFORMATIONS) - set(WITH_BINS):
        assert suggest(name, optuna.trial.FixedTrial({})) == {}
        assert default_params(name) == {}


@pytest.mark.parametrize("name", ["ple", "ple_t"])
def test_fitting_without_parameters_is_fitting_with_the_defaults(name: str) -> None:
    assert default_params(name) == {"n_bins": 48}
    dataset = ordinary_dataset(n=300)
    X = dataset.numeric["test"]
    expected = fit_transformation(name, dataset, n_bins=48).transform(X)
    assert_array_equal(fit_transformation(name, dataset).transform(X), expected)


@pytest.mark.parametrize("name", STRETCHES)
def test_stretches_have_the_bins_of_their_estimator(name: str) -> None:
    assert default_params(name) == {}
    _, stretch, _ = default_fit(name, "regression").steps
    assert stretch.n_bins == (256 if name == "stretch_unsup" else 64)


@pytest.mark.parametrize(
    ("name", "reference"),
    [
        ("standard", StandardScaler()),
        ("minmax", MinMaxScaler()),
        ("rs_sc", SquashingScaler(max_absolute_value=3.0, quantile_range=(25.0, 75.0))),
        (
            "quantile",
            make_pipeline(
                QuantileTransformer(n_quantiles=10, output_distribution="normal"), StandardScaler()
            ),
        ),
        ("yeo_johnson", make_pipeline(PowerTransformer(standardize=False), StandardScaler())),
    ],
)
def test_plain_transformations_are_those_of_their_libraries(
    name: str, reference: object, dataset: Dataset
) -> None:
    fitted = fit_transformation(name, dataset)
    reference.fit(dataset.numeric["train"])
    for X in dataset.numeric.values():
        assert_allclose(fitted.transform(X), reference.transform(X), rtol=1e-6, atol=1e-7)
    assert fitted.note is None


@pytest.mark.parametrize(
    ("n_rows", "n_quantiles"), [(6, 6), (100, 10), (900, 30), (10_500, 350), (40_000, 1000)]
)
def test_quantiles_of_all_rows(n_rows: int, n_quantiles: int) -> None:
    """By default scikit-learn looks at 10,000 rows only."""
    X = ordinary(n_rows)[:, :1]
    fitted = fit_transformation("quantile", numeric_dataset(X, X[:, 0]))
    new = ordinary(50, seed=1)[:, :1]
    edges = np.quantile(X, np.linspace(0, 1, n_quantiles))
    (quantiles,) = (step for step in fitted.steps if isinstance(step, QuantileTransformer))
    assert_allclose(quantiles.quantiles_[:, 0], edges, rtol=1e-9)
    assert np.isfinite(fitted.transform(new)).all()


@pytest.mark.parametrize("name", STRETCHES)
def test_stretches_are_standardised(name: str, dataset: Dataset) -> None:
    stretch = fit_stretch(name, dataset, n_bins=8)
    outputs = {part: stretch.transform(X) for part, X in dataset.numeric.items()}
    mean, std = outputs["train"].mean(axis=0), outputs["train"].std(axis=0)
    fitted = fit_transformation(name, dataset, n_bins=8)
    for part, X in dataset.numeric.items():
        assert_allclose(fitted.transform(X), (outputs[part] - mean) / std, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["ple", "ple_t"])
def test_encodings_are_standardised(name: str, dataset: Dataset) -> None:
    X, y = dataset.numeric["train"], dataset.y["train"]
    target = (y - y.mean()) / y.std() if dataset.task == "regression" else y
    encoding = PiecewiseLinear.of(X, 5, target if name == "ple_t" else None)
    encoded = encoding.transform(X).astype(float)
    expected = (encoding.transform(dataset.numeric["test"]) - encoded.mean(axis=0)) / encoded.std(axis=0)
    fitted = fit_transformation(name, dataset, n_bins=5)
    assert fitted.n_outputs == expected.shape[1] > 8
    assert_allclose(fitted.transform(dataset.numeric["test"]), expected, rtol=1e-4, atol=1e-5)


def test_trees_do_not_depend_on_the_unit_of_the_target() -> None:
    """In its own unit, a target of size 1e-4 would not be worth a single split."""
    dataset = ordinary_dataset("regression", n=600)
    small = replace(dataset, y={part: 1e-9 * y for part, y in dataset.y.items()})
    X = dataset.numeric["test"]
    fitted = fit_transformation("ple_t", dataset, n_bins=6)
    assert fitted.n_outputs > 12
    assert_allclose(fit_transformation("ple_t", small, n_bins=6).transform(X), fitted.transform(X), atol=1e-5)


def test_trees_see_the_target() -> None:
    dataset = ordinary_dataset("regression", n=600)
    other = replace(dataset, y={part: np.sin(y) for part, y in dataset.y.items()})
    X = dataset.numeric["test"]
    ours, theirs = (fit_transformation("ple_t", data, n_bins=6).transform(X) for data in (dataset, other))
    assert ours.shape != theirs.shape or np.abs(ours - theirs).max() > 0.1


@pytest.mark.parametrize("name", STANDARDISED)
def test_outputs_have_mean_zero_and_unit_variance(name: str, dataset: Dataset) -> None:
    Z = default_fit(name, dataset.task).transform(dataset.numeric["train"]).astype(float)
    assert_allclose(Z.mean(axis=0), 0, atol=1e-5)
    assert_allclose(Z.std(axis=0), 1, rtol=1e-4)


@every_transformation
def test_fitting_again_with_other_held_out_rows_changes_nothing(name: str, dataset: Dataset) -> None:
    train = dataset.numeric["train"]
    X = dataset.numeric["test"]
    expected = default_fit(name, dataset.task).transform(X)
    others = {part: ordinary(9, seed=seed) ** 3 for part, seed in (("val", 2), ("test", 3))}
    other_rows = replace(
        dataset,
        numeric={"train": train.copy(), **others},
        categorical={
            part: codes[-9:] if part != "train" else codes for part, codes in dataset.categorical.items()
        },
        y={part: y[-9:] if part != "train" else y for part, y in dataset.y.items()},
    )
    assert_array_equal(fit_transformation(name, other_rows).transform(X), expected)
    assert_array_equal(dataset.numeric["train"], other_rows.numeric["train"])  # nor does fitting change them


@every_transformation
def test_training_rows_do_matter(name: str) -> None:
    dataset = ordinary_dataset()
    X = dataset.numeric["test"]
    fewer = (
        {part: X[:100] for part, X in dataset.numeric.items()},
        {part: y[:100] for part, y in dataset.y.items()},
    )
    codes = {part: codes[:100] for part, codes in dataset.categorical.items()}
    smaller = replace(dataset, numeric=fewer[0], categorical=codes, y=fewer[1])
    one = default_fit(name, "regression").transform(X)
    other = fit_transformation(name, smaller).transform(X)
    assert one.shape != other.shape or np.abs(one - other).max() > 1e-3


@every_transformation
def test_the_same_after_pickling_and_for_a_single_row(name: str, dataset: Dataset) -> None:
    X = ordinary(30, seed=7)
    fitted = default_fit(name, dataset.task)
    expected = fitted.transform(X)
    assert_array_equal(X, ordinary(30, seed=7))
    assert expected.dtype == np.float32
    assert expected.shape == (30, fitted.n_outputs)
    assert fitted.name == name
    again = pickle.loads(pickle.dumps(fitted))
    assert_array_equal(again.transform(X), expected)
    assert again.n_outputs == fitted.n_outputs
    assert_allclose(fitted.transform(X[3:4]), expected[3:4], rtol=1e-5, atol=1e-6)
    assert fitted.transform(X[:0]).shape == (0, fitted.n_outputs)


@pytest.mark.parametrize("name", ["ple", "stretch_unsup", "standard"])
def test_blocks_of_rows_make_no_difference(
    name: str, dataset: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    X = dataset.numeric["train"]
    expected = fit_transformation(name, dataset).transform(X)
    monkeypatch.setattr(transformations, "_BLOCK", 7 * expected.shape[1])
    seen: list[int] = []
    through = transformations._through
    monkeypatch.setattr(
        transformations, "_through", lambda steps, X: seen.append(len(X)) or through(steps, X)
    )
    assert_allclose(fit_transformation(name, dataset).transform(X), expected, rtol=1e-4, atol=1e-5)
    assert max(seen) == 7


@pytest.fixture
def encoded_rows(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rows were encoded at once."""
    rows: list[int] = []
    transform = PiecewiseLinear.transform

    def counted(self: PiecewiseLinear, X: NDArray[np.float64]) -> NDArray[np.float32]:
        rows.append(len(X))
        return transform(self, X)

    monkeypatch.setattr(PiecewiseLinear, "transform", counted)
    return rows


@pytest.mark.parametrize("name", ["ple", "ple_t"])
def test_above_the_memory_limit_standard_is_used(
    name: str, dataset: Dataset, encoded_rows: list[int]
) -> None:
    width = fit_transformation(name, dataset).n_outputs
    n_rows = 150 + 40 + 40
    needed = 4 * n_rows * width + 1000 * width
    encoded_rows.clear()
    widths: list[int] = []

    def memory(inputs: int) -> float:
        widths.append(inputs)
        return 1000.0 * inputs

    assert fit_transformation(name, dataset, memory=memory, memory_limit=needed).note is None
    assert widths == [width]
    assert max(encoded_rows) == 150
    encoded_rows.clear()
    fitted = fit_transformation(name, dataset, memory=memory, memory_limit=needed - 1)
    assert max(encoded_rows) <= 1
    assert fitted.name == name
    assert fitted.n_outputs == 4
    X = dataset.numeric["test"]
    assert_array_equal(fitted.transform(X), fit_transformation("standard", dataset).transform(X))
    assert fitted.note == (
        f"{name} would make {width} inputs of 4 columns and need {4 * n_rows * width / 1e9:.3g} GB for 230 "
        f"rows and {width / 1e6:.3g} GB for the network, more than the limit of {(needed - 1) / 1e9:.3g} GB: "
        "standard was used instead"
    )


def test_the_memory_of_rows_counts_without_a_network(dataset: Dataset) -> None:
    width = fit_transformation("ple", dataset).n_outputs
    assert fit_transformation("ple", dataset, memory_limit=4 * 230 * width).note is None
    note = str(fit_transformation("ple", dataset, memory_limit=4 * 230 * width - 1).note)
    assert "GB for 230 rows, more than the limit" in note
    assert fit_transformation("standard", dataset, memory_limit=0).note is None


def test_errors_say_the_way_out(dataset: Dataset) -> None:
    with pytest.raises(ValueError, match="unknown transformation 'z', known are stretch_sup, stretch_unsup"):
        fit_transformation("z", dataset)
    with pytest.raises(ValueError, match="unknown transformation 'z'"):
        default_params("z")
    with pytest.raises(ValueError, match="unknown transformation 'z'"):
        suggest("z", optuna.trial.FixedTrial({}))
    with pytest.raises(ValueError, match="minmax has no bins, got n_bins=8; leave n_bins out"):
        fit_transformation("minmax", dataset, n_bins=8)
    with pytest.raises(ValueError, match="n_bins of ple must be at least 2, got 1"):
        fit_transformation("ple", dataset, n_bins=1)
    with pytest.raises(ValueError, match="n_bins of stretch_sup must be at least 1, got 0"):
        fit_transformation("stretch_sup", dataset, n_bins=0)
    fitted = fit_transformation("standard", dataset)
    with pytest.raises(ValueError, match=r"standard was fitted on 4 columns, got shape \(2, 3\)"):
        fitted.transform(np.zeros((2, 3)))
    with pytest.raises(ValueError, match=r"column 1 is nan in row 0 \(both from 0\)"):
        fitted.transform(np.array([[0, np.nan, 0, 0]]))
