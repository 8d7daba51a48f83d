"""Products of matrices, one for each seed. What a seed gets does not depend on how many are beside it."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

# Below this, calling once for each seed costs more than it gains.
_LARGE = 2**21


def affine(inputs: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Return (seeds, rows, outputs).

    Inputs are (seeds, rows, width), weights (seeds, outputs, width) and biases (seeds, 1, outputs).
    """
    one = _by_seed(inputs, weight.shape[1])
    if one is not None:
        return _stacked([one(*each) for each in zip(inputs, weight, bias[:, 0], strict=True)])
    return _small(torch.baddbmm, bias, inputs, weight.mT)


def back(gradient: Tensor, weight: Tensor) -> Tensor:
    """Return the gradient of inputs (seeds, rows, width) from that of outputs."""
    one = _by_seed(gradient, weight.shape[2])
    if one is None:
        return _small(torch.bmm, gradient, weight)
    return _stacked([one(each, w.T, None) for each, w in zip(gradient, weight, strict=True)])


def of_weight(gradient: Tensor, inputs: Tensor) -> Tensor:
    """Return the gradient of weights (seeds, outputs, width) from that of outputs and the inputs."""
    one = _by_seed(gradient, inputs.shape[2])
    if one is None:
        return _small(torch.bmm, gradient.mT, inputs)
    pairs = list(zip(gradient, inputs, strict=True))
    if gradient.shape[2] > inputs.shape[2]:  # a wide result is faster than a long one
        return _stacked([one(x.T, g.T, None) for g, x in pairs]).mT
    return _stacked([one(g.T, x.T, None) for g, x in pairs])


def _small(product: Callable[..., Tensor], *stacks: Tensor) -> Tensor:
    """Return a product of stacks, of which the last two are multiplied.

    A stack of one is computed by another routine, which rounds otherwise, where a side is one or several
    threads share a sum: then each seed is a stack of one.
    """
    sides = (*stacks[-2].shape[1:], stacks[-1].shape[2])
    if len(stacks[-1]) == 1 or (1 not in sides and torch.get_num_threads() == 1):
        return product(*stacks)
    return torch.cat([product(*one) for one in zip(*(torch.split(each, 1) for each in stacks), strict=True)])


def _stacked(results: list[Tensor]) -> Tensor:
    return results[0][None] if len(results) == 1 else torch.stack(results)


Product = Callable[[Tensor, Tensor, Tensor | None], Tensor]


def _by_seed(left: Tensor, other: int) -> Product | None:
    """Return a product for one seed where it is worth its call, which depends on one seed only."""
    return _fastest() if left.shape[1] * left.shape[2] * other >= _LARGE and left.shape[0] else None


@cache
def _fastest() -> Product | None:
    """Return `inputs, weight, bias -> inputs @ weight.T + bias`; None where only torch's own is there.

    Torch takes its own from MKL, which is the faster by a tenth on processors of Intel, and uses half of the
    width of others.
    """
    has_mkl = torch.backends.mkl.is_available()  # type: ignore[no-untyped-call]
    return _mkl if has_mkl and _is_intel() else _onednn()


def _mkl(inputs: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    return torch.mm(inputs, weight.T) if bias is None else torch.addmm(bias, inputs, weight.T)


def _is_intel() -> bool:
    described = os.environ.get("PROCESSOR_IDENTIFIER", "")  # on Windows
    with suppress(OSError):  # on Linux
        described += Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    return "GenuineIntel" in described


def _onednn() -> Product | None:
    """Return the product of oneDNN; None where torch has it not.

    oneDNN comes with torch; torch calls it so in compiled networks only, by a name of its own.
    """
    try:
        operator: Any = torch.ops.mkldnn._linear_pointwise.default

        def product(inputs: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
            result: Tensor = operator(inputs, weight, bias, "none", [], "")
            return result

        left, right, bias = torch.arange(6.0).view(2, 3), torch.arange(12.0).view(4, 3), torch.arange(4.0)
        expected = torch.addmm(bias, left, right.T)
        works = all(
            torch.equal(found, expected)
            for found in (product(left, right, bias), product(left.T.contiguous().T, right, bias))
        )
    except (AttributeError, RuntimeError, NotImplementedError):
        return None
    return product if works else None
