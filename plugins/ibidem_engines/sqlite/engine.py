"""Engine protocol over one SQLite file with full-text search (FTS5, bm25), safe for many processes.

Each write is one transaction. Look-up keys are words of a contentless full-text table.
"""

import os
import shutil
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import orjson
from typing_extensions import override
from xxhash import xxh3_64_intdigest

from ibidem_dedupe.overrides import DocumentRef
from ibidem_engines import ledger as ledgers
from ibidem_engines import stored_groups
from ibidem_engines.engine import Engine, HealthIssue, Info, Outcome, Record, SignatureLookup, T, WriteStatus
from ibidem_engines.query import MAX_SPELLED, NOW, Query
from ibidem_engines.requests import RequestFlow, refuse, run_sync
from ibidem_engines.sqlite.file import LAYOUT, MAX_SECONDS, Row, SqliteFile, as_json
from ibidem_engines.sqlite.search import LAST_PLACE, SqliteSearch, facets, find, newest_place, spellings, word
from ibidem_engines.stored_groups import Entry, Facets, GroupedDocument, Hit, Ledger, RecordState, ShardRef, new_group
from ibidem_ingest.dates import interval
from ibidem_ingest.errors import UsageError
from ibidem_ingest.signatures.lookup_keys import stored_keys
from ibidem_ingest.signatures.schema import SCHEMA
from ibidem_ingest.text.tokens import visible

_PUT = "insert or replace into {ledger} (ledger, key, entry) values (?, ?, ?)"
_GET = "select key, entry from {ledger} where ledger = ? and key in {list}"


def put(file: SqliteFile, ledger: Ledger, entries: Mapping[str, Entry]) -> None:
    """Store records by key, inside an open transaction."""
    file.run_many(_PUT, [(ledger, key, as_json(entry)) for key, entry in entries.items()])


def get(file: SqliteFile, ledger: Ledger, keys: Sequence[str]) -> dict[str, Any]:
    """Read records by key, inside an open transaction."""
    return {key: parse(entry) for key, entry in sorted(file.run(_GET, (ledger, as_json(keys))))}


def remove(file: SqliteFile, ledger: Ledger, keys: Sequence[str]) -> int:
    """Remove records by key, inside an open transaction; returns how many existed."""
    return file.run("delete from {ledger} where ledger = ? and key in {list}", (ledger, as_json(keys))).rowcount


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


def words(values: ledgers.LookupValues) -> str:
    """Join all values of a document into the words of one FTS row.

    Values of two classes are never equal: each begins with its scheme or its letter.
    """
    parts: list[str] = []
    for lookup_field, field_values in values.items():
        parts += map(word, field_values) if lookup_field == "content" else field_values
    return " ".join(parts)


# SQLite takes values of 1,000,000,000 bytes; a character may need four, and a row holds more than its text.
MAX_CHARACTERS = 200_000_000


class _Ready(NamedTuple):
    record: Record
    row: Row  # the columns of its row in the documents table, from `id` on
    keys: str  # its look-up values as words, those of its long signatures too


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


_DOCUMENT = """insert into {documents}
    (place, id, version, digest, packed, signed, idf, source, language, first, last, date, url, given,
    pages, meta, origin, "group", lead) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1)"""
_TEXT = "insert into {texts} (rowid, title, text) values (?, ?, ?)"
_KEYS = "insert into {keys} (rowid, key) values (?, ?)"
_FORGET_KEYS = "insert into {keys} ({keys}, rowid, key) values ('delete', ?, ?)"
# Title and text as they are written, where the texts that are searched lack characters that nobody sees.
_WRITTEN = "insert or replace into {ledger} values ('written', ?, ?)"
_LONG = "insert into {long} (place, value) values (?, ?)"
_SIGNED = """select d.place, d.packed, l.value from {documents} d left join {long} l on l.place = d.place
    where d.place in {list}"""
_NEXT = "update {state} set value = value + ? where name = 'place' returning value"
_REMOVED = (
    "delete from {texts} where rowid = ?",
    "delete from {ledger} where ledger = 'written' and key = (select id from {documents} where place = ?)",
    "delete from {long} where place = ?",
    "delete from {documents} where place = ?",
)
_MOVED = (
    "update {documents} set place = ? where place = ?",
    "update {long} set place = ? where place = ?",
    "update {texts} set rowid = ? where rowid = ?",
)
_RAISE = "update {documents} set version = ? where id = ?"
_THERE = """select id, place, version, digest, origin, case lead when 1 then "group" else '' end
    from {documents} where id in {list}"""


def _read_stored(file: SqliteFile, ids: Sequence[str]) -> tuple[dict[str, ledgers.StoredVersion], dict[str, int]]:
    """Read the stored versions of documents and the versions of tombstones by id; a state begins with the place."""
    rows = file.run(_THERE, (as_json(ids),))
    versions = {
        name: ledgers.StoredVersion(version, digest, (place, 0), origin, file.index, group)
        for name, place, version, digest, origin, group in rows
    }
    return versions, ledgers.tombstone_versions(get(file, "tombstones", ids))


def _write(file: SqliteFile, ready: Mapping[str, _Ready]) -> dict[str, Outcome]:
    with file.transaction():
        stored, tombstones = _read_stored(file, list(ready))
        outcomes = {
            name: ledgers.decide(each.record, stored.get(name), tombstones.get(name)) for name, each in ready.items()
        }
        inserts = {name: ready[name] for name, each in outcomes.items() if each.status is WriteStatus.INDEXED}
        _remove(file, [stored[name].state[0] for name in inserts if name in stored])
        for name, place in zip(inserts, _insert(file, inserts, stored), strict=True):
            outcomes[name] = replace(outcomes[name], order=place)
        unchanged = [name for name, each in outcomes.items() if each.status is WriteStatus.UNCHANGED]
        file.run_many(_RAISE, [(ready[name].record.version, name) for name in unchanged])
        for ledger in ("tombstones", "deleted") if tombstones else ():
            remove(file, ledger, list(inserts))
    return outcomes


def _insert(file: SqliteFile, records: Mapping[str, _Ready], stored: Mapping[str, ledgers.StoredVersion]) -> range:
    """Insert rows at the next positions, and return the positions; a lead keeps the name of its group."""
    if not records:
        return range(0)
    (last_place,) = file.run(_NEXT, (len(records),)).fetchone()
    places = range(last_place - len(records) + 1, last_place + 1)
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


def _keys_of(file: SqliteFile, places: Sequence[int]) -> list[tuple[int, str]]:
    """Return the look-up values of documents as words, computed from their signatures."""
    rows = file.run(_SIGNED, (as_json(places),)).fetchall()
    blobs = [[each if isinstance(each, bytes) else b"" for each in signed] for _, *signed in rows]  # others may write
    keys = stored_keys([(packed, long) for packed, long in blobs])
    return [(place, words(values)) for (place, *_), values in zip(rows, keys, strict=True) if values]


def _remove(file: SqliteFile, places: Sequence[int]) -> None:
    file.run_many(_FORGET_KEYS, _keys_of(file, places))
    for statement in _REMOVED:
        file.run_many(statement, [(place,) for place in places])


def move(file: SqliteFile, place: int) -> None:
    """Move a document to the next position, inside an open transaction."""
    keys, (number,) = _keys_of(file, [place]), file.run(_NEXT, (1,)).fetchone()
    for statement in _MOVED:
        file.run(statement, (number, place))
    file.run_many(_FORGET_KEYS, keys)
    file.run_many(_KEYS, [(number, key) for _, key in keys])


_DOCUMENTS = 'select id, place, packed, "group", lead from {documents} where '
_IN_RANGE = "place > ? and place <= ? and lead >= ? order by place limit ?"
_COUNT_LEADS = "select count(*) from {documents} where place > ? and place <= ? and lead"
_OF_GROUPS = '"group" in {list} and place > ? and id not in {list} and lead between ? and ? order by place limit ?'
_BY_ID = "id in {list} and place <= ? order by place"
_JOIN = """update {documents} set "group" = ?, lead = ?
    where id = ? and place = ? and "group" = ? and lead = ?"""
_COUNTS = "select count(*), coalesce(sum(lead), 0), coalesce(sum(not signed), 0) from {documents}"
# The positions freed by deletions and rewrites; the last one ever given is kept apart, so that the number only grows.
_GIVEN_UP = "select value - (select count(*) from {documents}) from {state} where name = 'place'"
_SIZES = """select "group", count(*) from {documents}
    where not lead and "group" > ? group by "group" order by "group" limit ?"""
_PACKED_BY_ID = "select id, packed from {documents} where id in {list}"
_WRITE = "update {documents} set {columns} where id = ?"
SLICE = 1_000
MAX_LEADS = 10_000  # leads that are read for one class of values of one document


class SqliteGroups(stored_groups.StoredGroups):
    """The groups of an index in SQLite; see `StoredGroups`."""

    def __init__(self, file: SqliteFile) -> None:
        self.index = file.index
        self._file = file

    def parts(self) -> list[ShardRef]:
        return [ShardRef(self.index)]

    @override
    def newest(self, marks: stored_groups.Marks | None = None) -> dict[ShardRef, int]:
        """Return the last assigned position, even if its document was deleted."""
        ((last_place,),) = self._file.read("select value from {state} where name = 'place'")
        return {ShardRef(self.index): int(last_place)}

    def deletions(self) -> int:
        return int(self._file.read(_GIVEN_UP)[0][0])

    def documents(
        self, seq_range: stored_groups.SeqNoRange, size: int, *, leads: bool = False
    ) -> list[GroupedDocument]:
        return self._rows(_IN_RANGE, (seq_range.after, seq_range.end, int(leads), size))

    def count_leads(self, seq_range: stored_groups.SeqNoRange) -> int:
        return int(self._file.read(_COUNT_LEADS, (seq_range.after, seq_range.end))[0][0])

    def with_value(self, keys: Sequence[stored_groups.LeadKeys], end: stored_groups.Marks) -> list[Hit]:
        # The caller compares the lengths of the hits.
        searches = [SignatureLookup(each.values, each.min_shared, limit=MAX_LEADS) for each in keys]
        results = find(self._file, searches, None, last_lead=end[ShardRef(self.index)])
        return list({hit.id: hit for each in results for hit in each.hits}.values())

    def members(
        self, groups: Sequence[str], excluded: Sequence[DocumentRef] = (), *, lead: bool | None = None
    ) -> Iterator[list[GroupedDocument]]:
        last_name, flags = 0, (0, 1) if lead is None else (int(lead), int(lead))
        excluded_ids = as_json([name for index, name in excluded if index == self.index])
        while rows := self._rows(_OF_GROUPS, (as_json(list(groups)), last_name, excluded_ids, *flags, SLICE)):
            yield rows
            last_name = rows[-1].name.order

    def read(self, ids: Sequence[DocumentRef], end: stored_groups.Marks | None = None) -> list[GroupedDocument]:
        last_place = LAST_PLACE if end is None else end[ShardRef(self.index)]
        return self._rows(_BY_ID, (as_json([name for index, name in ids if index == self.index]), last_place))

    def assign(self, changes: Sequence[stored_groups.Assignment]) -> list[bool]:
        """Assign groups; a document that becomes a lead moves to a new position."""
        written: list[bool] = []
        with self._file.transaction():
            for change in changes:
                document, name = change.document, change.document.name
                before = name.id, name.order, document.group, int(document.lead)
                written.append(self._file.run(_JOIN, (change.group, int(change.lead), *before)).rowcount > 0)
                if written[-1] and change.lead and not change.settled:
                    move(self._file, name.order)
        return written

    def counts(self) -> stored_groups.GroupCounts:
        return stored_groups.GroupCounts(*self._file.read(_COUNTS)[0])

    def sizes(self, size: int = SLICE) -> Iterator[Mapping[str, int]]:
        last_name = ""
        while rows := self._file.read(_SIZES, (last_name, size)):
            yield dict(rows)
            last_name = rows[-1][0]

    def prepare_memberships(self) -> None:
        """Do nothing: every file of this layout has the columns."""

    def has_threads(self) -> bool:
        return bool(self._file.read("select exists (select 1 from {documents} where thread is not null)")[0][0])

    def write_memberships(self, changes: Sequence[stored_groups.MembershipChange]) -> int:
        with self._file.transaction():
            rows = self._file.run(_PACKED_BY_ID, (as_json([each.name[1] for each in changes]),)).fetchall()
            stored = {(self.index, name): stored_groups.hash_packed(packed) for name, packed in rows}
            same = [each for each in changes if stored.get(each.name) == each.text_hash]
            for change in same:
                columns = ", ".join(f"{name} = ?" for name in change.values)
                values = [each if isinstance(each, str | int) else None for each in change.values.values()]
                self._file.run(_WRITE.replace("{columns}", columns), (*values, change.name[1]))
        return len(same)

    def _rows(self, condition: str, values: Row) -> list[GroupedDocument]:
        return [
            GroupedDocument(stored_groups.Name(self.index, name, place), packed or b"", group, bool(lead), (place, 0))
            for name, place, packed, group, lead in self._file.read(_DOCUMENTS + condition, values)
        ]


_SLICE = "select key, entry from {ledger} where ledger = ? and key >= ? and key < ? order by key limit ?"
_SCANNED = "select place, id, packed from {documents} where place > ? and place <= ? order by place limit ?"
_TERMS = "select term, doc from temp.{terms} where term in {list}"


class SqliteEngine(Engine):
    """An index in an SQLite file; see `Engine` for its methods."""

    def __init__(self, path: Path, index: str, longest: float = MAX_SECONDS) -> None:
        self.index = index
        self._file = SqliteFile(path, index, longest=longest)

    def create(self) -> None:
        self._file.create()

    def write(self, records: Sequence[Record]) -> list[Outcome]:
        return ledgers.write_in_turns(
            records, lambda record, values: _Ready(record, _row(record), words(values)), partial(_write, self._file)
        )

    def searching(self, query: Query | None = None) -> SqliteSearch:
        return SqliteSearch(self._file, query)

    def run(self, flow: RequestFlow[T]) -> T:
        return run_sync(flow, refuse)

    def suggest(self, words: Sequence[str]) -> dict[str, str]:
        spellings_by_word = {word: spellings(word) for word in words[:MAX_SPELLED]}
        terms = as_json([*spellings_by_word, *set().union(*spellings_by_word.values())])
        with self._file.reading():
            self._file.run("create virtual table if not exists temp.{terms} using fts5vocab(main, {texts}, row)")
            documents: dict[str, int] = dict(self._file.run(_TERMS, (terms,)))
        known = {word: group & documents.keys() for word, group in spellings_by_word.items() if word not in documents}
        return {word: min(group, key=lambda term: (-documents[term], term)) for word, group in known.items() if group}

    def scan(self, size: int = 1_000) -> Iterator[list[Hit]]:
        if size < 1:
            raise UsageError(f"a slice of {size} documents is not possible", "use 1 or more")
        with self._file.reading():
            newest = newest_place(self._file, NOW)
        last_place = 0
        while rows := self._file.read(_SCANNED, (last_place, newest, size)):
            yield [Hit(self.index, name, 0.0, packed, place) for place, name, packed in rows]
            last_place = rows[-1][0]

    def delete(self, ids: Sequence[str], version: int, *, any_version: bool = False) -> list[Outcome]:
        with self._file.transaction():
            stored, tombstones = _read_stored(self._file, ids)
            versions, outcomes = ledgers.decide_deletions(ids, stored, version, any_version=any_version)
            deleted = [name for name, each in outcomes.items() if each.status is WriteStatus.DELETED]
            _remove(self._file, [stored[name].state[0] for name in deleted])
            buried = {name: versions[name] for name, each in outcomes.items() if each.status is not WriteStatus.STALE}
            put(self._file, "tombstones", ledgers.new_tombstones(buried, tombstones))
        return [outcomes[name] for name in ids]

    def refresh(self) -> None:
        """Do nothing: writes are visible at once."""

    def info(self) -> Info:
        state = self._file.state()
        schema = (str(state["schema"]),) if "schema" in state else ()
        if (state.get("layout"), state.get("schema")) != (LAYOUT, SCHEMA):
            return Info("sqlite", sqlite3.sqlite_version, bool(state), 0, 0, schema, {})
        counts = self._file.read("select idf, count(*), sum(not signed) from {documents} group by idf")
        documents, unsigned = (sum(each[column] for each in counts) for column in (1, 2))
        tables = {idf: count for idf, count, _ in counts if idf}
        schema = schema if documents > unsigned else ()
        return Info("sqlite", sqlite3.sqlite_version, bool(state), documents, unsigned, schema, tables)

    def health_issues(self) -> list[HealthIssue]:
        path = self._file.path
        folder = next(each for each in (path.parent, *path.parent.absolute().parents) if each.exists())
        if not folder.is_dir():
            what = f"{folder} is not a folder"
            return [HealthIssue("folder", what, "name another file in IBIDEM_ENGINE", stops=True)]
        remedy = "allow it, or name another file in IBIDEM_ENGINE"
        closed = [each for each in (folder, path) if each.exists() and not os.access(each, os.W_OK)]
        disk = shutil.disk_usage(folder)
        return [
            *(HealthIssue("folder", f"{each} cannot be written", remedy) for each in closed),
            *HealthIssue.of_disk(f"the disk of {folder}", disk.total, disk.free),
        ]

    def facets(self, query: Query, limit: int) -> Facets:
        return facets(self._file, query, limit)

    def groups(self) -> SqliteGroups:
        return SqliteGroups(self._file)

    @override
    def group_set(self, *, use_cache: bool = False, takes_over: bool = False) -> "SqliteEngine":
        return self

    def close(self) -> None:
        """Close the file; another call opens it again."""
        self._file.close()

    def put_records(self, ledger: Ledger, entries: Mapping[str, Entry]) -> None:
        if entries:
            with self._file.transaction():
                put(self._file, ledger, entries)

    def get_records(self, ledger: Ledger, prefix: str = "") -> Iterator[tuple[str, Any]]:
        """Read records in slices, so that no transaction is open between them."""
        start, end = prefix, f"{prefix}\U0010ffff"  # greater than whatever may follow the prefix
        while rows := self._file.read(_SLICE, (ledger, start, end, SLICE)):
            yield from ((key, parse(entry)) for key, entry in rows)
            if len(rows) < SLICE:
                return
            start = f"{rows[-1][0]}\0"

    def get_records_by_key(self, ledger: Ledger, keys: Sequence[str]) -> dict[str, Any]:
        with self._file.reading():
            return get(self._file, ledger, keys)

    def read_record(self, ledger: Ledger, key: str) -> tuple[Any, RecordState | None]:
        with self._file.reading():
            return get(self._file, ledger, [key]).get(key), record_state(self._file, ledger, key)

    def replace_record(self, ledger: Ledger, key: str, entry: Entry, state: RecordState | None) -> RecordState | None:
        with self._file.transaction():
            if record_state(self._file, ledger, key) != state:
                return None
            put(self._file, ledger, {key: entry})
            return record_state(self._file, ledger, key)

    def count(self, ledger: Ledger) -> int:
        return int(self._file.read("select count(*) from {ledger} where ledger = ?", (ledger,))[0][0])

    def delete_records(self, ledger: Ledger, keys: Iterable[str]) -> int:
        with self._file.transaction():
            return remove(self._file, ledger, list(keys))

    def delete_unchanged(self, ledger: Ledger, entries: Mapping[str, Any]) -> int:
        with self._file.transaction():
            now = get(self._file, ledger, list(entries))
            return remove(self._file, ledger, [key for key, entry in entries.items() if now.get(key) == entry])
