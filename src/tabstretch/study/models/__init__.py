"""The five networks by name, one module each with its search space; a module is imported when it is used.

- `spaces`: draws that the search spaces share
- `kernels`, `products`: the loops and the products of matrices that layers are made of
- `layers`, `stacks`: layers of many seeds at once, and how networks made of them are fit
- `mlp`, `mlp_plr`, `resnet`, `ftt`, `realmlp`: the networks
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any, Protocol, cast

from optuna.trial import BaseTrial

from tabstretch.study import names
from tabstretch.study.inputs import Inputs
from tabstretch.study.training import Budget, Fitted


class Model(Protocol):
    """What the module of a network has."""

    DEFAULTS: dict[str, Any]
    """The published defaults."""
    STACKS: bool
    """Whether `fit` trains many seeds at once."""

    def suggest(self, trial: BaseTrial) -> dict[str, Any]:
        """Draw from the paper's search space."""
        ...

    def fit(
        self, inputs: Inputs, params: Mapping[str, Any], seeds: Sequence[int], budget: Budget
    ) -> list[Fitted | Exception]:
        """Train a network for each seed; one that fails is its error."""
        ...

    def memory(self, inputs_width: int, batch: int, params: Mapping[str, Any]) -> float:
        """Return how many bytes a training step of one seed takes, roughly."""
        ...


class _Models(Mapping[str, Model]):
    """Modules by name: importing all of them would load libraries that most studies do without."""

    def __getitem__(self, name: str) -> Model:
        if name not in names.MODELS:
            raise KeyError(name)
        return cast(Model, import_module(f"tabstretch.study.models.{name}"))

    def __iter__(self) -> Iterator[str]:
        return iter(names.MODELS)

    def __len__(self) -> int:
        return len(names.MODELS)


MODELS: Mapping[str, Model] = _Models()
