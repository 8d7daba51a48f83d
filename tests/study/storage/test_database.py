"""Databases that are away, locked, broken or full: a clear message, or patience."""

import errno
import sqlite3
import threading
import time
from pathlib import Path

import pytest
from test_studies import CELL, PLAN, opened, record

from tabstretch.study.errors import StudyError
from tabstretch.study.storage import StudyStorage, database
from tabstretch.study.storage.database import storage_url


def test_urls():
    assert storage_url("a b/c.db").render_as_string() == "sqlite:///a b/c.db"
    assert storage_url("sqlite:////tmp/c.db").database == "/tmp/c.db"
    server = storage_url("postgresql://me:secret@host/db")
    assert server.drivername == "postgresql+psycopg"
    assert "secret" not in server.render_as_string(hide_password=True)


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("mysql://host/db", "must be sqlite:///… or postgresql://…, got mysql"),
        ("://", "must be a path or a URL"),
        ("sqlite://", "not a database in memory"),
        ("sqlite:///:memory:", "not a database in memory"),
    ],
)
def test_urls_that_cannot_be(url, message):
    with pytest.raises(StudyError, match=message):
        storage_url(url)


def test_a_server_that_does_not_answer():
    with pytest.raises(StudyError, match=r"postgresql.*\*\*\*@127\.0\.0\.1:1/.*failed") as caught:
        StudyStorage("postgresql://me:secret@127.0.0.1:1/db", PLAN)
    assert "secret" not in str(caught.value)


def test_a_folder_that_does_not_exist(tmp_path):
    with pytest.raises(StudyError, match=r"there is no folder .*missing for the storage study\.db"):
        StudyStorage(str(tmp_path / "missing" / "study.db"), PLAN)


def test_a_file_that_is_no_database(tmp_path):
    path = tmp_path / "study.db"
    path.write_text("name,price\n" * 200)
    with pytest.raises(StudyError, match="not a database; it is no SQLite database; choose another file"):
        StudyStorage(str(path), PLAN)
    assert path.read_text() == "name,price\n" * 200


def test_a_locked_database(tmp_path, monkeypatch):
    path = str(tmp_path / "study.db")
    with opened(path):
        pass
    monkeypatch.setattr(database, "LOCK_SECONDS", 0.1)
    with opened(path) as store:
        holder = sqlite3.connect(path)
        holder.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StudyError, match="database is locked; another program holds it"):
            store.claim(CELL)
        holder.close()
        assert store.claim(CELL)


def test_a_full_disk_loses_nothing(tmp_path):
    path = str(tmp_path / "study.db")
    with opened(path) as store:
        store.claim(CELL)
        store.add_runs(CELL, [record(0)])
        with store._database.engine.connect() as connection:
            size = connection.exec_driver_sql("PRAGMA page_count").scalar()
        limit_pages(store, size)
        many = [record(seed, error="x" * 5000) for seed in range(1, 100)]
        with pytest.raises(StudyError, match="disk is full; make room and run the same command again"):
            store.add_runs(CELL, many)
        assert store.finished() == {CELL: {0}}  # all of a write or none of it
        limit_pages(store, 2**30)
        assert store.add_runs(CELL, many)


def limit_pages(store, pages):
    """Make SQLite believe that the disk has room for so many pages, on every connection of the pool."""
    from sqlalchemy import event

    store._database.engine.dispose()
    event.listen(
        store._database.engine,
        "connect",
        lambda raw, _: raw.execute(f"PRAGMA max_page_count={pages}").fetchall(),
    )


def test_a_server_that_goes_away_and_returns(postgres_url, postgres_server, monkeypatch):
    """Its connections are cut, as by a restart: claims that nobody took are still ours."""
    monkeypatch.setattr(database, "AWAY_SECONDS", 20.0)
    with opened(postgres_url) as first:
        assert first.claim(CELL)
        cut_all(postgres_server)
        assert first.owned(CELL)
        assert first.add_runs(CELL, [record(0)])
        with opened(postgres_url) as second:
            assert not second.claim(CELL)  # the new lock counts


def test_a_lock_file_that_somebody_removed(tmp_path):
    path = tmp_path / "study.db"
    with opened(str(path)) as first, opened(str(path)) as second:
        assert first.claim(CELL)
        for lock in tmp_path.glob("*.lock"):
            lock.unlink()
        assert first.owned(CELL)
        assert not second.claim(CELL)


def test_tables_of_another_optuna(tmp_path):
    path = tmp_path / "study.db"
    with opened(str(path)) as store:
        assert store.trials.get_all_studies() == []
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE alembic_version SET version_num = 'v0.9.0.a'")
    connection.close()
    with opened(str(path)) as store, pytest.raises(StudyError, match=r"the trials in .*study\.db cannot be"):
        store.trials  # noqa: B018 (it is opened when it is first used)


def test_a_database_that_does_not_exist(postgres_url):
    other = storage_url(postgres_url).set(database="nowhere").render_as_string(hide_password=False)
    with pytest.raises(StudyError, match='"nowhere" does not exist; make it with createdb, or name another'):
        StudyStorage(other, PLAN)


def test_a_user_who_does_not_exist(postgres_url):
    other = storage_url(postgres_url).set(username="nobody").render_as_string(hide_password=False)
    with pytest.raises(StudyError, match='"nobody" does not exist; check the user in the URL of --storage'):
        StudyStorage(other, PLAN)


def test_two_names_of_one_file(tmp_path):
    """A coordinator that came by a link sees the locks of the others."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link.db").symlink_to(tmp_path / "real" / "study.db")
    with (
        opened(str(tmp_path / "real" / "study.db")) as first,
        opened(str(tmp_path / "link.db")) as second,
    ):
        assert first.claim(CELL)
        assert not second.claim(CELL)


def test_a_lock_that_cannot_be_written(tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    with opened(str(tmp_path / "study.db")) as store:
        monkeypatch.setattr(Path, "open", full)
        with pytest.raises(StudyError, match=r"study\.db-.*cannot be written \(No space left on device\)"):
            store.claim(CELL)


def test_a_claim_that_another_took_while_the_server_was_away(postgres_url, postgres_server):
    with opened(postgres_url) as first, opened(postgres_url) as second:
        assert first.claim(CELL)
        assert second.claim(CELL._replace(noise=1.0))
        cut_all(postgres_server)
        assert second.owned(CELL._replace(noise=1.0))
        assert second.claim(CELL)  # the server has forgotten the first's lock
        assert not first.owned(CELL)
        assert not first.add_runs(CELL, [record(0)])


class TestCtrlCInsideAQuery:
    """It leaves a connection that waits for an answer, with which the driver can do nothing more."""

    def test_it_stays_a_ctrl_c(self, postgres_url, monkeypatch):
        psycopg = pytest.importorskip("psycopg")

        def struck(cursor, *_, **__):
            cursor.connection.pgconn.send_query(b"SELECT pg_sleep(30)")
            raise KeyboardInterrupt

        with opened(postgres_url) as store:
            assert store.finished() == {}  # a connection is in the pool, and is tried before its next use
            with monkeypatch.context() as patch:
                patch.setattr(psycopg.Cursor, "execute", struck)
                with pytest.raises(KeyboardInterrupt):
                    store.finished()
            assert store.finished() == {}

    def test_the_lock_is_free_afterwards(self, postgres_url):
        with opened(postgres_url) as second:
            with opened(postgres_url) as first:
                assert first.claim(CELL)
                ask_for_later(first._claims._lock._connection)
            assert second.claim(CELL)


def ask_for_later(connection):
    connection.connection.dbapi_connection.pgconn.send_query(b"SELECT pg_sleep(30)")


def cut_all(server):
    server.psql(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE backend_type = 'client backend' "
        "AND pid <> pg_backend_pid();"
    )


def test_patience_has_an_end(postgres_url, monkeypatch):
    from sqlalchemy.exc import OperationalError

    def away():
        raise OperationalError("SELECT", {}, ConnectionError("the server is down"))

    begin = time.monotonic()
    with pytest.raises(StudyError, match="the server is down; run the same command again when it answers"):
        database.patiently(away, storage_url(postgres_url), away_seconds=0.5)
    assert time.monotonic() - begin < 10


def test_what_returns_in_time_goes_on(postgres_url):
    from sqlalchemy.exc import OperationalError

    back = threading.Event()
    threading.Timer(0.3, back.set).start()

    def away_for_a_while():
        if not back.is_set():
            raise OperationalError("SELECT", {}, ConnectionError("the server is down"))
        return "here"

    assert database.patiently(away_for_a_while, storage_url(postgres_url)) == "here"
