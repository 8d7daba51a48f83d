"""The parts of which search spaces are made. Names are those of the paper's table."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from optuna.trial import BaseTrial

Value = TypeVar("Value")


def optional(trial: BaseTrial, name: str, default: Value, draw: Callable[[], Value]) -> Value:
    """Draw whether to draw at all, `?dist[default, …]` in the table; if not, the value is the default."""
    return draw() if trial.suggest_categorical(f"optional_{name}", [False, True]) else default


def mlp_layers(
    trial: BaseTrial, min_layers: int, max_layers: int, min_width: int, max_width: int
) -> list[int]:
    """Draw widths, `$mlp_d_layers` in the table: the first, the last and one for all between."""
    n_layers = trial.suggest_int("n_layers", min_layers, max_layers)
    first = [trial.suggest_int("d_first", min_width, max_width)]
    middle = [trial.suggest_int("d_middle", min_width, max_width)] * (n_layers - 2) if n_layers > 2 else []
    last = [trial.suggest_int("d_last", min_width, max_width)] if n_layers > 1 else []
    return [*first, *middle, *last]


def learning_rate(trial: BaseTrial, high: float = 1e-2) -> float:
    """Draw the learning rate."""
    return trial.suggest_float("lr", 1e-5, high, log=True)


def optional_weight_decay(trial: BaseTrial) -> float:
    """Draw the weight decay, or none."""
    return optional(
        trial, "weight_decay", 0.0, lambda: trial.suggest_float("weight_decay", 1e-6, 1e-3, log=True)
    )


def optional_dropout(trial: BaseTrial, name: str, high: float) -> float:
    """Draw a rate of dropout, or none."""
    return optional(trial, name, 0.0, lambda: trial.suggest_float(name, 0.0, high))
