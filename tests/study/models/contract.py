"""What every network of a study must do: subclass `NetworkContract`, name it `Test…`, set `model`."""

from __future__ import annotations

import pickle
import random
from typing import Any

import numpy as np
import optuna
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

from tabstretch.study.inputs import Inputs
from tabstretch.study.models import Model
from tabstretch.study.training import Budget, Fitted

Array = NDArray[Any]
ROWS = {"train": 320, "val": 120, "test": 120}
TASKS = ("regression", "binclass", "multiclass")


def made_inputs(
    task: str, numeric: dict[str, Array], signal: dict[str, Array], codes: dict[str, Array] | None = None
) -> Inputs:
    """Inputs whose target is the signal, or which third or half of its values it is in. Codes are below 5."""
    mean, scale = 0.0, 1.0
    if task == "regression":
        mean, scale = float(signal["train"].mean()), float(signal["train"].std())
        y = {part: ((values - mean) / scale).astype(np.float32) for part, values in signal.items()}
    else:
        cuts = np.quantile(signal["train"], [0.5] if task == "binclass" else [1 / 3, 2 / 3])
        y = {part: np.digitize(values, cuts) for part, values in signal.items()}
    return Inputs(
        task=task,
        numeric={part: values.astype(np.float32) for part, values in numeric.items()},
        categorical=codes or {part: np.zeros((len(values), 0), np.int64) for part, values in numeric.items()},
        y=y,
        n_categories=(5,) if codes else (),
        n_outputs={"regression": 1, "binclass": 2, "multiclass": 3}[task],
        target_mean=mean,
        target_scale=scale,
    )


def rings(task: str, width: int = 3) -> Inputs:
    """How far from the centre a point is: of no use to a linear model."""
    rng = np.random.default_rng(0)
    numeric = {part: rng.normal(size=(n_rows, width)) for part, n_rows in ROWS.items()}
    return made_inputs(task, numeric, {part: np.hypot(*X[:, :2].T) for part, X in numeric.items()})


def noise() -> Inputs:
    """Nothing to learn."""
    rng = np.random.default_rng(0)
    numeric = {part: rng.normal(size=(n_rows, 4)) for part, n_rows in ROWS.items()}
    return made_inputs("regression", numeric, {part: rng.normal(size=n) for part, n in ROWS.items()})


def categories(n_numeric: int) -> Inputs:
    """A target that a category decides, not by the order of codes; code 4 is not in the training part."""
    rng = np.random.default_rng(0)
    codes = {part: rng.integers(4 + (part == "test"), size=(n_rows, 1)) for part, n_rows in ROWS.items()}
    numeric = {part: rng.normal(size=(n_rows, n_numeric)) for part, n_rows in ROWS.items()}
    signal = {part: np.isin(values[:, 0], [0, 3]).astype(float) for part, values in codes.items()}
    inputs = made_inputs("regression", numeric, signal, codes)
    y = {part: values.astype(np.int64) for part, values in signal.items()}
    return Inputs("binclass", inputs.numeric, codes, y, (5,), 2)


def rows(inputs: Inputs, part: str) -> tuple[Array, Array]:
    """What `Fitted.predict` takes."""
    return inputs.numeric[part], inputs.categorical[part]


def score(fitted: Fitted, inputs: Inputs, part: str) -> float:
    """Accuracy, or the mean absolute error in units of the target."""
    predicted = fitted.predict(*rows(inputs, part))
    if inputs.is_regression:
        target = inputs.y[part].astype(np.float64) * inputs.target_scale + inputs.target_mean
        return float(np.abs(predicted - target).mean())
    return float((predicted.argmax(1) == inputs.y[part]).mean())


def random_state() -> tuple[Any, ...]:
    """State of all global generators."""
    return random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state().tolist()  # noqa: NPY002


class NetworkContract:
    """The tests. `small` replaces defaults that would be slow to train, or too slow to learn."""

    model: Model
    small: dict[str, Any] = {}  # noqa: RUF012
    learning = Budget(max_epochs=60, patience=60, batch_size=64)
    short = Budget(max_epochs=3, patience=3, batch_size=64)

    def fit(self, inputs: Inputs, seeds: list[int], budget: Budget) -> list[Fitted]:
        fitted = self.model.fit(inputs, {**self.model.DEFAULTS, **self.small}, seeds, budget)
        for each in fitted:
            if isinstance(each, Exception):
                raise each
        return fitted

    @pytest.mark.parametrize("task", TASKS)
    def test_learns_what_no_linear_model_can(self, task: str) -> None:
        inputs = rings(task)
        (fitted,) = self.fit(inputs, [0], self.learning)
        if task == "regression":
            distance = inputs.y["test"].astype(np.float64) * inputs.target_scale
            assert score(fitted, inputs, "test") < 0.5 * np.abs(distance).mean()
        else:
            assert score(fitted, inputs, "test") > 0.5 * (1 + 1 / inputs.n_outputs)

    @pytest.mark.parametrize("task", TASKS)
    def test_predicts_numbers_or_probabilities(self, task: str) -> None:
        inputs = rings(task)
        (fitted,) = self.fit(inputs, [0], self.short)
        predicted = fitted.predict(*rows(inputs, "test"))
        n_rows = len(inputs.y["test"])
        assert predicted.dtype == np.float64
        assert np.isfinite(predicted).all()
        if task == "regression":
            assert predicted.shape == (n_rows,)
            assert abs(predicted.mean() - inputs.target_mean) < inputs.target_scale
        else:
            assert predicted.shape == (n_rows, inputs.n_outputs)
            assert (predicted >= 0).all()
            assert_allclose(predicted.sum(1), 1.0, rtol=1e-6)

    def test_a_seed_decides_the_result_bit_for_bit(self) -> None:
        inputs = rings("multiclass")
        first, again = (self.fit(inputs, [1], self.short)[0] for _ in range(2))
        (other,) = self.fit(inputs, [2], self.short)
        predicted = first.predict(*rows(inputs, "test"))
        assert_array_equal(again.predict(*rows(inputs, "test")), predicted)
        assert np.abs(other.predict(*rows(inputs, "test")) - predicted).max() > 1e-3

    def test_a_seed_gives_the_same_alone_and_among_others(self) -> None:
        inputs = rings("multiclass")
        many = self.fit(inputs, [5, 1, 3], self.short)
        for seed, among in zip([5, 1, 3], many, strict=True):
            (alone,) = self.fit(inputs, [seed], self.short)
            expected = alone.predict(*rows(inputs, "test"))
            assert_allclose(among.predict(*rows(inputs, "test")), expected, rtol=1e-3, atol=1e-4)

    @pytest.mark.parametrize("task", TASKS)
    def test_val_score_is_that_of_the_returned_network(self, task: str) -> None:
        inputs = rings(task)
        for fitted in self.fit(inputs, [0, 1], Budget(max_epochs=8, patience=8, batch_size=64)):
            assert_allclose(fitted.val_score, score(fitted, inputs, "val"), rtol=1e-5)
            assert 1 <= fitted.best_epoch <= fitted.epochs <= 8

    def test_stops_early_where_there_is_nothing_to_learn(self) -> None:
        inputs = noise()
        for fitted in self.fit(inputs, [0, 1, 2], Budget(max_epochs=100, patience=2, batch_size=64)):
            assert fitted.epochs < 100
            assert fitted.epochs == fitted.best_epoch + 2
            assert_allclose(fitted.val_score, score(fitted, inputs, "val"), rtol=1e-5)

    @pytest.mark.parametrize("n_numeric", [2, 0])
    def test_learns_from_categories_with_and_without_numbers(self, n_numeric: int) -> None:
        inputs = categories(n_numeric)
        (fitted,) = self.fit(inputs, [0], self.learning)
        assert score(fitted, inputs, "val") > 0.95
        assert np.isfinite(fitted.predict(*rows(inputs, "test"))).all()  # with a code that was never trained

    def test_takes_the_wide_input_of_piecewise_linear_encoding(self) -> None:
        narrow = rings("regression")
        edges = np.linspace(-2, 2, 30)
        wide = {
            part: np.clip((X[..., None] - edges) / (edges[1] - edges[0]), 0, 1)
            for part, X in narrow.numeric.items()
        }
        numeric = {part: values.reshape(len(values), -1).astype(np.float32) for part, values in wide.items()}
        inputs = Inputs("regression", numeric, narrow.categorical, narrow.y, (), 1)
        (fitted,) = self.fit(inputs, [0], Budget(max_epochs=10, patience=10, batch_size=64))
        assert score(fitted, inputs, "test") < 0.9 * np.abs(inputs.y["test"]).mean()

    def test_a_pickle_predicts_the_same(self) -> None:
        inputs = categories(2)
        (fitted,) = self.fit(inputs, [0], self.short)
        copy = pickle.loads(pickle.dumps(fitted))
        assert_array_equal(copy.predict(*rows(inputs, "test")), fitted.predict(*rows(inputs, "test")))
        assert (copy.epochs, copy.best_epoch, copy.val_score) == (
            fitted.epochs,
            fitted.best_epoch,
            fitted.val_score,
        )

    def test_leaves_the_global_generators_alone(self) -> None:
        before = random_state()
        self.fit(rings("regression"), [0, 1], self.short)
        assert random_state() == before

    def test_drawn_configurations_train(self) -> None:
        """One epoch of few rows: the largest have thousands of hidden units."""
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
        inputs = categories(2)
        for _ in range(3):
            params = self.model.suggest(study.ask())
            assert params.keys() == self.model.DEFAULTS.keys() or not self.model.DEFAULTS
            (fitted,) = self.model.fit(inputs, params, [0], Budget(max_epochs=1, batch_size=160))
            assert isinstance(fitted, Fitted) or "diverged" in str(fitted)

    def test_memory_grows_with_the_inputs(self) -> None:
        params = {**self.model.DEFAULTS, **self.small}
        narrow, wide, large = (
            self.model.memory(width, batch, params) for width, batch in [(20, 256), (2000, 256), (20, 1024)]
        )
        assert 0 < narrow < wide
        assert narrow < large
