"""Stored groups: the near-duplicate group of each document, read and written by the workers that settle groups.

A document is written as the lead of a group of its own. Whoever groups goes through the writes in their order, finds
the leads that a document duplicates, and lets it join the first of them. Joining is a partial write that is done only
onto the very state that was read.

A collapsed search ranks what matches by stored group, and counts it. The engine does both by itself, so that no window
bounds what is found.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, cast

from ibidem_engines.cursor import NOW, ReadView
from ibidem_engines.engine import Engine, Hit
from ibidem_engines.query import Query
from ibidem_engines.reindex import Marks, Name, SeqNoRange, ShardRef
from ibidem_ingest.signatures.content import group_name
from ibidem_ingest.signatures.lookup_keys import LookupField


@dataclass(frozen=True, slots=True)
class GroupedDocument:
    """A document with its group."""

    name: Name  # its index and id, and the number of the write that it comes from
    packed: bytes  # its packed signatures; empty when it was never signed
    group: str  # the group that it is in
    lead: bool  # whether it leads that group
    state: tuple[int, int]  # two numbers of the engine's own, which another write changes


def own_group(index: str, id_: str) -> str:
    """Return the group name that a document leads; it differs from that of the same id in other indexes.

    >>> own_group("news-1", "a") != own_group("news-2", "a")
    True
    """
    return group_name(f"{index}\0{id_}")


@dataclass(frozen=True, slots=True)
class Several:
    """A look-up of documents that have at least a minimum number of some values."""

    values: Sequence[str]
    min_shared: int  # how many
    shortest: int  # the fewest tokens of a lead that is found by them
    longest: int  # the most


@dataclass(frozen=True, slots=True)
class LeadKeys:
    """Values by which the leads of one document are looked up."""

    values: Mapping[LookupField, Sequence[str]]  # values, by class, of which a single shared one is enough
    # Values, by class, of which several have to be shared.
    several: Mapping[LookupField, Several] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Assignment:
    """A group for a document."""

    document: GroupedDocument  # the document, in the state that was read
    group: str  # the group that it is to be in
    # Whether it is to lead that group. A document that is made a lead gets the number of a new write, so that whoever
    # groups looks at it again.
    lead: bool
    # Whether a document that is made a lead is settled already: it keeps its number where the engine can.
    settled: bool = False


@dataclass(frozen=True, slots=True)
class GroupCounts:
    """Numbers of documents and groups of an index."""

    documents: int  # all documents
    groups: int  # number of documents that lead a group
    unsigned: int  # documents without signatures, or without words; each is a group of its own


class StoredGroups(Protocol):
    """The groups of a group set; it raises the errors of `Engine`."""

    index: str

    def parts(self) -> list[ShardRef]:
        """List the parts with separate sequence numbers, ordered by index creation time and shard."""

    def uuids(self) -> Mapping[str, str]:
        """Return the UUID of each index, which changes if it is created again under the same name."""

    def newest(self, marks: Marks | None = None) -> dict[ShardRef, int]:
        """Return for each part the number up to which all writes are complete and visible.

        Args:
            marks: Marks of an earlier call; without new writes, no further request is sent.
        """

    def deletions(self) -> int:
        """Return a number that changes with every deletion; it may also change without one."""

    def leads(self, seq_range: SeqNoRange, size: int) -> list[GroupedDocument]:
        """Read the first leads written in a range of sequence numbers, in order."""

    def documents(self, seq_range: SeqNoRange, size: int) -> list[GroupedDocument]:
        """Read the first documents written in a range of sequence numbers, in order."""

    def count_leads(self, seq_range: SeqNoRange) -> int:
        """Count the leads written in a range of sequence numbers."""

    def carriers(self, keys: Sequence[LeadKeys], end: Marks) -> list[Hit]:
        """Read the leads that have any of the values, up to some sequence numbers.

        Each is read once, and some may be among them that carry a few of the rare terms only. Where more than an engine
        lists carry one document's values, those written first are read.
        """

    def members(
        self, groups: Sequence[str], excluded: Sequence[tuple[str, str]] = (), *, lead: bool | None = None
    ) -> Iterator[list[GroupedDocument]]:
        """Scan the documents of some groups in slices, in the order of writing.

        Args:
            groups: Names of groups.
            excluded: Index and id of documents that are left out.
            lead: Only leads, or only followers; None for both.
        """

    def read(self, ids: Sequence[tuple[str, str]], end: Marks | None = None) -> list[GroupedDocument]:
        """Read the current versions of documents by (index, id); deleted documents are omitted.

        Args:
            ids: Index and id of each.
            end: Only documents of writes up to these numbers, each in its own part; None for all.
        """

    def assign(self, changes: Sequence[Assignment]) -> list[bool]:
        """Write groups; returns False for a document that changed since it was read and was not written."""

    def counts(self) -> GroupCounts:
        """Count documents and groups."""

    def sizes(self, size: int = 1_000) -> Iterator[Mapping[str, int]]:
        """Yield the groups of two or more in slices: each lead, and the number of other documents.

        A group whose lead is gone is among them, whatever it has left.
        """


def index_places(store: StoredGroups) -> dict[str, int]:
    """Return the position of each index in the order of settling."""
    indices = dict.fromkeys(part.index for part in store.parts())
    return {index: place for place, index in enumerate(indices)}


class WithGroups(Engine, Protocol):
    """An engine whose index stores groups."""

    def groups(self) -> StoredGroups:
        """Return the groups of the index."""

    def group_set(self, *, use_cache: bool = False, takes_over: bool = False) -> Engine:
        """Return the engine of all indexes settled together with this one, ignoring filters.

        Its ledgers keep the progress of settling. An index alone is its own set.

        Args:
            use_cache: Whether a result of the last seconds may be used.
            takes_over: Whether groups that were settled index by index are to be settled as those of one set: the
                progress of each is removed.

        Raises:
            UsageError: Groups of a part of the indexes are settled separately, or a filter hides documents.
        """


def group_set(engine: Engine, *, use_cache: bool = False, takes_over: bool = False) -> Engine:
    """Return the engine of all indexes settled together; see `WithGroups.group_set`."""
    return cast("WithGroups", engine).group_set(use_cache=use_cache, takes_over=takes_over)


def group_store(engine: Engine) -> StoredGroups:
    """Return the store of an index's groups."""
    return cast("WithGroups", engine).groups()


# How what matches is ordered; by date, documents without one come last.
Order = Literal["relevance", "newest", "oldest"]

MAX_GROUPS = 40_000  # groups of two or more up to which an engine counts them exactly

MAX_MEMBERS = 10_000  # the most documents of one group that are read


@dataclass(frozen=True, slots=True)
class GroupHit:
    """A hit with its stored group."""

    hit: Hit
    group: str  # the group's name; empty for a document that has none
    score: float | None  # the engine's score; None if it does not score

    @property
    def name(self) -> tuple[str, str]:
        """Index and id of the hit."""
        return self.hit.index, self.hit.id


@dataclass(frozen=True, slots=True)
class MatchCounts:
    """Counts of all matching documents and groups."""

    documents: int
    groups: int  # groups with at least one matching document; a document without a group counts as one
    exact: bool  # whether the groups were counted, not estimated
    ungrouped: int  # documents without a stored group
    unsettled: int  # documents whose group is not settled yet
    unsigned: int  # documents without signatures, or without words
    short_count: int  # signed documents of fewer than five words
    tables: Mapping[str, int]  # documents by the name of their idf table; those without one are left out
    limited: bool = False  # whether more may match than the engine ranks


@dataclass(frozen=True, slots=True)
class Collapsed:
    """A part of a collapsed ranking."""

    heads: Sequence[GroupHit]  # the best document of each group, in rank order
    counts: MatchCounts  # counts of what matches
    best: float | None  # the highest score; None if nothing is scored
    # Sort values of the last of them, to go on from there; None if the engine needs no more than a number.
    search_after: Sequence[object] | None = None
    newest: int = -1  # the highest number of a write among what matches, where the engine needs it for a view
    view: ReadView = NOW  # what it reads; another search with it ranks the same
    # Names of all groups with two or more matching documents; None if the engine does not report them.
    several: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class Members:
    """Matching documents of some groups."""

    hits: Sequence[GroupHit]  # as many of each group as were asked for, in rank order
    sizes: Mapping[str, int]  # how many of each group match


@dataclass(frozen=True, slots=True)
class FacetCount:
    """Number of matches with a common value."""

    value: str
    documents: int  # how many documents
    groups: int  # how many groups they are of; a server estimates more than some thousands


@dataclass(frozen=True, slots=True)
class Facets:
    """Counts of all matches by some fields."""

    sources: Sequence[FacetCount]  # by source, the most frequent first
    languages: Sequence[FacetCount]  # by language, the most frequent first
    years: Sequence[FacetCount]  # by the year of the date, the latest first


@dataclass(frozen=True, slots=True)
class Place:
    """Start position of a page in a collapsed ranking."""

    start: int  # how many groups come before
    # Sort values that an earlier request gave to go on from; needed beyond the groups that an engine counts off.
    search_after: Sequence[object] | None = None


class CollapseEngine(WithGroups, Protocol):
    """An engine that can count matches by stored groups."""

    def facets(self, query: Query, limit: int) -> Facets:
        """Count all matches by source, language and year, if these fields exist.

        Args:
            query: For what.
            limit: How many sources and languages at most.
        """
