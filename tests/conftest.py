"""Hypothesis: the same examples on every machine, and no deadline, since kernels compile on first use."""

import os

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
settings.load_profile("tabstretch")
