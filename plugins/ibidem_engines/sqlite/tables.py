"""Tables of SQLite next to the documents: records and look-up keys.

Ledgers in SQLite: records of runs, dead letters, tombstones, overrides.

Look-up keys in SQLite: words of a contentless full-text table.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import orjson
from xxhash import xxh3_64_intdigest, xxh3_128_hexdigest

from ibidem_engines.cursor import KEY, new_key, read_key
from ibidem_engines.sqlite.file import SqliteFile
from ibidem_engines.stored_groups import IndexNames, Ledger, RecordState, StoredRecord
from ibidem_ingest.signatures.long_text import LongSignatures
from ibidem_ingest.signatures.lookup_keys import LookupField, long_clues, lookup_keys
from ibidem_ingest.signatures.packed import unpack

SLICE = 1_000

_LAST = "\U0010ffff"  # greater than whatever may follow a prefix

_PUT = 'insert or replace into "ibidem.{index}.ledger" (ledger, key, entry) values (?, ?, ?)'
_GET = """select key, entry from "ibidem.{index}.ledger"
    where ledger = ? and key in (select value from json_each(?))"""
_REMOVE = 'delete from "ibidem.{index}.ledger" where ledger = ? and key in (select value from json_each(?))'
_COUNT = 'select count(*) from "ibidem.{index}.ledger" where ledger = ?'
_ALL = 'select key, entry from "ibidem.{index}.ledger" where ledger = ?'
_SLICE = """select key, entry from "ibidem.{index}.ledger"
    where ledger = ? and key >= ? and key < ? order by key limit ?"""


def put(file: SqliteFile, ledger: Ledger, entries: Mapping[str, Mapping[str, object]]) -> None:
    """Store records by key, inside an open transaction."""
    if ledger == "overrides":
        remove(file, ledger, _stored_keys(file, ledger, entries))
    file.run_many(_PUT, [(ledger, key, as_json(entry)) for key, entry in entries.items()])


def get(file: SqliteFile, ledger: Ledger, keys: Sequence[str]) -> dict[str, Any]:
    """Read records by key, inside an open transaction."""
    return _own_records(file, ledger, file.run(_GET, (ledger, as_json(keys))))


def remove(file: SqliteFile, ledger: Ledger, keys: Sequence[str]) -> int:
    """Remove records by key, inside an open transaction; returns how many existed."""
    return file.run(_REMOVE, (ledger, as_json(keys))).rowcount


def put_records(file: SqliteFile, ledger: Ledger, entries: Mapping[str, Mapping[str, object]]) -> None:
    """Store records; see `Engine.put_records`."""
    if entries:
        with file.transaction():
            put(file, ledger, entries)


def make_cursor_key(file: SqliteFile) -> None:
    """Store a cursor key unless there is a valid one."""
    if not read_key(get_records_by_key(file, "runs", [KEY]).get(KEY)):
        with file.transaction():
            if not read_key(get(file, "runs", [KEY]).get(KEY)):
                put(file, "runs", {KEY: new_key()})


def get_records(
    file: SqliteFile, ledger: Ledger, prefix: str, *, any_schema: bool = False
) -> Iterator[tuple[str, Any]]:
    """Read records in slices, so that no transaction is open between them; see `Engine.get_records`."""
    start, end = prefix, f"{prefix}{_LAST}"
    while True:
        with file.reading(any_schema=any_schema):
            rows = file.run(_SLICE, (ledger, start, end, SLICE)).fetchall()
        yield from _own_records(file, ledger, rows).items()
        if len(rows) < SLICE:
            return
        start = f"{rows[-1][0]}\0"


def _own_records(file: SqliteFile, ledger: Ledger, rows: Iterable[tuple[str, object]]) -> dict[str, Any]:
    """Parse rows; records of an index that was copied under another name get the new name."""
    return _names(file).own_records(ledger, (StoredRecord(file.index, key, _parse(entry)) for key, entry in rows))


def _stored_keys(file: SqliteFile, ledger: Ledger, keys: Iterable[str]) -> list[str]:
    """Return the keys under which records are stored, some of them with an earlier name of the index."""
    rows = file.run(_ALL, (ledger,)).fetchall()
    stored = (StoredRecord(file.index, key, _parse(entry)) for key, entry in rows)
    return _names(file).raw_keys(ledger, keys, stored)


def _names(file: SqliteFile) -> IndexNames:
    return IndexNames((file.index,), (file.index,))


def _parse(entry: object) -> Any:
    """Parse the JSON of a record; invalid JSON is returned unchanged, so that its reader refuses it."""
    try:
        return orjson.loads(entry if isinstance(entry, str | bytes) else str(entry))
    except orjson.JSONDecodeError:
        return str(entry)


def clear_ledger(file: SqliteFile, ledger: Ledger) -> None:
    """Remove every record of a ledger."""
    with file.transaction():
        file.run('delete from "ibidem.{index}.ledger" where ledger = ?', (ledger,))


def get_records_by_key(file: SqliteFile, ledger: Ledger, keys: Sequence[str]) -> dict[str, Any]:
    """Read the records of some keys; see `Engine.get_records_by_key`."""
    with file.reading():
        return get(file, ledger, keys)


def read_record(file: SqliteFile, ledger: Ledger, key: str) -> tuple[Any, RecordState | None]:
    """Read a record by key, with its state; see `Engine.read_record`."""
    with file.reading():
        return get(file, ledger, [key]).get(key), _state(file, ledger, key)


def replace_record(
    file: SqliteFile, ledger: Ledger, key: str, entry: Mapping[str, object], state: RecordState | None
) -> RecordState | None:
    """Replace a record in a known state; see `Engine.replace_record`."""
    with file.transaction():
        if _state(file, ledger, key) != state:
            return None
        put(file, ledger, {key: entry})
        return _state(file, ledger, key)


def _state(file: SqliteFile, ledger: Ledger, key: str) -> RecordState | None:
    """Return the state of a record: its content, so that rewriting it unchanged keeps the state."""
    row = file.run(_GET, (ledger, as_json([key]))).fetchone()
    return None if row is None else (xxh3_64_intdigest(str(row[1]).encode()), 0)


def count(file: SqliteFile, ledger: Ledger) -> int:
    """Count records; see `Engine.count`."""
    with file.reading():
        return int(file.run(_COUNT, (ledger,)).fetchone()[0])


def delete_records(file: SqliteFile, ledger: Ledger, keys: Iterable[str]) -> int:
    """Remove records; see `Engine.delete_records`."""
    with file.transaction():
        keys = list(keys)
        return remove(file, ledger, _stored_keys(file, ledger, keys) if ledger == "overrides" else keys)


def delete_unchanged(file: SqliteFile, ledger: Ledger, entries: Mapping[str, Any]) -> int:
    """Remove records that have not changed since they were read; see `Engine.delete_unchanged`."""
    with file.transaction():
        now = get(file, ledger, list(entries))
        return remove(file, ledger, [key for key, entry in entries.items() if now.get(key) == entry])


def as_json(value: object) -> str:
    """Serialize a value for SQLite's `json_each`, or for storage."""
    return orjson.dumps(value).decode()


_PLAIN = re.compile(r"[0-9a-z:]+", re.ASCII)


def lookup_values(packed: bytes, long_value: bytes = b"") -> dict[LookupField, list[str]]:
    """Return the look-up values of signatures; empty for missing, damaged and unknown signatures."""
    unpacked = unpack(packed) if packed else None
    return {} if unpacked is None else lookup_keys(unpacked) | long_clues(LongSignatures.decode(long_value))


def words(values: dict[LookupField, list[str]]) -> str:
    """Join all values of a document into the words of one FTS row.

    Values of two classes are never equal: each begins with its scheme or its letter.
    """
    parts: list[str] = []
    for lookup_field, field_values in values.items():
        parts += map(word, field_values) if lookup_field == "content" else field_values
    return " ".join(parts)


def word(value: str) -> str:
    """Return a value as one word, hashed if the tokenizer would split it, as it may an id."""
    return value if _PLAIN.fullmatch(value) else f"x:{xxh3_128_hexdigest(value.encode())}"
