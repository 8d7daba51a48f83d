"""Compare numeric transformations by the test score of one untuned network, to choose the library's defaults.

    python benchmarks/networks.py --data DIR [--datasets a,b] [--transformations x,y] [--out results.csv]
    python benchmarks/networks.py --summary-only --out results.csv [--datasets a,b] [--transformations x,y]

DIR holds one folder per data set in TALENT's format. Nothing is tuned, so that a difference in score is a
difference between transformations. Top to bottom: data sets, transformations, networks (trained as a stack,
all of a data set's having the same shape), results (a row per dataset, transformation, seed), the command.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from sklearn import preprocessing
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from torch import Tensor
from torch.nn import functional

PARTS = ("train", "val", "test")
Tensors = dict[str, Tensor]  # by part
Transformer = Any  # fitted, with a method transform(X)
Transformation = Callable[[np.ndarray, np.ndarray, str], Transformer]  # (X_train, y_train, task) -> fitted
Pair = tuple[int, int]  # which transformation (its index), which seed: one network

MAX_VAL_ROWS, MAX_TEST_ROWS = 3000, 8000
HIDDEN, BATCH, MAX_EPOCHS, PATIENCE = 192, 256, 60, 10
LEARNING_RATE, WEIGHT_DECAY = 1e-3, 1e-4
MODELS_AT_ONCE = 12  # what stays near the cache trains fastest; scores depend on it by rounding only
EVALUATION_ROWS = 1024  # likewise
COLUMNS = ["dataset", "max_rows", "transformation", "seed", "metric", "score"]

SUPERVISED_GRID = [  # n_bins, rank_weight, value_weight
    *((64, rank, value) for rank, value in ((0, 0), (1, 0), (0, 1), (1, 1), (0.5, 0.5), (1, 2), (0.5, 1))),
    *((64, rank, value) for rank, value in ((0, 2), (0.5, 2), (1, 4), (2, 4))),
    *((256, rank, value) for rank, value in ((1, 2), (0.5, 2))),
    *((n_bins, rank, value) for n_bins in (16, 256) for rank, value in ((1, 1), (0, 1), (0, 0))),
]
UNSUPERVISED_GRID = [(n_bins, value) for n_bins in (16, 64, 256) for value in (0, 0.5, 1, 2)]


@dataclass(frozen=True)
class Dataset:
    """One data set, complete numbers only; every dict is keyed by part (train, val, test)."""

    name: str
    task: str  # "regression" or "classification"
    n_outputs: int
    numeric: dict[str, np.ndarray]
    categorical: dict[str, np.ndarray]  # integer codes; empty where there are no such columns
    target: dict[str, np.ndarray]


def load_dataset(folder: Path, max_rows: int) -> Dataset:
    """Read one folder, keep a random subsample of each part, impute and encode by the training rows."""
    info = json.loads((folder / "info.json").read_text())
    caps = dict(zip(PARTS, (max_rows, MAX_VAL_ROWS, MAX_TEST_ROWS), strict=True))
    target, numeric, categorical = {}, {}, {}
    for part in PARTS:
        y = np.load(folder / f"y_{part}.npy")
        rows = np.sort(np.random.default_rng(0).permutation(len(y))[: caps[part]])
        target[part] = y[rows]
        numeric[part] = np.load(folder / f"N_{part}.npy").astype(np.float64)[rows]
        if (path := folder / f"C_{part}.npy").exists():
            # Strings are stored as object arrays, which only pickle can read: use on data you trust.
            categorical[part] = np.load(path, allow_pickle=True).astype(str)[rows]

    imputer = SimpleImputer(keep_empty_features=True).fit(numeric["train"])
    numeric = {part: imputer.transform(X) for part, X in numeric.items()}
    if categorical:
        encoder = preprocessing.OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
        encoder.fit(categorical["train"])
        categorical = {part: encoder.transform(C) for part, C in categorical.items()}
    if info["task_type"] == "regression":
        return Dataset(folder.name, "regression", 1, numeric, categorical, target)
    return Dataset(folder.name, "classification", info["n_classes"], numeric, categorical, target)


def quantile(X: np.ndarray, y: np.ndarray, task: str) -> Transformer:
    params = {"n_quantiles": max(min(len(X) // 30, 1000), 10), "output_distribution": "normal"}
    return preprocessing.QuantileTransformer(**params, random_state=0).fit(X)


def yeo_johnson(X: np.ndarray, y: np.ndarray, task: str) -> Transformer:
    """Columns whose optimiser fails or overflows are passed through unchanged (columns may change places)."""

    def works(x: np.ndarray) -> bool:
        try:
            return bool(np.isfinite(preprocessing.PowerTransformer().fit_transform(x[:, None])).all())
        except Exception:  # scipy raises a different one in every release
            return False

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        good = [column for column, x in enumerate(X.T) if works(x)]
        power = (preprocessing.PowerTransformer(), good)
        return make_column_transformer(power, remainder="passthrough").fit(X)


def supervised_stretch(X: np.ndarray, y: np.ndarray, task: str, **params: Any) -> Transformer:
    from tabstretch import SupervisedStretchTransformer

    # Explicit, since whole-numbered regression targets (ages, counts) look like classes.
    target_type = "continuous" if task == "regression" else "auto"
    return SupervisedStretchTransformer(target_type=target_type, random_state=0, **params).fit(X, y)


def unsupervised_stretch(X: np.ndarray, y: np.ndarray, task: str, **params: Any) -> Transformer:
    from tabstretch import StretchTransformer

    return StretchTransformer(**params).fit(X)


TRANSFORMATIONS: dict[str, Transformation] = {
    "standard": lambda X, y, task: preprocessing.StandardScaler().fit(X),
    "minmax": lambda X, y, task: preprocessing.MinMaxScaler().fit(X),
    "quantile": quantile,
    "yeo_johnson": yeo_johnson,
}
paper = {"variation": "pooled", "shrinkage": 0.0, "rank_weight": 0, "value_weight": 0}
TRANSFORMATIONS["sup_paper_b64"] = partial(supervised_stretch, n_bins=64, **paper)
for n_bins, rank, value in SUPERVISED_GRID:
    params = {"n_bins": n_bins, "rank_weight": rank, "value_weight": value}
    TRANSFORMATIONS[f"sup_b{n_bins}_r{rank:g}_v{value:g}"] = partial(supervised_stretch, **params)
for n_bins, value in UNSUPERVISED_GRID:
    params = {"n_bins": n_bins, "value_weight": value}
    TRANSFORMATIONS[f"unsup_b{n_bins}_v{value:g}"] = partial(unsupervised_stretch, **params)


def network_inputs(dataset: Dataset, name: str) -> Tensors:
    """Transform the numeric columns, append the categorical codes, standardise all of them."""
    fitted = TRANSFORMATIONS[name](dataset.numeric["train"], dataset.target["train"], dataset.task)
    inputs = {part: fitted.transform(X) for part, X in dataset.numeric.items()}
    for part, codes in dataset.categorical.items():
        inputs[part] = np.hstack([inputs[part], codes])
    scaler = preprocessing.StandardScaler().fit(inputs["train"])
    inputs = {part: scaler.transform(X) for part, X in inputs.items()}
    if not all(np.isfinite(X).all() for X in inputs.values()):
        raise ValueError(f"{name} made values that are not finite on {dataset.name}")
    return {part: torch.tensor(X, dtype=torch.float32) for part, X in inputs.items()}


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


def forward(parameters: Sequence[Tensor], inputs: Tensor) -> Tensor:
    """Outputs (models, rows, outputs) of inputs (models, rows, columns)."""
    *hidden, last_weight, last_bias = parameters
    for weight, bias in zip(hidden[::2], hidden[1::2], strict=True):
        inputs = torch.baddbmm(bias, inputs, weight).relu_()
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


def train(X: Tensors, y: Tensors, pairs: Sequence[Pair], n_outputs: int) -> list[Tensor]:
    """Train one model per pair and return each one's best parameters on the validation part.

    Losses are summed over the models and every operation keeps them apart, so each trains as if alone.
    """
    active = torch.arange(len(pairs))
    transformation = torch.tensor([index for index, _ in pairs])
    seeds = sorted({seed for _, seed in pairs})
    seed_index = torch.tensor([seeds.index(seed) for _, seed in pairs])
    orders = [torch.Generator().manual_seed(seed) for seed in seeds]

    n_rows, n_columns = X["train"].shape[1:]
    best = initial_parameters([seed for _, seed in pairs], (n_columns, HIDDEN, HIDDEN, n_outputs))
    best_loss = torch.full((len(pairs),), torch.inf)
    best_epoch = torch.zeros(len(pairs), dtype=torch.long)
    parameters = [tensor.clone().requires_grad_() for tensor in best]
    optimizer = torch.optim.AdamW(parameters, lr=LEARNING_RATE, weight_decay=WEIGHT_DECAY, fused=True)

    for epoch in range(MAX_EPOCHS):
        order = torch.stack([torch.randperm(n_rows, generator=generator) for generator in orders])
        for batch in order.split(BATCH, dim=1):
            rows = batch[seed_index[active]]
            outputs = forward(parameters, X["train"][transformation[active, None], rows])
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


def score_models(X: Tensors, y: Tensors, pairs: Sequence[Pair], n_outputs: int) -> Tensor:
    """Train, then R2 or accuracy on the test part, one number per pair."""
    parameters = train(X, y, pairs, n_outputs)
    outputs = predict(parameters, X["test"], torch.tensor([index for index, _ in pairs]))
    if y["test"].is_floating_point():
        return 1 - (outputs[..., 0] - y["test"]).square().mean(1) / y["test"].var(correction=0)
    return (outputs.argmax(2) == y["test"]).double().mean(1)


def run_dataset(dataset: Dataset, names: Sequence[str], seeds: Sequence[int]) -> pd.DataFrame:
    """One tidy row per (transformation, seed)."""
    inputs = [network_inputs(dataset, name) for name in names]
    X = {part: torch.stack([tensors[part] for tensors in inputs]) for part in PARTS}
    y = {part: torch.tensor(target) for part, target in dataset.target.items()}
    if dataset.task == "regression":
        mean, scale = y["train"].mean(), y["train"].std()
        y = {part: ((target - mean) / scale).float() for part, target in y.items()}

    pairs = list(itertools.product(range(len(names)), seeds))
    groups = [pairs[start : start + MODELS_AT_ONCE] for start in range(0, len(pairs), MODELS_AT_ONCE)]
    scores = torch.cat([score_models(X, y, group, dataset.n_outputs) for group in groups])
    rows = pd.DataFrame([(names[index], seed) for index, seed in pairs], columns=["transformation", "seed"])
    metric = "r2" if dataset.task == "regression" else "accuracy"
    return rows.assign(dataset=dataset.name, metric=metric, score=scores.numpy())


def missing(results: pd.DataFrame, dataset: str, names: Sequence[str], seeds: Sequence[int]) -> list[str]:
    """The transformations that lack a seed, so that a killed run resumes and a longer list only adds."""
    rows = results[results["dataset"] == dataset]
    done = set(zip(rows["transformation"], rows["seed"], strict=True))
    return [name for name in names if any((name, seed) not in done for seed in seeds)]


def read_results(path: Path) -> pd.DataFrame:
    return pd.read_csv(path) if path.exists() else pd.DataFrame(columns=COLUMNS)


def summarise(results: pd.DataFrame) -> pd.DataFrame:
    """Mean normalised score and mean rank per transformation, over the data sets that have all of them.

    Per data set the seed-mean score (R2 clipped to [0, 1]) is scaled so that the worst transformation has 0
    and the best 1; a data set on which all are equal says nothing and is left out of the score.
    """
    score = results["score"].where(results["metric"] != "r2", results["score"].clip(0, 1))
    table = results.assign(score=score).pivot_table("score", "dataset", "transformation").dropna()
    worst, best = table.min(axis=1), table.max(axis=1)
    normalised = table.sub(worst, axis=0).div((best - worst).where(best > worst), axis=0)
    ranks = table.rank(axis=1, ascending=False)
    summary = pd.DataFrame({"score": normalised.mean(), "rank": ranks.mean(), "datasets": len(table)})
    return summary.sort_values("score", ascending=False)


def parse_arguments() -> argparse.Namespace:
    names = partial(str.split, sep=",")
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, help="folder with one folder per data set")
    parser.add_argument("--datasets", type=names, help="comma-separated; all by default")
    parser.add_argument("--transformations", type=names, help="comma-separated; all by default")
    parser.add_argument("--seeds", type=int, default=3, help="networks per transformation (default 3)")
    parser.add_argument("--max-rows", type=int, default=8000, help="training rows at most (default 8000)")
    parser.add_argument("--out", type=Path, default=Path("results.csv"), help="CSV to resume and extend")
    parser.add_argument("--threads", type=int, default=1, help="torch threads (default 1)")
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
        if not (todo := missing(results, name, names, range(arguments.seeds))):
            continue
        start = time.perf_counter()
        dataset = load_dataset(arguments.data / name, arguments.max_rows)
        rows = run_dataset(dataset, todo, range(arguments.seeds)).assign(max_rows=arguments.max_rows)[COLUMNS]
        stale = (results["dataset"] == name) & results["transformation"].isin(todo)
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
    for column, chosen in (("dataset", arguments.datasets), ("transformation", arguments.transformations)):
        if chosen:
            results = results[results[column].isin(chosen)]
    print(summarise(results).to_string(float_format="{:.3f}".format))


if __name__ == "__main__":
    main()
