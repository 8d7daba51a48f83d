"""A plan as the text of a TOML file."""

from __future__ import annotations

import json

from tabstretch.study.plan import StudyPlan


def plan_text(plan: StudyPlan) -> str:
    """Return what `read_plan` would read this plan from.

    Relative paths in its sources stay relative to the plan's folder.
    """
    # A text, a number or a flat list is written alike in JSON and TOML, except for the one character DEL.
    lines = [f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in plan.to_dict().items()]
    return "\n".join(lines).replace("\x7f", "\\u007f") + "\n"
