"""The only training loop of a study: the networks of several seeds as one stack, each as if it were alone."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import compress
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from tabstretch.study.adamw import AdamW
from tabstretch.study.datasets.dataset import Task
from tabstretch.study.inputs import Inputs, code_moments, scaled_codes, with_codes_as_columns


@dataclass(frozen=True)
class Budget:
    """How long a network may train."""

    max_epochs: int = 200
    patience: int = 20
    """Epochs without improvement on the validation part before a network stops."""
    batch_size: int = 1024

    def __post_init__(self) -> None:
        for name in ("max_epochs", "patience", "batch_size"):
            if (value := getattr(self, name)) < 1:
                raise ValueError(f"{name} must be at least 1, got {value}")


Streams = Sequence[np.random.Generator]
"""What the dropout of each seed in a stack is drawn from."""


class Network(nn.Module):
    """Networks of one shape, one for each seed, along the first dimension of every parameter and buffer.

    `forward` takes numeric inputs (seeds, rows, columns), codes (seeds, rows, categorical columns) and, while
    training, a random stream for each seed; it returns (seeds, rows, outputs).
    """

    has_seeds: ClassVar[bool] = True
    """Whether there is that first dimension."""

    def parameter_groups(self) -> list[dict[str, Any]]:
        """Return what AdamW is given, for networks that exempt some parameters from weight decay."""
        return [{"params": list(self.parameters())}]

    def tensors(self) -> list[Tensor]:
        """Return all parameters and buffers."""
        return [*self.parameters(), *self.buffers()]


class Alone(Network):
    """An ordinary module of (rows, columns) as a stack of one seed.

    Its initial weights and its dropout come from torch's global generator, which the loop seeds for it.
    """

    has_seeds = False

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self.module = module

    def forward(self, numeric: Tensor, categorical: Tensor, streams: Streams | None = None) -> Tensor:
        """Call the module without the dimension of seeds."""
        outputs: Tensor = self.module(numeric[0], categorical[0])
        return outputs[None]


@dataclass(frozen=True, eq=False)
class Fitted:
    """A trained network: the best checkpoint of one seed."""

    network: Network
    task: Task
    target_mean: float
    target_scale: float
    codes: tuple[NDArray[np.float64], NDArray[np.float64]] | None
    """Mean and scale of the codes if the network takes them as columns."""
    batch_size: int
    epochs: int
    """How many it was trained for."""
    best_epoch: int
    """Counted from 1."""
    val_score: float
    """Accuracy, or the mean absolute error in units of the target."""

    def predict(self, numeric: NDArray[np.float32], categorical: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return predictions (rows,) in units of the target, or class probabilities (rows, classes)."""
        if self.codes is not None:
            numeric = np.hstack([numeric, scaled_codes(categorical, *self.codes)])
            categorical = categorical[:, :0]
        rows = torch.tensor(numeric, dtype=torch.float32), torch.tensor(categorical, dtype=torch.int64)
        outputs = _outputs(self.network, *rows, n_seeds=1, batch_size=self.batch_size)[0].double()
        if self.task == "regression":
            return outputs[:, 0].numpy() * self.target_scale + self.target_mean
        return outputs.softmax(1).numpy()


Build = Callable[[Inputs, Sequence[torch.Generator]], Network]


def train(
    build: Build,
    inputs: Inputs,
    seeds: Sequence[int],
    budget: Budget,
    *,
    learning_rate: float,
    weight_decay: float,
    codes_as_columns: bool = False,
    together: int | None = None,
) -> list[Fitted | Exception]:
    """Train one network for each seed, and return their best checkpoints in order.

    Parameters
    ----------
    build : callable
        Makes a stack, given the inputs as the network will see them and a generator of initial weights for
        each seed. Torch's global generator is seeded for a network alone.
    inputs : Inputs
        Of which the test part is not touched.
    seeds : sequence of int
        Not negative. What a seed gives does not depend on which others train beside it, but for rounding.
    budget : Budget
        When to stop.
    learning_rate, weight_decay : float
        Of AdamW, which has no schedule.
    codes_as_columns : bool, default=False
        Whether codes are given as standardised numeric columns, after the others.
    together : int, default=None
        How many seeds a stack has at most. Stacks train side by side, as many as torch has threads. None is
        for networks alone, which draw from torch's global generator and train one after the other.

    Returns
    -------
    list of Fitted or Exception
        An error in place of a seed that diverged before its first checkpoint.
    """
    codes = None
    if codes_as_columns and inputs.n_categories:
        codes = code_moments(inputs.categorical["train"])
        inputs = with_codes_as_columns(inputs)

    def fit_stack(some: Sequence[int]) -> list[Fitted | Exception]:
        with _denormals_flushed():
            stack = _Stack(build, inputs, some, learning_rate, weight_decay)
            records = _train_stack(stack, inputs, budget)
        return [
            _diverged(record, learning_rate)
            if record.checkpoint is None
            else Fitted(
                network=stack.network_of(record.checkpoint),
                task=inputs.task,
                target_mean=inputs.target_mean,
                target_scale=inputs.target_scale,
                codes=codes,
                batch_size=budget.batch_size,
                epochs=record.epochs,
                best_epoch=record.best_epoch,
                val_score=record.val_score,
            )
            for record in records
        ]

    if together is None:
        return [fitted for seed in seeds for fitted in _seeded(fit_stack, seed)]
    stacks = [seeds[start : start + together] for start in range(0, len(seeds), together)]
    return [fitted for stack in _side_by_side(fit_stack, stacks) for fitted in stack]


FitStack = Callable[[Sequence[int]], list[Fitted | Exception]]


def _seeded(fit: FitStack, seed: int) -> list[Fitted | Exception]:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return fit([seed])


def _side_by_side(fit: FitStack, stacks: list[Sequence[int]]) -> Iterable[list[Fitted | Exception]]:
    """Fit stacks, one in each of torch's threads: several threads gain little in products of this size."""
    n_threads = torch.get_num_threads()
    if min(n_threads, len(stacks)) < 2:
        return map(fit, stacks)
    torch.set_num_threads(1)  # new threads take it over
    try:
        with ThreadPoolExecutor(min(n_threads, len(stacks))) as pool:
            return list(pool.map(fit, stacks))
    finally:
        torch.set_num_threads(n_threads)


def _diverged(record: _Record, learning_rate: float) -> Exception:
    return RuntimeError(f"{record.problem}; learning rate {learning_rate:g}")


@dataclass
class _Record:
    """What is known of one seed."""

    epochs: int = 0
    best_epoch: int = 0
    best: tuple[float, float] = (math.inf, math.inf)
    """What is to be minimised: first the one, among equals the other."""
    val_score: float = math.nan
    checkpoint: list[Tensor] | None = None
    problem: str = ""


class _Stack:
    """The networks that still train, with all that belongs to each: no random stream is shared."""

    def __init__(
        self, build: Build, inputs: Inputs, seeds: Sequence[int], learning_rate: float, weight_decay: float
    ) -> None:
        streams = [np.random.SeedSequence(seed).spawn(3) for seed in seeds]
        weights, orders, dropouts = zip(*streams, strict=True)
        generators = [torch.Generator().manual_seed(int(each.generate_state(1)[0])) for each in weights]
        self.network = build(inputs, generators)
        self.optimizer = AdamW(self.network.parameter_groups(), learning_rate, weight_decay)
        self.records = [_Record() for _ in seeds]
        self.orders = [np.random.Generator(np.random.SFC64(each)) for each in orders]
        self.dropouts = [np.random.Generator(np.random.SFC64(each)) for each in dropouts]
        self.rows = torch.zeros((len(seeds), 0), dtype=torch.int64)

    def shuffle(self, n_rows: int) -> None:
        """Draw the order of the training rows for an epoch."""
        self.rows = torch.from_numpy(np.stack([order.permutation(n_rows) for order in self.orders]))

    def keep(self, going: Sequence[bool]) -> None:
        """Let the others leave the stack, moments included, so that they cost nothing.

        No graph of outputs may be alive: it would go on expecting gradients of the old shapes.
        """
        if all(going):
            return
        self.records = list(compress(self.records, going))
        self.orders = list(compress(self.orders, going))
        self.dropouts = list(compress(self.dropouts, going))
        if not self.records:
            return
        index = torch.tensor(going)
        self.rows = self.rows[index]
        for tensor in self.network.tensors():
            tensor.data, tensor.grad = tensor.data[index], None
        self.optimizer.keep(index)

    def save(self, index: int) -> None:
        """Keep a checkpoint of one seed."""
        tensors = [
            each.detach()[index] if self.network.has_seeds else each.detach()
            for each in self.network.tensors()
        ]
        record = self.records[index]
        if record.checkpoint is None:
            record.checkpoint = [tensor.clone() for tensor in tensors]
        else:
            for saved, tensor in zip(record.checkpoint, tensors, strict=True):
                saved.copy_(tensor)

    def network_of(self, checkpoint: list[Tensor]) -> Network:
        """Return a stack of one seed."""
        copies: dict[int, Any] = {}
        for tensor, saved in zip(self.network.tensors(), checkpoint, strict=True):
            value = saved[None] if self.network.has_seeds else saved
            copies[id(tensor)] = nn.Parameter(value, False) if isinstance(tensor, nn.Parameter) else value
        return copy.deepcopy(self.network, copies).eval()


def _train_stack(stack: _Stack, inputs: Inputs, budget: Budget) -> list[_Record]:
    """Train until all have stopped, and return a record for each seed."""
    records = stack.records
    training, validation = _part(inputs, "train"), _part(inputs, "val")
    for epoch in range(1, budget.max_epochs + 1):
        for record in stack.records:
            record.epochs = epoch
        _train_epoch(stack, training, budget.batch_size)
        if stack.records:
            _validate(stack, validation, inputs, budget.batch_size)
            stack.keep([epoch - record.best_epoch < budget.patience for record in stack.records])
        if not stack.records:
            break
    return records


def _part(inputs: Inputs, part: str) -> tuple[Tensor, Tensor, Tensor]:
    arrays = inputs.numeric[part], inputs.categorical[part], inputs.y[part]
    numeric, categorical, y = (torch.tensor(array) for array in arrays)  # a copy: arrays may be read-only
    return numeric, categorical, y


def _train_epoch(stack: _Stack, part: tuple[Tensor, Tensor, Tensor], batch_size: int) -> None:
    stack.shuffle(len(part[0]))
    stack.network.train()
    for batch in _batches(len(part[0]), batch_size):
        rows = stack.rows[:, batch]
        _drop_diverged(stack, _step(stack, *(columns[rows] for columns in part)))
        if not stack.records:
            return


def _step(stack: _Stack, numeric: Tensor, categorical: Tensor, y: Tensor) -> list[float]:
    """Train on a batch and return the loss of each seed."""
    losses = _losses(stack.network(numeric, categorical, stack.dropouts), y)
    stack.optimizer.zero_grad()
    losses.sum().backward()  # type: ignore[no-untyped-call]
    stack.optimizer.step()
    return losses.tolist()


def _batches(n_rows: int, batch_size: int) -> Iterator[slice]:
    """Cut rows into batches. A single last row joins the batch before it, for BatchNorm needs two."""
    starts = list(range(0, n_rows, batch_size))
    if len(starts) > 1 and n_rows - starts[-1] == 1:
        starts.pop()
    for start, end in zip(starts, [*starts[1:], n_rows], strict=True):
        yield slice(start, end)


def _losses(outputs: Tensor, target: Tensor) -> Tensor:
    """Return the loss of each seed: squared error, or cross-entropy for classes.

    Nothing of one seed enters the loss of another, so that their sum has the gradients of each.
    """
    if target.is_floating_point():
        return (outputs[..., 0] - target).square().mean(1)
    each = functional.cross_entropy(outputs.flatten(0, 1), target.flatten(), reduction="none")
    return each.view(target.shape).mean(1)


def _drop_diverged(stack: _Stack, losses: list[float]) -> None:
    for record, loss in zip(stack.records, losses, strict=True):
        if not math.isfinite(loss):
            record.problem = f"training diverged in epoch {record.epochs}: the loss is {loss:g}"
    stack.keep([math.isfinite(loss) for loss in losses])


def _validate(stack: _Stack, part: tuple[Tensor, Tensor, Tensor], inputs: Inputs, batch_size: int) -> None:
    """Save the networks that improved."""
    numeric, categorical, y = part
    network, n_seeds = stack.network.eval(), len(stack.records)
    outputs = _outputs(network, numeric, categorical, n_seeds=n_seeds, batch_size=batch_size)
    losses = _losses(outputs, y.expand(n_seeds, -1))
    if inputs.is_regression:
        scores = (outputs[..., 0] - y).abs().mean(1, dtype=torch.float64) * inputs.target_scale
        keys = torch.stack([scores, torch.zeros_like(scores)], 1)
    else:
        scores = (outputs.argmax(2) == y).mean(1, dtype=torch.float64)
        # NOTE[DIFF]: of equal accuracies the one with the lower loss is better. The accuracy of few rows
        # often stands still while a network goes on learning.
        keys = torch.stack([-scores, losses], 1)
    for index, (record, score, key) in enumerate(
        zip(stack.records, scores.tolist(), keys.tolist(), strict=True)
    ):
        if tuple(key) < record.best and math.isfinite(key[0]):
            record.best, record.best_epoch, record.val_score = tuple(key), record.epochs, score
            stack.save(index)
    _drop_diverged(stack, losses.tolist())


@torch.no_grad()
def _outputs(
    network: Network, numeric: Tensor, categorical: Tensor, *, n_seeds: int, batch_size: int
) -> Tensor:
    """Return (seeds, rows, outputs) of the same rows for each seed, computed in chunks."""
    parts = [part.expand(n_seeds, -1, -1) for part in (numeric, categorical)]
    chunks = zip(*(torch.split(part, batch_size, dim=1) for part in parts), strict=True)
    return torch.cat([network(*chunk) for chunk in chunks], 1)


@contextmanager
def _denormals_flushed() -> Generator[None]:
    """Compute without denormal numbers, which are slow, and which the moments of idle weights would become.

    This is a state of the thread that torch can set but not tell, so a product tells what it was.
    """
    before = (torch.full((1,), 1e-38) * 1e-2).item() == 0.0
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(before)
