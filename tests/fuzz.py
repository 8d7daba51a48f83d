"""How many cases are generated: a few every day, many in a nightly run.

The environment variable HYPOTHESIS_PROFILE chooses: "tabstretch" (the default) or "torture", which `make
torture` sets. `tests/conftest.py` registers both. A test that states its own number of cases does so with
`@cases(n)`, and the nightly run multiplies it by `FACTOR`.
"""

import os
import re

from hypothesis import settings

PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "tabstretch")
FACTOR = {"tabstretch": 1, "torture": 50}[PROFILE]


def cases(n: int, nightly: int | None = None) -> settings:
    """Settings of a test with so many cases on an ordinary day; a nightly run has more."""
    return settings(max_examples=n if FACTOR == 1 else nightly or n * FACTOR)


def count_cases(statistics: str) -> int:
    """The number of cases that Hypothesis tells of, over all phases; those that it rejected do not count."""
    return sum(int(number) for number in re.findall(r"(\d+) (?:passing|failing)", statistics))


def cases_table(counts: dict[str, int]) -> str:
    """The cases of every property, most first, and all of them."""
    rows = sorted(((n, name) for name, n in counts.items() if n), reverse=True)
    return "\n".join(f"{n:>9,}  {name}" for n, name in [*rows, (sum(counts.values()), "in total")])
