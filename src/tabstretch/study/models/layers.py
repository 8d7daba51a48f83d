"""Layers with a first dimension of seeds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from tabstretch.study.models import products
from tabstretch.study.models.kernels import drop, keep_where_positive
from tabstretch.study.training import Streams


class _Affine(torch.autograd.Function):
    """Products of inputs and weights, and biases.

    Torch's own way backward takes five times as long for a layer of few outputs, such as the last.
    """

    @staticmethod
    def forward(ctx: Any, inputs: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        ctx.save_for_backward(inputs, weight)
        return products.affine(inputs, weight, bias)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, Tensor, Tensor]:
        inputs, weight = ctx.saved_tensors
        of_inputs = products.back(gradient, weight) if ctx.needs_input_grad[0] else None
        return of_inputs, products.of_weight(gradient, inputs), gradient.sum(1, keepdim=True)


class _Rectified(torch.autograd.Function):
    """Products of inputs and weights, and biases; then ReLU and dropout, in place.

    What was dropped need not be kept: an output has a gradient where it is positive, and nowhere else.
    """

    @staticmethod
    def forward(ctx: Any, inputs: Tensor, weight: Tensor, bias: Tensor, draws: Draws | None) -> Tensor:
        outputs = products.affine(inputs, weight, bias)
        ctx.scale = np.float32(1.0)
        if draws is None:
            outputs.relu_()
        else:
            ctx.scale = draws.scale
            draws.drop(outputs, low=0.0)
        ctx.save_for_backward(inputs, weight, outputs)
        return outputs

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, Tensor, Tensor, None]:
        inputs, weight, outputs = ctx.saved_tensors
        kept = torch.empty_like(outputs)
        flat = (each.reshape(-1).numpy() for each in (gradient, outputs))
        keep_where_positive(*flat, ctx.scale, kept.view(-1).numpy())
        of_inputs = products.back(kept, weight) if ctx.needs_input_grad[0] else None
        return of_inputs, products.of_weight(kept, inputs), kept.sum(1, keepdim=True), None


class Linear(nn.Module):
    """`nn.Linear` for each seed, drawn from the same distribution."""

    def __init__(self, n_inputs: int, n_outputs: int, generators: Sequence[torch.Generator]) -> None:
        super().__init__()
        bound = max(n_inputs, 1) ** -0.5
        shapes = (n_outputs, n_inputs), (1, n_outputs)
        drawn = [
            [torch.empty(shape).uniform_(-bound, bound, generator=generator) for shape in shapes]
            for generator in generators
        ]
        self.weight, self.bias = (nn.Parameter(torch.stack(each)) for each in zip(*drawn, strict=True))

    def forward(self, inputs: Tensor) -> Tensor:
        """Return (seeds, rows, outputs)."""
        outputs: Tensor = _Affine.apply(inputs, self.weight, self.bias)  # type: ignore[no-untyped-call]
        return outputs

    def rectified(self, inputs: Tensor, rate: float = 0.0, streams: Streams | None = None) -> Tensor:
        """Return the same after ReLU and dropout."""
        draws = Draws.of(rate, streams)
        outputs: Tensor = _Rectified.apply(inputs, self.weight, self.bias, draws)  # type: ignore[no-untyped-call]
        return outputs


@dataclass(frozen=True)
class Draws:
    """What one layer drops in one step, each seed by a key from its own stream."""

    keys: list[np.uint64]
    threshold: np.uint64
    """Of sixteen random bits."""
    scale: np.float32
    """Of what is kept, so that the mean stays."""

    @classmethod
    def of(cls, rate: float, streams: Streams | None) -> Draws | None:
        """Draw from the streams; None if nothing is dropped."""
        threshold = round(rate * 2**16)
        if streams is None or not threshold:
            return None
        keys = [np.uint64(stream.bit_generator.random_raw()) for stream in streams]
        return cls(keys, np.uint64(threshold), np.float32(1 / (1 - threshold / 2**16)))

    def drop(self, values: Tensor, low: float = -math.inf) -> None:
        """Drop values (seeds, …) in place; what is kept is raised to `low` before."""
        for each, key in zip(values.detach().numpy(), self.keys, strict=True):
            drop(each.reshape(-1), key, self.threshold, self.scale, np.float32(low))


class _Dropout(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, inputs: Tensor, draws: Draws) -> Tensor:
        ctx.draws = draws
        outputs = inputs.clone()
        draws.drop(outputs)
        return outputs

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        kept = gradient.clone(memory_format=torch.contiguous_format)
        ctx.draws.drop(kept)
        return kept, None


def dropout(inputs: Tensor, rate: float, streams: Streams | None) -> Tensor:
    """Drop inputs at random, those of each seed by its own stream, and scale the others up."""
    draws = Draws.of(rate, streams)
    if draws is None:
        return inputs
    outputs: Tensor = _Dropout.apply(inputs, draws)  # type: ignore[no-untyped-call]
    return outputs


class BatchNorm(nn.Module):
    """`nn.BatchNorm1d` for each seed, with statistics of its own."""

    mean: Tensor
    variance: Tensor

    def __init__(self, width: int, n_seeds: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(n_seeds, width))
        self.bias = nn.Parameter(torch.zeros(n_seeds, width))
        self.register_buffer("mean", torch.zeros(n_seeds, width))
        self.register_buffer("variance", torch.ones(n_seeds, width))

    def forward(self, inputs: Tensor) -> Tensor:
        """Return (seeds, rows, width)."""
        seeds = zip(inputs, self.mean, self.variance, self.weight, self.bias, strict=True)
        return torch.stack([functional.batch_norm(*each, training=self.training) for each in seeds])
