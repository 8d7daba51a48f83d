"""AdamW against torch's own, and one seed against several."""

from __future__ import annotations

import torch
from torch import Tensor

from tabstretch.study.adamw import AdamW


def gradients(n_steps: int, *shape: int) -> list[Tensor]:
    generator = torch.Generator().manual_seed(0)
    return [torch.randn(*shape, generator=generator) for _ in range(n_steps)]


def test_equals_torch_with_a_decay_for_each_group() -> None:
    groups = [gradients(2, 7, 5), gradients(2, 31)]
    ours, theirs = ([[each.clone() for each in group] for group in groups] for _ in range(2))

    def as_groups(tensors: list[list[Tensor]]) -> list[dict[str, object]]:
        return [{"params": tensors[0]}, {"params": tensors[1], "weight_decay": 0.0}]

    optimizers = (
        AdamW(as_groups(ours), 0.01, 0.1),
        torch.optim.AdamW(as_groups(theirs), 0.01, weight_decay=0.1),
    )
    for step in range(50):
        for tensors, optimizer in zip((ours, theirs), optimizers, strict=True):
            optimizer.zero_grad()
            for tensor in (*tensors[0], tensors[1][0]):  # the last one has no gradient
                tensor.grad = torch.randn(tensor.shape, generator=torch.Generator().manual_seed(step))
            optimizer.step()
    for tensors, expected in zip(ours, theirs, strict=True):
        for tensor, other in zip(tensors, expected, strict=True):
            torch.testing.assert_close(tensor, other, rtol=1e-4, atol=1e-6)
    assert torch.equal(ours[1][1], groups[1][1])


def test_a_seed_moves_the_same_alone_and_after_others_left() -> None:
    steps = gradients(20, 5, 3)  # three numbers each: no seed begins where a vector of the processor does
    many, one = torch.zeros(5, 3), torch.zeros(1, 3)
    together, alone = AdamW([{"params": [many]}], 0.01, 0.1), AdamW([{"params": [one]}], 0.01, 0.1)
    index = torch.tensor([False, True, False, True, False])
    for number, step in enumerate(steps):
        if number == 10:
            many.data = many.data[index]
            together.keep(index)
        many.grad, one.grad = (step if number < 10 else step[index]), step[3:4].clone()
        together.step()
        alone.step()
    assert torch.equal(many[1], one[0])
