"""The multilayer perceptron, and the layers that it and others are made of."""

import numpy as np
import torch
from contract import NetworkContract
from numpy.testing import assert_allclose
from torch import nn

from tabstretch.study.models import mlp
from tabstretch.study.models.layers import Linear, dropout


class TestMLP(NetworkContract):
    model = mlp
    small = {"lr": 3e-3}  # noqa: RUF012


def generators(n_seeds: int) -> list[torch.Generator]:
    return [torch.Generator().manual_seed(seed) for seed in range(n_seeds)]


def test_equals_an_ordinary_module_of_the_same_weights() -> None:
    stack = mlp.MLP(3, 2, {"d_layers": [8, 4], "dropout": 0.0}, generators(3))
    numeric = torch.randn(3, 10, 3, generator=generators(1)[0])
    outputs = stack(numeric, numeric[..., :0])
    for seed, expected in enumerate(outputs):
        ordinary = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 4), nn.ReLU(), nn.Linear(4, 2))
        for module, layer in zip(ordinary[::2], stack.layers, strict=True):
            module.weight.data, module.bias.data = layer.weight[seed], layer.bias[seed, 0]
        assert_allclose(ordinary(numeric[seed]).detach(), expected.detach(), rtol=1e-5, atol=1e-6)


def test_initial_weights_are_distributed_as_torch_s() -> None:
    layer = Linear(100, 300, generators(2))
    for weight, bias in zip(layer.weight, layer.bias, strict=True):
        for values in (weight, bias):
            assert values.abs().max() <= 0.1
            assert_allclose(np.quantile(values.detach(), [0.25, 0.5, 0.75]), [-0.05, 0.0, 0.05], atol=0.012)
    assert not torch.equal(layer.weight[0], layer.weight[1])


def test_dropout_keeps_the_mean_and_draws_by_seed() -> None:
    streams = [np.random.Generator(np.random.SFC64(seed)) for seed in range(3)]
    dropped = dropout(torch.ones(3, 501, 101), 0.3, streams)
    assert set(dropped.unique().tolist()) == {0.0, dropped.max().item()}
    assert_allclose((dropped == 0).float().mean((1, 2)), 0.3, atol=0.01)
    assert_allclose(dropped.mean(), 1.0, atol=0.01)
    alone = dropout(torch.ones(1, 501, 101), 0.3, [np.random.Generator(np.random.SFC64(2))])
    assert torch.equal(alone[0], dropped[2])
    assert not torch.equal(dropped[0], dropped[1])


def test_nothing_is_dropped_while_predicting_or_at_rate_0() -> None:
    ones = torch.ones(1, 4, 4)
    assert dropout(ones, 0.5, None) is ones
    assert dropout(ones, 0.0, [np.random.Generator(np.random.SFC64(0))]) is ones


def test_rectified_equals_linear_relu_and_dropout_with_gradients() -> None:
    layer = Linear(5, 7, generators(2))
    inputs = torch.randn(2, 9, 5, generator=generators(1)[0], requires_grad=True)
    streams = [[np.random.Generator(np.random.SFC64(seed)) for seed in range(2)] for _ in range(2)]
    fast = layer.rectified(inputs, 0.4, streams[0])
    slow = dropout(layer(inputs).relu(), 0.4, streams[1])
    assert torch.equal(fast, slow)
    weights = torch.randn(2, 9, 7, generator=generators(2)[1])
    leaves = [inputs, layer.weight, layer.bias]
    found = torch.autograd.grad((fast * weights).sum(), leaves)
    expected = torch.autograd.grad((slow * weights).sum(), leaves)
    for one, other in zip(found, expected, strict=True):
        assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def test_dropout_has_the_gradient_of_what_is_kept() -> None:
    inputs = torch.zeros(1, 30, 5, requires_grad=True)  # zeros are kept or dropped too
    dropped = dropout(inputs + 1, 0.5, [np.random.Generator(np.random.SFC64(0))])
    dropped.sum().backward()
    assert torch.equal(inputs.grad, dropped.detach())


def test_what_is_not_a_number_is_not_hidden() -> None:
    layer = Linear(2, 300, generators(1))
    outputs = layer.rectified(
        torch.full((1, 1, 2), torch.nan), 0.3, [np.random.Generator(np.random.SFC64(0))]
    )
    assert outputs.isnan().any()
