"""Every way in which a lost server is told of: waited for, and in the end one message of ours."""

import sqlite3

import pytest
import sqlalchemy
from optuna.exceptions import StorageInternalError
from sqlalchemy import exc
from test_studies import CELL, opened

from tabstretch.study.errors import StudyError
from tabstretch.study.storage import database
from tabstretch.study.storage.database import patiently, storage_url
from tabstretch.study.storage.failures import is_away

SERVER = storage_url("postgresql://me:secret@host/db")
WHEN_IT_ANSWERS = "run the same command again when it answers; nothing that was finished is lost"


def driver_error(name, text):
    psycopg = pytest.importorskip("psycopg")
    return getattr(psycopg.errors, name, None)(text)


def wrapped(name, text="words of the server", **options):
    orig = driver_error(name, text)
    return exc.DBAPIError.instance("SELECT 1", {}, orig, type(orig).__mro__[-3], **options)


def pending():
    return exc.PendingRollbackError(
        "Can't reconnect until invalid transaction is rolled back.  Please rollback() fully before proceeding"
    )


def after(error, first):
    error.__context__ = first
    return error


def by_optuna(error):
    told = StorageInternalError("An exception is raised during the commit.")
    told.__cause__ = error
    return told


AWAY = {
    "crash": lambda: wrapped("OperationalError", "server closed the connection unexpectedly"),
    "shutdown": lambda: wrapped("AdminShutdown"),
    "starting up": lambda: wrapped("CannotConnectNow"),
    "interface": lambda: wrapped("InterfaceError", "the connection is closed"),
    "aborted": lambda: wrapped("InFailedSqlTransaction", "current transaction is aborted"),
    "idle": lambda: wrapped("IdleInTransactionSessionTimeout"),
    "deadlock": lambda: wrapped("DeadlockDetected"),
    "invalidated": lambda: wrapped("ProgrammingError", connection_invalidated=True),
    "pending": pending,
    "pending in a statement": lambda: exc.StatementError(str(pending()), "SELECT 1", {}, pending()),
    "closed": lambda: exc.ResourceClosedError("This Connection is closed"),
    "no connection free": lambda: exc.TimeoutError("QueuePool limit of size 5 overflow 10 reached"),
    "the driver itself": lambda: driver_error("OperationalError", "the connection is lost"),
}


@pytest.mark.parametrize("by", [lambda error: error, by_optuna], ids=["plain", "optuna"])
@pytest.mark.parametrize("failure", AWAY.values(), ids=AWAY)
def test_a_server_that_is_away(failure, by):
    answers = iter([by(failure()), None])

    def returns():
        if (error := next(answers)) is not None:
            raise error
        return "here"

    def stays_away():
        raise by(failure())

    assert patiently(returns, SERVER) == "here"
    with pytest.raises(StudyError) as caught:
        patiently(stays_away, SERVER, away_seconds=0.0)
    message = str(caught.value)
    assert message.startswith("the storage postgresql+psycopg://me:***@host/db failed: ")
    assert message.endswith(WHEN_IT_ANSWERS)
    assert "\n" not in message
    assert "roll" not in message
    assert "current transaction" not in message


def test_the_first_error_is_told_and_not_what_followed_it():
    crash = AWAY["crash"]()
    for last in (pending(), wrapped("InFailedSqlTransaction")):
        with pytest.raises(StudyError, match="failed: server closed the connection unexpectedly; run the"):
            patiently(raising(by_optuna(after(last, crash))), SERVER, away_seconds=0.0)


def raising(error):
    def action():
        raise error

    return action


def test_a_duplicate_before_is_no_reason():
    duplicate = wrapped("UniqueViolation")
    assert is_away(after(pending(), duplicate))
    assert not is_away(duplicate)


@pytest.mark.parametrize(
    ("failure", "advice"),
    [
        ("DiskFull", "make room"),
        ("ReadOnlySqlTransaction", "a database in which you may write"),
        ("InsufficientPrivilege", "a database in which you may write"),
        ("DataCorrupted", WHEN_IT_ANSWERS),
    ],
)
def test_what_does_not_pass_is_told_at_once(failure, advice):
    words = {
        "DiskFull": "could not extend file: No space left on device",
        "ReadOnlySqlTransaction": "cannot execute INSERT in a read-only transaction",
        "InsufficientPrivilege": "permission denied for schema public",
    }
    error = wrapped(failure, words.get(failure, "invalid page"))
    with pytest.raises(StudyError, match=advice):
        patiently(raising(error), SERVER, away_seconds=600.0)


def test_a_locked_file_is_told_also_after_its_transaction():
    locked = exc.OperationalError("SELECT 1", {}, sqlite3.OperationalError("database is locked"))
    with pytest.raises(StudyError, match="database is locked; another program holds it"):
        patiently(raising(by_optuna(after(pending(), locked))), storage_url("study.db"))


def test_faults_of_ours_stay_what_they_are():
    with pytest.raises(ZeroDivisionError):
        patiently(lambda: 1 / 0, SERVER)


def test_optuna_asks_again_in_a_transaction_that_is_lost(postgres_url, postgres_server, monkeypatch):
    """Its reading of trials takes any error for a query that is too long, and tries another."""
    import optuna

    monkeypatch.setattr(database, "AWAY_SECONDS", 20.0)
    with opened(postgres_url) as store:
        study = store.patiently(lambda: optuna.create_study(storage=store.trials, study_name="search"))
        study.add_trial(optuna.trial.create_trial(value=0.5))
        cut = iter([True])

        def cut_once(connection, cursor, statement, *_):
            if "FROM trials" in statement and next(cut, False):
                cut_others(postgres_server)

        sqlalchemy.event.listen(store.trials.engine, "before_cursor_execute", cut_once)
        trials = store.patiently(lambda: study.get_trials(deepcopy=False))
        assert next(cut, None) is None
        assert [trial.value for trial in trials] == [0.5]
        assert store.claim(CELL)


def cut_others(server):
    server.psql(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE backend_type = 'client backend' AND pid <> pg_backend_pid();"
    )
