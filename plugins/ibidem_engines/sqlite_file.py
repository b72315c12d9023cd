"""One SQLite database file: connection, transactions, and whether the index in it is one that we can read."""

import os
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from ibidem_engines.errors import NoIndex, Permanent, from_sqlite
from ibidem_ingest.signatures.signature import SCHEMA
from ibidem_mappings import load

LAYOUT = "2"

Value = str | int | float | bytes | None
Row = tuple[Value, ...]


class SqliteFile:
    """A database file that holds an index, safe for many processes and threads.

    Every statement runs inside `reading` or `writing`, where errors become ours. In statements `{index}` stands for the
    index's name, which `open_engine` has checked.

    Args:
        path: The file; made by `create` only.
        index: Name of the index.
        patience: Seconds to wait for other writers.
    """

    def __init__(self, path: Path, index: str, patience: float = 30.0) -> None:
        self.path = path
        self.index = index
        self._patience = patience
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._pid = 0
        self._inherited: list[sqlite3.Connection] = []
        self._checked = False

    def create(self) -> None:
        """Make the file, its folder and the index in it; does nothing where they are."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise Permanent(f"SQLite file {self.path}: its folder cannot be made ({error})") from error
        with self._lock, self._translated():
            connection = self._open("rwc")
            self._patiently(connection, "pragma journal_mode = wal")
            if not self._state():
                layout = load(f"sqlite.v{LAYOUT}.sql").replace("{index}", self.index).replace("{schema}", SCHEMA)
                self._run_script(connection, layout)

    def run(self, statement: str, values: Sequence[Value] | Mapping[str, Value] = ()) -> sqlite3.Cursor:
        """Run one statement inside the transaction that stands open."""
        return self._open("rw").execute(statement.replace("{index}", self.index), values)

    def run_many(self, statement: str, values: Iterable[Row]) -> None:
        """Run one statement for each row of values."""
        self._open("rw").executemany(statement.replace("{index}", self.index), values)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the file's one write transaction; nothing of it stays when an error leaves the block."""
        with self._lock, self._translated():
            connection = self._ready()
            self._patiently(connection, "begin immediate")
            try:
                yield
                connection.execute("commit")
            except BaseException:
                connection.rollback()
                raise

    @contextmanager
    def reading(self, *, any_schema: bool = False) -> Iterator[None]:
        """See one state of the file throughout the block, whatever others write meanwhile.

        Args:
            any_schema: Whether an index that was written with another schema may be read; one that is missing may not.
        """
        with self._lock, self._translated():
            connection = self._open("rw") if any_schema else self._ready()
            connection.execute("begin")
            try:
                yield
            finally:
                connection.rollback()

    def state(self) -> dict[str, Value]:
        """Read what the index says of itself; empty when there is none."""
        if not self.path.exists():
            return {}
        with self._lock, self._translated():
            self._open("rw")
            return self._state()

    def made_for(self) -> dict[str, Value]:
        """Read what the index says of itself; one that is missing raises."""
        state = self.state()
        if not state:
            raise self._missing()
        return state

    def close(self) -> None:
        """Close the connection of this process."""
        with self._lock, self._translated():
            if self._connection is not None and self._pid == os.getpid():
                self._connection.close()
            self._connection, self._checked = None, False

    def _open(self, mode: str) -> sqlite3.Connection:
        """Give this process's connection; one inherited by a fork is left alone, as SQLite asks."""
        if self._connection is not None and self._pid == os.getpid():
            return self._connection
        if self._connection is not None:
            self._inherited.append(self._connection)
        address = f"{self.path.absolute().as_uri()}?mode={mode}"
        connection = sqlite3.connect(
            address, timeout=self._patience, isolation_level=None, check_same_thread=False, uri=True
        )
        # A write is on the disk before it is acknowledged (full); the log is folded in every 32 MB.
        for pragma in ("synchronous = full", "cache_size = -32768", "wal_autocheckpoint = 8000", "secure_delete = off"):
            connection.execute(f"pragma {pragma}").close()
        self._connection, self._pid, self._checked = connection, os.getpid(), False
        return connection

    def _ready(self) -> sqlite3.Connection:
        """Give the connection once the index in the file has been found to be one that we can read."""
        if self._connection is None and not self.path.exists():
            raise self._missing()
        connection = self._open("rw")
        if not self._checked:
            state = self._state()
            if not state:
                raise self._missing()
            found = (state["layout"], state["schema"])
            if found != (LAYOUT, SCHEMA):
                raise Permanent(
                    f"index {self.index!r} in {self.path} was written with layout {found[0]!s} and signature schema "
                    f"{found[1]!s}, this version reads {LAYOUT} and {SCHEMA}",
                    "write it anew with: ibidem backfill --into NAME",
                )
            self._checked = True
        return connection

    def _missing(self) -> NoIndex:
        return NoIndex(f"no index {self.index!r} in {self.path}", "make it with: ibidem ingest PATH")

    def _state(self) -> dict[str, Value]:
        if not self.run("select 1 from sqlite_master where name = ?", (f"ibidem.{self.index}.state",)).fetchone():
            return {}
        return dict(self.run('select name, value from "ibidem.{index}.state"').fetchall())

    def _run_script(self, connection: sqlite3.Connection, script: str) -> None:
        """Run statements in one transaction; another process that runs them at the same time does no harm."""
        try:
            connection.executescript(f"begin immediate; {script} commit;")
        except BaseException:
            connection.rollback()
            raise

    def _patiently(self, connection: sqlite3.Connection, statement: str) -> None:
        """Run a statement that other writers hold up, looking every millisecond.

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
    def _translated(self) -> Iterator[None]:
        """Turn errors of SQLite into ours: the one edge."""
        try:
            yield
        except sqlite3.Error as error:
            raise from_sqlite(error, self.path) from error
