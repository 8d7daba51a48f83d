"""`tabstretch noise`: any plan again, under label noise, with the paper's five transformations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tabstretch._files import written_whole
from tabstretch.study.errors import StudyError
from tabstretch.study.plan import StudyPlan, differences, read_plan
from tabstretch.study.plan_text import plan_text

TRANSFORMATIONS = ("stretch_sup", "stretch_unsup", "standard", "ple", "ple_t")
"""Those of the paper's noise analysis."""
LEVELS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)


def noise_plan(
    plan: StudyPlan, *, levels: Sequence[float] = LEVELS, transformations: Sequence[str] = TRANSFORMATIONS
) -> StudyPlan:
    """Return the plan of a noise study: the same data sets, networks and budget.

    Parameters
    ----------
    plan : StudyPlan
        Of the study without noise.
    levels : sequence of float
        Levels of noise on the training target, from 0 to 1; 0 is the clean study to compare with.
    transformations : sequence of str
        What to compare, by default the paper's five.
    """
    return replace(
        plan, name=f"{plan.name} noise", transformations=tuple(transformations), noise=tuple(levels)
    )


def noise_plan_path(plan_path: Path) -> Path:
    """Return the file of the noise study's plan, beside that of the study.

    >>> noise_plan_path(Path("studies/quick.toml")).name
    'quick-noise.toml'
    """
    return plan_path.with_name(f"{plan_path.stem}-noise.toml")


def write_noise_plan(
    plan_path: Path, *, levels: Sequence[float] = LEVELS, transformations: Sequence[str] = TRANSFORMATIONS
) -> Path:
    """Write the plan of a noise study beside a plan, so that every command knows it, and return its file.

    A plan that is there already must be the same: its study can be resumed, not changed.
    """
    plan = noise_plan(read_plan(plan_path), levels=levels, transformations=transformations)
    path = noise_plan_path(plan_path)
    if path.exists():
        changes = differences(read_plan(path), plan)
        if changes:
            raise StudyError(
                f"{path} is another noise study:\n  " + "\n  ".join(changes) + "\nTake its levels and "
                f"transformations, or move {path.name} and its storage away to start anew"
            )
        return path
    heading = f"# Written by tabstretch noise {plan_path.name}: the same study under label noise.\n"
    try:
        with written_whole(path) as temporary:
            temporary.write_text(heading + plan_text(plan), encoding="utf-8")
    except OSError as error:
        raise StudyError(f"{path} cannot be written: {error}") from error
    return path
