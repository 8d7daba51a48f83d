"""A real table, and one column of it
==================================

Fit both transformers on a real table, print what they found and draw one column.

Usage: python examples/plot_diabetes.py [output folder, default build/diabetes]
"""

import sys
from pathlib import Path

import matplotlib
from sklearn.datasets import load_diabetes

from tabstretch import StretchDisplay, StretchTransformer, SupervisedStretchTransformer

matplotlib.use("Agg")


def main(folder: Path) -> None:
    """Write figure and report into `folder`."""
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    plain = StretchTransformer().fit(X)
    supervised = SupervisedStretchTransformer(target_type="continuous").fit(X, y)
    report = "\n\n".join(
        [
            f"Disease progression of {len(X)} diabetes patients, {X.shape[1]} columns",
            f"{plain}\n{plain.summary().to_string(float_format='%.3f')}",
            f"{supervised}\n{supervised.summary().to_string(float_format='%.3f')}",
        ]
    )
    print(report)
    folder.mkdir(parents=True, exist_ok=True)
    few_bins = SupervisedStretchTransformer(n_bins=8, target_type="continuous").fit(X, y)
    display = StretchDisplay.from_estimator(few_bins, X, y, feature="bmi")
    display.figure_.savefig(folder / "bmi.png", dpi=150)
    (folder / "report.txt").write_text(report + "\n")
    print(f"\nThe report is in {folder / 'report.txt'}, the figure in {folder / 'bmi.png'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "build/diabetes"))
