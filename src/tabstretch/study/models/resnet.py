"""`resnet`: the residual network of rtdl_revisiting_models, many seeds at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from optuna.trial import BaseTrial
from torch import Tensor, nn

from tabstretch.study.inputs import Inputs
from tabstretch.study.models import spaces
from tabstretch.study.models.layers import BatchNorm, Linear, dropout
from tabstretch.study.models.stacks import Params, fit_stacks, step_bytes
from tabstretch.study.training import Budget, Fitted, Network, Streams

STACKS = True

# Those of TabZilla, as pytabkit has them (`DefaultParams.RESNET_RTDL_D_CLASS_TabZilla`).
DEFAULTS: dict[str, Any] = {
    "n_layers": 2,
    "d": 128,
    "d_hidden_factor": 2.0,
    "hidden_dropout": 0.25,
    "residual_dropout": 0.1,
    "lr": 1e-3,
    "weight_decay": 0.01,
}


def suggest(trial: BaseTrial) -> dict[str, Any]:
    """Draw from the paper's search space."""
    return {
        "n_layers": trial.suggest_int("n_layers", 1, 8),
        "d": trial.suggest_int("d", 64, 512),
        "d_hidden_factor": trial.suggest_float("d_hidden_factor", 1.0, 4.0),
        "hidden_dropout": trial.suggest_float("hidden_dropout", 0.0, 0.5),
        "residual_dropout": spaces.optional_dropout(trial, "residual_dropout", 0.5),
        "lr": spaces.learning_rate(trial),
        "weight_decay": spaces.optional_weight_decay(trial),
    }


class Block(nn.Module):
    """What a layer adds to its input."""

    def __init__(self, params: Params, generators: Sequence[torch.Generator]) -> None:
        super().__init__()
        d, d_hidden = params["d"], int(params["d"] * params["d_hidden_factor"])
        self.normalization = BatchNorm(d, len(generators))
        self.linear1 = Linear(d, d_hidden, generators)
        self.linear2 = Linear(d_hidden, d, generators)
        self.dropout1, self.dropout2 = params["hidden_dropout"], params["residual_dropout"]

    def forward(self, inputs: Tensor, streams: Streams | None) -> Tensor:
        """Return what is to be added."""
        hidden = self.linear1.rectified(self.normalization(inputs), self.dropout1, streams)
        return dropout(self.linear2(hidden), self.dropout2, streams)


class ResNet(Network):
    """A linear layer, blocks, normalization, ReLU and a linear layer."""

    def __init__(
        self, n_inputs: int, n_outputs: int, params: Params, generators: Sequence[torch.Generator]
    ) -> None:
        super().__init__()
        self.input_projection = Linear(n_inputs, params["d"], generators)
        self.blocks = nn.ModuleList(Block(params, generators) for _ in range(params["n_layers"]))
        self.normalization = BatchNorm(params["d"], len(generators))
        self.output = Linear(params["d"], n_outputs, generators)

    def forward(self, numeric: Tensor, categorical: Tensor, streams: Streams | None = None) -> Tensor:
        """Return (seeds, rows, outputs)."""
        state: Tensor = self.input_projection(numeric)
        for block in self.blocks:
            state = state + block(state, streams)
        outputs: Tensor = self.output(self.normalization(state).relu_())
        return outputs


def fit(inputs: Inputs, params: Params, seeds: Sequence[int], budget: Budget) -> list[Fitted | Exception]:
    """Train a network for each seed."""
    return fit_stacks(ResNet, memory, inputs, params, seeds, budget)


def memory(inputs_width: int, batch: int, params: Params) -> float:
    """Return how many bytes a training step of one seed takes, roughly."""
    n_layers, d = params["n_layers"], params["d"]
    d_hidden = int(d * params["d_hidden_factor"])
    # A block keeps its normalised input, what it adds before and after dropout, what was dropped and the sum,
    # and of its hidden layer all but the sum; gradients live shortly.
    activations = inputs_width + n_layers * (5 * d + 3 * d_hidden) + 3 * (d + d_hidden)
    return step_bytes(batch, activations, d * (inputs_width + 2 * n_layers * d_hidden))
