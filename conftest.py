"""Where PyTorch and Optuna are not installed, the networks and the runner of studies are left out."""

from importlib.util import find_spec

NEED_NETWORKS = [
    f"{folder}/{prefix}{name}"
    for folder, prefix in (("src/tabstretch/study", ""), ("tests/study", "test_"))
    for name in (
        "cells.py",
        "columns.py",
        "cli.py",
        "comparison.py",
        "faults.py",
        "jobs.py",
        "pipeline.py",
        "progress.py",
        "runner.py",
        "searches.py",
        "tally.py",
        "training.py",
        "transformations.py",
        "transformations_extremes.py",
        "views.py",
        "worker.py",
        "workers.py",
        "workspace.py",
    )
]
NEED_NETWORKS += [
    f"{folder}/{package}/*"
    for folder in ("src/tabstretch/study", "tests/study")
    for package in ("models", "storage")
]
NEED_NETWORKS += ["src/tabstretch/torch.py", "tests/study/driver.py"]

collect_ignore_glob = [] if find_spec("torch") and find_spec("optuna") else NEED_NETWORKS
