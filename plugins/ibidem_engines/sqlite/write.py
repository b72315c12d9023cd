"""Write documents, look-up keys and records in SQLite, one transaction for each call.

Look-up keys are words of a contentless full-text table.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

import orjson
from xxhash import xxh3_64_intdigest, xxh3_128_hexdigest

from ibidem_engines.engine import Outcome, Record, WriteStatus, next_version
from ibidem_engines.ledger import (
    Tombstone,
    UnstorableRecord,
    check_storable,
    clash,
    find_superseded,
    read_entries,
    values_of_records,
    write_in_turns,
)
from ibidem_engines.sqlite.file import Row, SqliteFile
from ibidem_engines.stored_groups import Ledger, RecordState, new_group
from ibidem_ingest.dates import interval
from ibidem_ingest.signatures.long_text import LongSignatures
from ibidem_ingest.signatures.lookup_keys import LookupField, long_keys, lookup_keys
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


def lookup_values(packed: bytes, long_value: bytes = b"") -> dict[LookupField, list[str]]:
    """Return the look-up values of signatures; empty for missing, damaged and unknown signatures."""
    unpacked = unpack(packed) if packed else None
    return {} if unpacked is None else lookup_keys(unpacked) | long_keys(LongSignatures.decode(long_value))


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


# SQLite takes values of 1,000,000,000 bytes; a character may need four, and a row holds more than its text.
MAX_CHARACTERS = 200_000_000


@dataclass(frozen=True, slots=True)
class Ready:
    position: int  # its place in the call
    record: Record
    row: Row  # the columns of its row in the documents table, from `id` on
    keys: str  # its look-up values as words, those of its long signatures too

    @property
    def id(self) -> str:
        return self.record.document.id


def prepare(records: Sequence[Record]) -> tuple[list[Ready], dict[int, Outcome]]:
    outcomes = find_superseded(records)
    rows: dict[int, Row] = {}
    for position, record in enumerate(records):
        if position not in outcomes:
            try:
                rows[position] = _row(record)
            except UnstorableRecord as unfit:
                outcomes[position] = Outcome(record.document.id, WriteStatus.REFUSED, field=unfit.field, why=unfit.why)
    values = dict(zip(rows, values_of_records([records[at] for at in rows]), strict=True))
    return [Ready(at, records[at], row, words(values[at])) for at, row in rows.items()], outcomes


def _row(record: Record) -> Row:
    """Fill the columns from `id` on, except `lead`; a record that SQLite cannot store is refused."""
    document, signatures = record.document, record.signatures
    if (length := len(document.text)) > MAX_CHARACTERS:
        raise UnstorableRecord("text", f"{length} characters; SQLite takes {MAX_CHARACTERS}")
    check_storable(record)
    try:
        first, last = interval(document.date)
    except ValueError as error:
        raise UnstorableRecord("date", str(error)) from error
    try:
        meta = orjson.dumps(dict(document.meta)).decode()
    except TypeError as error:
        raise UnstorableRecord("meta", f"JSON cannot hold it: {error}") from error
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
_FORGET_WRITTEN = """delete from "ibidem.{index}.ledger" where ledger = 'written'
    and key = (select id from "ibidem.{index}.documents" where place = ?)"""
_LONG = 'insert into "ibidem.{index}.long" (place, value) values (?, ?)'
_SIGNED = """select d.place, d.packed, l.value from "ibidem.{index}.documents" d
    left join "ibidem.{index}.long" l on l.place = d.place where d.place in (select value from json_each(?))"""
_RAISE = 'update "ibidem.{index}.documents" set version = ? where id = ?'
_THERE = """select id, place, version, digest, origin, case lead when 1 then "group" else '' end
    from "ibidem.{index}.documents" where id in (select value from json_each(?))"""


@dataclass(frozen=True, slots=True)
class _StoredVersion:
    place: int
    version: int
    digest: str
    origin: str
    group: str  # name of the group that it leads; empty if it leads none


@dataclass(frozen=True, slots=True)
class _StoredState:
    """The documents and tombstones with the ids of a call."""

    documents: Mapping[str, _StoredVersion]
    tombstones: Mapping[str, int]  # the versions of tombstones

    @classmethod
    def read(cls, file: SqliteFile, ids: Sequence[str]) -> "_StoredState":
        """Read the stored versions of all ids at once."""
        rows = file.run(_THERE, (as_json(ids),))
        documents = {name: _StoredVersion(*fields) for name, *fields in rows}
        stones = read_entries(get(file, "tombstones", ids).items(), Tombstone.from_record)
        return cls(documents, {name: stone.version for name, stone in stones})

    def stale_reason(self, name: str, version: int) -> str:
        """Return why a version is too old to be written; empty if it is new enough."""
        if name in self.documents and self.documents[name].version > version:
            return f"version {version} is older than the one in the index, {self.documents[name].version}"
        if name in self.tombstones and self.tombstones[name] >= version:
            return f"version {version} was deleted with version {self.tombstones[name]}"
        return ""

    def outcome(self, record: Record) -> Outcome:
        name = record.document.id
        entry = self.documents.get(name)
        old_version = entry.version if entry else None
        is_equal = entry is not None and entry.digest == record.digest
        if entry and not is_equal and (reason := clash(record, entry.origin)):
            return Outcome(name, WriteStatus.REFUSED, previous_version=old_version, field="id", why=reason)
        if reason := self.stale_reason(name, record.version):
            return Outcome(name, WriteStatus.STALE, previous_version=old_version, field="version", why=reason)
        status = WriteStatus.UNCHANGED if is_equal else WriteStatus.INDEXED
        return Outcome(name, status, previous_version=old_version)

    def deletion(self, name: str, version: int) -> Outcome:
        if name not in self.documents:
            return Outcome(name, WriteStatus.MISSING)
        old_version = self.documents[name].version
        if old_version <= version:
            return Outcome(name, WriteStatus.DELETED, previous_version=old_version)
        reason = self.stale_reason(name, version)
        return Outcome(name, WriteStatus.STALE, previous_version=old_version, field="version", why=reason)


def write(file: SqliteFile, records: Sequence[Record]) -> list[Outcome]:
    """Store records; see `Engine.write`."""
    return write_in_turns(records, partial(_write_turn, file))


def _write_turn(file: SqliteFile, records: Sequence[Record]) -> list[Outcome]:
    ready, outcomes = prepare(records)
    if ready:
        with file.transaction():
            outcomes |= _write(file, ready)
    return [outcomes[at] for at in range(len(records))]


def delete(file: SqliteFile, ids: Sequence[str], version: int, *, any_version: bool) -> list[Outcome]:
    """Delete documents and leave tombstones; see `Engine.delete`."""
    timestamp = datetime.now(UTC).isoformat(timespec="seconds")
    with file.transaction():
        stored = _StoredState.read(file, ids)
        versions_by_id = {name: each.version for name, each in stored.documents.items()}
        versions = {name: next_version(version, versions_by_id.get(name)) if any_version else version for name in ids}
        outcomes = {name: stored.deletion(name, versions[name]) for name in ids}
        deleted = [name for name, each in outcomes.items() if each.status is WriteStatus.DELETED]
        _remove(file, [stored.documents[name].place for name in deleted])
        tombstones = {
            name: {"version": versions[name], "at": timestamp}
            for name, each in outcomes.items()
            if each.status is not WriteStatus.STALE and stored.tombstones.get(name, versions[name]) <= versions[name]
        }
        put(file, "tombstones", tombstones)
    return [outcomes[name] for name in ids]


def _write(file: SqliteFile, ready: Sequence[Ready]) -> dict[int, Outcome]:
    """Store rows and return their outcomes, by position in the call."""
    stored = _StoredState.read(file, [each.id for each in ready])
    outcomes = {each.position: stored.outcome(each.record) for each in ready}
    inserts = [each for each in ready if outcomes[each.position].status is WriteStatus.INDEXED]
    _remove(file, [stored.documents[each.id].place for each in inserts if each.id in stored.documents])
    groups = {name: each.group for name, each in stored.documents.items()}
    for each, place in zip(inserts, _insert(file, inserts, groups), strict=True):
        outcomes[each.position] = Outcome(each.id, WriteStatus.INDEXED, place, outcomes[each.position].previous_version)
    unchanged = [each.record for each in ready if outcomes[each.position].status is WriteStatus.UNCHANGED]
    file.run_many(_RAISE, [(record.version, record.document.id) for record in unchanged])
    if stored.tombstones:
        for ledger in ("tombstones", "deleted"):
            remove(file, ledger, [each.id for each in inserts])
    return outcomes


def _insert(file: SqliteFile, records: Sequence[Ready], groups: Mapping[str, str]) -> range:
    """Insert rows at the next positions, and return the positions; a lead keeps the name of its group."""
    if not records:
        return range(0)
    (last_place,) = file.run("""select value from "ibidem.{index}.state" where name = 'place'""").fetchone()
    places = range(last_place + 1, last_place + 1 + len(records))
    file.run("""update "ibidem.{index}.state" set value = ? where name = 'place'""", (places[-1],))
    pairs = list(zip(places, records, strict=True))
    file.run_many(_DOCUMENT, [(place, *each.row, groups.get(each.id) or new_group()) for place, each in pairs])
    written = [(each.record.document.title, each.record.document.text) for each in records]
    seen = [(visible(title), visible(text)) for title, text in written]
    file.run_many(_TEXT, [(place, *texts) for place, texts in zip(places, seen, strict=True)])
    rows = zip(records, written, seen, strict=True)
    file.run_many(_WRITTEN, [(each.id, orjson.dumps(texts).decode()) for each, texts, kept in rows if texts != kept])
    file.run_many(_KEYS, [(place, each.keys) for place, each in pairs if each.keys])
    file.run_many(_LONG, [(place, each.record.long) for place, each in pairs if each.record.long])
    return places


def _remove(file: SqliteFile, places: Sequence[int]) -> None:
    """Remove documents from all tables; their look-up values are computed from their signatures."""
    if not places:
        return
    rows = file.run(_SIGNED, (as_json(list(places)),)).fetchall()
    keys = [(place, words(lookup_values(packed, long_value or b""))) for place, packed, long_value in rows if packed]
    file.run_many(_FORGET_KEYS, [(place, key) for place, key in keys if key])
    file.run_many('delete from "ibidem.{index}.texts" where rowid = ?', [(place,) for place in places])
    file.run_many(_FORGET_WRITTEN, [(place,) for place in places])
    file.run_many(
        'delete from "ibidem.{index}.long" where place = ?', [(place,) for place, _, long_value in rows if long_value]
    )
    file.run_many('delete from "ibidem.{index}.documents" where place = ?', [(place,) for place in places])
