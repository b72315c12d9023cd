"""Protocol of an engine: the operations that ibidem needs from every search engine.

One class for each engine; `tests/engines/test_contract.py` runs over all of them. Everything that an engine reads for
one query is a request flow: whoever waits runs it by `Engine.run`, at the outermost edge. An existing index is read
part by part, each part by the number of the write, so that a reader knows where it stopped.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Literal, NamedTuple, Protocol, TypeVar

from ibidem_dedupe.overrides import DocumentRef
from ibidem_engines import stored_groups
from ibidem_engines.query import NOW, Place, Query, ReadView, parse_query, word_spans
from ibidem_engines.requests import RequestFlow
from ibidem_engines.stored_groups import BY_GROUP, Collapsed, Collapsing, Entry, Hit, Ledger, Members, RecordState
from ibidem_ingest.document import Document
from ibidem_ingest.errors import UsageError
from ibidem_ingest.signatures.lookup_keys import LookupField
from ibidem_ingest.signatures.schema import Signatures, StoredSignatures

T = TypeVar("T")


class WriteStatus(StrEnum):
    INDEXED = "indexed"
    UNCHANGED = "unchanged"
    STALE = "stale"
    REFUSED = "refused"
    DELETED = "deleted"
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class Record:
    """A document with its signatures, ready to store."""

    document: Document
    signatures: Signatures | StoredSignatures
    version: int  # its version, given or made by the submitter
    digest: str  # 32 hex digits: xxh3-128 of all its fields, schema and idf table, version aside; equal = unchanged
    packed: bytes  # everything that grouping needs, in one value (`ibidem_ingest.signatures.packed`)

    @property
    def long(self) -> bytes:
        """Long signatures in one value; empty for a short text, and for a record without signatures."""
        return self.signatures.long if self.packed else b""


@dataclass(frozen=True, slots=True)
class Outcome:
    id: str  # the document's id
    status: WriteStatus  # indexed, unchanged, stale, refused, deleted or missing
    order: int = 0  # a number that grows with each write, as far as the engine knows one; 0 when nothing was written
    previous_version: int | None = None  # the version that was there before; None when there was none
    field: str = ""  # for a refusal: the field at fault, or empty
    why: str = ""  # for a refusal: the reason in words


@dataclass(frozen=True, slots=True)
class Ranking:
    hits: Sequence[Hit]  # in rank order; equal scores by index and id
    total: int  # exact number of documents that match
    view: ReadView = NOW  # what it reads; another search with it ranks the same


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A stored document, for display."""

    index: str  # the index that holds it
    document: Document  # the document, whole
    version: int  # the stored version
    # Passages with the query's words between `HIGHLIGHT` marks; the beginning when no word occurs.
    snippets: Sequence[str] = ()
    title: str = ""  # the title with the same marks


@dataclass(frozen=True, slots=True)
class SignatureLookup(stored_groups.LeadKeys):
    """Signature values to look up for one document."""

    # The most hits for a field, content hash aside (caps of the policy); what is over is `capped`. A value of a long
    # text that more documents carry is passed over, so that a banner page hides nothing else.
    limit: int = 1_000
    # Id of the stored document whose values these are, in the index that is searched: it is left out of the hits, and
    # the engine need not look up what only it carries. Empty: nothing is left out.
    own_id: str = ""

    def hit_limit(self, name: LookupField) -> int:
        """Return the maximum number of hits for a class of values."""
        return max(self.limit, CONTENT_HITS) if name == "content" else self.limit


class LookupResult(NamedTuple):
    """The documents that one `SignatureLookup` found."""

    # Each document once, in the order of index and id; the searching document itself too, unless it is named.
    hits: Sequence[Hit]
    capped: Sequence[LookupField] = ()  # the fields whose hits were cut at the limit
    # Number of documents with the content hash, `own_id` aside; exact, also where they are too many to be listed
    # (`CONTENT_HITS`).
    copies: int = 0


# The most documents with one content hash that are listed; a copy more often repeated is only counted (`copies`).
CONTENT_HITS = 10_000


class Info(NamedTuple):
    """Facts about an engine and its index."""

    name: str  # `sqlite`, `opensearch`, `elasticsearch`
    version: str  # the server's (or library's) version
    exists: bool  # whether the index exists
    documents: int  # documents in the index
    unsigned: int  # how many of them carry no signatures
    schema: Sequence[str]  # the schema versions that the signed ones were written with
    tables: Mapping[str, int]  # documents for each idf table name


NEARLY_FULL = 0.9  # used share of a disk from which it counts as nearly full, and servers move shards away


class HealthIssue(NamedTuple):
    name: str  # the check
    what: str  # the problem
    remedy: str  # what to do about it
    stops: bool = False  # whether nothing can be read or written before it is mended

    @classmethod
    def of_disk(cls, disk: str, size: int, free: int) -> "list[HealthIssue]":
        """Return the issue of a disk that is nearly full, if it is."""
        if free >= (1 - NEARLY_FULL) * size:
            return []
        what = f"{disk} is nearly full: {free / 1e9:.1f} of {size / 1e9:.1f} GB are left"
        return [cls("disk", what, "free some space, or use a larger disk")]


class PluginNode(NamedTuple):
    """A node of a cluster, with the versions of engine and plugin."""

    name: str  # the node's name
    engine: str  # version of the engine
    plugin: str  # version of the plugin; empty if it has none


class GroupedHits(NamedTuple):
    """A page grouped by the plugin."""

    hits: Sequence[dict[str, Any]]  # as the server gives them, each with its `_dedupe`
    documents: Mapping[DocumentRef, StoredDocument]  # the documents that are still there, by index and id
    account: dict[str, Any]  # counts of what the page is based on
    total: int  # number of documents that match
    best: float | None  # the highest score
    view: ReadView  # as in `Ranking`


class EngineSearch(Protocol):
    """One query to an engine; the methods raise the errors of `Engine`.

    Where the query is None, everything matches, and nothing can be ranked.
    """

    def window(self, size: int, view: ReadView = NOW) -> RequestFlow[Ranking]:
        """Read the top of the ranking; see `Engine.search`."""

    def grouped(
        self, options: Mapping[str, object], start: int, size: int, view: ReadView = NOW
    ) -> RequestFlow[GroupedHits | None]:
        """Let a plugin inside the engine search and group; None unless every node has it."""

    def fetch(self, ids: Sequence[DocumentRef]) -> RequestFlow[list[StoredDocument]]:
        """Read documents by (index, id); see `Engine.fetch`."""

    def dates(self, ids: Sequence[DocumentRef]) -> RequestFlow[dict[DocumentRef, str]]:
        """Read the dates of documents by (index, id), in ISO 8601; those without a date are omitted."""

    def find(self, searches: Sequence[SignatureLookup]) -> RequestFlow[list[LookupResult]]:
        """Look up signature values among the matches; see `Engine.find`."""

    def long_signatures(self, ids: Sequence[DocumentRef]) -> RequestFlow[dict[DocumentRef, bytes]]:
        """Read long signatures; see `Engine.long_signatures`."""

    def coverage(self, settled_marks: stored_groups.Marks) -> RequestFlow[stored_groups.Coverage]:
        """Count the documents of the index without a settled group; the result may be that of the last seconds."""

    def collapse(self, place: Place, size: int, how: Collapsing = BY_GROUP) -> RequestFlow[Collapsed]:
        """Rank the matches, keeping only the best document of each group; a place that cannot be counted is refused."""

    def members(self, groups: Sequence[str], limit: int, how: Collapsing = BY_GROUP) -> RequestFlow[Members]:
        """Read up to `limit` matching documents of each of some groups, in rank order."""

    def leads(self, groups: Sequence[str]) -> RequestFlow[Mapping[str, Hit]]:
        """Read the matching leads of some stored groups."""

    def memberships(self, ids: Sequence[DocumentRef]) -> RequestFlow[dict[DocumentRef, stored_groups.Values]]:
        """Read the thread and the work of documents by (index, id), as values of `FIELDS`; deleted ones are omitted."""


# Whether signatures go to an index beside that of the documents, and whether that is one for look-up joins.
Beside = Literal["", "index", "lookup"]

# Where signatures go: to the documents in their place, to copies in another index, nowhere, or out again.
Destination = Literal["place", "copy", "memory", "strip"]


@dataclass(frozen=True, slots=True)
class SourceDocument:
    """The current version of a document."""

    name: stored_groups.Name  # where it is
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


@dataclass(frozen=True, slots=True)
class FieldCounts:
    """Number of documents of an index, and of those with each field that a response may leave out."""

    documents: int = 0  # all documents; 0 if no field may be left out
    by_field: Mapping[str, int] = field(default_factory=dict)  # for each such field the documents that have it


class ReindexSource(stored_groups.Parts, Protocol):
    """Documents of an index, to be signed again.

    An index of another signature schema may be read, since only what its documents say counts.
    """

    text_field: str  # field of the index with the text

    @property
    def beside(self) -> str:
        """Identity of the index beside it that takes its signatures; empty if the documents take them."""
        return ""

    @property
    def alias(self) -> str:
        """The index name, if it is an alias that can be moved to another index; else empty."""

    @property
    def updates_in_part(self) -> bool:
        """Whether documents are signed in place by partial updates, which need no JSON."""

    def check(self, target: Destination) -> None:
        """Refuse an index that cannot be signed in place, or copied; nothing is changed."""

    def prepare(self) -> None:
        """Add our fields and ledgers to the index, so that documents can be signed in place."""

    def missing_fields(self) -> list[str]:
        """Return the configured field names that no document of the index has."""

    def count(self, seq_range: stored_groups.SeqNoRange) -> int:
        """Count the documents written in a range of sequence numbers."""

    def names(self, seq_range: stored_groups.SeqNoRange, size: int) -> list[stored_groups.Name]:
        """Return the names of the first documents of a range, in the order of writing."""

    def read(self, names: Sequence[stored_groups.Name], *, raw: bool = False) -> list[SourceDocument]:
        """Read the current versions of documents, with `raw` their whole JSON too; deleted documents are omitted."""

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

    def unmark(self) -> None:
        """Remove ibidem's metadata from the index; empty fields remain."""

    def prune(self) -> int:
        """Remove the signatures beside an index of documents that are gone; returns how many."""
        return 0

    def drop_beside(self, *, dry: bool) -> tuple[int, int] | None:
        """Remove the signatures beside the index, unless others share their place; returns their number and bytes."""

    def drop_records(self) -> None:
        """Remove every ledger."""

    def size(self) -> int:
        """Return the size of the index in bytes, with its replicas."""

    def added_bytes(self, record: Record) -> int:
        """Return the bytes that signing adds to a document, before the engine compresses or indexes them."""

    def get_records(self, ledger: Ledger) -> Iterator[tuple[str, Any]]:
        """Read the records of a ledger, as in `Engine`; none if it does not exist."""

    def copy_to(self, name: str) -> "ReindexTarget":
        """Return the copy target with a name; it need not exist."""

    def close(self) -> None:
        """Close connections and files."""


class ReindexTarget(stored_groups.Parts, Protocol):
    """An index that is filled with the signed documents of another one."""

    def exists(self) -> bool:
        """Return whether there is an index of this name."""

    def is_unfilled(self) -> bool:
        """Return whether an existing index was created as this copy, and is still empty."""

    def create(self, *, with_fields: bool = True) -> None:
        """Create the target with the source's settings and mappings, with or without our fields, or complete that."""

    def take(self, documents: Sequence[Signed]) -> list[Outcome]:
        """Store copies; a newer stored version is kept (`stale`)."""

    def count_fields(self) -> FieldCounts:
        """Count fields; see `ReindexSource.count_fields`."""

    def prune(self, end: stored_groups.Marks) -> int:
        """Remove documents that the source no longer has, among those written up to a position; returns how many."""

    def check_alias(self, alias: str) -> None:
        """Refuse an invalid alias."""

    def finish(self, alias: str) -> None:
        """Apply the settings that would slow down filling, and move the alias from the source to the target."""

    def take_late(self, documents: Sequence[Signed], end: stored_groups.Marks) -> list[Outcome]:
        """Store copies, but not over documents written after a position, unless their version is older.

        It came through the alias, so it is newer; but batches do not come in the order of their versions.
        """


class Engine(Protocol):
    """A search engine that stores documents with signatures; safe for many processes at once.

    Every method raises `Unavailable` for what may pass and `Permanent` for what will not. The methods that read raise
    `Permanent` when the index does not exist, naming the command that makes it, or was written with another schema.
    """

    index: str
    is_beside: bool = False  # whether it holds the signatures of another index
    parallel_writes: bool = False  # whether several threads of a process may write at the same time

    @property
    def rejections(self) -> int:
        """Number of writes that a busy server rejected and that were retried."""
        return 0

    def create(self) -> None:
        """Create the index, its mapping and its ledgers, if missing."""

    def write(self, records: Sequence[Record]) -> list[Outcome]:
        """Store records; returns an outcome for each, in order. Refused records do not affect the others.

        A record is `STALE` when a newer version is stored, or a tombstone of a newer or equal version;
        `UNCHANGED` when one with the same digest does (its version is still raised); the same id twice in one call:
        the newer version wins, else the later. Replacements may be written after new documents.
        """

    def searching(self, query: Query | None = None) -> EngineSearch:
        """Return the search of a query, as request flows; without a query everything matches."""

    def run(self, flow: RequestFlow[T]) -> T:
        """Send the requests of a flow, wait for the responses, and return its result."""

    def search(self, query: Query, size: int, view: ReadView = NOW) -> Ranking:
        """Return the first `size` hits of the ranking, each with only its packed signatures.

        The view of an earlier ranking leaves out what was written since.
        Where nothing matches and the index lacks a field that words are looked for in, `UsageError` names likely ones.
        """
        return self.run(self.searching(query).window(size, view))

    def fetch(self, ids: Sequence[DocumentRef], query: Query | None = None) -> list[StoredDocument]:
        """Read documents by (index, id), in this order; deleted documents are omitted.

        Where the index's name is an alias, it means every index behind it. With a query its words are marked, and in a
        cluster documents that do not match it, or that a filter of the alias excludes, are left out.
        """
        return self.run(self.searching(query).fetch(ids))

    def find(self, searches: Sequence[SignatureLookup], query: Query | None = None) -> list[LookupResult]:
        """Look up signature values; returns a result for each lookup. With a query, only among its matches."""
        return self.run(self.searching(query).find(searches))

    def long_signatures(self, ids: Sequence[DocumentRef]) -> dict[DocumentRef, bytes]:
        """Read the long signatures of documents by (index, id); documents without any are omitted."""
        return self.run(self.searching().long_signatures(ids))

    def suggest(self, words: Sequence[str]) -> dict[str, str]:
        """Suggest for each unknown word the most similar term of the index.

        Nearly: a letter missing, one too many, another one, or two exchanged; of several the one that most documents
        hold. Words without such a term are left out, and so are all but the first ten.
        """

    def did_you_mean(self, query: Query) -> str:
        """Return a corrected query that has matches, or an empty string."""
        texts = (phrase.text for phrase in query.phrases() if not phrase.prefix)
        words = dict.fromkeys(word for text in texts for word, _, _ in word_spans(text))
        better = self.suggest(list(words)) if words else {}
        if not better:
            return ""
        typed = query.typed.encode("utf-8", "replace").decode()  # as `parse_query` has it
        for word, begin, end in reversed(list(word_spans(typed))):
            if word in better:
                typed = typed[:begin] + better[word] + typed[end:]
        corrected = replace(parse_query(typed), filters=query.filters, excluded=query.excluded)
        return typed if self.search(corrected, 1).total else ""

    def scan(self, size: int = 1_000) -> Iterator[list[Hit]]:
        """Scan the whole index in slices, in the order of writing; a cluster numbers the writes of each shard."""

    def delete(self, ids: Sequence[str], version: int, *, any_version: bool = False) -> list[Outcome]:
        """Delete documents and leave tombstones with the given version.

        An existing newer version is kept (`STALE`), unless `any_version` is set: then the tombstone has the next one.
        """

    def refresh(self) -> None:
        """Make all writes visible to searches."""

    def info(self) -> Info:
        """Describe the engine and the index; never raises for a missing index."""

    def health_issues(self) -> list[HealthIssue]:
        """List the problems of the index, if it exists, and of its server."""

    def close(self) -> None:
        """Close connections and files."""

    def put_records(self, ledger: Ledger, entries: Mapping[str, Entry]) -> None:
        """Store JSON records next to the index, by key; existing records are overwritten."""

    def get_records(self, ledger: Ledger, prefix: str = "") -> Iterator[tuple[str, Any]]:
        """Read the current records whose key starts with the prefix, in key order.

        They are those of the index, whatever name it was reached by, and the indexes that they name have their own
        names. What another program has made of a record is never checked here: `ledger.read_ledger` does that.
        """

    def get_record(self, ledger: Ledger, key: str) -> Any:
        """Read the current record of one key; None if there is none."""
        return self.get_records_by_key(ledger, [key]).get(key)

    def recent_record(self, ledger: Ledger, key: str) -> Any:
        """Read a record as `get_record` does, or as it was some seconds ago."""
        return self.get_record(ledger, key)

    def get_records_by_key(self, ledger: Ledger, keys: Sequence[str]) -> dict[str, Any]:
        """Read the current records of some keys; missing ones are omitted."""

    def read_record(self, ledger: Ledger, key: str) -> tuple[Any, RecordState | None]:
        """Read the latest record with a key, and its state; both are None if there is none."""

    def replace_record(self, ledger: Ledger, key: str, entry: Entry, state: RecordState | None) -> RecordState | None:
        """Replace a record in the state that was read (None: there was none); None if others have written meanwhile."""

    def count(self, ledger: Ledger) -> int:
        """Count the records of a ledger without reading them; the newest may not be counted yet."""

    def delete_records(self, ledger: Ledger, keys: Iterable[str]) -> int:
        """Remove records by key; returns how many existed."""

    def delete_unchanged(self, ledger: Ledger, entries: Mapping[str, Any]) -> int:
        """Remove the records, given by key, that have not changed since they were read; returns how many."""

    def repair_ledgers(self) -> list[str]:
        """Remove what other programs gave to the records; returns the names of what was repaired."""
        return []

    def groups(self) -> stored_groups.StoredGroups:
        """Return the groups of the index."""

    def group_set(self, *, use_cache: bool = False, takes_over: bool = False) -> "Engine":
        """Return the engine of all indexes settled together with this one, ignoring filters.

        Its ledgers keep the progress of settling. An index alone is its own set. `use_cache`: a result of the last
        seconds may be used. `takes_over`: groups that were settled index by index are settled as those of one set, and
        the progress of each is removed; else such indexes are refused, as are those of which a filter hides documents.
        """

    def facets(self, query: Query, limit: int) -> stored_groups.Facets:
        """Count all matches by year and by at most `limit` sources and languages, if these fields exist."""

    def plugin_nodes(self) -> list[PluginNode]:
        """List the nodes, each with its plugin; none if the caller may not see them."""
        return []

    def reindex_source(self, beside: Beside = "") -> ReindexSource:
        """Open the documents of the index, to be signed again; refused where an engine holds none but ours."""
        del beside
        raise UsageError(
            f"index {self.index!r} holds only what ibidem ingests, so there is no document to sign or to strip",
            "ingest the files again, into another IBIDEM_INDEX if a table or schema has changed: ibidem ingest PATH",
        )
