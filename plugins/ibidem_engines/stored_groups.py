"""Stored groups: the near-duplicate group of each document, read and written by the workers that settle them.

A document is written as the lead of a group of its own. Whoever groups goes through the writes in their order, finds
the leads that a document duplicates, and lets it join the first of them. Joining is a partial write that is done only
onto the very state that was read.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from ibidem_engines.engine import Engine, Hit
from ibidem_engines.reindex import Marks, Name, SeqNoRange, ShardRef
from ibidem_ingest.signatures.lookup_keys import LookupField


@dataclass(frozen=True, slots=True)
class Grouped:
    """A document with its group.

    Args:
        name: Its index and id, and the number of the write that it comes from.
        packed: Its packed signatures; empty when it was never signed.
        group: The group that it is in.
        lead: Whether it leads that group.
        state: What another write changes: two numbers of the engine's own.
    """

    name: Name
    packed: bytes
    group: str
    lead: bool
    state: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Several:
    """Values of a class of which several are needed.

    Args:
        values: The values.
        least: How many.
        shortest: The fewest tokens of a lead that is found by them.
        longest: The most.
    """

    values: Sequence[str]
    least: int
    shortest: int
    longest: int


@dataclass(frozen=True, slots=True)
class Wanted:
    """What leads are looked up by for one document.

    Args:
        values: Values of which one is enough, by class.
        several: Those of which several are needed, by class.
    """

    values: Mapping[LookupField, Sequence[str]]
    several: Mapping[LookupField, Several] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Assignment:
    """A group for a document.

    Args:
        document: The document as it was read.
        group: The group that it is to be in.
        lead: Whether it is to lead that group. A document that is made a lead gets the number of a new write, so that
            whoever groups looks at it again.
    """

    document: Grouped
    group: str
    lead: bool


@dataclass(frozen=True, slots=True)
class GroupCounts:
    """How many groups an index holds.

    Args:
        documents: All documents.
        groups: Those that lead a group.
        unsigned: Documents without signatures, or without words; each is a group of its own.
    """

    documents: int
    groups: int
    unsigned: int


class StoredGroups(Protocol):
    """The groups of an index; errors are those of `Engine`."""

    index: str

    def parts(self) -> list[ShardRef]:
        """List the parts whose writes are numbered, each by itself."""

    def newest(self, since: Marks | None = None) -> dict[ShardRef, int]:
        """Tell for each part up to which number its writes are done, once these can all be read.

        Args:
            since: What this told before; while nothing is new, the engine is not troubled further.
        """

    def deletions(self) -> int:
        """Count the deletions there have been, as far as the engine counts them."""

    def leads(self, stretch: SeqNoRange, size: int) -> list[Grouped]:
        """Read the first leads that come from the writes of a stretch, in the order of writing."""

    def carriers(self, wanted: Sequence[Wanted], upto: Marks) -> list[Hit]:
        """Read the leads that carry what is wanted for some documents and come from writes up to these numbers.

        Each is read once, and some may be among them that carry a few of the rare terms only. Where more than an engine
        lists carry one document's values, those written first are read.
        """

    def members(
        self, groups: Sequence[str], without: Sequence[str] = (), *, lead: bool | None = None
    ) -> Iterator[list[Grouped]]:
        """Go through the documents of some groups in slices, in the order of writing.

        Args:
            groups: Names of groups.
            without: Ids of documents that are left out.
            lead: Only leads, or only those that follow one; None for both.
        """

    def read(self, ids: Sequence[tuple[str, str]], upto: Marks | None = None) -> list[Grouped]:
        """Read documents by (index, id), as they are now; those that are gone are left out.

        Args:
            ids: Index and id of each.
            upto: Only those that come from writes up to these numbers, each in its own part; None for all.
        """

    def assign(self, changes: Sequence[Assignment]) -> list[bool]:
        """Write groups; False for a document that is no longer what was read, and is left as it is."""

    def counts(self) -> GroupCounts:
        """Count documents and groups."""

    def sizes(self, size: int = 1_000) -> Iterator[Mapping[str, int]]:
        """Go through the groups of two or more in slices: how many documents follow the lead of each.

        A group whose lead is gone is among them, whatever it has left.
        """


class WithGroups(Engine, Protocol):
    """An engine whose index stores groups."""

    def groups(self) -> StoredGroups:
        """Give the groups of the index."""
