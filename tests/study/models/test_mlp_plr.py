"""The perceptron of periodic embeddings, which must be those of rtdl_num_embeddings."""

import numpy as np
import torch
from contract import NetworkContract
from numpy.testing import assert_allclose
from rtdl_num_embeddings import PeriodicEmbeddings

from tabstretch.study.models import mlp_plr

SIZES = {"n_frequencies": 6, "frequency_scale": 0.5, "d_embedding": 5}


class TestMLPPLR(NetworkContract):
    model = mlp_plr
    small = {"lr": 3e-3, "frequency_scale": 0.1}  # noqa: RUF012


def generators(n_seeds: int) -> list[torch.Generator]:
    return [torch.Generator().manual_seed(seed) for seed in range(n_seeds)]


def test_embeddings_and_gradients_are_the_library_s() -> None:
    stack = mlp_plr.Periodic(4, SIZES, generators(3))
    numeric = torch.randn(3, 10, 4, generator=generators(1)[0])
    embedded = stack(numeric)
    toward = torch.randn(embedded.shape, generator=generators(1)[0])
    (embedded * toward).sum().backward()
    for seed in range(3):
        library = PeriodicEmbeddings(4, 5, n_frequencies=6, frequency_init_scale=0.5, lite=True)
        library.periodic.weight.data = stack.frequencies.data[seed]
        library.linear.weight.data = stack.linear.weight.data[seed]
        library.linear.bias.data = stack.linear.bias.data[seed, 0]
        expected = library(numeric[seed]).flatten(1)
        assert_allclose(embedded[seed].detach(), expected.detach(), rtol=1e-4, atol=1e-6)
        (expected * toward[seed]).sum().backward()
        for ours, theirs in [
            (stack.frequencies.grad[seed], library.periodic.weight.grad),
            (stack.linear.weight.grad[seed], library.linear.weight.grad),
            (stack.linear.bias.grad[seed, 0], library.linear.bias.grad),
        ]:
            assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)


def test_frequencies_are_distributed_as_the_library_s() -> None:
    params = {"n_frequencies": 400, "frequency_scale": 2.0, "d_embedding": 5}
    ours = mlp_plr.Periodic(20, params, generators(1)).frequencies[0].detach()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        library = PeriodicEmbeddings(20, 5, n_frequencies=400, frequency_init_scale=2.0, lite=True)
    theirs = library.periodic.weight.detach()
    assert ours.abs().max() <= 6.0
    levels = np.linspace(0.05, 0.95, 10)
    assert_allclose(np.quantile(ours, levels), np.quantile(theirs, levels), atol=0.15)
