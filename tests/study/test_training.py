"""The training loop: seeds do not meet, the best checkpoint is returned, and whoever diverges leaves."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal
from torch import Tensor, nn

from tabstretch.study.inputs import Inputs
from tabstretch.study.models import mlp, resnet
from tabstretch.study.training import Alone, Budget, Fitted, Network, Streams, train

SMALL = {**mlp.DEFAULTS, "d_layers": [16, 16], "lr": 3e-3}


def line(n_train: int = 200, n_val: int = 50, task: str = "regression") -> Inputs:
    """A target that is nearly a line of two columns, or its sign."""
    rng = np.random.default_rng(0)
    numeric, y = {}, {}
    for part, n_rows in [("train", n_train), ("val", n_val), ("test", 50)]:
        numeric[part] = rng.normal(size=(n_rows, 2)).astype(np.float32)
        target = numeric[part] @ [1.0, -0.5] + 0.1 * rng.normal(size=n_rows)
        y[part] = target.astype(np.float32) if task == "regression" else (target > 0).astype(np.int64)
    categorical = {part: np.zeros((len(X), 0), np.int64) for part, X in numeric.items()}
    n_outputs = 1 if task == "regression" else 2
    return Inputs(task, numeric, categorical, y, (), n_outputs, target_mean=10.0, target_scale=4.0)


def noise(n_val: int = 50) -> Inputs:
    """Nothing to learn from 30 rows."""
    rng = np.random.default_rng(1)
    inputs = line(30, n_val)
    return replace(inputs, y={part: rng.permutation(values) for part, values in inputs.y.items()})


def predicted(fitted: Fitted | Exception, inputs: Inputs) -> np.ndarray:
    assert isinstance(fitted, Fitted), fitted
    return fitted.predict(inputs.numeric["test"], inputs.categorical["test"])


def do_nothing(network: Line, outputs: Tensor) -> Tensor:
    return outputs


class Line(Network):
    """A linear layer for each seed, all from 0; a test may see and change its outputs."""

    def __init__(self, n_seeds: int, n_outputs: int, act: Callable[[Line, Tensor], Tensor]) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(n_seeds, 2, n_outputs))
        self.act = act
        self.n_steps = 0

    def forward(self, numeric: Tensor, categorical: Tensor, streams: Streams | None = None) -> Tensor:
        self.n_steps += streams is not None
        return self.act(self, torch.bmm(numeric, self.weight))


def train_lines(
    inputs: Inputs,
    n_seeds: int,
    budget: Budget,
    act: Callable[[Line, Tensor], Tensor] = do_nothing,
    learning_rate: float = 0.01,
) -> list[Fitted | Exception]:
    def build(inputs: Inputs, generators: Sequence[torch.Generator]) -> Line:
        return Line(len(generators), inputs.n_outputs, act)

    options: dict[str, Any] = {"learning_rate": learning_rate, "weight_decay": 0.0, "together": n_seeds}
    return train(build, inputs, range(n_seeds), budget, **options)


@pytest.mark.parametrize("weight_decay", [0.0, 0.1])
@pytest.mark.parametrize("task", ["regression", "binclass"])
def test_equals_a_naive_loop(task: str, weight_decay: float) -> None:
    """All rows are one batch, so that their order does not matter; all epochs improve."""
    inputs = line(task=task)
    budget = Budget(max_epochs=20, patience=20)

    def build(inputs: Inputs, generators: Sequence[torch.Generator]) -> Line:
        return Line(1, inputs.n_outputs, do_nothing)

    (fitted,) = train(build, inputs, [0], budget, learning_rate=0.01, weight_decay=weight_decay)
    weight = nn.Parameter(torch.zeros(2, inputs.n_outputs))
    optimizer = torch.optim.AdamW([weight], lr=0.01, weight_decay=weight_decay)
    X, y = torch.tensor(inputs.numeric["train"]), torch.tensor(inputs.y["train"])
    for _ in range(fitted.best_epoch):
        outputs = X @ weight
        loss = nn.MSELoss()(outputs[:, 0], y) if task == "regression" else nn.CrossEntropyLoss()(outputs, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert fitted.best_epoch > 10
    assert_allclose(fitted.network.weight[0], weight.detach(), rtol=1e-4)


@pytest.mark.parametrize("task", ["regression", "binclass"])
def test_a_seed_gives_the_same_alone_and_among_others(task: str) -> None:
    """To the end, with others that stop before it."""
    inputs = line(task=task)
    budget = Budget(max_epochs=40, patience=4, batch_size=64)
    many = mlp.fit(inputs, SMALL, range(6), budget)
    for seed in (0, 3):
        (alone,) = mlp.fit(inputs, SMALL, [seed], budget)
        assert_allclose(predicted(many[seed], inputs), predicted(alone, inputs), rtol=1e-3, atol=1e-3)
        assert many[seed].val_score == pytest.approx(alone.val_score, rel=1e-3)
    assert len({each.epochs for each in many}) > 1


def test_results_are_in_the_order_of_seeds_in_whatever_stacks() -> None:
    inputs, budget = line(), Budget(max_epochs=3, batch_size=64)

    def build(inputs: Inputs, generators: Sequence[torch.Generator]) -> mlp.MLP:
        return mlp.MLP(2, 1, SMALL, generators)

    options: dict[str, Any] = {"learning_rate": 0.01, "weight_decay": 0.0}
    together = train(build, inputs, [7, 2, 5], budget, **options, together=3)
    apart = train(build, inputs, [2, 5, 7], budget, **options, together=2)
    for one, other in zip(together, [apart[2], apart[0], apart[1]], strict=True):
        assert_allclose(predicted(one, inputs), predicted(other, inputs), rtol=1e-4)


def test_stacks_side_by_side_are_the_same_to_the_bit() -> None:
    inputs, budget = line(), Budget(max_epochs=3, batch_size=64)

    def build(inputs: Inputs, generators: Sequence[torch.Generator]) -> mlp.MLP:
        return mlp.MLP(2, 1, SMALL, generators)

    before, results = torch.get_num_threads(), []
    try:
        for n_threads in (1, 3):
            torch.set_num_threads(n_threads)
            results.append(
                train(build, inputs, range(7), budget, learning_rate=0.01, weight_decay=0.0, together=2)
            )
            assert torch.get_num_threads() == n_threads
    finally:
        torch.set_num_threads(before)
    for one, other in zip(*results, strict=True):
        assert_array_equal(predicted(one, inputs), predicted(other, inputs))


def test_stopped_seeds_leave_the_stack() -> None:
    sizes = []

    def act(network: Line, outputs: Tensor) -> Tensor:
        if network.training:
            sizes.append(len(network.weight))
        return outputs

    fitted = train_lines(noise(), 6, Budget(60, 3, 8), act, learning_rate=0.3)
    epochs = [each.epochs for each in fitted]
    assert len(set(epochs)) > 1
    n_steps = 4  # of an epoch
    assert sizes[::n_steps] == [sum(each > epoch for each in epochs) for epoch in range(max(epochs))]


def test_the_best_checkpoint_is_returned() -> None:
    weights, errors = [], []

    def act(network: Line, outputs: Tensor) -> Tensor:
        if not network.training:
            weights.append(network.weight.detach().clone())
            errors.append((outputs[..., 0] - torch.tensor(inputs.y["val"])).abs().mean(1))
        return outputs

    inputs = noise(n_val=8)
    fitted = train_lines(inputs, 3, Budget(12, 12, 8), act, learning_rate=0.1)
    assert len(errors) == 12
    for seed, each in enumerate(fitted):
        by_epoch = [error[seed].item() for error in errors]
        assert each.best_epoch == 1 + int(np.argmin(by_epoch)) < 12
        assert each.val_score == pytest.approx(4.0 * min(by_epoch))  # in units of the target
        assert_array_equal(each.network.weight[0], weights[each.best_epoch - 1][seed])


def test_a_lower_loss_is_better_among_equal_accuracies() -> None:
    inputs = line(n_val=2, task="binclass")
    (fitted,) = train_lines(inputs, 1, Budget(30, 3, 50))
    assert fitted.val_score == 1.0
    assert fitted.best_epoch == fitted.epochs == 30


def test_classes_may_be_missing_from_validation() -> None:
    inputs = line(task="binclass")
    y = {**inputs.y, "val": np.zeros_like(inputs.y["val"])}
    inputs = replace(inputs, y=y, n_outputs=3)
    (fitted,) = train_lines(inputs, 1, Budget(3, 3, 50))
    assert predicted(fitted, inputs).shape == (50, 3)


def test_divergence_before_the_first_checkpoint_is_an_error() -> None:
    (error,) = train_lines(line(), 1, Budget(5, 5, 50), learning_rate=1e30)
    assert isinstance(error, RuntimeError)
    assert str(error) == "training diverged in epoch 1: the loss is inf; learning rate 1e+30"


@pytest.mark.parametrize("n_steps_before", [2, 9])
def test_the_others_go_on_when_one_diverges(n_steps_before: int) -> None:
    """In epoch 1 without a checkpoint, in epoch 3 with one."""

    def act(network: Line, outputs: Tensor) -> Tensor:
        if network.training and network.n_steps > n_steps_before and len(outputs) == 3:
            outputs = outputs * torch.tensor([1.0, torch.nan, 1.0])[:, None, None]
        return outputs

    inputs, budget = line(), Budget(6, 6, 50)
    undisturbed = train_lines(inputs, 3, budget)
    first, diverged, last = train_lines(inputs, 3, budget, act)
    assert_allclose(predicted(first, inputs), predicted(undisturbed[0], inputs), rtol=1e-5)
    assert_allclose(predicted(last, inputs), predicted(undisturbed[2], inputs), rtol=1e-5)
    if n_steps_before == 2:
        assert isinstance(diverged, RuntimeError)
        assert str(diverged) == "training diverged in epoch 1: the loss is nan; learning rate 0.01"
    else:
        assert (diverged.epochs, diverged.best_epoch) == (3, 2)
        assert np.isfinite(predicted(diverged, inputs)).all()


def test_validation_that_is_not_finite_is_divergence() -> None:
    def act(network: Line, outputs: Tensor) -> Tensor:
        return outputs if network.training else outputs * torch.inf

    (error,) = train_lines(line(), 1, Budget(5, 5, 50), act)
    assert "training diverged in epoch 1: the loss is" in str(error)


@pytest.mark.parametrize(
    ("n_rows", "batch_size", "expected"),
    [(9, 4, [4, 5]), (10, 4, [4, 4, 2]), (3, 10, [3]), (8, 4, [4, 4]), (2, 1, [2]), (1, 4, [1])],
)
def test_a_single_last_row_joins_the_batch_before_it(
    n_rows: int, batch_size: int, expected: list[int]
) -> None:
    sizes = []

    def act(network: Line, outputs: Tensor) -> Tensor:
        if network.training:
            sizes.append(outputs.shape[1])
        return outputs

    train_lines(line(n_rows), 2, Budget(2, 2, batch_size), act)
    assert sizes == 2 * expected


def test_batch_norm_trains_where_a_row_is_left_over() -> None:
    (fitted,) = resnet.fit(line(n_train=33), resnet.DEFAULTS, [0], Budget(2, 2, 16))
    assert isinstance(fitted, Fitted)


def test_every_row_is_seen_once_in_an_epoch_in_another_order_by_each_seed() -> None:
    seen = []

    class Recorder(Line):
        def forward(self, numeric: Tensor, categorical: Tensor, streams: Streams | None = None) -> Tensor:
            if streams is not None:
                seen.append(numeric[..., 0].clone())
            return super().forward(numeric, categorical, streams)

    inputs = line(20)
    train(
        lambda inputs, generators: Recorder(2, 1, do_nothing),
        inputs,
        [0, 1],
        Budget(2, 2, 8),
        learning_rate=0.01,
        weight_decay=0.0,
        together=2,
    )
    first, second = torch.cat(seen[:3], 1), torch.cat(seen[3:], 1)
    for order in (*first, *second):
        assert_array_equal(np.sort(order), np.sort(inputs.numeric["train"][:, 0]))
    orders = {tuple(order.tolist()) for order in (*first, *second)}
    assert len(orders) == 4


def test_prediction_goes_in_chunks_that_do_not_matter() -> None:
    sizes = []

    def act(network: Line, outputs: Tensor) -> Tensor:
        sizes.append(outputs.shape[1])
        return outputs

    inputs = line(n_train=8)
    (fitted,) = train_lines(inputs, 1, Budget(1, 1, 8), act)
    sizes.clear()
    in_chunks = predicted(fitted, inputs)
    assert sizes == [8] * 6 + [2]
    assert_allclose(in_chunks, predicted(replace(fitted, batch_size=50), inputs), rtol=1e-6)


@pytest.mark.parametrize("flushed", [False, True])
def test_leaves_the_treatment_of_denormals_as_it_was(flushed: bool) -> None:
    def is_flushed() -> bool:
        return bool((torch.full((1,), 1e-38) * 1e-2 == 0).all())

    within = []
    before = is_flushed()
    torch.set_flush_denormal(flushed)
    try:
        train_lines(line(), 1, Budget(1), lambda network, outputs: within.append(is_flushed()) or outputs)
        assert all(within)
        assert is_flushed() == flushed
    finally:
        torch.set_flush_denormal(before)


def ordinary(inputs: Inputs, generators: Sequence[torch.Generator]) -> Alone:
    class Columns(nn.Sequential):
        def forward(self, numeric: Tensor, categorical: Tensor) -> Tensor:
            return super().forward(numeric)

    return Alone(Columns(nn.Linear(2, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.5), nn.Linear(8, 1)))


def test_ordinary_modules_train_one_after_the_other() -> None:
    inputs, budget = line(), Budget(5, 5, 64)
    before = torch.get_rng_state()
    options = {"learning_rate": 0.01, "weight_decay": 0.0}
    many = train(ordinary, inputs, [3, 1], budget, **options)
    (alone,) = train(ordinary, inputs, [1], budget, **options)
    assert_array_equal(predicted(many[1], inputs), predicted(alone, inputs))
    assert np.abs(predicted(many[0], inputs) - predicted(alone, inputs)).max() > 1e-3
    assert torch.equal(torch.get_rng_state(), before)


def test_arrays_may_be_read_only() -> None:
    inputs = line()
    for arrays in (inputs.numeric, inputs.categorical, inputs.y):
        for array in arrays.values():
            array.flags.writeable = False
    (fitted,) = mlp.fit(inputs, SMALL, [0], Budget(1))
    assert predicted(fitted, inputs).shape == (50,)


def test_a_pickle_holds_one_network_s_parameters() -> None:
    fitted = mlp.fit(line(), SMALL, range(8), Budget(2))
    n_parameters = 2 * 16 + 16 + 16 * 16 + 16 + 16 + 1
    assert sum(each.numel() for each in fitted[3].network.tensors()) == n_parameters
    assert len(pickle.dumps(fitted[3])) < 4 * n_parameters + 4000


@pytest.mark.parametrize("name", ["max_epochs", "patience", "batch_size"])
def test_a_budget_is_at_least_one(name: str) -> None:
    with pytest.raises(ValueError, match=f"^{name} must be at least 1, got 0$"):
        Budget(**{name: 0})


def test_no_seeds_no_networks() -> None:
    assert mlp.fit(line(), SMALL, [], Budget(1)) == []
