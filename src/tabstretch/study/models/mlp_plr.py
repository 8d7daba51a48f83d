"""`mlp_plr`: a multilayer perceptron of numbers embedded by waves, PLR(lite) of rtdl_num_embeddings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from optuna.trial import BaseTrial
from torch import Tensor, nn

from tabstretch.study.inputs import Inputs
from tabstretch.study.models import mlp, spaces
from tabstretch.study.models.kernels import add_wave_slopes, make_waves
from tabstretch.study.models.layers import Linear
from tabstretch.study.models.stacks import Params, fit_stacks, step_bytes
from tabstretch.study.training import Budget, Fitted, Network, Streams

STACKS = True

# As pytabkit has them (`DefaultParams.MLP_PLR_D_CLASS`): the MLP's, and those of rtdl_num_embeddings.
DEFAULTS: dict[str, Any] = {**mlp.DEFAULTS, "n_frequencies": 48, "frequency_scale": 0.01, "d_embedding": 24}


def suggest(trial: BaseTrial) -> dict[str, Any]:
    """Draw from the paper's search space."""
    return {
        "d_layers": spaces.mlp_layers(trial, 1, 8, 64, 1024),
        "dropout": spaces.optional_dropout(trial, "dropout", 0.5),
        "n_frequencies": trial.suggest_int("n_frequencies", 16, 96),
        "frequency_scale": trial.suggest_float("frequency_scale", 0.01, 100.0, log=True),
        "d_embedding": trial.suggest_int("d_embedding", 16, 64),
        "lr": spaces.learning_rate(trial),
        "weight_decay": spaces.optional_weight_decay(trial),
    }


class _Waves(torch.autograd.Function):
    """Cosines and sines of numbers (seeds, rows, columns) by frequencies (seeds, columns, frequencies).

    Torch would compute each wave once more to go backward, but the derivative of one is the other.
    """

    @staticmethod
    def forward(ctx: Any, numeric: Tensor, frequencies: Tensor) -> Tensor:
        waves = numeric.new_empty(*numeric.shape, 2 * frequencies.shape[2])
        arrays = (each.detach().numpy() for each in (numeric, frequencies, waves))
        for numbers, of_seed, made in zip(*arrays, strict=True):
            make_waves(np.ascontiguousarray(numbers), of_seed, made)
        ctx.save_for_backward(numeric, waves)
        return waves

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[None, Tensor]:
        numeric, waves = ctx.saved_tensors
        slopes = gradient.new_zeros(waves.shape[0], waves.shape[2], waves.shape[3] // 2)
        arrays = (each.numpy() for each in (gradient.contiguous(), waves, numeric, slopes))
        for by_waves, made, numbers, of_seed in zip(*arrays, strict=True):
            add_wave_slopes(by_waves, made, np.ascontiguousarray(numbers), of_seed)
        return None, slopes.mul_(2 * math.pi)


class Periodic(nn.Module):
    """`PeriodicEmbeddings(lite=True)` of rtdl_num_embeddings for each seed."""

    def __init__(self, n_columns: int, params: Params, generators: Sequence[torch.Generator]) -> None:
        super().__init__()
        n_frequencies, scale = params["n_frequencies"], params["frequency_scale"]
        drawn = [torch.empty(n_columns, n_frequencies) for _ in generators]
        for each, generator in zip(drawn, generators, strict=True):
            nn.init.trunc_normal_(each, 0.0, scale, -3 * scale, 3 * scale, generator=generator)
        self.frequencies = nn.Parameter(torch.stack(drawn))
        self.linear = Linear(2 * n_frequencies, params["d_embedding"], generators)

    def forward(self, numeric: Tensor) -> Tensor:
        """Return (seeds, rows, columns × d_embedding)."""
        waves: Tensor = _Waves.apply(numeric, self.frequencies)  # type: ignore[no-untyped-call]
        embedded: Tensor = self.linear.rectified(waves.flatten(1, 2))
        n_columns, width = numeric.shape[2], embedded.shape[2]
        return embedded.view(*numeric.shape[:2], n_columns * width)


class MLPPLR(Network):
    """Numbers are embedded, then go through an MLP."""

    def __init__(
        self, n_inputs: int, n_outputs: int, params: Params, generators: Sequence[torch.Generator]
    ) -> None:
        super().__init__()
        self.periodic = Periodic(n_inputs, params, generators)
        self.mlp = mlp.MLP(n_inputs * params["d_embedding"], n_outputs, params, generators)

    def forward(self, numeric: Tensor, categorical: Tensor, streams: Streams | None = None) -> Tensor:
        """Return (seeds, rows, outputs)."""
        outputs: Tensor = self.mlp(self.periodic(numeric), categorical, streams)
        return outputs


def fit(inputs: Inputs, params: Params, seeds: Sequence[int], budget: Budget) -> list[Fitted | Exception]:
    """Train a network for each seed."""
    return fit_stacks(MLPPLR, memory, inputs, params, seeds, budget)


def memory(inputs_width: int, batch: int, params: Params) -> float:
    """Return how many bytes a training step of one seed takes, roughly."""
    n_frequencies, width = params["n_frequencies"], params["d_embedding"]
    # Of a number, angles, waves, their gradients and what these give are there at once, then the embedding.
    activations = inputs_width * (6 * n_frequencies + 2 * width)
    embedding = step_bytes(batch, activations, (inputs_width + 2 * width) * n_frequencies)
    return embedding + mlp.memory(inputs_width * width, batch, params)
