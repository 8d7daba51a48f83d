"""How networks that take codes as columns are fit, many seeds at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from tabstretch.study.inputs import Inputs
from tabstretch.study.training import Budget, Fitted, Network, train

# Seeds together save what a step costs beside arithmetic, which counts on small data. On 4000 × 20 rows
# products of matrices are most of it (`benchmarks/stacks.py`): a stack takes as long as one by one, or longer
# once it leaves the cache of a core, hence this limit.
STACK_BYTES = 2**23

Params = Mapping[str, Any]


def fit_stacks(
    make: Callable[[int, int, Params, Sequence[torch.Generator]], Network],
    memory: Callable[[int, int, Params], float],
    inputs: Inputs,
    params: Params,
    seeds: Sequence[int],
    budget: Budget,
) -> list[Fitted | Exception]:
    """Train a network for each seed, in stacks that take `STACK_BYTES`, or of one seed.

    Parameters
    ----------
    make : callable
        Makes networks, given the number of inputs and outputs, `params` and generators of initial weights.
    memory : callable
        The function of this name of a network's module.
    inputs, params, seeds, budget
        As `fit` of a network's module takes them.
    """

    def build(inputs: Inputs, generators: Sequence[torch.Generator]) -> Network:
        return make(inputs.width, inputs.n_outputs, params, generators)

    batch = min(budget.batch_size, len(inputs.y["train"]))
    most = max(1, int(STACK_BYTES / memory(inputs.width + len(inputs.n_categories), batch, params)))
    n_stacks = math.ceil(len(seeds) / most)
    return train(
        build,
        inputs,
        seeds,
        budget,
        learning_rate=params["lr"],
        weight_decay=params["weight_decay"],
        codes_as_columns=True,
        together=math.ceil(len(seeds) / max(n_stacks, 1)) or 1,
    )


def step_bytes(batch: int, activations: float, parameters: float) -> float:
    """Return what a training step takes: `activations` numbers a row, and `parameters`.

    A parameter has a gradient, two moments and a checkpoint besides.
    """
    return 4.0 * (batch * activations + 5 * parameters)
