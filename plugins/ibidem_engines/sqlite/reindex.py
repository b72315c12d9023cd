"""Read an existing index in SQLite as one shard, and the file that replaces it."""

from collections.abc import Iterator, Sequence

from ibidem_engines.engine import Ledger, Outcome, Record
from ibidem_engines.fields import Fields
from ibidem_engines.reindex import Marks, Name, ReindexTarget, SeqNoRange, ShardRef, Signed, SourceDocument, Target
from ibidem_engines.sqlite import records
from ibidem_engines.sqlite.file import SqliteFile
from ibidem_engines.sqlite.read import document
from ibidem_engines.sqlite.records import as_json
from ibidem_engines.sqlite.write import prune, write, write_at
from ibidem_ingest.errors import UsageError
from ibidem_ingest.signatures.schema import NONE


class SqliteReindexTarget:
    """The copy of one index; see `Copy`.

    Args:
        file: The database file, with the copy's name.
        first: Name of the index that is copied.
    """

    def __init__(self, file: SqliteFile, first: str) -> None:
        self.name = file.index
        self._file, self._first = file, first

    def exists(self) -> bool:
        """See `Copy.exists`."""
        return bool(self._file.state())

    def create(self) -> None:
        """See `Copy.create`."""
        self._file.create()

    def take(self, signed: Sequence[Signed]) -> list[Outcome]:
        """See `Copy.take`."""
        return write(self._file, [record or _unsigned(there) for there, record in signed])

    def newest(self) -> dict[ShardRef, int]:
        """See `Copy.newest`."""
        with self._file.reading():
            (last,) = self._file.run('select coalesce(max(place), 0) from "ibidem.{index}.documents"').fetchone()
        return {ShardRef(self.name): last}

    def prune(self, upto: Marks) -> int:
        """See `Copy.prune`."""
        return prune(self._file, self._first, upto[ShardRef(self.name)])

    def check_alias(self, alias: str) -> None:
        """See `Copy.check_alias`."""
        if alias:
            raise UsageError(
                "SQLite has no aliases", f"leave --alias away, and set IBIDEM_INDEX={self.name} when it is done"
            )

    def finish(self, alias: str) -> None:
        """See `Copy.finish`; there is nothing left to be done."""

    def take_late(self, signed: Sequence[Signed], upto: Marks) -> list[Outcome]:  # noqa: ARG002 - versions decide
        """See `Copy.take_late`."""
        return self.take(signed)


def _unsigned(there: SourceDocument) -> Record:
    return Record(there.document, NONE, there.version, digest="", packed=b"")


_COUNT = 'select count(*) from "ibidem.{index}.documents" where place > ? and place <= ?'
_NAMES = """select id, place from "ibidem.{index}.documents"
    where place > ? and place <= ? order by place limit ?"""
_BY_ID = """select d.id, d.version, d.idf, d.source, d.language, d.date, d.url, d.given, d.meta, t.title, t.text,
    {origin}, d.place, d.digest, d.packed
    from "ibidem.{index}.documents" d join "ibidem.{index}.texts" t on t.rowid = d.place
    where d.id in (select value from json_each(?))"""


WITHOUT_ORIGIN = ("1",)
"""Layouts that do not keep where a document was read."""


class SqliteReindexSource:
    """What is in an index in SQLite, also one of another signature schema; see `ReindexSource`.

    Args:
        file: The database file with the index.
    """

    def __init__(self, file: SqliteFile) -> None:
        self.index = file.index
        self._file = file

    @property
    def alias(self) -> str:
        """See `Holding.alias`; SQLite has none."""
        return ""

    @property
    def text_field(self) -> str:
        """See `Holding.text_field`."""
        return Fields().text

    def check(self, target: Target) -> None:
        """See `Holding.check`."""
        self._file.made_for()
        if target == "place":
            with self._file.reading():
                pass

    def prepare(self) -> None:
        """See `Holding.prepare`; there is nothing to be done."""

    def missing(self) -> list[str]:
        """See `Holding.missing`; the fields are ours."""
        return []

    def parts(self) -> list[ShardRef]:
        """See `Holding.parts`."""
        return [ShardRef(self.index)]

    def newest(self, since: Marks | None = None) -> dict[ShardRef, int]:  # noqa: ARG002 - a look costs nothing
        """See `Holding.newest`."""
        with self._file.reading(any_schema=True):
            (last,) = self._file.run('select coalesce(max(place), 0) from "ibidem.{index}.documents"').fetchone()
        return {ShardRef(self.index): last}

    def count(self, stretch: SeqNoRange) -> int:
        """See `Holding.count`."""
        with self._file.reading(any_schema=True):
            return int(self._file.run(_COUNT, (stretch.after, stretch.upto)).fetchone()[0])

    def names(self, stretch: SeqNoRange, size: int) -> list[Name]:
        """See `Holding.names`."""
        with self._file.reading(any_schema=True):
            rows = self._file.run(_NAMES, (stretch.after, stretch.upto, size)).fetchall()
        return [Name(self.index, id_, place) for id_, place in rows]

    def read(self, names: Sequence[Name], *, raw: bool = False) -> list[SourceDocument]:  # noqa: ARG002 - rows are no JSON
        """See `Holding.read`."""
        schema = self._schema()
        origin = "''" if self._file.made_for()["layout"] in WITHOUT_ORIGIN else "d.origin"
        statement = _BY_ID.replace("{origin}", origin)
        with self._file.reading(any_schema=True):
            rows = {row[0]: row for row in self._file.run(statement, (as_json([name.id for name in names]),))}
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
            )
            for name in names
            if (row := rows.get(name.id)) is not None
        ]

    def sign(self, signed: Sequence[Signed]) -> list[Outcome | None]:
        """See `Holding.sign`."""
        ready = [(record, there.state[0]) for there, record in signed if record is not None]
        return write_at(self._file, ready)

    def deletions(self) -> int:
        """See `Holding.deletions`: places that were given up, by deletion or by writing a document again."""
        with self._file.reading(any_schema=True):
            statement = 'select coalesce(max(place), 0) - count(*) from "ibidem.{index}.documents"'
            return int(self._file.run(statement).fetchone()[0])

    def get_records(self, ledger: Ledger) -> Iterator[tuple[str, dict[str, object]]]:
        """See `ReindexSource.get_records`."""
        return records.get_records(self._file, ledger, "", any_schema=True)

    def copy_to(self, name: str) -> ReindexTarget:
        """See `Holding.copy_to`; the copy is in the same file."""
        return SqliteReindexTarget(SqliteFile(self._file.path, name), self.index)

    def close(self) -> None:
        """See `Holding.close`."""
        self._file.close()

    def _schema(self) -> str:
        return str(self._file.made_for()["schema"])
