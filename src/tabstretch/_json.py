"""JSON that is read strictly, and values in it that know their place."""

from __future__ import annotations

import json
import math
import reprlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

# Whole numbers beyond these are no parameter, and numpy would take them for objects.
SMALLEST_INT, LARGEST_INT = -(2**63), 2**63 - 1


def parse_json(text: str) -> Any:
    """Parse a document; constants that JSON does not have and keys that stand twice are errors."""
    try:
        return json.loads(text, parse_constant=_no_constant, object_pairs_hook=_unique_keys)
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error}") from None
    except RecursionError:
        raise ValueError("nested too deeply") from None


@dataclass(frozen=True)
class Node:
    """A value of a document and where it stands, as in `columns[3].maps`."""

    value: Any
    place: str = ""

    def fail(self, wanted: str) -> NoReturn:
        """Raise an error that says what was wanted here and what is here."""
        raise ValueError(f"{self._where} must be {wanted}, got {reprlib.repr(self.value)}")

    @property
    def _where(self) -> str:
        return self.place or "the document"

    def members(self, required: Collection[str], optional: Collection[str] = ()) -> dict[str, Node]:
        """Return the members of an object that has these keys and no others."""
        if not isinstance(self.value, dict):
            self.fail("an object")
        missing = [key for key in required if key not in self.value]
        unknown = [key for key in self.value if key not in (*required, *optional)]
        if missing:
            raise ValueError(f"{self._where} lacks the keys {missing}")
        if unknown:
            raise ValueError(f"{self._where} has keys that mean nothing: {unknown[:10]}")
        return {key: Node(value, f"{self.place}.{key}".lstrip(".")) for key, value in self.value.items()}

    def items(self) -> Iterator[Node]:
        """Return the items of an array."""
        if not isinstance(self.value, list):
            self.fail("an array")
        return (Node(value, f"{self.place}[{i}]") for i, value in enumerate(self.value))

    def choice(self, options: Collection[Any]) -> Any:
        """Return a value that is one of the options."""
        if not any(type(self.value) is type(option) and self.value == option for option in options):
            self.fail(f"one of {list(options)}")
        return self.value

    def text(self) -> str:
        """Return a string."""
        if not isinstance(self.value, str):
            self.fail("a string")
        return self.value

    def number(self, low: float = -np.inf, high: float = np.inf) -> float:
        """Return a finite number from `low` to `high`."""
        if not is_number(self.value) or not low <= self.value <= high:
            bounds = "" if (low, high) == (-np.inf, np.inf) else f" from {low:g} to {high:g}"
            self.fail(f"a finite number{bounds}")
        return float(self.value)

    def numbers(self, low: float = -np.inf, size: int | None = None) -> NDArray[np.float64]:
        """Return an array of finite numbers, none below `low`."""
        numbers = [node.number(low) for node in self.items()]
        if size is not None and len(numbers) != size:
            raise ValueError(f"{self.place} must hold {size} numbers, got {len(numbers)}")
        return np.array(numbers, dtype=np.float64)


def is_number(value: Any) -> bool:
    """Tell finite numbers, that numpy can take, from truth values and everything else."""
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool) and SMALLEST_INT <= value <= LARGEST_INT


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"not JSON: {name} is no number")


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for key, value in pairs:
        if key in members:
            raise ValueError(f"the key {key!r} stands more than once in an object")
        members[key] = value
    return members
