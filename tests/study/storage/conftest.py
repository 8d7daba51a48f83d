"""Every test of a storage runs on a SQLite file and on a real PostgreSQL server."""

import pytest


@pytest.fixture(params=["sqlite", "postgres"])
def url(request, tmp_path):
    if request.param == "sqlite":
        return str(tmp_path / "study.db")
    return request.getfixturevalue("postgres_url")
