"""The residual network, which must be that of rtdl_revisiting_models."""

import pytest
import torch
from contract import NetworkContract
from numpy.testing import assert_allclose
from rtdl_revisiting_models import ResNet as LibraryResNet
from torch import nn

from tabstretch.study.models import resnet
from tabstretch.study.models.layers import BatchNorm, Linear

PARAMS = {"n_layers": 2, "d": 6, "d_hidden_factor": 1.7, "hidden_dropout": 0.0, "residual_dropout": 0.0}


class TestResNet(NetworkContract):
    model = resnet


def copy_linear(module: nn.Linear, layer: Linear, seed: int) -> None:
    module.weight.data, module.bias.data = layer.weight.data[seed].clone(), layer.bias.data[seed, 0].clone()


def copy_norm(module: nn.BatchNorm1d, layer: BatchNorm, seed: int) -> None:
    module.weight.data, module.bias.data = layer.weight.data[seed].clone(), layer.bias.data[seed].clone()


def library_network(stack: resnet.ResNet, seed: int) -> LibraryResNet:
    """The library's module with the weights of one seed."""
    library = LibraryResNet(
        d_in=4, d_out=3, n_blocks=2, d_block=6, d_hidden_multiplier=1.7, dropout1=0.0, dropout2=0.0
    )
    copy_linear(library.input_projection, stack.input_projection, seed)
    for theirs, ours in zip(library.blocks, stack.blocks, strict=True):
        copy_norm(theirs.normalization, ours.normalization, seed)
        copy_linear(theirs.linear1, ours.linear1, seed)
        copy_linear(theirs.linear2, ours.linear2, seed)
    copy_norm(library.output.normalization, stack.normalization, seed)
    copy_linear(library.output.linear, stack.output, seed)
    return library


@pytest.fixture
def stack() -> resnet.ResNet:
    """Three seeds, whose normalisations are not those of the start."""
    generators = [torch.Generator().manual_seed(seed) for seed in range(3)]
    network = resnet.ResNet(4, 3, PARAMS, generators)
    for module in network.modules():
        if isinstance(module, BatchNorm):
            module.weight.data.uniform_(0.5, 2.0, generator=generators[0])
            module.bias.data.uniform_(-1.0, 1.0, generator=generators[0])
    return network


def test_training_and_predicting_equal_the_library_s(stack: resnet.ResNet) -> None:
    generator = torch.Generator().manual_seed(0)
    libraries = [library_network(stack, seed) for seed in range(3)]
    for _ in range(3):  # which also moves the running statistics
        numeric = torch.randn(3, 20, 4, generator=generator) * 3 + 1
        toward = torch.randn(3, 20, 3, generator=generator)
        stack.zero_grad()
        outputs = stack(numeric, numeric[..., :0])
        (outputs * toward).sum().backward()
        for seed, library in enumerate(libraries):
            library.zero_grad()
            expected = library(numeric[seed])
            (expected * toward[seed]).sum().backward()
            assert_allclose(outputs[seed].detach(), expected.detach(), rtol=1e-4, atol=1e-5)
            ours = stack.input_projection.weight.grad[seed]
            assert_allclose(ours, library.input_projection.weight.grad, rtol=1e-3, atol=1e-4)
            ours = stack.blocks[1].normalization.weight.grad[seed]
            assert_allclose(ours, library.blocks[1].normalization.weight.grad, rtol=1e-3, atol=1e-4)
    stack.eval()
    outputs = stack(numeric, numeric[..., :0])
    for seed, library in enumerate(libraries):
        expected = library.eval()(numeric[seed])
        assert_allclose(outputs[seed].detach(), expected.detach(), rtol=1e-4, atol=1e-5)
        norm = library.output.normalization
        assert_allclose(stack.normalization.mean[seed], norm.running_mean, rtol=1e-4, atol=1e-6)
        assert_allclose(stack.normalization.variance[seed], norm.running_var, rtol=1e-4)
