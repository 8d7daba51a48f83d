"""Does a supervised stretch gain anything under a target of pure noise? It must not.

python benchmarks/leakage.py [--draws 40]

For tables of noise: the mean gain in validated R² or accuracy of the supervised over the unsupervised
stretch, and its standard error over draws. "honest" fits the stretch inside each fold of the validation;
"beforehand" fits it to all rows, as nobody should: the widths alone could then tell of the labels.
"""

import argparse
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tabstretch import StretchTransformer, SupervisedStretchTransformer

MODELS = {
    "linear": (Ridge(1.0), LogisticRegression()),
    "neighbours": (KNeighborsRegressor(15), KNeighborsClassifier(15)),
    "network": (
        MLPRegressor(hidden_layer_sizes=(32,), max_iter=60, random_state=0),
        MLPClassifier(hidden_layer_sizes=(32,), max_iter=60, random_state=0),
    ),
}


def gains(variation: str, classes: bool, model: str, draw: int, n_rows: int) -> tuple[float, float]:
    """The gains of one draw, honest and beforehand."""
    rng = np.random.default_rng(draw)
    X = rng.lognormal(size=(n_rows, 3))
    y = rng.integers(0, 2, size=n_rows) if classes else rng.normal(size=n_rows)
    supervised = SupervisedStretchTransformer(32, variation=variation, value_weight=0, n_curves=100)
    estimator = MODELS[model][classes]

    def score(stretch, table):
        steps = [stretch] * (stretch is not None) + [StandardScaler(), estimator]
        return cross_val_score(make_pipeline(*steps), table, y, cv=3).mean()

    without = score(StretchTransformer(32, value_weight=0), X)
    beforehand = score(None, supervised.fit(X, y).transform(X))
    return score(supervised, X) - without, beforehand - without


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=40)
    parser.add_argument("--rows", type=int, default=300)
    chosen = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    print(
        f"{chosen.draws} draws of {chosen.rows} rows: gain over the unsupervised stretch ± its standard error"
    )
    print(f"{'variation':12} {'target':8} {'model':11} {'honest':>18} {'beforehand':>18}")
    for variation in ("within_fold", "pooled", "conditional"):
        for classes in (False, True):
            for model in MODELS:
                found = np.array(
                    [gains(variation, classes, model, draw, chosen.rows) for draw in range(chosen.draws)]
                )
                mean, error = found.mean(axis=0), found.std(axis=0, ddof=1) / np.sqrt(chosen.draws)
                cells = " ".join(f"{m:+9.4f} ± {e:.4f}" for m, e in zip(mean, error, strict=True))
                kind = "classes" if classes else "numbers"
                print(f"{variation:12} {kind:8} {model:11} {cells}", flush=True)


if __name__ == "__main__":
    main()
