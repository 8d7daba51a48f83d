"""Where PyTorch and Optuna are not installed, tests of networks and of the runner of studies are left out."""

from importlib.util import find_spec

_MODULES = (
    "adamw",
    "cells",
    "cli",
    "columns",
    "comparison",
    "fault_injection",
    "faults",
    "hostile_names",
    "interruptions",
    "no_way_in",
    "noise_study",
    "runner",
    "training",
    "transformations",
    "transformations_extremes",
    "printing",
    "progress",
    "workers",
    "workspace",
)
NEED_NETWORKS = [f"tests/study/test_{name}.py" for name in _MODULES]
NEED_NETWORKS += [
    "tests/study/driver.py",
    "tests/study/fault_injection.py",
    "tests/study/fault_kinds.py",
    "tests/study/disturbed.py",
    "tests/study/sessions.py",
    "tests/study/warmed.py",
    "tests/study/datasets/test_openml_answers.py",
    "tests/study/models/*",
    "tests/study/report/*",
    "tests/study/storage/*",
]

collect_ignore_glob = [] if find_spec("torch") and find_spec("optuna") else NEED_NETWORKS
