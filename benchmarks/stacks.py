"""Time of many seeds together against one, and against one of the ordinary modules of torch and rtdl.

    python benchmarks/stacks.py [--seeds 15] [--epochs 5] [--repeats 5] [--threads 1,2] [--networks mlp,…]

All train for the same number of epochs on 4000 × 20 rows with the networks' published defaults. The best of
several repeats is taken, since other processes only ever add time. "At peak" is what the products of matrices
of all seeds would take at the speed of one large product: no stack can be faster, however it is made.
The process keeps memory as the workers of a study do, for the ordinary modules too.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from rtdl_num_embeddings import PeriodicEmbeddings
from rtdl_revisiting_models import ResNet
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from tabstretch.study.inputs import Inputs
from tabstretch.study.models import MODELS
from tabstretch.study.models.products import affine
from tabstretch.study.training import Alone, Budget, train
from tabstretch.study.workers import environment_of_worker

N_ROWS, N_COLUMNS = 4000, 20


def made_inputs() -> Inputs:
    """Regression of which something can be learnt."""
    rng = np.random.default_rng(0)
    sizes = {"train": N_ROWS, "val": N_ROWS // 4, "test": 2}
    numeric = {part: rng.normal(size=(n, N_COLUMNS)).astype(np.float32) for part, n in sizes.items()}
    y = {part: np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] for part, X in numeric.items()}
    categorical = {part: np.zeros((n, 0), np.int64) for part, n in sizes.items()}
    return Inputs("regression", numeric, categorical, y, (), 1)


class Ordinary(nn.Module):
    """A network as it would be written without stacks."""

    def __init__(self, name: str, params: dict[str, Any]) -> None:
        super().__init__()
        if name == "resnet":
            self.layers: nn.Module = ResNet(
                d_in=N_COLUMNS,
                d_out=1,
                n_blocks=params["n_layers"],
                d_block=params["d"],
                d_hidden_multiplier=params["d_hidden_factor"],
                dropout1=params["hidden_dropout"],
                dropout2=params["residual_dropout"],
            )
            return
        layers: list[nn.Module] = []
        width = N_COLUMNS
        if name == "mlp_plr":
            sizes = {
                "n_frequencies": params["n_frequencies"],
                "frequency_init_scale": params["frequency_scale"],
            }
            layers = [PeriodicEmbeddings(N_COLUMNS, params["d_embedding"], lite=True, **sizes), nn.Flatten()]
            width *= params["d_embedding"]
        for before, after in pairwise([width, *params["d_layers"]]):
            layers += [nn.Linear(before, after), nn.ReLU(), nn.Dropout(params["dropout"])]
        self.layers = nn.Sequential(*layers, nn.Linear(params["d_layers"][-1], 1))

    def forward(self, numeric: Tensor, categorical: Tensor) -> Tensor:
        outputs: Tensor = self.layers(numeric)
        return outputs


def fit_ordinary(name: str, inputs: Inputs, budget: Budget) -> None:
    params = MODELS[name].DEFAULTS

    def build(inputs: Inputs, generators: Sequence[torch.Generator]) -> Alone:
        return Alone(Ordinary(name, params))

    train(build, inputs, [0], budget, learning_rate=params["lr"], weight_decay=params["weight_decay"])


def fit_seeds(name: str, n_seeds: int, inputs: Inputs, budget: Budget) -> None:
    MODELS[name].fit(inputs, MODELS[name].DEFAULTS, range(n_seeds), budget)


def products(name: str, inputs: Inputs) -> int:
    """Operations in the products of matrices of an epoch of one seed, validation included."""
    linear = torch.ops.mkldnn._linear_pointwise

    def of_linear(inputs: Sequence[int], weight: Sequence[int], *_: Any, **__: Any) -> int:
        return 2 * math.prod(inputs) * weight[0]

    with FlopCounterMode(display=False, custom_mapping={linear: of_linear}) as counter:
        fit_seeds(name, 1, inputs, Budget(max_epochs=1))
    return counter.get_total_flops()


def best_times(work: dict[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """Seconds of the fastest of several calls, taken by turns so that a busy moment meets all alike."""
    times: dict[str, float] = dict.fromkeys(work, np.inf)
    for _ in range(repeats):
        for name, call in work.items():
            start = time.perf_counter()
            call()
            times[name] = min(times[name], time.perf_counter() - start)
    return times


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=15)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--threads", default="1,2", help="of torch (default 1,2)")
    parser.add_argument("--networks", default="mlp,mlp_plr,resnet")
    arguments = parser.parse_args()
    inputs = made_inputs()
    budget = Budget(max_epochs=arguments.epochs, patience=arguments.epochs)
    large = torch.randn(1, 1024, 1024)
    columns = [
        "threads",
        "ordinary",
        "one seed",
        f"{arguments.seeds} seeds",
        "at peak",
        "/ one",
        "/ ordinary",
    ]
    print("milliseconds an epoch\n" + f"{'network':9}" + "".join(f"{column:>11}" for column in columns))
    for n_threads in map(int, arguments.threads.split(",")):
        torch.set_num_threads(n_threads)
        for name in arguments.networks.split(","):
            work: dict[str, Callable[[], object]] = {
                "ordinary": partial(fit_ordinary, name, inputs, budget),
                "one": partial(fit_seeds, name, 1, inputs, budget),
                "many": partial(fit_seeds, name, arguments.seeds, inputs, budget),
                "product": partial(affine, large, large, torch.zeros(1, 1, 1024)),
            }
            times = best_times(work, arguments.repeats)
            at_peak = arguments.seeds * products(name, inputs) * times["product"] / (2 * 1024**3)
            ordinary, one, many = (times[each] / arguments.epochs for each in ("ordinary", "one", "many"))
            values = [f"{1e3 * value:11.1f}" for value in (ordinary, one, many, at_peak)]
            ratios = [f"{many / value:11.1f}" for value in (one, ordinary)]
            print(f"{name:9}{n_threads:11}", *values, *ratios, sep="", flush=True)


if __name__ == "__main__":
    wanted = environment_of_worker()
    if wanted != dict(os.environ):  # what keeps memory is read when a process starts
        os.execve(sys.executable, [sys.executable, *sys.argv], wanted)
    main()
