"""Engine protocol over one SQLite file with full-text search (FTS5, bm25), safe for many processes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from typing_extensions import override

from ibidem_engines.cursor import KEY, read_key
from ibidem_engines.disk import file_issues
from ibidem_engines.engine import Engine, HealthIssue, Info, Outcome, Record, T
from ibidem_engines.query import Filter, Query
from ibidem_engines.requests import RequestFlow, run_offline
from ibidem_engines.sqlite import read, tables
from ibidem_engines.sqlite import write as sqlite_write
from ibidem_engines.sqlite.file import MAX_SECONDS, SqliteFile
from ibidem_engines.sqlite.groups import SqliteGroups, facets
from ibidem_engines.sqlite.memberships import SqliteMemberships
from ibidem_engines.sqlite.reindex import SqliteReindexSource
from ibidem_engines.sqlite.search import SqliteSearch
from ibidem_engines.stored_groups import Facets, Hit, Ledger, RecordState


class SqliteEngine(Engine):
    """An index in an SQLite file; see `Engine` for its methods."""

    def __init__(self, path: Path, index: str, longest: float = MAX_SECONDS) -> None:
        self.index = index
        self._file = SqliteFile(path, index, longest=longest)

    def create(self) -> None:
        """Create file, folder and index, if missing."""
        self._file.create()
        tables.make_cursor_key(self._file)

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
        """Return the groups of the index."""
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
        tables.put_records(self._file, ledger, entries)

    def get_records(self, ledger: Ledger, prefix: str = "") -> Iterator[tuple[str, Any]]:
        """Read records by prefix."""
        return tables.get_records(self._file, ledger, prefix)

    def get_record(self, ledger: Ledger, key: str) -> Any:
        """Read the record of one key."""
        return self.get_records_by_key(ledger, [key]).get(key)

    def get_records_by_key(self, ledger: Ledger, keys: Sequence[str]) -> dict[str, Any]:
        """Read the records of some keys."""
        return tables.get_records_by_key(self._file, ledger, keys)

    def read_record(self, ledger: Ledger, key: str) -> tuple[Any, RecordState | None]:
        """Read a record by key, with its state."""
        return tables.read_record(self._file, ledger, key)

    def replace_record(
        self, ledger: Ledger, key: str, entry: Mapping[str, object], state: RecordState | None
    ) -> RecordState | None:
        """Replace a record in a known state."""
        return tables.replace_record(self._file, ledger, key, entry, state)

    def count(self, ledger: Ledger) -> int:
        """Count records."""
        return tables.count(self._file, ledger)

    def delete_records(self, ledger: Ledger, keys: Iterable[str]) -> int:
        """Remove records."""
        return tables.delete_records(self._file, ledger, keys)

    def delete_unchanged(self, ledger: Ledger, entries: Mapping[str, Any]) -> int:
        """Remove records that have not changed since they were read."""
        return tables.delete_unchanged(self._file, ledger, entries)

    def repair_ledgers(self) -> list[str]:
        """Do nothing: files with foreign tables are refused."""
        return []

    @override
    def cursor_key(self) -> bytes:
        return read_key(self.get_record("runs", KEY))
