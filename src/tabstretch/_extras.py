"""Optional libraries, imported where they are used."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def import_extra(module: str, extra: str) -> Any:
    """Import an optional library or say how to install it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(needed(module, extra)) from error


def needed(module: str, extra: str) -> str:
    """Say how to install an optional library."""
    return f"{module} is needed for this: pip install 'tabstretch[{extra}]'"
