"""Engine protocol over one SQLite file with full-text search (FTS5, bm25), safe for many processes.

Flows of a search have no requests, since the file answers at once.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typing_extensions import override

from ibidem_engines.cursor import KEY, NOW, ReadView, read_key
from ibidem_engines.disk import file_issues
from ibidem_engines.engine import (
    Engine,
    EngineSearch,
    HealthIssue,
    Info,
    LookupResult,
    Outcome,
    Ranking,
    Record,
    SignatureLookup,
    StoredDocument,
    T,
)
from ibidem_engines.query import Filter, Query
from ibidem_engines.requests import RequestFlow, answered, run_offline
from ibidem_engines.sqlite import groups, read, write
from ibidem_engines.sqlite import write as sqlite_write
from ibidem_engines.sqlite.file import MAX_SECONDS, SqliteFile
from ibidem_engines.sqlite.groups import SqliteGroups, SqliteMemberships, facets
from ibidem_engines.sqlite.read import find
from ibidem_engines.sqlite.reindex import SqliteReindexSource
from ibidem_engines.stored_groups import (
    Collapsed,
    Coverage,
    Facets,
    GroupField,
    Hit,
    Ledger,
    Marks,
    Members,
    Order,
    Place,
    RecordState,
    Values,
)


@dataclass(frozen=True, slots=True)
class SqliteSearch(EngineSearch):
    """One query to a file; ranked by bm25, with double weight for titles."""

    file: SqliteFile  # file of the index
    query: Query | None = None  # for what; None: for everything

    @property
    def _ranked(self) -> Query:
        return Query() if self.query is None else self.query

    @override
    def window(self, size: int, view: ReadView = NOW) -> RequestFlow[Ranking]:
        return answered(read.window(self.file, self._ranked, size, view))

    @override
    def grouped(self, options: Mapping[str, object], start: int, size: int, view: ReadView = NOW) -> RequestFlow[None]:
        return answered(None)

    @override
    def fetch(self, ids: Sequence[tuple[str, str]]) -> RequestFlow[list[StoredDocument]]:
        return answered(read.fetch(self.file, ids, self.query))

    @override
    def dates(self, ids: Sequence[tuple[str, str]]) -> RequestFlow[dict[tuple[str, str], str]]:
        return answered(read.dates(self.file, ids))

    @override
    def find(self, searches: Sequence[SignatureLookup]) -> RequestFlow[list[LookupResult]]:
        return answered(find(self.file, searches, self.query))

    @override
    def long_signatures(self, ids: Sequence[tuple[str, str]]) -> RequestFlow[dict[tuple[str, str], bytes]]:
        return answered(read.long_signatures(self.file, ids))

    @override
    def coverage(self, settled_marks: Marks) -> RequestFlow[Coverage]:
        return answered(groups.coverage(self.file, settled_marks))

    @override
    def collapse(
        self, place: Place, size: int, *, by: GroupField = "group", order: Order = "relevance", view: ReadView = NOW
    ) -> RequestFlow[Collapsed]:
        return answered(groups.collapse(self.file, self._ranked, place, size, order, view))

    @override
    def members(
        self,
        names: Sequence[str],
        limit: int,
        *,
        by: GroupField = "group",
        order: Order = "relevance",
        view: ReadView = NOW,
    ) -> RequestFlow[Members]:
        return answered(groups.members(self.file, self._ranked, names, limit, order, view))

    @override
    def leads(self, names: Sequence[str]) -> RequestFlow[Mapping[str, Hit]]:
        return answered(groups.leads(self.file, self._ranked, names))

    @override
    def memberships(self, ids: Sequence[tuple[str, str]]) -> RequestFlow[dict[tuple[str, str], Values]]:
        return SqliteMemberships(self.file).read(ids)


class SqliteEngine(Engine):
    """An index in an SQLite file; see `Engine` for its methods."""

    def __init__(self, path: Path, index: str, longest: float = MAX_SECONDS) -> None:
        self.index = index
        self._file = SqliteFile(path, index, longest=longest)

    def create(self) -> None:
        """Create file, folder and index, if missing."""
        self._file.create()
        write.make_cursor_key(self._file)

    def write(self, records: Sequence[Record]) -> list[Outcome]:
        """Store records in one transaction."""
        return sqlite_write.write(self._file, records)

    @override
    def searching(self, query: Query | None = None) -> SqliteSearch:
        return SqliteSearch(self._file, query)

    @override
    def run(self, flow: RequestFlow[T]) -> T:
        return run_offline(flow)

    def suggest(self, words: Sequence[str]) -> dict[str, str]:
        """Look up spellings in the terms of the file."""
        return read.suggest(self._file, words)

    def scan(self, filters: Sequence[Filter] = (), size: int = 1_000) -> Iterator[list[Hit]]:
        """Scan the index in the order of writing."""
        return read.scan(self._file, filters, size)

    def delete(self, ids: Sequence[str], version: int, *, any_version: bool = False) -> list[Outcome]:
        """Delete documents and leave tombstones."""
        return sqlite_write.delete(self._file, ids, version, any_version=any_version)

    def refresh(self) -> None:
        """Do nothing: writes are visible at once."""

    def info(self) -> Info:
        """Describe SQLite's version and the file."""
        return read.info(self._file)

    @override
    def health_issues(self) -> list[HealthIssue]:
        return list(file_issues(self._file.path))

    @override
    def reindex_source(self) -> SqliteReindexSource:
        return SqliteReindexSource(self._file)

    @override
    def facets(self, query: Query, limit: int) -> Facets:
        return facets(self._file, query, limit)

    def groups(self) -> SqliteGroups:
        return SqliteGroups(self._file)

    @override
    def memberships(self) -> SqliteMemberships:
        return SqliteMemberships(self._file)

    @override
    def group_set(self, *, use_cache: bool = False, takes_over: bool = False) -> "SqliteEngine":
        return self

    def close(self) -> None:
        """Close the file; another call opens it again."""
        self._file.close()

    def put_records(self, ledger: Ledger, entries: Mapping[str, Mapping[str, object]]) -> None:
        """Store records next to the index."""
        write.put_records(self._file, ledger, entries)

    def get_records(self, ledger: Ledger, prefix: str = "") -> Iterator[tuple[str, Any]]:
        return write.get_records(self._file, ledger, prefix)

    def get_record(self, ledger: Ledger, key: str) -> Any:
        return self.get_records_by_key(ledger, [key]).get(key)

    def get_records_by_key(self, ledger: Ledger, keys: Sequence[str]) -> dict[str, Any]:
        return write.get_records_by_key(self._file, ledger, keys)

    def read_record(self, ledger: Ledger, key: str) -> tuple[Any, RecordState | None]:
        return write.read_record(self._file, ledger, key)

    def replace_record(
        self, ledger: Ledger, key: str, entry: Mapping[str, object], state: RecordState | None
    ) -> RecordState | None:
        return write.replace_record(self._file, ledger, key, entry, state)

    def count(self, ledger: Ledger) -> int:
        return write.count(self._file, ledger)

    def delete_records(self, ledger: Ledger, keys: Iterable[str]) -> int:
        return write.delete_records(self._file, ledger, keys)

    def delete_unchanged(self, ledger: Ledger, entries: Mapping[str, Any]) -> int:
        """Remove records that have not changed since they were read."""
        return write.delete_unchanged(self._file, ledger, entries)

    def repair_ledgers(self) -> list[str]:
        """Do nothing: files with foreign tables are refused."""
        return []

    @override
    def cursor_key(self) -> bytes:
        return read_key(self.get_record("runs", KEY))
