"""Store and delete documents in SQLite, one transaction for each call."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

import orjson

from ibidem_engines.engine import Outcome, Record, WriteStatus, next_version
from ibidem_engines.ledger import Tombstone, read_entries
from ibidem_engines.records import (
    UnstorableRecord,
    check_storable,
    clash,
    find_superseded,
    values_of_records,
    write_in_turns,
)
from ibidem_engines.sqlite import tables
from ibidem_engines.sqlite.file import Row, SqliteFile
from ibidem_engines.sqlite.tables import as_json, lookup_values, words
from ibidem_ingest.dates import interval
from ibidem_ingest.signatures.content import group_name

# SQLite takes values of 1,000,000,000 bytes; a character may need four, and a row holds more than its text.
MAX_CHARACTERS = 200_000_000


@dataclass(frozen=True, slots=True)
class Ready:
    """A record as rows."""

    position: int  # its place in the call
    record: Record
    row: Row  # the columns of its row in the documents table, from `id` on
    keys: str  # its look-up values as words, those of its long signatures too

    @property
    def id(self) -> str:
        """The document's id."""
        return self.record.document.id


def prepare(records: Sequence[Record]) -> tuple[list[Ready], dict[int, Outcome]]:
    """Build the rows of records."""
    outcomes = find_superseded(records)
    facts: dict[int, Row] = {}
    for position, record in enumerate(records):
        if position not in outcomes:
            try:
                facts[position] = _facts(record)
            except UnstorableRecord as unfit:
                outcomes[position] = Outcome(record.document.id, WriteStatus.REFUSED, field=unfit.field, why=unfit.why)
    values = dict(zip(facts, values_of_records([records[at] for at in facts]), strict=True))
    ready = [
        Ready(at, records[at], (*_head(records[at]), *its_facts), words(values[at])) for at, its_facts in facts.items()
    ]
    return ready, outcomes


def _head(record: Record) -> Row:
    """Fill the columns from `id` to `packed`."""
    return record.document.id, record.version, record.digest, record.packed or None


def _facts(record: Record) -> Row:
    """Fill the columns from `signed` on, except `lead`, after checking that the record can be stored."""
    document, signatures = record.document, record.signatures
    _check(record)
    try:
        first, last = interval(document.date)
    except ValueError as error:
        raise UnstorableRecord("date", str(error)) from error
    try:
        meta = orjson.dumps(dict(document.meta)).decode()
    except TypeError as error:
        raise UnstorableRecord("meta", f"JSON cannot hold it: {error}") from error
    is_signed = int(bool(record.packed) and signatures.length > 0)
    names = (document.source, document.language, first, last, document.date, document.url)
    group = group_name(document.id)
    return (is_signed, signatures.idf, *names, document.version, len(document.pages), meta, group, document.origin)


def _check(record: Record) -> None:
    """Refuse a record that SQLite cannot store."""
    length = len(record.document.text)
    if length > MAX_CHARACTERS:
        raise UnstorableRecord("text", f"{length} characters; SQLite takes {MAX_CHARACTERS}")
    check_storable(record)


_DOCUMENT = """insert into "ibidem.{index}.documents"
    (place, id, version, digest, packed, signed, idf, source, language, first, last, date, url, given,
    pages, meta, "group", origin, lead) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1)"""
_TEXT = 'insert into "ibidem.{index}.texts" (rowid, title, text) values (?, ?, ?)'
_KEYS = 'insert into "ibidem.{index}.keys" (rowid, key) values (?, ?)'
_FORGET_KEYS = 'insert into "ibidem.{index}.keys" ("ibidem.{index}.keys", rowid, key) values (\'delete\', ?, ?)'
_LONG = 'insert into "ibidem.{index}.long" (place, value) values (?, ?)'
_SIGNED = """select d.place, d.packed, l.value from "ibidem.{index}.documents" d
    left join "ibidem.{index}.long" l on l.place = d.place where d.place in (select value from json_each(?))"""
_RAISE = 'update "ibidem.{index}.documents" set version = ? where id = ?'
_ORPHANS = """select place from "ibidem.{index}.documents"
    where place <= ? and id not in (select id from "ibidem.{first}.documents")"""
_THERE = """select id, place, version, digest, origin from "ibidem.{index}.documents"
    where id in (select value from json_each(?))"""


@dataclass(frozen=True, slots=True)
class _StoredVersion:
    """The document with an id."""

    place: int
    version: int
    digest: str
    origin: str


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
        stones = read_entries(tables.get(file, "tombstones", ids).items(), Tombstone.from_record)
        return cls(documents, {name: stone.version for name, stone in stones})

    def stale_reason(self, name: str, version: int) -> str:
        """Return why a version is too old to be written; empty if it is new enough."""
        if name in self.documents and self.documents[name].version > version:
            return f"version {version} is older than the one in the index, {self.documents[name].version}"
        if name in self.tombstones and self.tombstones[name] >= version:
            return f"version {version} was deleted with version {self.tombstones[name]}"
        return ""

    def outcome(self, record: Record) -> Outcome:
        """Decide the outcome of a record."""
        name = record.document.id
        entry = self.documents.get(name)
        old_version = entry.version if entry else None
        is_equal = entry is not None and entry.digest == record.digest
        if entry and not is_equal and (reason := clash(record, entry.origin)):
            return Outcome(name, WriteStatus.REFUSED, previous_version=old_version, field="id", why=reason)
        if reason := self.stale_reason(name, record.version):
            return Outcome(name, WriteStatus.STALE, previous_version=old_version, field="version", why=reason)
        if is_equal:
            return Outcome(name, WriteStatus.UNCHANGED, previous_version=old_version)
        return Outcome(name, WriteStatus.INDEXED, previous_version=old_version)

    def deletion(self, name: str, version: int) -> Outcome:
        """Decide the outcome of a deletion."""
        entry = self.documents.get(name)
        if entry is None:
            return Outcome(name, WriteStatus.MISSING)
        if entry.version > version:
            return Outcome(
                name,
                WriteStatus.STALE,
                previous_version=entry.version,
                field="version",
                why=self.stale_reason(name, version),
            )
        return Outcome(name, WriteStatus.DELETED, previous_version=entry.version)


def write(file: SqliteFile, records: Sequence[Record]) -> list[Outcome]:
    """Store records; see `Engine.write`."""
    return write_in_turns(records, partial(_write_turn, file))


def _write_turn(file: SqliteFile, records: Sequence[Record]) -> list[Outcome]:
    ready, outcomes = prepare(records)
    if ready:
        with file.transaction():
            outcomes |= _write(file, ready)
    return [outcomes[at] for at in range(len(records))]


def replace_records(file: SqliteFile, records: Sequence[tuple[Record, int]]) -> list[Outcome | None]:
    """Store records over documents that are still at their positions; None for the others."""
    ready, outcomes = prepare([record for record, _ in records])
    with file.transaction():
        documents = _StoredState.read(file, [each.id for each in ready]).documents
        outcomes |= _write(
            file,
            [each for each in ready if each.id in documents and documents[each.id].place == records[each.position][1]],
        )
    return [outcomes.get(at) for at in range(len(records))]


def delete(file: SqliteFile, ids: Sequence[str], version: int, *, any_version: bool) -> list[Outcome]:
    """Delete documents and leave tombstones; see `Engine.delete`."""
    timestamp = datetime.now(UTC).isoformat(timespec="seconds")
    with file.transaction():
        stored = _StoredState.read(file, ids)
        versions_by_id = {name: each.version for name, each in stored.documents.items()}
        versions = {name: next_version(version, versions_by_id.get(name)) if any_version else version for name in ids}
        outcomes = {name: stored.deletion(name, versions[name]) for name in ids}
        _remove(
            file,
            [stored.documents[name].place for name, each in outcomes.items() if each.status is WriteStatus.DELETED],
        )
        written_names = [name for name, each in outcomes.items() if each.status is not WriteStatus.STALE]
        newer = [name for name in written_names if stored.tombstones.get(name, versions[name]) <= versions[name]]
        tables.put(file, "tombstones", {name: {"version": versions[name], "at": timestamp} for name in newer})
    return [outcomes[name] for name in ids]


def prune(file: SqliteFile, source_name: str, end: int) -> int:
    """Remove documents, up to a position, that another index of the file no longer has; returns how many."""
    with file.transaction():
        places = [place for (place,) in file.run(_ORPHANS.replace("{first}", source_name), (end,))]
        _remove(file, places)
    return len(places)


def _write(file: SqliteFile, ready: Sequence[Ready]) -> dict[int, Outcome]:
    """Store rows and return their outcomes, by position in the call."""
    stored = _StoredState.read(file, [each.id for each in ready])
    outcomes = {each.position: stored.outcome(each.record) for each in ready}
    inserts = [each for each in ready if outcomes[each.position].status is WriteStatus.INDEXED]
    _remove(file, [stored.documents[each.id].place for each in inserts if each.id in stored.documents])
    for each, place in zip(inserts, _insert(file, inserts), strict=True):
        outcomes[each.position] = Outcome(each.id, WriteStatus.INDEXED, place, outcomes[each.position].previous_version)
    unchanged = [each.record for each in ready if outcomes[each.position].status is WriteStatus.UNCHANGED]
    file.run_many(_RAISE, [(record.version, record.document.id) for record in unchanged])
    if stored.tombstones:
        for ledger in ("tombstones", "deleted"):
            tables.remove(file, ledger, [each.id for each in inserts])
    return outcomes


def _insert(file: SqliteFile, records: Sequence[Ready]) -> range:
    """Insert rows at the next positions, and return the positions."""
    if not records:
        return range(0)
    (last_place,) = file.run("""select value from "ibidem.{index}.state" where name = 'place'""").fetchone()
    places = range(last_place + 1, last_place + 1 + len(records))
    file.run("""update "ibidem.{index}.state" set value = ? where name = 'place'""", (places[-1],))
    pairs = list(zip(places, records, strict=True))
    file.run_many(_DOCUMENT, [(place, *each.row) for place, each in pairs])
    file.run_many(_TEXT, [(place, each.record.document.title, each.record.document.text) for place, each in pairs])
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
    file.run_many(
        'delete from "ibidem.{index}.long" where place = ?', [(place,) for place, _, long_value in rows if long_value]
    )
    file.run_many('delete from "ibidem.{index}.documents" where place = ?', [(place,) for place in places])
