"""Foreign errors as ours."""

import sqlite3

import pytest

from ibidem_core.errors import Permanent, Unavailable
from ibidem_engines.sqlite.errors import SQLITE, from_sqlite
from ibidem_ingest.errors import IbidemError


def raised(code: int | None, words: str = "in SQLite's words") -> sqlite3.Error:
    error = sqlite3.OperationalError(words)
    if code is not None:
        error.sqlite_errorcode = code
    return error


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (sqlite3.SQLITE_BUSY, Unavailable),
        (sqlite3.SQLITE_BUSY_SNAPSHOT, Unavailable),
        (sqlite3.SQLITE_LOCKED, Unavailable),
        (sqlite3.SQLITE_FULL, Permanent),
        (sqlite3.SQLITE_IOERR_WRITE, Permanent),
        (sqlite3.SQLITE_CORRUPT, Permanent),
        (sqlite3.SQLITE_NOTADB, Permanent),
        (sqlite3.SQLITE_READONLY_DBMOVED, Permanent),
        (sqlite3.SQLITE_CANTOPEN, Permanent),
        (sqlite3.SQLITE_ERROR, Permanent),
        (None, Permanent),
    ],
)
def test_what_may_pass_is_unavailable_and_all_else_is_permanent(code: int | None, kind: type[IbidemError]) -> None:
    error = from_sqlite(raised(code), "news.sqlite")
    assert type(error) is kind
    assert "news.sqlite" in str(error)
    assert "in SQLite's words" in str(error)


@pytest.mark.parametrize("code", SQLITE)
def test_every_error_that_we_know_says_what_to_do(code: int) -> None:
    assert from_sqlite(raised(code), "news.sqlite").remedy


def test_an_error_is_caught_as_one_of_ours() -> None:
    assert issubclass(Unavailable, IbidemError)
    assert issubclass(Permanent, IbidemError)
    assert not issubclass(Unavailable, Permanent)
