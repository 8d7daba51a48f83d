"""Compare numeric transformations by the test score of untuned networks, to choose the library's defaults.

    python benchmarks/networks.py --data DIR [--network mlp] [--out results.csv] [CHOICE]
    python benchmarks/networks.py --summary-only [--network mlp] [--out results.csv] [CHOICE]

where CHOICE is --datasets a,b --transformations x,y.

DIR holds one folder per data set in TALENT's format. Nothing is tuned, so that a difference in score is a
difference between transformations (`inputs.py`). Top to bottom: networks (trained as a stack, all of a stack
having the same shape), results (a row per network, dataset, transformation, seed), the command.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from inputs import PARTS, TRANSFORMATIONS, Dataset, load_dataset, network_inputs
from torch import Tensor
from torch.nn import functional

Tensors = dict[str, Tensor]  # by part
Pair = tuple[int, int]  # which transformation (its index), which seed: one network

BATCH, MAX_EPOCHS, PATIENCE = 256, 60, 10
MODELS_AT_ONCE = 12  # what stays near the cache trains fastest; else it matters to rounding and dropout
EVALUATION_ROWS = 1024  # likewise
COLUMNS = ["network", "dataset", "max_rows", "transformation", "seed", "metric", "score"]


@dataclass(frozen=True)
class Network:
    """A perceptron and how it is trained."""

    hidden: tuple[int, ...]
    learning_rate: float
    weight_decay: float
    dropout: float


NETWORKS = {
    "mlp": Network((192, 192), 1e-3, 1e-4, 0.0),
    "mlp_large": Network((320, 320, 320), 5e-4, 1e-3, 0.25),
}


def initial_parameters(seeds: Sequence[int], sizes: Sequence[int]) -> list[Tensor]:
    """Weights (models, in, out) and biases (models, 1, out) by turns, drawn as `nn.Linear` draws them.

    They depend on the seed alone: transformations are compared from the same starting point.
    """
    models = []
    for generator in (torch.Generator().manual_seed(seed) for seed in seeds):
        layers = [torch.rand((n + 1, m), generator=generator) for n, m in itertools.pairwise(sizes)]
        scaled = [(2 * layer - 1) / (len(layer) - 1) ** 0.5 for layer in layers]
        models.append([tensor for layer in scaled for tensor in (layer[:-1], layer[-1:])])
    return [torch.stack(tensors) for tensors in zip(*models, strict=True)]


def forward(parameters: Sequence[Tensor], inputs: Tensor, dropout: float = 0.0) -> Tensor:
    """Outputs (models, rows, outputs) of inputs (models, rows, columns)."""
    *hidden, last_weight, last_bias = parameters
    for weight, bias in zip(hidden[::2], hidden[1::2], strict=True):
        inputs = torch.baddbmm(bias, inputs, weight).relu_()
        inputs = functional.dropout(inputs, dropout) if dropout else inputs
    return torch.baddbmm(last_bias, inputs, last_weight)


def losses(outputs: Tensor, target: Tensor) -> Tensor:
    """Mean loss of each model: squared error for a float target, cross-entropy for classes."""
    if target.is_floating_point():
        return (outputs[..., 0] - target).square().mean(1)
    each = functional.cross_entropy(outputs.flatten(0, 1), target.flatten(), reduction="none")
    return each.view(target.shape).mean(1)


@torch.no_grad()
def predict(parameters: Sequence[Tensor], X: Tensor, index: Tensor) -> Tensor:
    """Outputs for all rows of X (transformations, rows, columns); model i reads transformation `index[i]`."""
    return torch.cat([forward(parameters, rows[index]) for rows in X.split(EVALUATION_ROWS, dim=1)], dim=1)


def keep_models(parameters: Sequence[Tensor], optimizer: torch.optim.Optimizer, keep: Tensor) -> None:
    """Drop the other models from the stack, moments included, so that stopped models cost nothing."""
    for parameter in parameters:
        state = optimizer.state[parameter]
        parameter.data, parameter.grad = parameter.data[keep], None
        state["exp_avg"], state["exp_avg_sq"] = state["exp_avg"][keep], state["exp_avg_sq"][keep]


def train(network: Network, X: Tensors, y: Tensors, pairs: Sequence[Pair], n_outputs: int) -> list[Tensor]:
    """Train one model per pair and return each one's best parameters on the validation part.

    Losses are summed over the models and every operation keeps them apart, so each trains as if alone.
    """
    active = torch.arange(len(pairs))
    transformation = torch.tensor([index for index, _ in pairs])
    seeds = sorted({seed for _, seed in pairs})
    seed_index = torch.tensor([seeds.index(seed) for _, seed in pairs])
    orders = [torch.Generator().manual_seed(seed) for seed in seeds]

    n_rows, n_columns = X["train"].shape[1:]
    best = initial_parameters([seed for _, seed in pairs], (n_columns, *network.hidden, n_outputs))
    best_loss = torch.full((len(pairs),), torch.inf)
    best_epoch = torch.zeros(len(pairs), dtype=torch.long)
    parameters = [tensor.clone().requires_grad_() for tensor in best]
    optimizer = torch.optim.AdamW(
        parameters, lr=network.learning_rate, weight_decay=network.weight_decay, fused=True
    )

    for epoch in range(MAX_EPOCHS):
        order = torch.stack([torch.randperm(n_rows, generator=generator) for generator in orders])
        for batch in order.split(BATCH, dim=1):
            rows = batch[seed_index[active]]
            outputs = forward(parameters, X["train"][transformation[active, None], rows], network.dropout)
            optimizer.zero_grad()
            losses(outputs, y["train"][rows]).sum().backward()
            optimizer.step()

        outputs = predict(parameters, X["val"], transformation[active])
        loss = losses(outputs, y["val"].expand(len(active), -1))
        better = loss < best_loss[active]
        improved = active[better]
        best_loss[improved], best_epoch[improved] = loss[better], epoch
        for saved, parameter in zip(best, parameters, strict=True):
            saved[improved] = parameter.detach()[better]

        going = epoch - best_epoch[active] < PATIENCE
        active = active[going]
        if not len(active):
            break
        keep_models(parameters, optimizer, going)
    return best


def score_models(network: Network, X: Tensors, y: Tensors, pairs: Sequence[Pair], n_outputs: int) -> Tensor:
    """Train, then R2 or accuracy on the test part, one number per pair."""
    torch.manual_seed(0)  # for dropout
    parameters = train(network, X, y, pairs, n_outputs)
    outputs = predict(parameters, X["test"], torch.tensor([index for index, _ in pairs]))
    if y["test"].is_floating_point():
        return 1 - (outputs[..., 0] - y["test"]).square().mean(1) / y["test"].var(correction=0)
    return (outputs.argmax(2) == y["test"]).double().mean(1)


def run_dataset(
    network: Network, dataset: Dataset, names: Sequence[str], seeds: Sequence[int]
) -> pd.DataFrame:
    """One tidy row per (transformation, seed); inputs of the same width are trained together."""
    y = {part: torch.tensor(target) for part, target in dataset.target.items()}
    if dataset.task == "regression":
        mean, scale = y["train"].mean(), y["train"].std()
        y = {part: ((target - mean) / scale).float() for part, target in y.items()}
    by_width: dict[int, dict[str, dict[str, np.ndarray]]] = defaultdict(dict)
    for name in names:
        inputs = network_inputs(dataset, TRANSFORMATIONS[name])
        by_width[inputs["train"].shape[1]][name] = inputs

    rows = []
    for group in by_width.values():
        stack = [np.stack([inputs[part] for inputs in group.values()]) for part in PARTS]
        X = {part: torch.tensor(each, dtype=torch.float32) for part, each in zip(PARTS, stack, strict=True)}
        pairs = list(itertools.product(range(len(group)), seeds))
        for start in range(0, len(pairs), MODELS_AT_ONCE):
            some = pairs[start : start + MODELS_AT_ONCE]
            scores = score_models(network, X, y, some, dataset.n_outputs).tolist()
            rows += [
                (list(group)[index], seed, score) for (index, seed), score in zip(some, scores, strict=True)
            ]
    metric = "r2" if dataset.task == "regression" else "accuracy"
    frame = pd.DataFrame(rows, columns=["transformation", "seed", "score"])
    return frame.assign(dataset=dataset.name, metric=metric)


def missing(
    results: pd.DataFrame, network: str, dataset: str, names: Sequence[str], seeds: Sequence[int]
) -> list[str]:
    """The transformations that lack a seed, so that a killed run resumes and a longer list only adds."""
    rows = results[(results["dataset"] == dataset) & (results["network"] == network)]
    done = set(zip(rows["transformation"], rows["seed"], strict=True))
    return [name for name in names if any((name, seed) not in done for seed in seeds)]


def read_results(path: Path) -> pd.DataFrame:
    return pd.read_csv(path) if path.exists() else pd.DataFrame(columns=COLUMNS)


def clipped(results: pd.DataFrame) -> pd.DataFrame:
    """R2 clipped to [0, 1]: below zero a network has learnt nothing, and how far below is chance."""
    score = results["score"].where(results["metric"] != "r2", results["score"].clip(0, 1))
    return results.assign(score=score)


def per_dataset(results: pd.DataFrame) -> pd.DataFrame:
    """Mean score over seeds: data sets as rows, of those that have all transformations as columns."""
    return results.pivot_table("score", "dataset", "transformation").dropna()


def normalised_score(results: pd.DataFrame) -> pd.Series:
    """Mean over data sets of the score, scaled so that the worst transformation has 0 and the best 1.

    A data set on which all are equal says nothing and is left out.
    """
    table = per_dataset(clipped(results))
    worst, best = table.min(axis=1), table.max(axis=1)
    return table.sub(worst, axis=0).div((best - worst).where(best > worst), axis=0).mean()


def gain_in_errors(results: pd.DataFrame) -> pd.Series:
    """Mean over data sets of the gain over standardisation, in standard errors by seeds, clipped to four."""
    results = clipped(results)
    table = per_dataset(results)
    by_cell = results.groupby(["dataset", "transformation"])["score"]
    error = by_cell.var().unstack().mean(axis=1).div(by_cell.count().unstack().mean(axis=1)).mul(2).pow(0.5)
    return table.sub(table["standard"], axis=0).div(error, axis=0).clip(-4, 4).mean()


def summarise(results: pd.DataFrame) -> pd.DataFrame:
    """One row per transformation: what all data sets together say of it."""
    regression = results["metric"] == "r2"
    table = per_dataset(clipped(results))
    parts = {
        "score": normalised_score(results),
        "mean rank": table.rank(axis=1, ascending=False).mean(),
        "score, regression": normalised_score(results[regression]) if regression.any() else np.nan,
        "score, classes": normalised_score(results[~regression]) if not regression.all() else np.nan,
    }
    if "standard" in table and results["seed"].nunique() > 1:
        parts["gain"] = gain_in_errors(results)
    return pd.DataFrame(parts).sort_values("score", ascending=False)


def markdown(table: pd.DataFrame) -> str:
    """The table as a document shows it."""
    lines = [["", *map(str, table.columns)], ["---"] * (table.shape[1] + 1)]
    lines += [[str(name), *(f"{number:.3f}" for number in row)] for name, *row in table.itertuples()]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def parse_arguments() -> argparse.Namespace:
    names = partial(str.split, sep=",")
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, help="folder with one folder per data set")
    parser.add_argument("--network", choices=NETWORKS, default="mlp", help="default mlp")
    parser.add_argument("--datasets", type=names, help="comma-separated; all by default")
    parser.add_argument("--transformations", type=names, help="comma-separated; all by default")
    parser.add_argument("--seeds", type=int, default=3, help="networks per transformation (default 3)")
    parser.add_argument("--max-rows", type=int, default=8000, help="training rows at most (default 8000)")
    parser.add_argument("--out", type=Path, default=Path("results.csv"), help="CSV to resume and extend")
    parser.add_argument("--threads", type=int, default=1, help="torch threads (default 1)")
    parser.add_argument("--per-dataset", action="store_true", help="also print the mean score on each")
    parser.add_argument("--summary-only", action="store_true", help="only print the table of --out")
    arguments = parser.parse_args()
    if arguments.data is None and not arguments.summary_only:
        parser.error("--data is required, unless --summary-only is given")
    if unknown := set(arguments.transformations or []) - set(TRANSFORMATIONS):
        parser.error(f"unknown transformations {sorted(unknown)}; known: {', '.join(TRANSFORMATIONS)}")
    return arguments


def run(arguments: argparse.Namespace) -> None:
    """Extend the results file, one data set at a time."""
    torch.set_num_threads(arguments.threads)
    torch.set_flush_denormal(True)  # vanishing moments would otherwise slow every step down
    names = arguments.transformations or list(TRANSFORMATIONS)
    datasets = arguments.datasets or sorted(path.parent.name for path in arguments.data.glob("*/info.json"))
    results = read_results(arguments.out)
    if set(results["max_rows"]) - {arguments.max_rows}:
        raise SystemExit(f"{arguments.out} was made with another --max-rows; give another --out")
    for name in datasets:
        if not (todo := missing(results, arguments.network, name, names, range(arguments.seeds))):
            continue
        start = time.perf_counter()
        dataset = load_dataset(arguments.data / name, arguments.max_rows)
        rows = run_dataset(NETWORKS[arguments.network], dataset, todo, range(arguments.seeds))
        rows = rows.assign(network=arguments.network, max_rows=arguments.max_rows)[COLUMNS]
        same = (results["dataset"] == name) & (results["network"] == arguments.network)
        stale = same & results["transformation"].isin(todo)
        results = pd.concat([results[~stale], rows], ignore_index=True) if len(results) else rows
        # Written beside the file and renamed: a kill leaves the old file or the new one, never half of one.
        temporary = arguments.out.with_name(arguments.out.name + ".partial")
        results.to_csv(temporary, index=False)
        temporary.replace(arguments.out)
        seconds = time.perf_counter() - start
        print(f"{name}: {len(rows)} networks in {seconds:.0f} s", file=sys.stderr, flush=True)


def main() -> None:
    arguments = parse_arguments()
    if not arguments.summary_only:
        run(arguments)
    results = read_results(arguments.out)
    results = results[results["network"] == arguments.network]
    for column, chosen in (("dataset", arguments.datasets), ("transformation", arguments.transformations)):
        if chosen:
            results = results[results[column].isin(chosen)]
    summary = summarise(results)
    print(f"{results['dataset'].nunique()} data sets, {results['seed'].nunique()} seeds")
    print(markdown(summary))
    if arguments.per_dataset:
        print(markdown(per_dataset(results)[summary.index].T))


if __name__ == "__main__":
    main()
