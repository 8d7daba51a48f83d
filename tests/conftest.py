"""Hypothesis: the same examples on every machine, and no deadline, since kernels compile on first use.

HYPOTHESIS_PROFILE=torture generates many more, and others in every run: see `fuzz.py`.

Threads: one for each model. And a fixture that several modules share.
"""

import os
from collections.abc import Iterator
from typing import Any

import pytest
from fuzz import FACTOR, PROFILE, cases_table, count_cases
from hypothesis import HealthCheck, Phase, settings

# Boosted trees use all cores by OpenMP, and wait busily for each other where several test processes, or
# anything else, use them too: a fit of a tenth of a second then takes half a minute.
os.environ.setdefault("OMP_NUM_THREADS", "1")

settings.register_profile(
    "tabstretch",
    deadline=None,
    max_examples=50,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
    # Without the explanation of a failure, which takes minutes for little more than the case itself says.
    phases=[Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink],
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


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: Any) -> Any:
    """Have the report of a property tell its number of cases, also from another process."""
    report = yield
    if report.when == "call" and hasattr(item, "hypothesis_statistics"):
        report.user_properties.append(("cases", count_cases(item.hypothesis_statistics)))
    return report


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """In a nightly run, say how many cases every property was tested on."""
    if PROFILE == "torture":
        reports = [report for group in ("passed", "failed") for report in terminalreporter.getreports(group)]
        counts = {report.nodeid: dict(report.user_properties).get("cases", 0) for report in reports}
        terminalreporter.section("generated cases")
        terminalreporter.write_line(cases_table(counts))
