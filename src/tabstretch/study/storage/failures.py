"""What an error of a database means: it is away and may return, or it is broken; and what to do about it."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator
from typing import Any

from optuna.exceptions import StorageInternalError
from sqlalchemy.engine import URL
from sqlalchemy.exc import (
    DisconnectionError,
    PendingRollbackError,
    ResourceClosedError,
    SQLAlchemyError,
    TimeoutError,
)

from tabstretch.study.errors import StudyError

_LOST = (PendingRollbackError, ResourceClosedError, DisconnectionError, TimeoutError)
"""Said of a connection that broke before: their words are not about what happened."""
_ENDED = ("25P02", "25P03", "25P04")
"""States of PostgreSQL in which this transaction can do nothing, and the next one can."""
_LASTING = ("53100", "58030")
"""States of PostgreSQL that count as operational and do not pass: a full disk, and one that fails."""

_ADVICE = {
    "is locked": "another program holds it; close that and run the same command again",
    "disk is full": "make room and run the same command again; nothing that was finished is lost",
    "No space left": "make room and run the same command again; nothing that was finished is lost",
    "readonly": "it must be a file you may write, in a folder you may write",
    "unable to open": "it must be a file you may write, in a folder you may write",
    "not a database": "it is no SQLite database; choose another file with --storage",
    "malformed": "it is no SQLite database; choose another file with --storage",
    'FATAL: database "': "make it with createdb, or name another with --storage",
    'FATAL: role "': "check the user in the URL of --storage",
    "password authentication failed": "check user and password in the URL of --storage",
    "permission denied": "it must be a database in which you may write and make tables",
    "read-only transaction": "it must be a database in which you may write and make tables",
}
"""By words of the reason."""
_WHEN_IT_ANSWERS = "run the same command again when it answers; nothing that was finished is lost"


def is_failure(error: BaseException) -> bool:
    """Tell whether an error is a database's: SQLAlchemy's, Optuna's, or that of a driver itself."""
    return isinstance(error, SQLAlchemyError | StorageInternalError) or _is_driver_s(error)


def interruption(error: BaseException) -> BaseException | None:
    """Return the Ctrl-C behind an error: a driver struck by it inside a query cannot tidy its connection."""
    seen: BaseException | None = error
    while seen is not None and not isinstance(seen, KeyboardInterrupt | SystemExit):
        seen = seen.__context__
    return seen


def is_away(error: BaseException) -> bool:
    """Tell whether a database may answer again by itself."""
    return _may_pass(_telling(error))


def explained(error: BaseException, url: URL) -> StudyError:
    """Say what is wrong with a database and what to do."""
    failure = _telling(error)
    if _is_aftermath(failure):
        reason = "the connection to it was lost, or a transaction broken off"
    else:
        reason = " ".join(str(_driver_error(failure)).split())
    advice = next((advice for words, advice in _ADVICE.items() if words in reason), _WHEN_IT_ANSWERS)
    return StudyError(f"the storage {url.render_as_string(hide_password=True)} failed: {reason}; {advice}")


def _telling(error: BaseException) -> BaseException:
    """Return the error that tells what happened: the last one, or what that is the aftermath of."""
    failures = [cause for cause in _causes(error) if not isinstance(cause, StorageInternalError)]
    last = next((cause for cause in failures if is_failure(cause)), error)
    if not _is_aftermath(last):
        return last
    first = (cause for cause in failures if _is_driver_s(_driver_error(cause)) and not _is_aftermath(cause))
    return next((cause for cause in first if "IntegrityError" not in _kinds(cause)), last)


def _causes(error: BaseException) -> Generator[BaseException]:
    """Yield an error and those it came from, the last first."""
    cause: BaseException | None = error
    while cause is not None:
        wrapped = getattr(cause, "orig", None)
        if isinstance(wrapped, SQLAlchemyError):
            yield wrapped
        yield cause
        cause = cause.__cause__ or cause.__context__


def _may_pass(failure: BaseException) -> bool:
    if isinstance(_driver_error(failure), sqlite3.Error):
        return False  # it has waited for its lock already, and nothing else passes by itself
    kinds, state = _kinds(failure), _state(failure)
    return (
        _is_aftermath(failure)
        or getattr(failure, "connection_invalidated", False)
        or bool(kinds & {"OperationalError", "InterfaceError"} and state not in _LASTING)
    )


def _is_aftermath(failure: BaseException) -> bool:
    return isinstance(failure, _LOST) or _state(failure) in _ENDED


def _kinds(failure: BaseException) -> set[str]:
    """Return the names of its classes: SQLAlchemy's are those that every driver has."""
    return {kind.__name__ for kind in type(failure).__mro__}


def _state(failure: BaseException) -> str | None:
    """Return PostgreSQL's code of five signs."""
    return getattr(_driver_error(failure), "sqlstate", None)


def _driver_error(failure: BaseException) -> Any:
    return getattr(failure, "orig", None) or failure


def _is_driver_s(error: BaseException) -> bool:
    # By its name, since the driver of PostgreSQL need not be installed.
    return isinstance(error, sqlite3.Error) or any(
        kind.__module__.partition(".")[0] == "psycopg" for kind in type(error).__mro__
    )
