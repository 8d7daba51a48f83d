"""`mlp`: a multilayer perceptron."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, cast

import torch
from optuna.trial import BaseTrial
from torch import Tensor, nn

from tabstretch.study.inputs import Inputs
from tabstretch.study.models import spaces
from tabstretch.study.models.layers import Linear
from tabstretch.study.models.stacks import Params, fit_stacks, step_bytes
from tabstretch.study.training import Budget, Fitted, Network, Streams

STACKS = True

# Those of TabZilla, as pytabkit has them (`DefaultParams.MLP_RTDL_D_CLASS_TabZilla`). They leave the weight
# decay to AdamW, whose own default is 0.01.
DEFAULTS: dict[str, Any] = {"d_layers": [128, 256, 128], "dropout": 0.1, "lr": 1e-3, "weight_decay": 0.01}


def suggest(trial: BaseTrial) -> dict[str, Any]:
    """Draw from the paper's search space."""
    return {
        "d_layers": spaces.mlp_layers(trial, 1, 8, 64, 2048),
        "dropout": spaces.optional_dropout(trial, "dropout", 0.5),
        "lr": spaces.learning_rate(trial),
        "weight_decay": spaces.optional_weight_decay(trial),
    }


class MLP(Network):
    """Linear, ReLU and dropout by turns, then a linear layer."""

    def __init__(
        self, n_inputs: int, n_outputs: int, params: Params, generators: Sequence[torch.Generator]
    ) -> None:
        super().__init__()
        widths = [n_inputs, *params["d_layers"], n_outputs]
        self.layers = nn.ModuleList(Linear(before, after, generators) for before, after in pairwise(widths))
        self.dropout = params["dropout"]

    def forward(self, numeric: Tensor, categorical: Tensor, streams: Streams | None = None) -> Tensor:
        """Return (seeds, rows, outputs)."""
        *hidden, last = cast(Iterable[Linear], self.layers)
        for layer in hidden:
            numeric = layer.rectified(numeric, self.dropout, streams)
        outputs: Tensor = last(numeric)
        return outputs


def fit(inputs: Inputs, params: Params, seeds: Sequence[int], budget: Budget) -> list[Fitted | Exception]:
    """Train a network for each seed."""
    return fit_stacks(MLP, memory, inputs, params, seeds, budget)


def memory(inputs_width: int, batch: int, params: Params) -> float:
    """Return how many bytes a training step of one seed takes, roughly."""
    widths = [inputs_width, *params["d_layers"]]
    # A hidden layer keeps its output, and has gradients before and after dropout.
    return step_bytes(batch, inputs_width + 3 * sum(widths[1:]), sum(a * b for a, b in pairwise(widths)))
