"""Layers with a first dimension of seeds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from tabstretch.study.training import Streams


class _Affine(torch.autograd.Function):
    """Products of inputs and weights, and biases.

    Torch's own way backward takes five times as long for a layer of few outputs, such as the last.
    """

    @staticmethod
    def forward(ctx: Any, inputs: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        ctx.save_for_backward(inputs, weight)
        return torch.baddbmm(bias, inputs, weight.mT)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, Tensor, Tensor]:
        inputs, weight = ctx.saved_tensors
        of_inputs = torch.bmm(gradient, weight) if ctx.needs_input_grad[0] else None
        return of_inputs, torch.bmm(gradient.mT, inputs), gradient.sum(1, keepdim=True)


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


def dropout(inputs: Tensor, rate: float, streams: Streams | None) -> Tensor:
    """Drop inputs at random, those of each seed by its own stream, and scale the others up.

    Sixteen random bits decide on an input: `nn.Dropout` spends several times longer.
    """
    threshold = round(rate * 2**16)
    if streams is None or not threshold:
        return inputs
    size = inputs[0].numel()
    kept = np.empty((len(inputs), size), dtype=np.float32)
    scale = np.float32(1 / (1 - threshold / 2**16))
    for row, stream in zip(kept, streams, strict=True):
        draws = stream.bit_generator.random_raw(size // 4 + 1).view(np.uint16)[:size]
        np.multiply(draws >= threshold, scale, out=row)
    return inputs * torch.from_numpy(kept).view(inputs.shape)


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
