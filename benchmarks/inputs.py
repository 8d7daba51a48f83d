"""Data sets and numeric transformations for `networks.py`: what a network is given to learn from."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import preprocessing
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from tabstretch import StretchTransformer, SupervisedStretchTransformer

PARTS = ("train", "val", "test")
MAX_VAL_ROWS, MAX_TEST_ROWS = 3000, 8000


@dataclass(frozen=True)
class Dataset:
    """One data set, complete numbers only; every dict is keyed by part (train, val, test)."""

    name: str
    task: str  # "regression" or "classification"
    n_outputs: int
    numeric: dict[str, np.ndarray]
    categorical: dict[str, np.ndarray]  # integer codes; empty where there are no such columns
    target: dict[str, np.ndarray]


Transformer = Any  # fitted, with a method transform(X)
Transformation = Callable[[Dataset], Transformer]  # fits on the training part


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


def quantile(dataset: Dataset) -> Transformer:
    X = dataset.numeric["train"]
    params = {"n_quantiles": max(min(len(X) // 30, 1000), 10), "output_distribution": "normal"}
    return preprocessing.QuantileTransformer(**params, random_state=0).fit(X)


def yeo_johnson(dataset: Dataset) -> Transformer:
    """Columns whose optimiser fails or overflows are passed through unchanged (columns may change places)."""
    X = dataset.numeric["train"]

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


class RobustSquash(TransformerMixin, BaseEstimator):
    """RS-SC: centre by the median, scale by the interquartile range, clip smoothly at three."""

    def fit(self, X: np.ndarray, y: Any = None) -> RobustSquash:
        low, self.center_, high = np.quantile(X, [0.25, 0.5, 0.75], axis=0)
        spread = np.where(high > low, high - low, np.ptp(X, axis=0) / 2)
        self.scale_ = np.where(spread > 0, spread, 1.0)
        return self

    def transform(self, X: np.ndarray) -> np.ndarray:
        Z = (X - self.center_) / self.scale_
        return Z / np.sqrt(1 + (Z / 3) ** 2)


class TreeBins(TransformerMixin, BaseEstimator):
    """PLE-T: every column becomes one input per leaf of its own tree, filled from left to right."""

    def __init__(self, task: str) -> None:
        self.task = task

    def fit(self, X: np.ndarray, y: np.ndarray) -> TreeBins:
        tree = DecisionTreeRegressor if self.task == "regression" else DecisionTreeClassifier
        params = {"max_leaf_nodes": 32, "min_samples_leaf": min(64, max(1, len(X) // 16))}
        self.edges_ = []
        for x in X.T:
            fitted = tree(**params, min_impurity_decrease=1e-4, random_state=0).fit(x[:, None], y).tree_
            thresholds = fitted.threshold[fitted.children_left >= 0]
            self.edges_.append(np.unique(np.concatenate([[x.min()], thresholds, [x.max()]])))
        return self

    def transform(self, X: np.ndarray) -> np.ndarray:
        parts = [
            np.clip((x[:, None] - edges[:-1]) / np.diff(edges), 0, 1)
            for x, edges in zip(X.T, self.edges_, strict=True)
            if len(edges) > 1
        ]
        return np.hstack(parts)


def supervised_stretch(dataset: Dataset, **params: Any) -> Transformer:
    # Explicit, since whole-numbered regression targets (ages, counts) look like classes.
    target_type = "continuous" if dataset.task == "regression" else "auto"
    stretch = SupervisedStretchTransformer(target_type=target_type, random_state=0, **params)
    context = dataset.categorical.get("train") if stretch.variation == "conditional" else None
    return stretch.fit(dataset.numeric["train"], dataset.target["train"], context=context)


def unsupervised_stretch(dataset: Dataset, **params: Any) -> Transformer:
    return StretchTransformer(**params).fit(dataset.numeric["train"])


# n_bins, rank_weight, value_weight
MARGINAL = [(64, 0, 0), (256, 1, 2)]
CONDITIONAL = [(n_bins, *weights) for n_bins in (64, 256) for weights in ((0, 1), (0, 2), (1, 2))]


def _named_transformations() -> dict[str, Transformation]:
    """The transformations that are compared, by name."""
    paper = {"variation": "pooled", "shrinkage": 0.0, "rank_weight": 0, "value_weight": 0, "n_bins": 64}
    views = {"output": "views"}
    named: dict[str, Transformation] = {
        "standard": lambda data: preprocessing.StandardScaler().fit(data.numeric["train"]),
        "rs_sc": lambda data: RobustSquash().fit(data.numeric["train"]),
        "ple_t": lambda data: TreeBins(data.task).fit(data.numeric["train"], data.target["train"]),
        "quantile": quantile,
        "yeo_johnson": yeo_johnson,
        "paper_b64": partial(supervised_stretch, **paper),
        "unsup_b256_v2": partial(unsupervised_stretch, n_bins=256, value_weight=2),
        "views_unsup": partial(unsupervised_stretch, **views),
        "views_within": partial(supervised_stretch, variation="within_fold", **views),
        "views_cond": partial(supervised_stretch, variation="conditional", **views),
    }
    for name, variation, grid in (("within", "within_fold", MARGINAL), ("cond", "conditional", CONDITIONAL)):
        for n_bins, rank, value in grid:
            params: dict[str, Any] = {
                "n_bins": n_bins,
                "rank_weight": rank,
                "value_weight": value,
                "variation": variation,
            }
            named[f"{name}_b{n_bins}_r{rank}_v{value}"] = partial(supervised_stretch, **params)
    return named


TRANSFORMATIONS = _named_transformations()


def network_inputs(dataset: Dataset, transformation: Transformation) -> dict[str, np.ndarray]:
    """Transform the numeric columns, append the categorical codes, standardise all of them."""
    fitted = transformation(dataset)
    inputs = {part: fitted.transform(X) for part, X in dataset.numeric.items()}
    for part, codes in dataset.categorical.items():
        inputs[part] = np.hstack([inputs[part], codes])
    scaler = preprocessing.StandardScaler().fit(inputs["train"])
    inputs = {part: scaler.transform(X) for part, X in inputs.items()}
    if not all(np.isfinite(X).all() for X in inputs.values()):
        raise ValueError(f"values that are not finite on {dataset.name}")
    return inputs
