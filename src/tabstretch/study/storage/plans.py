"""The plan of a study in the database: it may change until the first data set is written down, then never."""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import Connection, Row, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from tabstretch.study.environment import environment
from tabstretch.study.plan import StudyPlan
from tabstretch.study.storage import tables

_studies = tables.studies


def find(connection: Connection, plan: StudyPlan) -> Row[Any] | None:
    """Return the row of the study of this name, if there is one."""
    return connection.execute(select(_studies).where(_studies.c.name == plan.name)).first()


def add(connection: Connection, plan: StudyPlan) -> Row[Any] | None:
    """Make the row of a new study, unless another coordinator just did, and return it."""
    values = {"name": plan.name, "schema_version": tables.SCHEMA_VERSION, **_content(plan)}
    try:
        with connection.begin_nested():
            connection.execute(insert(_studies).values(values))
    except IntegrityError:
        pass
    return find(connection, plan)


def lock(connection: Connection, study_id: int) -> None:
    """Keep others from changing the plan, and from beginning, to the end of the transaction."""
    # An update that changes nothing.
    same = {"schema_version": _studies.c.schema_version}
    connection.execute(update(_studies).where(_studies.c.study_id == study_id).values(same))


def has_begun(connection: Connection, study_id: int) -> bool:
    """Tell whether any data set is written down: what a coordinator does first, once it could read all."""
    mine = tables.datasets.c.study_id == study_id
    count = select(func.count()).select_from(tables.datasets).where(mine)
    return connection.execute(count).scalar_one() > 0


def replace(connection: Connection, study_id: int, plan: StudyPlan) -> str:
    """Write another plan, and return it as it is stored."""
    content = _content(plan)
    connection.execute(update(_studies).where(_studies.c.study_id == study_id).values(content))
    return content["plan"]


def is_still(connection: Connection, study_id: int, stored_plan: str) -> bool:
    """Tell whether a plan is still that of the study."""
    query = select(_studies.c.plan).where(_studies.c.study_id == study_id)
    return connection.execute(query).scalar() == stored_plan


def _content(plan: StudyPlan) -> dict[str, str]:
    return {"plan": json.dumps(plan.to_dict()), "environment": json.dumps(environment())}
