"""Write documents, look-up keys and records in SQLite, one transaction for each call.

Look-up keys are words of a contentless full-text table.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import orjson
from xxhash import xxh3_64_intdigest, xxh3_128_hexdigest

from ibidem_engines import ledger as ledgers
from ibidem_engines.engine import Outcome, Record, WriteStatus
from ibidem_engines.sqlite.file import Row, SqliteFile
from ibidem_engines.stored_groups import Ledger, RecordState, new_group
from ibidem_ingest.dates import interval
from ibidem_ingest.signatures.long_text import LongSignatures
from ibidem_ingest.signatures.lookup_keys import long_keys, lookup_keys
from ibidem_ingest.signatures.packed import unpack
from ibidem_ingest.text.tokens import visible

_PUT = 'insert or replace into "ibidem.{index}.ledger" (ledger, key, entry) values (?, ?, ?)'
_GET = """select key, entry from "ibidem.{index}.ledger"
    where ledger = ? and key in (select value from json_each(?))"""
_REMOVE = 'delete from "ibidem.{index}.ledger" where ledger = ? and key in (select value from json_each(?))'


def put(file: SqliteFile, ledger: Ledger, entries: Mapping[str, Mapping[str, object]]) -> None:
    """Store records by key, inside an open transaction."""
    file.run_many(_PUT, [(ledger, key, as_json(entry)) for key, entry in entries.items()])


def get(file: SqliteFile, ledger: Ledger, keys: Sequence[str]) -> dict[str, Any]:
    """Read records by key, inside an open transaction."""
    return {key: parse(entry) for key, entry in sorted(file.run(_GET, (ledger, as_json(keys))))}


def remove(file: SqliteFile, ledger: Ledger, keys: Sequence[str]) -> int:
    """Remove records by key, inside an open transaction; returns how many existed."""
    return file.run(_REMOVE, (ledger, as_json(keys))).rowcount


def parse(entry: object) -> Any:
    """Parse the JSON of a record; invalid JSON is returned unchanged, so that its reader refuses it."""
    try:
        return orjson.loads(entry if isinstance(entry, str | bytes) else str(entry))
    except orjson.JSONDecodeError:
        return str(entry)


def record_state(file: SqliteFile, ledger: Ledger, key: str) -> RecordState | None:
    """Return the state of a record: its content, so that rewriting it unchanged keeps the state."""
    row = file.run(_GET, (ledger, as_json([key]))).fetchone()
    return None if row is None else (xxh3_64_intdigest(str(row[1]).encode()), 0)


def as_json(value: object) -> str:
    """Serialize a value for SQLite's `json_each`, or for storage."""
    return orjson.dumps(value).decode()


_PLAIN = re.compile(r"[0-9a-z:]+", re.ASCII)


def lookup_values(packed: bytes, long_value: bytes = b"") -> ledgers.LookupValues:
    """Return the look-up values of signatures; empty for missing, damaged and unknown signatures."""
    unpacked = unpack(packed) if packed else None
    return {} if unpacked is None else lookup_keys(unpacked) | long_keys(LongSignatures.decode(long_value))


def words(values: ledgers.LookupValues) -> str:
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


# SQLite takes values of 1,000,000,000 bytes; a character may need four, and a row holds more than its text.
MAX_CHARACTERS = 200_000_000


@dataclass(frozen=True, slots=True)
class _Ready:
    record: Record
    row: Row  # the columns of its row in the documents table, from `id` on
    keys: str  # its look-up values as words, those of its long signatures too


def _prepare(record: Record, values: ledgers.LookupValues) -> _Ready:
    return _Ready(record, _row(record), words(values))


def _row(record: Record) -> Row:
    """Fill the columns from `id` on, except `lead`; a record that SQLite cannot store is refused."""
    document, signatures = record.document, record.signatures
    if (length := len(document.text)) > MAX_CHARACTERS:
        raise ledgers.UnstorableRecord("text", f"{length} characters; SQLite takes {MAX_CHARACTERS}")
    ledgers.check_storable(record)
    try:
        first, last = interval(document.date)
    except ValueError as error:
        raise ledgers.UnstorableRecord("date", str(error)) from error
    try:
        meta = orjson.dumps(dict(document.meta)).decode()
    except TypeError as error:
        raise ledgers.UnstorableRecord("meta", f"JSON cannot hold it: {error}") from error
    is_signed = int(bool(record.packed) and signatures.length > 0)
    head = (document.id, record.version, record.digest, record.packed or None)
    names = (document.source, document.language, first, last, document.date, document.url)
    return (*head, is_signed, signatures.idf, *names, document.version, len(document.pages), meta, document.origin)


_DOCUMENT = """insert into "ibidem.{index}.documents"
    (place, id, version, digest, packed, signed, idf, source, language, first, last, date, url, given,
    pages, meta, origin, "group", lead) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1)"""
_TEXT = 'insert into "ibidem.{index}.texts" (rowid, title, text) values (?, ?, ?)'
_KEYS = 'insert into "ibidem.{index}.keys" (rowid, key) values (?, ?)'
_FORGET_KEYS = 'insert into "ibidem.{index}.keys" ("ibidem.{index}.keys", rowid, key) values (\'delete\', ?, ?)'
# Title and text as they are written, where the texts that are searched lack characters that nobody sees.
_WRITTEN = """insert or replace into "ibidem.{index}.ledger" values ('written', ?, ?)"""
_LONG = 'insert into "ibidem.{index}.long" (place, value) values (?, ?)'
_SIGNED = """select d.place, d.packed, l.value from "ibidem.{index}.documents" d
    left join "ibidem.{index}.long" l on l.place = d.place where d.place in (select value from json_each(?))"""
_NEXT = """update "ibidem.{index}.state" set value = value + ? where name = 'place' returning value"""
_REMOVED = (
    'delete from "ibidem.{index}.texts" where rowid = ?',
    """delete from "ibidem.{index}.ledger" where ledger = 'written'
    and key = (select id from "ibidem.{index}.documents" where place = ?)""",
    'delete from "ibidem.{index}.long" where place = ?',
    'delete from "ibidem.{index}.documents" where place = ?',
)
_MOVED = (
    'update "ibidem.{index}.documents" set place = ? where place = ?',
    'update "ibidem.{index}.long" set place = ? where place = ?',
    'update "ibidem.{index}.texts" set rowid = ? where rowid = ?',
)
_RAISE = 'update "ibidem.{index}.documents" set version = ? where id = ?'
_THERE = """select id, place, version, digest, origin, case lead when 1 then "group" else '' end
    from "ibidem.{index}.documents" where id in (select value from json_each(?))"""


def _read_stored(file: SqliteFile, ids: Sequence[str]) -> tuple[dict[str, ledgers.StoredVersion], dict[str, int]]:
    """Read the stored versions of documents and the versions of tombstones by id; a state begins with the place."""
    rows = file.run(_THERE, (as_json(ids),))
    versions = {
        name: ledgers.StoredVersion(version, digest, (place, 0), origin, file.index, group)
        for name, place, version, digest, origin, group in rows
    }
    return versions, ledgers.tombstone_versions(get(file, "tombstones", ids))


def write(file: SqliteFile, records: Sequence[Record]) -> list[Outcome]:
    """Store records; see `Engine.write`."""
    return ledgers.write_in_turns(records, _prepare, partial(_write, file))


def delete(file: SqliteFile, ids: Sequence[str], version: int, *, any_version: bool) -> list[Outcome]:
    """Delete documents and leave tombstones; see `Engine.delete`."""
    with file.transaction():
        stored, tombstones = _read_stored(file, ids)
        versions, decisions = ledgers.decide_deletions(ids, stored, version, any_version=any_version)
        _remove(file, [stored[name].state[0] for name, each in decisions.items() if each[0] is WriteStatus.DELETED])
        buried = {name: versions[name] for name, each in decisions.items() if each[0] is not WriteStatus.STALE}
        put(file, "tombstones", ledgers.new_tombstones(buried, tombstones))
    return [ledgers.decided(name, decisions[name], stored.get(name)) for name in ids]


def _write(file: SqliteFile, ready: Mapping[str, _Ready]) -> dict[str, Outcome]:
    """Store rows and return their outcomes, by id."""
    with file.transaction():
        stored, tombstones = _read_stored(file, list(ready))
        decisions = {
            name: ledgers.decide(each.record, stored.get(name), tombstones.get(name)) for name, each in ready.items()
        }
        outcomes = {name: ledgers.decided(name, each, stored.get(name)) for name, each in decisions.items()}
        inserts = {name: ready[name] for name, each in decisions.items() if each[0] is WriteStatus.INDEXED}
        _remove(file, [stored[name].state[0] for name in inserts if name in stored])
        for name, place in zip(inserts, _insert(file, inserts, stored), strict=True):
            outcomes[name] = replace(outcomes[name], order=place)
        unchanged = [name for name, each in decisions.items() if each[0] is WriteStatus.UNCHANGED]
        file.run_many(_RAISE, [(ready[name].record.version, name) for name in unchanged])
        for ledger in ("tombstones", "deleted") if tombstones else ():
            remove(file, ledger, list(inserts))
    return outcomes


def _insert(file: SqliteFile, records: Mapping[str, _Ready], stored: Mapping[str, ledgers.StoredVersion]) -> range:
    """Insert rows at the next positions, and return the positions; a lead keeps the name of its group."""
    if not records:
        return range(0)
    places = _take_places(file, len(records))
    groups = [(name in stored and stored[name].group) or new_group() for name in records]
    rows = list(zip(places, records.values(), groups, strict=True))
    file.run_many(_DOCUMENT, [(place, *each.row, group) for place, each, group in rows])
    written = [(each.record.document.title, each.record.document.text) for each in records.values()]
    seen = [(visible(title), visible(text)) for title, text in written]
    file.run_many(_TEXT, [(place, *texts) for place, texts in zip(places, seen, strict=True)])
    texts_by_name = zip(records, written, seen, strict=True)
    file.run_many(_WRITTEN, [(name, as_json(texts)) for name, texts, kept in texts_by_name if texts != kept])
    file.run_many(_KEYS, [(place, each.keys) for place, each, _ in rows if each.keys])
    file.run_many(_LONG, [(place, each.record.long) for place, each, _ in rows if each.record.long])
    return places


def _take_places(file: SqliteFile, count: int) -> range:
    (last_place,) = file.run(_NEXT, (count,)).fetchone()
    return range(last_place - count + 1, last_place + 1)


def _keys_of(file: SqliteFile, places: Sequence[int]) -> list[tuple[int, str]]:
    """Return the look-up values of documents as words, computed from their signatures."""
    rows = file.run(_SIGNED, (as_json(places),)).fetchall()
    keys = [(place, words(lookup_values(packed, long_value or b""))) for place, packed, long_value in rows if packed]
    return [(place, key) for place, key in keys if key]


def _remove(file: SqliteFile, places: Sequence[int]) -> None:
    """Remove documents from all tables."""
    file.run_many(_FORGET_KEYS, _keys_of(file, places))
    for statement in _REMOVED:
        file.run_many(statement, [(place,) for place in places])


def move(file: SqliteFile, place: int) -> None:
    """Move a document to the next position, inside an open transaction."""
    keys, (number,) = _keys_of(file, [place]), _take_places(file, 1)
    for statement in _MOVED:
        file.run(statement, (number, place))
    file.run_many(_FORGET_KEYS, keys)
    file.run_many(_KEYS, [(number, key) for _, key in keys])
