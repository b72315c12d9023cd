"""Check that a file's schema is ours: a foreign one may hold triggers, or views without an end."""

import re
import sqlite3
from contextlib import closing
from functools import lru_cache

from ibidem_mappings import load

_ENTRIES = "select type, name, tbl_name, coalesce(sql, '') from sqlite_master"
_NO_MATTER = re.compile(r"--[^\n]*|\s+")

Entries = frozenset[tuple[str, str, str, str]]


def script(layout: str, index: str, schema: str = "") -> str:
    """Return the statements that make an index.

    Raises:
        LookupError: There is no such layout.
    """
    return load(f"sqlite.v{layout}.sql").replace("{index}", index).replace("{schema}", schema)


def is_sound(connection: sqlite3.Connection, layout: str, index: str) -> bool:
    """Return whether tables, and what hangs on them, are those of the layout and no others; SQL indexes may be missing.

    Raises:
        LookupError: There is no such layout.
    """
    return not (_of(connection, index, layout) - _made(layout, index)) and all(
        kind == "index" for kind, *_ in _missing(connection, layout, index)
    )


def is_complete(connection: sqlite3.Connection, layout: str, index: str) -> bool:
    """Return whether nothing of the layout is missing: files of an earlier release may lack an SQL index."""
    return not _missing(connection, layout, index)


def is_state_sound(connection: sqlite3.Connection, layout: str, index: str) -> bool:
    """Return whether the table that says what the index is can be read: it is the same in every layout."""
    return _state(_of(connection, index, layout), index) == _state(_made(layout, index), index)


def is_there(connection: sqlite3.Connection, layout: str, index: str) -> bool:
    """Return whether anything bears the name of a part of the index."""
    return bool(_of(connection, index, layout))


def _missing(connection: sqlite3.Connection, layout: str, index: str) -> Entries:
    return _made(layout, index) - _of(connection, index, layout)


def _state(entries: Entries, index: str) -> Entries:
    name = f"ibidem.{index}.state"
    return frozenset(entry for entry in entries if entry[1].lower() == name)


def _of(connection: sqlite3.Connection, index: str, layout: str) -> Entries:
    """Read the entries that are parts of an index or hang on one, as SQLite compares names."""
    names = {name for _, name, _, _ in _made(layout, index)}
    return frozenset(entry for entry in _entries(connection) if entry[1].lower() in names or entry[2].lower() in names)


@lru_cache(32)
def _made(layout: str, index: str) -> Entries:
    """Make an index in memory and read its entries."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(script(layout, index))
        return frozenset(_entries(connection))


def _entries(connection: sqlite3.Connection) -> list[tuple[str, str, str, str]]:
    rows = connection.execute(_ENTRIES).fetchall()
    return [(kind, name, table, _NO_MATTER.sub("", sql)) for kind, name, table, sql in rows]
