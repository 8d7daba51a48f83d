"""Products for each seed: right by either routine, and the same whoever is beside a seed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from torch import Tensor

from tabstretch.study.models import products

SIZES = [(5, 3, 4), (600, 20, 128), (600, 128, 20), (700, 128, 1), (512, 256, 128)]


def matrices(n_seeds: int, rows: int, width: int, outputs: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    shapes = (rows, width), (outputs, width), (1, outputs), (rows, outputs)
    inputs, weight, bias, gradient = (
        torch.randn(n_seeds, *shape, generator=generator, dtype=torch.float32) for shape in shapes
    )
    return inputs, weight, bias, gradient


@pytest.fixture(params=["of MKL", "of oneDNN", "of torch"])
def routine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever is the fastest here, all are tested."""
    chosen = {"of MKL": products._mkl, "of oneDNN": products._onednn(), "of torch": None}[request.param]
    monkeypatch.setattr(products, "_fastest", lambda: chosen)


@pytest.mark.usefixtures("routine")
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_equals_products_in_double_precision(size: tuple[int, int, int]) -> None:
    inputs, weight, bias, gradient = matrices(3, *size)
    x, w, b, g = (each.double() for each in (inputs, weight, bias, gradient))
    for found, expected in [
        (products.affine(inputs, weight, bias), x @ w.mT + b),
        (products.back(gradient, weight), g @ w),
        (products.of_weight(gradient, inputs), g.mT @ x),
    ]:
        torch.testing.assert_close(found.double(), expected, rtol=1e-4, atol=1e-3)


@pytest.fixture(params=[1, 2], ids=["one thread", "two threads"])
def threads(request: pytest.FixtureRequest) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(request.param)
    yield
    torch.set_num_threads(before)


# Where a side is one, and where threads share the sum over rows, libraries have routines of their own.
SIZES_ALONE = [
    (600, 32, 128),
    (700, 128, 1),
    (512, 256, 128),
    (37, 20, 1),
    (256, 1, 10),
    (1, 8, 256),
    (1000, 20, 10),
]


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize("size", SIZES_ALONE, ids=str)
def test_a_seed_gets_the_same_alone(size: tuple[int, int, int]) -> None:
    inputs, weight, bias, gradient = matrices(3, *size)
    together = (
        products.affine(inputs, weight, bias),
        products.back(gradient, weight),
        products.of_weight(gradient, inputs),
    )
    for seed in range(3):
        x, w, b, g = (each[seed : seed + 1] for each in (inputs, weight, bias, gradient))
        alone = products.affine(x, w, b), products.back(g, w), products.of_weight(g, x)
        for many, one in zip(together, alone, strict=True):
            assert torch.equal(many[seed], one[0])
