"""The stretches beside transformers that people come from: time, inputs per column, a network's score.

Usage: python benchmarks/coming_from.py [--rows 100000] [--repeats 3] [--seeds 3] [--parts speed,score]

Times are ratios to `StretchTransformer`, on one core, on `make_friedman1` with ten columns. Scores are test
R² (clipped at 0) or accuracy of scikit-learn's MLP on tables of scikit-learn, none of which is downloaded.
All inputs are standardised before the network. Piecewise linear encoding needs rtdl_num_embeddings, and
kditransform itself: what is not installed is left out, with the command that installs it.
"""

from __future__ import annotations

import argparse
import importlib.util
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin, clone, is_classifier
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_wine,
    make_friedman1,
    make_friedman2,
    make_friedman3,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import QuantileTransformer, StandardScaler

from tabstretch import StretchTransformer, SupervisedStretchTransformer

PLE_BINS = 16
INSTALL = {
    "rtdl_num_embeddings": "pip install 'tabstretch[study]'",
    "kditransform": "pip install kditransform",
}


class PiecewiseLinearEncoding(TransformerMixin, BaseEstimator):
    """PLE with quantile bins, by the library of its authors."""

    def fit(self, X: Any, y: Any = None) -> PiecewiseLinearEncoding:
        import torch
        from rtdl_num_embeddings import PiecewiseLinearEncoding as Encoding
        from rtdl_num_embeddings import compute_bins

        torch.set_num_threads(1)
        self.encoding_ = Encoding(compute_bins(torch.tensor(X), n_bins=PLE_BINS))
        return self

    def transform(self, X: Any) -> Any:
        import torch

        return self.encoding_(torch.tensor(X)).flatten(1).numpy()


def transformers(continuous: bool, n_rows: int) -> Iterator[tuple[str, Any]]:
    """Yield the name and the estimator of each transformation that is installed."""
    target_type = "continuous" if continuous else "auto"
    yield "StretchTransformer", StretchTransformer()
    yield "within_fold", SupervisedStretchTransformer(variation="within_fold", target_type=target_type)
    yield "conditional (default)", SupervisedStretchTransformer(target_type=target_type)
    yield "views", SupervisedStretchTransformer(output="views", target_type=target_type)
    yield "StandardScaler", StandardScaler()
    quantiles = min(1000, n_rows)
    yield "QuantileTransformer", QuantileTransformer(n_quantiles=quantiles)
    yield (
        "QuantileTransformer, normal",
        QuantileTransformer(n_quantiles=quantiles, output_distribution="normal"),
    )
    if importlib.util.find_spec("rtdl_num_embeddings"):
        yield f"PLE, {PLE_BINS} bins", PiecewiseLinearEncoding()
    if importlib.util.find_spec("kditransform"):
        from kditransform import KDITransformer

        yield "KDITransformer", KDITransformer()


def seconds(job: Callable[[], Any], repeats: int) -> float:
    """Return the best time of some."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        job()
        times.append(time.perf_counter() - start)
    return min(times)


def print_speed(n_rows: int, repeats: int) -> None:
    """Print a table of times as ratios to the unsupervised stretch, and of outputs per column."""
    X, y = make_friedman1(n_rows, n_features=10, random_state=0)
    measured = {}
    # By default scikit-learn's takes its quantiles from 10,000 rows.
    all_rows = QuantileTransformer(n_quantiles=min(1000, n_rows), subsample=None)
    for name, transformer in [*transformers(True, n_rows), ("QuantileTransformer, all rows", all_rows)]:
        fitted = clone(transformer).fit(X[:1000], y[:1000])  # compiles what is compiled
        fitted.transform(X[:1000])
        fit = seconds(lambda model=fitted: model.fit(X, y), repeats)
        transform = seconds(lambda model=fitted: model.transform(X), repeats)
        measured[name] = fit, transform, fitted.transform(X[:2]).shape[1] / X.shape[1]
    unit = measured["StretchTransformer"]
    print(f"\n| {n_rows} rows | fit | transform | outputs per column |\n|---|---:|---:|---:|")
    for name, (fit, transform, outputs) in measured.items():
        print(f"| {name} | {fit / unit[0]:.2f} | {transform / unit[1]:.2f} | {outputs:.0f} |")


def tables() -> Iterator[tuple[str, Any, Any, bool]]:
    """Yield name, columns, target, and whether the target is a number."""
    yield "diabetes", *load_diabetes(return_X_y=True, scaled=False), True
    for name, make in (("friedman1", make_friedman1), ("friedman2", make_friedman2)):
        yield name, *make(2000, noise=1.0, random_state=0), True
    yield "friedman3", *make_friedman3(2000, noise=0.1, random_state=0), True
    yield "wine", *load_wine(return_X_y=True), False
    yield "breast cancer", *load_breast_cancer(return_X_y=True), False


def score(transformer: Any, X: Any, y: Any, seed: int, *, continuous: bool) -> float:
    """Return the test score of a network after a transformation, on one split."""
    stratify = None if continuous else y
    parts = train_test_split(X, y, test_size=0.25, stratify=stratify, random_state=seed)
    X_train, X_test, y_train, y_test = parts
    options = {"hidden_layer_sizes": (128, 128), "early_stopping": True, "random_state": seed}
    network: Any = MLPClassifier(**options)
    if continuous:
        network = TransformedTargetRegressor(MLPRegressor(**options), transformer=StandardScaler())
    model = make_pipeline(clone(transformer), StandardScaler(), network).fit(X_train, y_train)
    found = float(model.score(X_test, y_test))
    return found if is_classifier(model) else max(found, 0.0)


def print_scores(seeds: int) -> None:
    """Print a table of mean test scores, the best of each data set in bold."""
    rows: dict[str, list[float]] = {}
    columns = list(tables())
    for _, X, y, continuous in columns:
        for name, transformer in transformers(continuous, int(0.75 * len(X))):
            scores = [score(transformer, X, y, seed, continuous=continuous) for seed in range(seeds)]
            rows.setdefault(name, []).append(float(np.mean(scores)))
    best = np.max([np.round(row, 3) for row in rows.values()], axis=0)
    print(f"\n| mean of {seeds} | " + " | ".join(name for name, *_ in columns) + " |")
    print("|---|" + "---:|" * len(columns))
    for name, row in rows.items():
        cells = [
            f"**{value:.3f}**" if round(value, 3) == top else f"{value:.3f}"
            for value, top in zip(row, best, strict=True)
        ]
        print(f"| {name} | " + " | ".join(cells) + " |")


def main() -> None:
    """Measure and print both tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rows", type=lambda text: int(float(text)), default=100_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--parts", default="speed,score")
    arguments = parser.parse_args()
    for package, command in INSTALL.items():
        if not importlib.util.find_spec(package):
            print(f"{package} is left out, it is not installed: {command}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", message="n_quantiles|The .* feature has just two bin edges")
        if "speed" in arguments.parts:
            print_speed(arguments.rows, arguments.repeats)
        if "score" in arguments.parts:
            print_scores(arguments.seeds)


if __name__ == "__main__":
    main()
