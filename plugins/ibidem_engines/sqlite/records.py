"""Ledgers in SQLite: records of runs, dead letters, tombstones, overrides."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import orjson

from ibidem_engines.engine import Ledger
from ibidem_engines.sqlite.file import SqliteFile

SLICE = 1_000

_LAST = "\U0010ffff"
"""Greater than whatever may follow a prefix."""

_PUT = 'insert or replace into "ibidem.{index}.ledger" (ledger, key, entry) values (?, ?, ?)'
_GET = """select key, entry from "ibidem.{index}.ledger"
    where ledger = ? and key in (select value from json_each(?))"""
_REMOVE = 'delete from "ibidem.{index}.ledger" where ledger = ? and key in (select value from json_each(?))'
_COUNT = 'select count(*) from "ibidem.{index}.ledger" where ledger = ?'
_SLICE = """select key, entry from "ibidem.{index}.ledger"
    where ledger = ? and key >= ? and key < ? order by key limit ?"""


def put(file: SqliteFile, ledger: Ledger, entries: Mapping[str, Mapping[str, object]]) -> None:
    """Keep records by key, inside a transaction that is open."""
    file.run_many(_PUT, [(ledger, key, as_json(dict(entry))) for key, entry in entries.items()])


def get(file: SqliteFile, ledger: Ledger, keys: Sequence[str]) -> dict[str, dict[str, object]]:
    """Read records by key, inside a transaction that is open."""
    return {key: orjson.loads(entry) for key, entry in file.run(_GET, (ledger, as_json(keys)))}


def remove(file: SqliteFile, ledger: Ledger, keys: Sequence[str]) -> int:
    """Remove records by key, inside a transaction that is open; returns how many were there."""
    return file.run(_REMOVE, (ledger, as_json(keys))).rowcount


def put_records(file: SqliteFile, ledger: Ledger, entries: Mapping[str, Mapping[str, object]]) -> None:
    """Keep records; see `Engine.put_records`."""
    if entries:
        with file.writing():
            put(file, ledger, entries)


def get_records(
    file: SqliteFile, ledger: Ledger, prefix: str, *, any_schema: bool = False
) -> Iterator[tuple[str, dict[str, object]]]:
    """Read records in slices, so that no transaction is open between them; see `Engine.get_records`."""
    start, end = prefix, f"{prefix}{_LAST}"
    while True:
        with file.reading(any_schema=any_schema):
            rows = file.run(_SLICE, (ledger, start, end, SLICE)).fetchall()
        yield from ((key, orjson.loads(entry)) for key, entry in rows)
        if len(rows) < SLICE:
            return
        start = f"{rows[-1][0]}\0"


def clear(file: SqliteFile, ledger: Ledger) -> None:
    """Remove every record of a ledger."""
    with file.writing():
        file.run('delete from "ibidem.{index}.ledger" where ledger = ?', (ledger,))


def get_record(file: SqliteFile, ledger: Ledger, key: str) -> dict[str, object] | None:
    """Read the record of one key; see `Engine.get_record`."""
    with file.reading():
        return get(file, ledger, [key]).get(key)


def count(file: SqliteFile, ledger: Ledger) -> int:
    """Count records; see `Engine.count`."""
    with file.reading():
        return int(file.run(_COUNT, (ledger,)).fetchone()[0])


def delete_records(file: SqliteFile, ledger: Ledger, keys: Iterable[str]) -> int:
    """Remove records; see `Engine.delete_records`."""
    with file.writing():
        return remove(file, ledger, list(keys))


def as_json(value: object) -> str:
    """Write a value for SQLite's `json_each`, or to be kept."""
    return orjson.dumps(value).decode()
