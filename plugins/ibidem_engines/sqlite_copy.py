"""A new index in an SQLite file that takes the place of another one in it."""

from collections.abc import Sequence

from ibidem_engines.engine import Outcome, Record
from ibidem_engines.holding import Held, Marks, Part, Signed
from ibidem_engines.sqlite_file import SqliteFile
from ibidem_engines.sqlite_write import prune, write
from ibidem_ingest.errors import UsageError
from ibidem_ingest.signatures.signature import NONE


class SqliteCopy:
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

    def newest(self) -> dict[Part, int]:
        """See `Copy.newest`."""
        with self._file.reading():
            (last,) = self._file.run('select coalesce(max(place), 0) from "ibidem.{index}.documents"').fetchone()
        return {Part(self.name): last}

    def prune(self, upto: Marks) -> int:
        """See `Copy.prune`."""
        return prune(self._file, self._first, upto[Part(self.name)])

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


def _unsigned(there: Held) -> Record:
    return Record(there.document, NONE, there.version, digest="", packed=b"")
