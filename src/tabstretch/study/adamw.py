"""AdamW, the same for a number wherever it stands: a seed's step does not depend on others in its stack.

Torch's own rounds the last few numbers of a tensor otherwise than those before them, and its first step
imports the compiler of torch, which takes seconds in every worker.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from tabstretch._jit import kernel

_FIRST_DECAY, _SECOND_DECAY, _EPSILON = 0.9, 0.999, 1e-8


class AdamW:
    """What `torch.optim.AdamW` does with its defaults, on numbers of 32 bits in the processor's memory.

    Parameters
    ----------
    groups : list of dict
        Tensors as `params`; a group may have a `weight_decay` of its own.
    learning_rate, weight_decay : float
        For all other groups.
    """

    def __init__(self, groups: list[dict[str, Any]], learning_rate: float, weight_decay: float) -> None:
        self._learning_rate = learning_rate
        self._decays = [
            (tensor, group.get("weight_decay", weight_decay))
            for group in groups
            for tensor in group["params"]
        ]
        self._moments = [[torch.zeros_like(tensor) for _ in range(2)] for tensor, _ in self._decays]
        self._n_steps = 0

    def zero_grad(self) -> None:
        """Forget all gradients."""
        for tensor, _ in self._decays:
            tensor.grad = None

    def step(self) -> None:
        """Move every tensor that has a gradient."""
        self._n_steps += 1
        step_size = self._learning_rate / (1 - _FIRST_DECAY**self._n_steps)
        root = (1 - _SECOND_DECAY**self._n_steps) ** 0.5
        for (tensor, decay), moments in zip(self._decays, self._moments, strict=True):
            if tensor.grad is not None:
                shrink = 1 - self._learning_rate * decay
                numbers = (_flat(each) for each in (tensor, tensor.grad, *moments))
                _move(*numbers, np.float32(shrink), np.float32(step_size), np.float32(1 / root))

    def keep(self, index: Tensor) -> None:
        """Let go of the moments of other seeds."""
        self._moments = [[moment[index] for moment in moments] for moments in self._moments]


def _flat(tensor: Tensor) -> np.ndarray[Any, Any]:
    numbers: np.ndarray[Any, Any] = tensor.detach().view(-1).numpy()
    return numbers


@kernel
def _move(
    values: Any, gradient: Any, first: Any, second: Any, shrink: Any, step_size: Any, unroot: Any
) -> None:
    for i in range(len(values)):
        slope = gradient[i]
        first[i] += (slope - first[i]) * np.float32(1 - _FIRST_DECAY)
        second[i] = second[i] * np.float32(_SECOND_DECAY) + slope * slope * np.float32(1 - _SECOND_DECAY)
        scale = np.sqrt(second[i]) * unroot + np.float32(_EPSILON)
        values[i] = values[i] * shrink - step_size * (first[i] / scale)
