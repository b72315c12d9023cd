"""Engine protocol over one SQLite file with full-text search (FTS5, bm25), safe for many processes."""

import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from typing_extensions import override

from ibidem_engines.cursor import NOW
from ibidem_engines.engine import Engine, HealthIssue, Info, Outcome, Record, T
from ibidem_engines.query import Query
from ibidem_engines.requests import RequestFlow, refuse, run_sync
from ibidem_engines.sqlite import write
from ibidem_engines.sqlite.file import MAX_SECONDS, SqliteFile
from ibidem_engines.sqlite.groups import SqliteGroups
from ibidem_engines.sqlite.search import SqliteSearch, facets, info, newest_place
from ibidem_engines.stored_groups import Facets, Hit, Ledger, RecordState
from ibidem_engines.words import MAX_SPELLED, spellings
from ibidem_ingest.errors import UsageError

SLICE = 1_000  # records that are read at once

_LAST = "\U0010ffff"  # greater than whatever may follow a prefix
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
        while True:
            with self._file.reading():
                rows = self._file.run(_SCANNED, (last_place, newest, size)).fetchall()
            if not rows:
                return
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
        start, end = prefix, f"{prefix}{_LAST}"
        while True:
            with self._file.reading():
                rows = self._file.run(_SLICE, (ledger, start, end, SLICE)).fetchall()
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
        with self._file.reading():
            return int(self._file.run(_COUNT, (ledger,)).fetchone()[0])

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
