"""Hypothesis: the same examples on every machine, and no deadline, since kernels compile on first use."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "tabstretch",
    deadline=None,
    max_examples=50,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("tabstretch")
