"""Hypothesis: the same examples on every machine, and no deadline, since kernels compile on first use.

HYPOTHESIS_PROFILE=torture generates many more, and others in every run: see `fuzz.py`.

Threads: one for each model. And a fixture that several modules share.
"""

import os
from collections.abc import Iterator

import pytest
from fuzz import FACTOR, PROFILE
from hypothesis import HealthCheck, settings

# Boosted trees use all cores by OpenMP, and wait busily for each other where several test processes, or
# anything else, use them too: a fit of a tenth of a second then takes half a minute.
os.environ.setdefault("OMP_NUM_THREADS", "1")

settings.register_profile(
    "tabstretch",
    deadline=None,
    max_examples=50,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "torture",
    parent=settings.get_profile("tabstretch"),
    max_examples=50 * FACTOR,
    derandomize=False,
    print_blob=True,  # how to repeat a case that failed
)
settings.load_profile(PROFILE)


@pytest.fixture
def routing() -> Iterator[None]:
    """scikit-learn's metadata routing, switched on."""
    from sklearn import config_context  # not before the number of threads is set

    with config_context(enable_metadata_routing=True):
        yield
