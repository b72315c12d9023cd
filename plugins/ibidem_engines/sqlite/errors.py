"""Errors of SQLite, translated into ours by one table."""

import sqlite3

from ibidem_core.errors import EngineError, Permanent, Unavailable

# SQLite's primary result codes (sqlite.org/rescode.html): our class, the event and the remedy.
SQLITE: dict[int, tuple[type[EngineError], str, str]] = {
    sqlite3.SQLITE_BUSY: (Unavailable, "another process is writing to it", "try again, or stop the other process"),
    sqlite3.SQLITE_LOCKED: (Unavailable, "another part of this process is writing to it", "try again"),
    sqlite3.SQLITE_PROTOCOL: (Unavailable, "another process is opening it", "try again"),
    sqlite3.SQLITE_INTERRUPT: (Unavailable, "a statement took longer than it may", "try again, or ask for less"),
    sqlite3.SQLITE_NOMEM: (Unavailable, "memory ran out", "try again with smaller batches"),
    sqlite3.SQLITE_FULL: (Permanent, "the disk is full", "free some space, then run the same command again"),
    sqlite3.SQLITE_READONLY: (Permanent, "it cannot be written", "allow writing to the file and to its folder"),
    sqlite3.SQLITE_PERM: (Permanent, "it cannot be written", "allow writing to the file and to its folder"),
    sqlite3.SQLITE_CANTOPEN: (Permanent, "it cannot be opened", "check that it is a file that this user may read"),
    sqlite3.SQLITE_NOTADB: (Permanent, "it is not an SQLite database", "name another file in IBIDEM_ENGINE"),
    sqlite3.SQLITE_CORRUPT: (Permanent, "it is damaged", "restore the file from a backup, or ingest into another"),
    sqlite3.SQLITE_IOERR: (Permanent, "the disk could not be read or written", "check the disk"),
    sqlite3.SQLITE_TOOBIG: (Permanent, "a value is larger than SQLite allows", "lower IBIDEM_MAX_TEXT"),
}


def from_sqlite(error: sqlite3.Error, path: object) -> EngineError:
    """Translate an error of SQLite."""
    code = getattr(error, "sqlite_errorcode", None)
    kind, message, remedy = SQLITE.get(-1 if code is None else code & 0xFF, (Permanent, "", ""))
    return kind(f"SQLite file {path}: {message} ({error})" if message else f"SQLite file {path}: {error}", remedy)
