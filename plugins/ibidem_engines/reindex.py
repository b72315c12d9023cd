"""Reindexing protocol: read an existing index in the order of writing, sign it in place, or copy it.

An index is gone through part by part, each part by the number of the write, which grows with every write to it: so a
reader knows where it stopped, and what was written since.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from ibidem_engines.engine import Engine, Ledger, Outcome, Record
from ibidem_engines.index_names import IndexNames
from ibidem_ingest.document import Document

# Where signatures go: to the documents in their place, to copies in another index, nowhere, or out again.
Target = Literal["place", "copy", "memory", "strip"]


@dataclass(frozen=True, slots=True, order=True)
class ShardRef:
    """A part of an index with its own sequence numbers: a shard, or a whole index in SQLite."""

    index: str  # the index's own name
    shard: int = 0  # number of the shard

    def __str__(self) -> str:
        """Format the part as a key."""
        return f"{self.index}/{self.shard}"

    @classmethod
    def parse(cls, text: str) -> "ShardRef":
        """Parse a key.

        >>> ShardRef.parse("news/3")
        ShardRef(index='news', shard=3)
        """
        index, _, shard = text.rpartition("/")
        return cls(index, int(shard))


@dataclass(frozen=True, slots=True)
class SeqNoRange:
    """A range of sequence numbers of a part."""

    part: ShardRef
    after: int  # number of the last write before them; 0 before the first
    end: int  # number of the last of them


@dataclass(frozen=True, slots=True)
class Name:
    """Index, shard and id of a document."""

    index: str  # the index that holds it
    id: str
    order: int  # number of the write that it comes from, in its part; as in `Outcome`
    routing: str = ""  # value that chose its shard, where that is not the id


@dataclass(frozen=True, slots=True)
class SourceDocument:
    """The current version of a document."""

    name: Name  # where it is
    document: Document  # what it says, as far as its fields are what their names say
    fault: str  # why it has no text that could be signed; empty when it has one
    version: int  # its version to ibidem; 0 when it never wrote the document
    digest: str  # of the record that was signed; empty when none was
    schema: str  # the signatures' schema; empty when it was never signed
    idf: str  # name of the idf table it was signed with
    packed: bytes  # its packed signatures
    state: tuple[int, int]  # two numbers of the engine's own, which another write changes
    order: int  # number of the write that it comes from now; that of its name, unless it was written since
    engine_version: int = 0  # the engine's own count of writes to it
    own_fields: tuple[str, ...] = ()  # names of what ibidem added to it before
    group: str = ""  # name of the group that it leads; empty if it leads none
    raw: bytes = b""  # its stored JSON, if requested


# A document as it was read, and its record; None if it has no text that could be signed.
Signed = tuple[SourceDocument, Record | None]

Marks = Mapping[ShardRef, int]  # for each part a number of a write


@dataclass(frozen=True, slots=True)
class FieldCounts:
    """Number of documents of an index, and of those with each field that a response may leave out."""

    documents: int = 0  # all documents; 0 if no field may be left out
    by_field: Mapping[str, int] = field(default_factory=dict)  # for each such field the documents that have it


def marks_as_record(marks: Marks) -> dict[str, int]:
    """Return the sequence numbers of parts in their stored form."""
    return {str(part): number for part, number in marks.items()}


def parse_marks(marks: Mapping[str, int]) -> dict[ShardRef, int]:
    """Parse the sequence numbers of parts."""
    return {ShardRef.parse(part): number for part, number in marks.items()}


class ReindexSource(Protocol):
    """Documents of an index, to be signed again; it raises the errors of `Engine`.

    An index of another signature schema may be read, since only what its documents say counts.
    """

    index: str

    @property
    def alias(self) -> str:
        """The index name, if it is an alias that can be moved to another index; else empty."""

    @property
    def text_field(self) -> str:
        """Field of the index with the text."""

    @property
    def updates_in_part(self) -> bool:
        """Whether documents are signed in place by partial updates, which need no JSON."""

    def check(self, target: Target) -> None:
        """Refuse an index that cannot be signed in place, or copied; nothing is changed."""

    def prepare(self) -> None:
        """Add our fields and ledgers to the index, so that documents can be signed in place."""

    def missing_fields(self) -> list[str]:
        """Return the configured field names that no document of the index has."""

    def parts(self) -> list[ShardRef]:
        """Return the parts of the index as of the first call."""

    def uuids(self) -> Mapping[str, str]:
        """Return the UUID of each index; an index that is created again gets another UUID."""

    def newest(self, marks: Marks | None = None) -> dict[ShardRef, int]:
        """Return for each part the number up to which all writes are complete and visible.

        Args:
            marks: Marks of an earlier call; without new writes, no further request is sent.
        """

    def count(self, seq_range: SeqNoRange) -> int:
        """Count the documents written in a range of sequence numbers."""

    def names(self, seq_range: SeqNoRange, size: int) -> list[Name]:
        """Return the names of the first documents of a range, in the order of writing."""

    def read(self, names: Sequence[Name], *, raw: bool = False) -> list[SourceDocument]:
        """Read the current versions of documents; deleted documents are omitted.

        Args:
            names: Which.
            raw: Whether their JSON is wanted as well, to be written again: whole, or the read fails.
        """

    def count_fields(self) -> FieldCounts:
        """Count the documents with each field that a response may leave out, including all writes so far."""

    def sign(self, documents: Sequence[Signed]) -> list[Outcome | None]:
        """Add signatures to documents in place; None for a document that changed since it was read.

        What was read with its JSON may be written whole, which costs an engine less.
        """

    def strip_document(self, document: SourceDocument) -> SourceDocument:
        """Return a document, read with its JSON, without ibidem's fields."""

    def strip(self, documents: Sequence[SourceDocument]) -> list[Outcome | None]:
        """Remove ibidem's fields from documents that were read with their JSON; None for a document that changed.

        Nothing else of them changes, and where the index has pipelines, they do not pass through them.
        """

    def unmark(self) -> bool:
        """Remove ibidem's metadata from the index; returns whether empty fields remain."""

    def drop_records(self) -> None:
        """Remove every ledger."""

    def size(self) -> int:
        """Return the size of the index in bytes, with its replicas."""

    def added_bytes(self, record: Record) -> int:
        """Return the bytes that signing adds to a document, before the engine compresses or indexes them."""

    def deletions(self) -> int:
        """Return a number that changes with every deletion; it may also change without one."""

    def index_names(self) -> IndexNames:
        """Return the names of the index."""

    def get_records(self, ledger: Ledger) -> Iterator[tuple[str, Any]]:
        """Read the records of a ledger, as in `Engine`; none if it does not exist."""

    def open_trial(self, index: str) -> AbstractContextManager["TrialIndex"]:
        """Create an empty index like one of the source's, hidden from searches; it is deleted when the context ends.

        Args:
            index: The one of the indexes whose settings and mapping it gets.
        """

    def copy_to(self, name: str) -> "ReindexTarget":
        """Return the copy target with a name; it need not exist."""

    def close(self) -> None:
        """Close connections and files."""


class ReindexTarget(Protocol):
    """An index that is filled with the signed documents of another one."""

    name: str

    def exists(self) -> bool:
        """Return whether there is an index of this name."""

    def is_unfilled(self) -> bool:
        """Return whether an existing index was created as this copy, and is still empty."""

    def create(self, *, with_fields: bool = True) -> None:
        """Create the target with the source's settings and mappings, or complete an interrupted creation.

        Args:
            with_fields: Whether it gets the current `ibidem` mapping; else it gets none.
        """

    def take(self, documents: Sequence[Signed]) -> list[Outcome]:
        """Store copies; a newer stored version is kept (`stale`)."""

    def newest(self) -> dict[ShardRef, int]:
        """Return the newest positions; see `ReindexSource.newest`."""

    def count_fields(self) -> FieldCounts:
        """Count fields; see `ReindexSource.count_fields`."""

    def prune(self, end: Marks) -> int:
        """Remove documents that the source no longer has, among those written up to a position; returns how many."""

    def check_alias(self, alias: str) -> None:
        """Refuse an invalid alias."""

    def finish(self, alias: str) -> None:
        """Apply the settings that would slow down filling, and move the alias from the source to the target."""

    def take_late(self, documents: Sequence[Signed], end: Marks) -> list[Outcome]:
        """Store copies, but not over documents written after a position, unless their version is older.

        It came through the alias, so it is newer; but batches do not come in the order of their versions.
        """


@dataclass(frozen=True, slots=True)
class TrialIndex:
    """A temporary index."""

    target: ReindexTarget  # takes documents
    name: str
    engine: str = ""  # address of its engine; empty if that is the source's


class ReindexableEngine(Engine, Protocol):
    """An engine whose indexes can be signed again."""

    def reindex_source(self) -> ReindexSource:
        """Open the documents of the index."""
