"""SQLite file: connection, transactions, and the check that no foreign tables or triggers exist.

Errors of SQLite are translated into ours by one table.
"""

import os
import re
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

import orjson

from ibidem_core.errors import EngineError, NoIndex, Permanent, Unavailable
from ibidem_ingest.dates import time_of_day
from ibidem_ingest.private import make_file, make_folder
from ibidem_ingest.signatures.schema import SCHEMA
from ibidem_mappings import load

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


Entries = frozenset[tuple[str, str, str, str]]


LAYOUT = "4"


def script(index: str, schema: str = "") -> str:
    return load(f"sqlite.v{LAYOUT}.sql").replace("{index}", index).replace("{schema}", schema)


def _index_entries(connection: sqlite3.Connection, index: str) -> Entries:
    """Read the schema entries that belong to an index, compared as SQLite compares names."""
    names = {name for _, name, _, _ in _layout_entries(index)}
    return frozenset(entry for entry in _entries(connection) if entry[1].lower() in names or entry[2].lower() in names)


@lru_cache(32)
def _layout_entries(index: str) -> Entries:
    """Create an index in memory and read its schema entries."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(script(index))
        return frozenset(_entries(connection))


def _entries(connection: sqlite3.Connection) -> list[tuple[str, str, str, str]]:
    rows = connection.execute("select type, name, tbl_name, coalesce(sql, '') from sqlite_master").fetchall()
    return [(kind, name, table, re.sub(r"--[^\n]*|\s+", "", sql)) for kind, name, table, sql in rows]


# Seconds that a statement may take; no statement of ours takes a tenth of that on ten million documents.
MAX_SECONDS = 600.0

LOOKS_EVERY = 100_000  # steps of SQLite's between two looks at the clock, some milliseconds

PRAGMAS = (
    "trusted_schema = off",  # functions in the schema of a file must not do harm
    "synchronous = full",  # a write is on the disk before it is acknowledged
    "cache_size = -32768",
    "wal_autocheckpoint = 8000",  # the log is folded in every 32 MB
    "secure_delete = on",  # what is deleted is overwritten
)

Value = str | int | float | bytes | None
Row = tuple[Value, ...]


def as_json(value: object) -> str:
    """Serialize a value for SQLite's `json_each`, or for storage."""
    return orjson.dumps(value).decode()


@lru_cache(512)
def name_tables(statement: str, index: str) -> str:
    listed = statement.replace("{list}", "(select value from json_each(?))")
    return re.sub(r"\{(\w+)\}", rf'"ibidem.{index}.\1"', listed)


class SqliteFile:
    """A database file with an index, safe for many processes and threads.

    Every statement runs inside `reading` or `transaction`, where errors become ours. In statements a name in braces
    stands for a table of the index, whose name `open_engine` has checked, and `{list}` for the values of a JSON array.
    """

    def __init__(self, path: Path, index: str, patience: float = 30.0, longest: float = MAX_SECONDS) -> None:
        self.path = path
        self.index = index
        self._patience, self._longest = patience, longest
        self._deadline = 0.0
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._pid = 0
        self._inherited: list[sqlite3.Connection] = []
        self._checked = -1  # the version of the file's schema that was found sound

    def create(self) -> None:
        """Create the file, its folder and the index, if missing."""
        try:
            make_folder(self.path.parent)
            with suppress(IsADirectoryError, PermissionError):  # opening it gives the better message
                make_file(self.path)
        except OSError as error:
            remedy = "choose another folder in IBIDEM_ENGINE, or make this one writable"
            raise Permanent(f"SQLite file {self.path}: its folder cannot be created ({error})", remedy) from error
        with self._lock, self._translate_errors():
            connection = self._open()
            self._with_retries(connection, "pragma journal_mode = wal")
            if not self._state():
                with connection:  # another process may do the same at this time
                    connection.executescript(f"begin immediate; {script(self.index, SCHEMA)} commit;")

    def run(self, statement: str, values: Sequence[Value] | Mapping[str, Value] = ()) -> sqlite3.Cursor:
        """Run one statement inside the open transaction."""
        connection = self._open()
        self._deadline = time.monotonic() + self._longest
        return connection.execute(name_tables(statement, self.index), values)

    def read(self, statement: str, values: Sequence[Value] = ()) -> list[Any]:
        """Read the rows of one statement, in a snapshot of its own."""
        with self.reading():
            return self.run(statement, values).fetchall()

    def run_many(self, statement: str, values: Iterable[Row]) -> None:
        connection = self._open()
        self._deadline = time.monotonic() + self._longest
        connection.executemany(name_tables(statement, self.index), values)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Hold the file's write transaction; it is rolled back if an error leaves the block."""
        with self._lock, self._translate_errors():
            connection = self._open_existing()
            self._check(connection)
            self._with_retries(connection, "begin immediate")
            with connection:
                self._check(connection)
                yield
                connection.execute("commit")  # fails where SQLite has rolled back by itself and the block went on

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Read one snapshot of the file throughout the block, also while others write."""
        with self._lock, self._translate_errors():
            connection = self._open_existing()
            connection.execute("begin")
            try:
                self._check(connection)
                yield
            finally:
                connection.rollback()

    def state(self) -> dict[str, Value]:
        """Read the index's metadata; empty without an index."""
        if not self.path.exists():
            return {}
        with self._lock, self._translate_errors():
            self._open()
            return self._state()

    def close(self) -> None:
        with self._lock, self._translate_errors():
            if self._connection is not None and self._pid == os.getpid():
                self._connection.close()
            self._connection, self._checked = None, -1

    def _open(self) -> sqlite3.Connection:
        """Return this process's connection; a connection inherited by a fork is not used, as SQLite requires."""
        if self._connection is not None and self._pid == os.getpid():
            return self._connection
        if self._connection is not None:
            self._inherited.append(self._connection)
        address = f"{self.path.absolute().as_uri()}?mode=rw"
        connection = sqlite3.connect(
            address, timeout=self._patience, isolation_level=None, check_same_thread=False, uri=True
        )
        for pragma in PRAGMAS:
            connection.execute(f"pragma {pragma}").close()
        connection.create_function("ibidem_time_of_day", 1, time_of_day, deterministic=True)
        connection.set_progress_handler(lambda: time.monotonic() > self._deadline, LOOKS_EVERY)
        self._connection, self._pid, self._deadline = connection, os.getpid(), time.monotonic() + self._longest
        self._checked = -1
        return connection

    def _open_existing(self) -> sqlite3.Connection:
        if self._connection is None and not self.path.exists():
            raise self._no_index()
        return self._open()

    def _check(self, connection: sqlite3.Connection) -> None:
        """Check that the index is readable by this version, once per schema change."""
        (changes,) = connection.execute("pragma schema_version").fetchone()
        if self._checked == changes:
            return
        state = self._state()
        if not state:
            raise self._no_index()
        versions = (str(state.get("layout", LAYOUT)), str(state.get("schema", SCHEMA)))
        if versions != (LAYOUT, SCHEMA):
            raise Permanent(
                f"index {self.index!r} in {self.path} was written with layout {versions[0]} and signature schema "
                f"{versions[1]}, this version reads {LAYOUT} and {SCHEMA}",
                "ingest its documents again, into another file (IBIDEM_ENGINE)",
            )
        found, expected = _index_entries(connection, self.index), _layout_entries(self.index)
        if not found <= expected or any(kind != "index" for kind, *_ in expected - found):  # SQL indexes may be missing
            raise self._foreign_schema()
        self._checked = changes

    def _foreign_schema(self) -> Permanent:
        return Permanent(
            f"index {self.index!r} in {self.path} holds tables, views or triggers that ibidem did not create",
            "stop using it unless you know who added them; ingest into another file",
        )

    def _no_index(self) -> NoIndex:
        return NoIndex(f"no index {self.index!r} in {self.path}", "create it with: ibidem ingest PATH")

    def _state(self) -> dict[str, Value]:
        connection = self._open()
        entries = _index_entries(connection, self.index)
        if not entries:
            return {}
        table = f"ibidem.{self.index}.state"
        if any(entry[1].lower() == table for entry in entries ^ _layout_entries(self.index)):
            raise self._foreign_schema()
        return dict(self.run("select name, value from {state}").fetchall())

    def _with_retries(self, connection: sqlite3.Connection, statement: str) -> None:
        """Run a statement that other writers may block, retrying every millisecond.

        SQLite's own waiting sleeps up to 100 ms between two looks, as long as a batch takes to write.
        """
        deadline = time.monotonic() + self._patience
        connection.execute("pragma busy_timeout = 0").close()
        try:
            while True:
                try:
                    connection.execute(statement).close()
                except sqlite3.OperationalError as error:
                    if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                        raise
                else:
                    return
                time.sleep(0.001)
        finally:
            connection.execute(f"pragma busy_timeout = {int(self._patience * 1000)}").close()

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            kind, message, remedy = SQLITE.get(getattr(error, "sqlite_errorcode", -1) & 0xFF, (Permanent, "", ""))
            what = f"SQLite file {self.path}: {message} ({error})" if message else f"SQLite file {self.path}: {error}"
            raise kind(what, remedy) from error
