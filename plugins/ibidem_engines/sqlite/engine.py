"""Engine protocol over one SQLite file with full-text search (FTS5, bm25), safe for many processes."""

import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from typing_extensions import override

from ibidem_engines import stored_groups
from ibidem_engines.engine import Engine, HealthIssue, Info, Outcome, Record, SignatureLookup, T
from ibidem_engines.query import NOW, Query
from ibidem_engines.requests import RequestFlow, refuse, run_sync
from ibidem_engines.sqlite import write
from ibidem_engines.sqlite.file import MAX_SECONDS, Row, SqliteFile
from ibidem_engines.sqlite.search import SqliteSearch, facets, find, info, newest_place
from ibidem_engines.sqlite.write import as_json, move
from ibidem_engines.stored_groups import Facets, Hit, Ledger, RecordState
from ibidem_engines.words import MAX_SPELLED, spellings
from ibidem_ingest.errors import UsageError

_DOCUMENTS = 'select id, place, packed, "group", lead from "ibidem.{index}.documents" where '
_IN_RANGE = "place > ? and place <= ? and lead >= ? order by place limit ?"
_COUNT_LEADS = 'select count(*) from "ibidem.{index}.documents" where place > ? and place <= ? and lead'
_OF_GROUPS = """"group" in (select value from json_each(?)) and place > ?
    and id not in (select value from json_each(?)) and lead between ? and ? order by place limit ?"""
_BY_ID = "id in (select value from json_each(?)) and place <= ? order by place"
_JOIN = """update "ibidem.{index}.documents" set "group" = ?, lead = ?
    where id = ? and place = ? and "group" = ? and lead = ?"""
_COUNTS = 'select count(*), coalesce(sum(lead), 0), coalesce(sum(not signed), 0) from "ibidem.{index}.documents"'
_LAST = """select value from "ibidem.{index}.state" where name = 'place'"""
# The positions freed by deletions and rewrites; the last one ever given is kept apart, so that the number only grows.
_GIVEN_UP = """select value - (select count(*) from "ibidem.{index}.documents")
    from "ibidem.{index}.state" where name = 'place'"""
_SIZES = """select "group", count(*) from "ibidem.{index}.documents"
    where not lead and "group" > ? group by "group" order by "group" limit ?"""
_PACKED_BY_ID = 'select id, packed from "ibidem.{index}.documents" where id in (select value from json_each(?))'
_HAS_THREADS = 'select exists (select 1 from "ibidem.{index}.documents" where thread is not null)'
_WRITE = 'update "ibidem.{index}.documents" set {columns} where id = ?'
SLICE = 1_000
LAST_PLACE = 2**63 - 1
MAX_LEADS = 10_000  # leads that are read for one class of values of one document


class SqliteGroups(stored_groups.StoredGroups):
    """The groups of an index in SQLite; see `StoredGroups`."""

    def __init__(self, file: SqliteFile) -> None:
        self.index = file.index
        self._file = file

    def parts(self) -> list[stored_groups.ShardRef]:
        return [stored_groups.ShardRef(self.index)]

    def uuids(self) -> Mapping[str, str]:
        return {}

    @override
    def newest(self, marks: stored_groups.Marks | None = None) -> dict[stored_groups.ShardRef, int]:
        """Return the last assigned position, even if its document was deleted."""
        ((last_place,),) = self._file.read(_LAST)
        return {stored_groups.ShardRef(self.index): int(last_place)}

    def deletions(self) -> int:
        return int(self._file.read(_GIVEN_UP)[0][0])

    def leads(self, seq_range: stored_groups.SeqNoRange, size: int) -> list[stored_groups.GroupedDocument]:
        return self._rows(_IN_RANGE, (seq_range.after, seq_range.end, 1, size))

    def documents(self, seq_range: stored_groups.SeqNoRange, size: int) -> list[stored_groups.GroupedDocument]:
        return self._rows(_IN_RANGE, (seq_range.after, seq_range.end, 0, size))

    def count_leads(self, seq_range: stored_groups.SeqNoRange) -> int:
        return int(self._file.read(_COUNT_LEADS, (seq_range.after, seq_range.end))[0][0])

    def with_value(self, keys: Sequence[stored_groups.LeadKeys], end: stored_groups.Marks) -> list[stored_groups.Hit]:
        # The caller compares the lengths of the hits.
        searches = [SignatureLookup(each.values, each.min_shared, limit=MAX_LEADS) for each in keys]
        results = find(self._file, searches, None, last_lead=end[stored_groups.ShardRef(self.index)])
        return list({hit.id: hit for each in results for hit in each.hits}.values())

    def members(
        self, groups: Sequence[str], excluded: Sequence[tuple[str, str]] = (), *, lead: bool | None = None
    ) -> Iterator[list[stored_groups.GroupedDocument]]:
        last_name, flags = 0, (0, 1) if lead is None else (int(lead), int(lead))
        excluded_ids = as_json([name for index, name in excluded if index == self.index])
        while rows := self._rows(_OF_GROUPS, (as_json(list(groups)), last_name, excluded_ids, *flags, SLICE)):
            yield rows
            last_name = rows[-1].name.order

    def read(
        self, ids: Sequence[tuple[str, str]], end: stored_groups.Marks | None = None
    ) -> list[stored_groups.GroupedDocument]:
        last_place = LAST_PLACE if end is None else end[stored_groups.ShardRef(self.index)]
        return self._rows(_BY_ID, (as_json([name for index, name in ids if index == self.index]), last_place))

    def assign(self, changes: Sequence[stored_groups.Assignment]) -> list[bool]:
        """Assign groups; a document that becomes a lead moves to a new position."""
        with self._file.transaction():
            return [self._assign(each) for each in changes]

    def _assign(self, change: stored_groups.Assignment) -> bool:
        name, before = change.document.name, (change.document.group, int(change.document.lead))
        values = (change.group, int(change.lead), name.id, name.order, *before)
        is_written = self._file.run(_JOIN, values).rowcount > 0
        if is_written and change.lead and not change.settled:
            move(self._file, name.order)
        return is_written

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
        return bool(self._file.read(_HAS_THREADS)[0][0])

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

    def _rows(self, condition: str, values: Row) -> list[stored_groups.GroupedDocument]:
        return [
            stored_groups.GroupedDocument(
                stored_groups.Name(self.index, name, place), packed or b"", group, bool(lead), (place, 0)
            )
            for name, place, packed, group, lead in self._file.read(_DOCUMENTS + condition, values)
        ]


SLICE = 1_000  # records that are read at once

_AFTER_PREFIX = "\U0010ffff"  # greater than whatever may follow a prefix
_COUNT = 'select count(*) from "ibidem.{index}.ledger" where ledger = ?'
_SLICE = """select key, entry from "ibidem.{index}.ledger"
    where ledger = ? and key >= ? and key < ? order by key limit ?"""

_SCANNED = """select place, id, packed from "ibidem.{index}.documents" where place > ? and place <= ?
    order by place limit ?"""
_TABLE = """create virtual table if not exists temp."ibidem.{index}.terms"
    using fts5vocab(main, "ibidem.{index}.texts", row)"""
_TERMS = 'select term, doc from temp."ibidem.{index}.terms" where term in (select value from json_each(?))'


class SqliteEngine(Engine):
    """An index in an SQLite file; see `Engine` for its methods."""

    def __init__(self, path: Path, index: str, longest: float = MAX_SECONDS) -> None:
        self.index = index
        self._file = SqliteFile(path, index, longest=longest)

    def create(self) -> None:
        self._file.create()

    def write(self, records: Sequence[Record]) -> list[Outcome]:
        return write.write(self._file, records)

    def searching(self, query: Query | None = None) -> SqliteSearch:
        return SqliteSearch(self._file, query)

    def run(self, flow: RequestFlow[T]) -> T:
        return run_sync(flow, refuse)

    def suggest(self, words: Sequence[str]) -> dict[str, str]:
        spellings_by_word = {word: spellings(word) for word in words[:MAX_SPELLED]}
        terms = write.as_json([*spellings_by_word, *set().union(*spellings_by_word.values())])
        with self._file.reading():
            self._file.run(_TABLE)
            documents: dict[str, int] = dict(self._file.run(_TERMS, (terms,)))
        found = {
            word: min(
                (each for each in group if each in documents), key=lambda term: (-documents[term], term), default=""
            )
            for word, group in spellings_by_word.items()
            if word not in documents
        }
        return {word: term for word, term in found.items() if term}

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
        return write.delete(self._file, ids, version, any_version=any_version)

    def refresh(self) -> None:
        """Do nothing: writes are visible at once."""

    def info(self) -> Info:
        return info(self._file)

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

    def put_records(self, ledger: Ledger, entries: Mapping[str, Mapping[str, object]]) -> None:
        if entries:
            with self._file.transaction():
                write.put(self._file, ledger, entries)

    def get_records(self, ledger: Ledger, prefix: str = "") -> Iterator[tuple[str, Any]]:
        """Read records in slices, so that no transaction is open between them."""
        start, end = prefix, f"{prefix}{_AFTER_PREFIX}"
        while True:
            rows = self._file.read(_SLICE, (ledger, start, end, SLICE))
            yield from ((key, write.parse(entry)) for key, entry in rows)
            if len(rows) < SLICE:
                return
            start = f"{rows[-1][0]}\0"

    def get_records_by_key(self, ledger: Ledger, keys: Sequence[str]) -> dict[str, Any]:
        with self._file.reading():
            return write.get(self._file, ledger, keys)

    def read_record(self, ledger: Ledger, key: str) -> tuple[Any, RecordState | None]:
        with self._file.reading():
            return write.get(self._file, ledger, [key]).get(key), write.record_state(self._file, ledger, key)

    def replace_record(
        self, ledger: Ledger, key: str, entry: Mapping[str, object], state: RecordState | None
    ) -> RecordState | None:
        with self._file.transaction():
            if write.record_state(self._file, ledger, key) != state:
                return None
            write.put(self._file, ledger, {key: entry})
            return write.record_state(self._file, ledger, key)

    def count(self, ledger: Ledger) -> int:
        return int(self._file.read(_COUNT, (ledger,))[0][0])

    def delete_records(self, ledger: Ledger, keys: Iterable[str]) -> int:
        with self._file.transaction():
            return write.remove(self._file, ledger, list(keys))

    def delete_unchanged(self, ledger: Ledger, entries: Mapping[str, Any]) -> int:
        with self._file.transaction():
            now = write.get(self._file, ledger, list(entries))
            return write.remove(self._file, ledger, [key for key, entry in entries.items() if now.get(key) == entry])

    def repair_ledgers(self) -> list[str]:
        """Do nothing: files with foreign tables are refused."""
        return []
