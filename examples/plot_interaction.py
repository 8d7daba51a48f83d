"""A column that matters only together with another
================================================

Only the conditional stretch sees it.

Usage: python examples/plot_interaction.py [output folder, default build/interaction]

The target is +1 where two columns have the same sign and -1 where they differ (XOR), with noise. Along
either column alone it is flat on average, so the marginal stretch leaves both as they are. Teachers see
the columns together: when one moves past zero their predictions jump, up for some rows and down for others.
"""

import sys
from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd

from tabstretch import StretchDisplay, SupervisedStretchTransformer

matplotlib.use("Agg")


def main(folder: Path) -> None:
    """Print both summaries and write a picture of each stretch into `folder`."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(3000, 3)), columns=["left", "right", "noise"])
    y = np.sign(X["left"] * X["right"]) + 0.3 * rng.normal(size=len(X))
    folder.mkdir(parents=True, exist_ok=True)
    for variation in ("within_fold", "conditional"):
        stretch = SupervisedStretchTransformer(
            n_bins=32, variation=variation, rank_weight=0, value_weight=0.2
        ).fit(X, y)
        print(f"variation={variation!r}")
        print(stretch.summary().to_string(float_format="%.3f"), end="\n\n")
        picture = folder / f"{variation}.png"
        StretchDisplay.from_estimator(stretch, X, y, feature="left").figure_.savefig(picture, dpi=120)
        print(f"The picture is in {picture}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "build/interaction"))
