"""Compare transformations under neural networks: data, tuning, training, results.

A study reads data sets, fits each transformation on the training part, tunes and trains each network on
the result, and stores one row per run. The transformers of `tabstretch` know nothing of it and never
import it; what it needs beyond them is installed with `pip install 'tabstretch[study]'`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tabstretch.study.comparison import compare
    from tabstretch.study.plan import StudyPlan, read_plan
    from tabstretch.study.runner import run_study

__all__ = ["StudyPlan", "compare", "read_plan", "run_study"]

_MODULES = {"StudyPlan": "plan", "compare": "comparison", "read_plan": "plan", "run_study": "runner"}


def __getattr__(name: str) -> Any:
    """Import what is asked for: reading a data set must not need PyTorch."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    from tabstretch._extras import needed

    try:
        module = import_module(f"{__name__}.{_MODULES[name]}")
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("tabstretch"):
            raise
        raise ModuleNotFoundError(needed(error.name, "study"), name=error.name) from error
    return getattr(module, name)
