"""Time of a whole command for many seeds against one: what a person waits for.

    python benchmarks/seeds.py [--seeds 15] [--repeats 3] [--networks mlp,mlp_plr]

`tabstretch run` on one CSV file of 4000 × 20, one transformation, published defaults, early stopping as in
any study, as many workers as there are cores. The best of several repeats is taken, since other processes
only ever add time.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

N_ROWS, N_COLUMNS = 4000, 20


def write_table(path: Path) -> None:
    """Write a table of which something can be learnt."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(N_ROWS, N_COLUMNS))).add_prefix("column_")
    wave, product = np.sin(2 * frame["column_0"]), frame["column_1"] * frame["column_2"]
    frame.assign(target=wave + product + 0.1 * rng.normal(size=N_ROWS)).to_csv(path, index=False)


def run(folder: Path, network: str, n_seeds: int) -> float:
    """Return the seconds of a study that begins from nothing."""
    plan = folder / f"{network}-{n_seeds}-{time.monotonic_ns()}.toml"
    lines = [
        f'name = "{plan.stem}"',
        'datasets = ["file:table.csv?target=target"]',
        f'models = ["{network}"]',
        'transformations = ["standard"]',
        "trials = 0",
        f"seeds = {n_seeds}",
    ]
    plan.write_text("\n".join(lines) + "\n")
    start = time.perf_counter()
    subprocess.run([sys.executable, "-m", "tabstretch", "run", plan], check=True, capture_output=True)
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=15)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--networks", default="mlp,mlp_plr")
    arguments = parser.parse_args()
    print(f"{'network':9}{'one seed':>12}{f'{arguments.seeds} seeds':>12}{'ratio':>8}   (seconds)")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_table(folder / "table.csv")
        for network in arguments.networks.split(","):
            pairs = [
                (run(folder, network, 1), run(folder, network, arguments.seeds))
                for _ in range(arguments.repeats)
            ]
            one, many = (min(times) for times in zip(*pairs, strict=True))
            print(f"{network:9}{one:12.1f}{many:12.1f}{many / one:8.1f}", flush=True)


if __name__ == "__main__":
    main()
