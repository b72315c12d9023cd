"""What an engine keeps of documents, as plain values: places, hits, groups, threads, works, and names of records.

A document is written as the lead of a group of its own. Whoever groups goes through the writes in their order, finds
the leads that a document duplicates, and lets it join the first of them. Joining is a partial write that is done only
onto the very state that was read. A collapsed search ranks what matches by stored group, and counts it. The engine does
both by itself, so that no window bounds what is found.

Threads and works are found in the whole index at once; a document that is written again has none until then.

Records are kept next to the one index behind a name, or next to an alias of several indexes. They are read under all of
these names, and the names of indexes inside them are those of the indexes themselves.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import pairwise
from secrets import token_hex
from typing import Any, Literal, NamedTuple, Protocol, overload

from xxhash import xxh3_64_intdigest

from ibidem_dedupe.overrides import DocumentRef, pair_key
from ibidem_engines.query import NOW, ReadView
from ibidem_ingest.signatures.lookup_keys import LookupField
from ibidem_ingest.signatures.packed import PackedValues

Ledger = Literal["runs", "dead", "tombstones", "deleted", "overrides", "presets", "groups"]
# Ledgers that people write: each write depends on the record that is there, and searches see it at once.
MANUAL_LEDGERS: frozenset[Ledger] = frozenset(("overrides", "presets"))
Entry = Mapping[str, object]  # the JSON of a record
RecordState = tuple[int, int]  # two numbers of the engine's own, which another write of a record changes


@dataclass(frozen=True, slots=True, order=True)
class ShardRef:
    """A part of an index with its own sequence numbers: a shard, or a whole index in SQLite."""

    index: str  # the index's own name
    shard: int = 0  # number of the shard

    def __str__(self) -> str:
        return f"{self.index}/{self.shard}"

    @classmethod
    def parse(cls, text: str) -> "ShardRef":
        """Parse a key.

        >>> ShardRef.parse("news/3")
        ShardRef(index='news', shard=3)
        """
        index, _, shard = text.rpartition("/")
        return cls(index, int(shard))


class SeqNoRange(NamedTuple):
    """A range of sequence numbers of a part."""

    part: ShardRef
    after: int  # number of the last write before them; 0 before the first
    end: int  # number of the last of them


def all_writes(end: Mapping[ShardRef, int]) -> list[SeqNoRange]:
    """Return for each part the range of all writes up to a sequence number."""
    return [SeqNoRange(part, 0, last) for part, last in end.items()]


@dataclass(frozen=True, slots=True)
class Name:
    """Index, shard and id of a document."""

    index: str  # the index that holds it
    id: str
    order: int  # number of the write that it comes from, in its part; as in `Outcome`
    routing: str = ""  # value that chose its shard, where that is not the id


Marks = Mapping[ShardRef, int]  # for each part a number of a write


def marks_as_record(marks: Marks) -> dict[str, int]:
    """Return the sequence numbers of parts in their stored form."""
    return {str(part): number for part, number in marks.items()}


def parse_marks(marks: Mapping[str, int]) -> dict[ShardRef, int]:
    return {ShardRef.parse(part): number for part, number in marks.items()}


@dataclass(frozen=True, slots=True)
class Hit:
    """One hit of a ranking: only identity, score and packed signatures."""

    index: str  # the index that holds it (several, under an alias)
    id: str  # the document's id
    score: float  # the engine's score; 0.0 if it does not rank
    packed: bytes | None  # the packed signatures, or None when the document was never signed
    order: int = 0  # as in `Outcome`; 0 in a window of an engine that would have to read it apart
    sort: tuple[object, ...] = ()  # the engine's own sort values, handed through

    @property
    def name(self) -> DocumentRef:
        return self.index, self.id


@dataclass(frozen=True, slots=True)
class GroupedDocument:
    name: Name  # its index and id, and the number of the write that it comes from
    packed: bytes  # its packed signatures; empty when it was never signed
    group: str  # the group that it is in
    lead: bool  # whether it leads that group
    state: tuple[int, int]  # two numbers of the engine's own, which another write changes


def new_group() -> str:
    """Return the name of a new group: random, so that it tells nothing of documents that a reader may not see."""
    return token_hex(12)


def own_group(name: Name) -> str:
    """Return the group of a document that others write: they drop its name, which has to be found again."""
    return blake2b(f"{name.index}\0{name.id}".encode(), digest_size=12).hexdigest()


@dataclass(frozen=True, slots=True)
class LeadKeys:
    """Values by which the leads of one document are looked up."""

    values: Mapping[LookupField, Sequence[str]]  # for each field, values of which a single shared one is enough
    # How many of a field's values must be carried (1 where not named; `rare` asks for 5).
    min_shared: Mapping[LookupField, int] = field(default_factory=dict)
    # For the same fields, the fewest and the most tokens of a lead that is found by them.
    lengths: Mapping[LookupField, tuple[int, int]] = field(default_factory=dict)


class Assignment(NamedTuple):
    document: GroupedDocument  # the document, in the state that was read
    group: str  # the group that it is to be in
    # Whether it is to lead that group. A document that is made a lead gets the number of a new write, so that whoever
    # groups looks at it again.
    lead: bool
    # Whether a document that is made a lead is settled already: it keeps its number where the engine can.
    settled: bool = False


class GroupCounts(NamedTuple):
    documents: int  # all documents
    groups: int  # number of documents that lead a group
    unsigned: int  # documents without signatures, or without words; each is a group of its own


class Parts(Protocol):
    """An index, or several, by the parts with sequence numbers of their own; it raises the errors of `Engine`."""

    index: str

    def parts(self) -> list[ShardRef]:
        """List the parts as of the first call, ordered by index creation time and shard."""

    def uuids(self) -> Mapping[str, str]:
        """Return the UUID of each index, which changes if it is created again under the same name; a file has none."""
        return {}

    def newest(self, marks: Marks | None = None) -> dict[ShardRef, int]:
        """Return for each part the number up to which all writes are complete and visible.

        Where there are no new writes since `marks`, those of an earlier call, no further request is sent.
        """

    def deletions(self) -> int:
        """Return a number that changes with every deletion; it may also change without one."""


class StoredGroups(Parts, Protocol):
    """The groups of a group set."""

    def documents(self, seq_range: SeqNoRange, size: int, *, leads: bool = False) -> list[GroupedDocument]:
        """Read the first documents, or leads, written in a range of sequence numbers, in order."""

    def count_leads(self, seq_range: SeqNoRange) -> int:
        """Count the leads written in a range of sequence numbers."""

    def with_value(self, keys: Sequence[LeadKeys], end: Marks) -> list[Hit]:
        """Read the leads that have any of the values, up to some sequence numbers.

        Each is read once, and some may be among them that carry a few of the rare terms only. Where more than an engine
        lists carry one document's values, those written first are read.
        """

    def members(
        self, groups: Sequence[str], excluded: Sequence[DocumentRef] = (), *, lead: bool | None = None
    ) -> Iterator[list[GroupedDocument]]:
        """Scan the documents of some groups in slices, in the order of writing: leads, followers, or (None) both."""

    def read(self, ids: Sequence[DocumentRef], end: Marks | None = None) -> list[GroupedDocument]:
        """Read documents by (index, id), up to some sequence numbers; deleted documents are omitted."""

    def assign(self, changes: Sequence[Assignment]) -> list[bool]:
        """Write groups; returns False for a document that changed since it was read and was not written."""

    def counts(self) -> GroupCounts:
        """Count documents and groups."""

    def sizes(self, size: int = 1_000) -> Iterator[Mapping[str, int]]:
        """Yield the groups of two or more in slices: each lead, and the number of other documents.

        A group whose lead is gone is among them, whatever it has left.
        """

    def prepare_memberships(self) -> None:
        """Add the fields of threads and works (`FIELDS`) to an index that lacks them."""

    def has_threads(self) -> bool:
        """Return whether any document has a place in a thread."""

    def write_memberships(self, changes: Sequence["MembershipChange"]) -> int:
        """Write threads and works of documents whose text has not changed since they were read; returns how many."""


def index_places(store: StoredGroups) -> dict[str, int]:
    """Return the position of each index in the order of settling."""
    return {index: place for place, index in enumerate(dict.fromkeys(part.index for part in store.parts()))}


GroupField = Literal["group", "content"]  # what the documents of a group share: its name, or the content hash
# How what matches is ordered; by date, documents without one come last.
Order = Literal["relevance", "newest", "oldest"]

MAX_GROUPS = 40_000  # groups of two or more up to which an engine counts them exactly

MAX_MEMBERS = 10_000  # the most documents of one group that are read


@dataclass(frozen=True, slots=True)
class Collapsing:
    """How a ranking is collapsed."""

    by: GroupField = "group"
    order: Order = "relevance"
    view: ReadView = NOW  # what it reads


BY_GROUP = Collapsing()


class GroupHit(NamedTuple):
    hit: Hit
    group: str  # the group's name; empty for a document that has none
    score: float | None  # the engine's score; None if it does not score
    lead: bool = False  # whether it leads that group

    @property
    def name(self) -> DocumentRef:
        return self.hit.name


class MatchCounts(NamedTuple):
    documents: int
    # Groups with at least one matching document, of which one without a group counts as one; None: not counted.
    groups: int | None
    exact: bool  # whether the groups were counted, not estimated
    ungrouped: int = 0  # documents without a stored group; 0 where nobody asked


class Coverage(NamedTuple):
    """How far the groups of an index reach, for whoever may see these documents."""

    documents: int = 0
    ungrouped: int = 0  # documents without a group: ibidem never wrote them
    unsettled: int = 0  # leads that were written after the last settled write
    has_content: bool = False  # whether content hashes can be collapsed by


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


class Members(NamedTuple):
    hits: Sequence[GroupHit]  # as many of each group as were asked for, in rank order
    sizes: Mapping[str, int]  # how many of each group match


class FacetCount(NamedTuple):
    """Number of matches with a common value."""

    value: str
    documents: int  # how many documents
    groups: int  # how many groups they are of; a server estimates more than some thousands


class Facets(NamedTuple):
    """Counts of all matches by some fields."""

    sources: Sequence[FacetCount]  # by source, the most frequent first
    languages: Sequence[FacetCount]  # by language, the most frequent first
    years: Sequence[FacetCount]  # by the year of the date, the latest first


THREAD = ("thread", "parent", "parent_by", "inclusive")
WORK = ("work", "edition", "edition_by", "current")
FIELDS = (*THREAD, *WORK)  # names of the fields, below `ibidem` in a cluster

Values = Mapping[str, object]  # values by the names of fields; None if a document has none


class MembershipChange(NamedTuple):
    """Values to store with a document."""

    name: DocumentRef  # its index and id
    text_hash: int  # `hash_packed` of its packed signatures when it was read
    values: Values


def hash_packed(packed: bytes | None) -> int:
    """Hash packed signatures, to detect that a document has changed since it was read; 0 without signatures."""
    return xxh3_64_intdigest(packed) if packed else 0


class StoredRecord(NamedTuple):
    source: str  # the index or alias that it is stored next to
    key: str
    entry: Any  # its JSON, possibly damaged by another program


@dataclass(frozen=True, slots=True)
class IndexNames:
    """The names of an index, or of several indexes that are searched together."""

    asked: tuple[str, ...]  # the names that it was reached by
    indices: tuple[str, ...] = ()  # the indexes' own names; empty if there is none
    # The indexes behind each alias and data stream, as far as they are among `indices`.
    aliases: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    streams: Mapping[str, str] = field(default_factory=dict)  # the data stream of each index that is of one
    kept: str = ""  # the name next to which records are written; empty: it is derived from the other names (`home`)

    @property
    def home(self) -> str:
        """The name next to which records are written; a data stream's own name, even if it has aliases.

        >>> IndexNames(("news",), ("news-2",), {"news": ("news-2",)}).home
        'news-2'
        >>> IndexNames(("news",), ("news-1", "news-2"), {"news": ("news-1", "news-2")}).home
        'news'
        >>> IndexNames(("alias",), (".ds-logs-1",), {"logs": (".ds-logs-1",)}, {".ds-logs-1": "logs"}).home
        'logs'
        """
        if self.kept:
            return self.kept
        owners = {self.streams.get(index, index) for index in self.indices}
        return owners.pop() if len(owners) == 1 else self.asked[0]

    @property
    def sources(self) -> tuple[str, ...]:
        """The names next to which records may be stored, the nearest first."""
        own = (each for each in self.indices if each not in self.streams)
        return tuple(dict.fromkeys([*([self.home] if self.asked else ()), *self.asked, *own, *sorted(self.aliases)]))

    def covers(self, source: str, index: str) -> bool:
        return source == index or index in self.aliases.get(source, ())

    def own_records(self, ledger: Ledger, records: Iterable[StoredRecord]) -> dict[str, Any]:
        """Return records by key, under the concrete names of indexes; of duplicate keys, the nearest record."""
        ranks = {source: rank for rank, source in enumerate(self.sources)}
        best: dict[str, tuple[tuple[int, bool], Any]] = {}
        for record in records:
            for key, entry in self.own_entries(ledger, record):
                rank = ranks.get(record.source, len(ranks)), key != record.key
                if key not in best or rank < best[key][0]:
                    best[key] = rank, entry
        return {key: entry for key, (_, entry) in sorted(best.items())}

    def own_entries(self, ledger: Ledger, record: StoredRecord) -> Sequence[tuple[str, Any]]:
        """Return a record under concrete index names, once for each index that its name may mean."""
        source, key, entry = record.source, record.key, record.entry
        if source in self.indices:
            return [rename(ledger, key, entry, lambda name: name if name in self.indices else source)]
        indices = self.aliases.get(source, ())
        renamed = dict(rename(ledger, key, entry, {source: index}.get) for index in indices)
        return [*renamed.items()] or [(key, entry)]


def rename(ledger: Ledger, key: str, entry: Any, new_name: Callable[[str], str | None]) -> tuple[str, Any]:
    """Return a record with its indexes renamed; damaged records and records without indexes are unchanged.

    >>> rename("overrides", "k", {"a": ["news-1", "x"], "b": ["news-1", "y"]}, {"news-1": "news-2"}.get)[1]
    {'a': ['news-2', 'x'], 'b': ['news-2', 'y']}
    """
    if not isinstance(entry, dict):
        return key, entry
    named: list[Any] = [entry.get("a"), entry.get("b")]
    if ledger == "overrides" and all(isinstance(each, list) and [*map(type, each)] == [str, str] for each in named):
        pair = [[new_name(index) or index, id_] for index, id_ in named]
        return pair_key(pair), entry | {"a": pair[0], "b": pair[1]}
    return key, entry


@dataclass(frozen=True, eq=False, slots=True)
class HitColumns(Sequence[Hit]):
    """The fields of n hits; a window of a few hundred hits is grouped without a Python object for each."""

    indices: Sequence[str]  # (n) as `Hit.index`
    ids: Sequence[str]  # (n) as `Hit.id`
    scores: Sequence[float]  # (n) as `Hit.score`
    packed: PackedValues  # (n) as `Hit.packed`
    orders: Sequence[int]  # (n) as `Hit.order`
    sorts: Sequence[tuple[object, ...]]  # (n) as `Hit.sort`
    cache: dict[int, Hit] = field(default_factory=dict)  # the hits that were asked for so far, by their row

    def __len__(self) -> int:
        return len(self.indices)

    @overload
    def __getitem__(self, row: int) -> Hit: ...

    @overload
    def __getitem__(self, row: slice) -> "HitColumns": ...

    def __getitem__(self, row: int | slice) -> "Hit | HitColumns":
        if isinstance(row, slice):
            return self.take(range(len(self))[row])
        row = range(len(self))[row]
        if row not in self.cache:
            score, packed = self.scores[row], self.packed[row]
            self.cache[row] = Hit(self.indices[row], self.ids[row], score, packed, self.orders[row], self.sorts[row])
        return self.cache[row]

    def take(self, rows: Sequence[int]) -> "HitColumns":
        return HitColumns(
            [self.indices[row] for row in rows],
            [self.ids[row] for row in rows],
            [self.scores[row] for row in rows],
            self.packed.take(rows),
            [self.orders[row] for row in rows],
            [self.sorts[row] for row in rows],
        )

    def sort(self) -> "HitColumns":
        """Sort hits as in a ranking: by score, ties by index and id."""
        if all(before > score for before, score in pairwise(self.scores)):
            return self
        rank = [(-score, *name) for score, *name in zip(self.scores, self.indices, self.ids, strict=True)]
        return self.take(sorted(range(len(self)), key=rank.__getitem__))


def read_packed(hits: Sequence[Hit]) -> PackedValues:
    return hits.packed if isinstance(hits, HitColumns) else PackedValues.join([hit.packed for hit in hits])


def hit_names(hits: Sequence[Hit]) -> list[DocumentRef]:
    """Return index and id of hits."""
    if isinstance(hits, HitColumns):
        return list(zip(hits.indices, hits.ids, strict=True))
    return [hit.name for hit in hits]
