"""Versions and machine: what else a study ran on."""

from __future__ import annotations

import os
import platform
from importlib import metadata
from typing import Any

_PACKAGES = (
    "tabstretch",
    "numpy",
    "scikit-learn",
    "torch",
    "optuna",
    "rtdl_num_embeddings",
    "rtdl_revisiting_models",
    "pytabkit",
    "skrub",
)


def environment() -> dict[str, Any]:
    """Return what a reader needs to run a study again."""
    return {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
        "packages": {name: _version(name) for name in _PACKAGES},
    }


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
