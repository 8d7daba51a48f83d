"""How many cases are generated: a few every day, many in a nightly run.

The environment variable HYPOTHESIS_PROFILE chooses: "tabstretch" (the default) or "torture", which `make
torture` sets. `tests/conftest.py` registers both. A test that states its own number of cases does so with
`@cases(n)`, and the nightly run multiplies it by `FACTOR`.
"""

import os

from hypothesis import settings

PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "tabstretch")
FACTOR = {"tabstretch": 1, "torture": 50}[PROFILE]


def cases(n: int) -> settings:
    """Settings of a test with so many cases on an ordinary day."""
    return settings(max_examples=n * FACTOR)
