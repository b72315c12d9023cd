"""Read an existing index in SQLite as one shard, to sign it in place or copy it within the file."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, get_args

from typing_extensions import override

from ibidem_core.address import Fields
from ibidem_engines.engine import (
    FieldCounts,
    Outcome,
    Record,
    ReindexSource,
    ReindexTarget,
    Signed,
    SourceDocument,
    Target,
    TrialIndex,
)
from ibidem_engines.sqlite import tables
from ibidem_engines.sqlite.file import SqliteFile
from ibidem_engines.sqlite.read import count_given_up, document
from ibidem_engines.sqlite.tables import as_json, lookup_values, words
from ibidem_engines.sqlite.write import prune, replace_records, write
from ibidem_engines.stored_groups import IndexNames, Ledger, Marks, Name, SeqNoRange, ShardRef
from ibidem_ingest.errors import UsageError
from ibidem_ingest.signatures.schema import NONE


class SqliteReindexTarget(ReindexTarget):
    """The copy of an index; see `ReindexTarget`."""

    def __init__(self, file: SqliteFile, source_name: str) -> None:
        self.name = file.index
        self._file, self._source_name = file, source_name

    @override
    def exists(self) -> bool:
        return bool(self._file.state())

    @override
    def is_unfilled(self) -> bool:
        return not self._file.state()["place"]

    @override
    def create(self, *, with_fields: bool = True) -> None:
        self._file.create()
        if with_fields:
            tables.make_cursor_key(self._file)

    @override
    def take(self, documents: Sequence[Signed]) -> list[Outcome]:
        return write(self._file, [record or _unsigned_record(document) for document, record in documents])

    @override
    def newest(self) -> dict[ShardRef, int]:
        with self._file.reading():
            (last,) = self._file.run('select coalesce(max(place), 0) from "ibidem.{index}.documents"').fetchone()
        return {ShardRef(self.name): last}

    @override
    def count_fields(self) -> FieldCounts:
        return FieldCounts()

    @override
    def prune(self, end: Marks) -> int:
        return prune(self._file, self._source_name, end[ShardRef(self.name)])

    @override
    def check_alias(self, alias: str) -> None:
        if alias:
            raise UsageError(
                "SQLite has no aliases", f"leave --alias out, and set IBIDEM_INDEX={self.name} when it is done"
            )

    @override
    def finish(self, alias: str) -> None:
        """Do nothing: the copy is in the same file."""

    @override
    def take_late(self, documents: Sequence[Signed], end: Marks) -> list[Outcome]:
        return self.take(documents)


def _unsigned_record(document: SourceDocument) -> Record:
    return Record(document.document, NONE, document.version, digest="", packed=b"")


_COUNT = 'select count(*) from "ibidem.{index}.documents" where place > ? and place <= ?'
_NAMES = """select id, place from "ibidem.{index}.documents"
    where place > ? and place <= ? order by place limit ?"""
_BY_ID = """select d.id, d.version, d.idf, d.source, d.language, d.date, d.url, d.given, d.meta, t.title, t.text,
    d.origin, d.place, d.digest, d.packed
    from "ibidem.{index}.documents" d join "ibidem.{index}.texts" t on t.rowid = d.place
    where d.id in (select value from json_each(?))"""


class SqliteReindexSource(ReindexSource):
    """Documents of an index in SQLite, also with another signature schema; see `ReindexSource`."""

    def __init__(self, file: SqliteFile) -> None:
        self.index = file.index
        self._file = file

    @property
    @override
    def alias(self) -> str:
        """Return no alias: SQLite has none."""
        return ""

    @property
    @override
    def text_field(self) -> str:
        return Fields().text

    @property
    @override
    def updates_in_part(self) -> bool:
        return False

    @override
    def check(self, target: Target) -> None:
        self._file.read_state()
        if target == "place":
            with self._file.reading():
                pass

    @override
    def prepare(self) -> None:
        """Create a cursor key; the fields exist already."""
        tables.make_cursor_key(self._file)

    @override
    def missing_fields(self) -> list[str]:
        """Return no missing fields: all fields are ibidem's own."""
        return []

    @override
    def parts(self) -> list[ShardRef]:
        return [ShardRef(self.index)]

    @override
    def uuids(self) -> Mapping[str, str]:
        """Return the index without a UUID: only ibidem creates and writes it."""
        return {self.index: ""}

    @override
    def newest(self, marks: Marks | None = None) -> dict[ShardRef, int]:
        with self._file.reading(any_schema=True):
            (last,) = self._file.run('select coalesce(max(place), 0) from "ibidem.{index}.documents"').fetchone()
        return {ShardRef(self.index): last}

    @override
    def count(self, seq_range: SeqNoRange) -> int:
        with self._file.reading(any_schema=True):
            return int(self._file.run(_COUNT, (seq_range.after, seq_range.end)).fetchone()[0])

    @override
    def names(self, seq_range: SeqNoRange, size: int) -> list[Name]:
        with self._file.reading(any_schema=True):
            rows = self._file.run(_NAMES, (seq_range.after, seq_range.end, size)).fetchall()
        return [Name(self.index, id_, place) for id_, place in rows]

    @override
    def read(self, names: Sequence[Name], *, raw: bool = False) -> list[SourceDocument]:
        schema = self._schema()
        with self._file.reading(any_schema=True):
            rows = {row[0]: row for row in self._file.run(_BY_ID, (as_json([name.id for name in names]),))}
        return [
            SourceDocument(
                name,
                document(row[:12]),
                fault="",
                version=row[1],
                digest=row[13],
                schema=schema if row[14] else "",
                idf=row[2],
                packed=row[14] or b"",
                state=(row[12], 0),
                order=row[12],
            )
            for name in names
            if (row := rows.get(name.id)) is not None
        ]

    @override
    def count_fields(self) -> FieldCounts:
        """Return no counts: rows are read completely."""
        return FieldCounts()

    @override
    def sign(self, documents: Sequence[Signed]) -> list[Outcome | None]:
        ready = [(record, document.state[0]) for document, record in documents if record is not None]
        return replace_records(self._file, ready)

    @override
    def strip_document(self, document: SourceDocument) -> SourceDocument:
        return replace(document, digest="", packed=b"", schema="", idf="")

    @override
    def strip(self, documents: Sequence[SourceDocument]) -> list[Outcome | None]:
        return replace_records(self._file, [(_unsigned_record(document), document.state[0]) for document in documents])

    @override
    def unmark(self) -> bool:
        """Do nothing: an index in SQLite is ibidem's own."""
        return False

    @override
    def drop_records(self) -> None:
        for ledger in get_args(Ledger):
            tables.clear_ledger(self._file, ledger)

    @override
    def size(self) -> int:
        return self._file.path.stat().st_size

    @override
    def added_bytes(self, record: Record) -> int:
        return len(record.packed) + len(record.long) + len(words(lookup_values(record.packed, record.long)))

    @override
    def deletions(self) -> int:
        with self._file.reading(any_schema=True):
            return count_given_up(self._file)

    @override
    def index_names(self) -> IndexNames:
        return IndexNames((self.index,), (self.index,))

    @override
    def get_records(self, ledger: Ledger) -> Iterator[tuple[str, Any]]:
        return tables.get_records(self._file, ledger, "", any_schema=True)

    @override
    @contextmanager
    def open_trial(self, index: str) -> Iterator[TrialIndex]:
        """Create the trial index in a separate file."""
        with TemporaryDirectory(prefix="ibidem-") as folder:
            file = SqliteFile(Path(folder) / "trial.sqlite", index)
            try:
                target = SqliteReindexTarget(file, index)
                target.create(with_fields=False)
                yield TrialIndex(target, index, f"sqlite:///{file.path}")
            finally:
                file.close()

    @override
    def copy_to(self, name: str) -> ReindexTarget:
        """Return a copy in the same file."""
        return SqliteReindexTarget(SqliteFile(self._file.path, name), self.index)

    @override
    def close(self) -> None:
        self._file.close()

    def _schema(self) -> str:
        return str(self._file.read_state()["schema"])
