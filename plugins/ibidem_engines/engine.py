"""Protocol of an engine: the operations that ibidem needs from every search engine.

One file for each engine; `tests/engines/test_contract.py` runs over all of them.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from ibidem_engines.cursor import NOW, ReadView
from ibidem_engines.query import Filter, Query
from ibidem_engines.requests import RequestFlow
from ibidem_ingest.document import Document
from ibidem_ingest.signatures.lookup_keys import LookupField
from ibidem_ingest.signatures.schema import Signatures, StoredSignatures

if TYPE_CHECKING:
    from ibidem_engines.search import EngineSearch

T = TypeVar("T")

Ledger = Literal["runs", "dead", "tombstones", "overrides", "alerts", "presets", "tags", "groups"]
# Ledgers that people write: each write depends on the record that is there, and searches see it at once.
MANUAL_LEDGERS: frozenset[Ledger] = frozenset(("overrides", "presets", "alerts", "tags"))

RecordState = tuple[int, int]  # two numbers of the engine's own, which another write of a record changes


class WriteStatus(StrEnum):
    """The status of one document after a write."""

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
    """The outcome of the write of one record."""

    id: str  # the document's id
    status: WriteStatus  # indexed, unchanged, stale, refused, deleted or missing
    order: int = 0  # a number that grows with each write, as far as the engine knows one; 0 when nothing was written
    previous_version: int | None = None  # the version that was there before; None when there was none
    field: str = ""  # for a refusal: the field at fault, or empty
    why: str = ""  # for a refusal: the reason in words


@dataclass(frozen=True, slots=True)
class Hit:
    """One hit of a ranking: only identity, score and packed signatures."""

    index: str  # the index that holds it (several, under an alias)
    id: str  # the document's id
    score: float  # the engine's score; 0.0 if it does not rank
    packed: bytes | None  # the packed signatures, or None when the document was never signed
    order: int = 0  # as in `Outcome`; 0 in a window of an engine that would have to read it apart
    sort: tuple[object, ...] = ()  # the engine's own sort values, handed through


@dataclass(frozen=True, slots=True)
class Ranking:
    """The top of a ranking."""

    hits: Sequence[Hit]  # in rank order; equal scores by index and id
    total: int  # exact number of documents that match
    view: ReadView = NOW  # what it reads; another search with it ranks the same


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A stored document, for display."""

    index: str  # the index that holds it
    document: Document  # the document, whole
    version: int  # the stored version
    idf: str  # name of the idf table it was signed with; empty when unsigned
    # Passages with the query's words between `HIGHLIGHT` marks; the beginning when no word occurs.
    snippets: Sequence[str] = ()
    title: str = ""  # the title with the same marks


# Marks around a word of the query, from the private use area, so that no text is mistaken for a mark.
HIGHLIGHT = ("\ue000", "\ue001")


@dataclass(frozen=True, slots=True)
class SignatureLookup:
    """Signature values to look up for one document."""

    values: Mapping[LookupField, Sequence[str]]  # for each field, values of which a single shared one is enough
    # How many of a field's values must be carried (1 where not named; `rare` asks for 5).
    min_shared: Mapping[LookupField, int] = field(default_factory=dict)
    # The most hits for a field, content hash aside (caps of the policy); what is over is `capped`. A value of a long
    # text that more documents carry is passed over, so that a banner page hides nothing else. With 0 the documents with
    # the content hash are only counted.
    limit: int = 1_000
    # Id of the stored document whose values these are, in the index that is searched: it is left out of the hits, and
    # the engine need not look up what only it carries. Empty: nothing is left out.
    own_id: str = ""

    def hit_limit(self, name: LookupField) -> int:
        """Return the maximum number of hits for a class of values."""
        return max(self.limit, CONTENT_HITS) if name == "content" and self.limit else self.limit


@dataclass(frozen=True, slots=True)
class LookupResult:
    """The documents that one `SignatureLookup` found."""

    # Each document once, in the order of index and id; the searching document itself too, unless it is named.
    hits: Sequence[Hit]
    capped: Sequence[LookupField] = ()  # the fields whose hits were cut at the limit
    # Number of documents with the content hash, `own_id` aside; exact, also where they are too many to be listed
    # (`CONTENT_HITS`).
    copies: int = 0


# The most documents with one content hash that are listed; a copy more often repeated is only counted (`copies`).
CONTENT_HITS = 10_000


@dataclass(frozen=True, slots=True)
class Info:
    """Facts about an engine and its index."""

    name: str  # `sqlite`, `opensearch`, `elasticsearch`
    version: str  # the server's (or library's) version
    exists: bool  # whether the index exists
    documents: int  # documents in the index
    unsigned: int  # how many of them carry no signatures
    schema: Sequence[str]  # the schema versions that the signed ones were written with
    tables: Mapping[str, int]  # documents for each idf table name


@dataclass(frozen=True, slots=True)
class HealthIssue:
    """One problem of an index."""

    name: str  # the check
    what: str  # the problem
    remedy: str  # what to do about it
    stops: bool = False  # whether nothing can be read or written before it is mended


MAX_VERSION = (1 << 63) - 1


def next_version(version: int, stored_version: int | None) -> int:
    """Return the version of a tombstone that also blocks the stored document.

    >>> next_version(5, 3), next_version(5, 7), next_version(5, MAX_VERSION) == MAX_VERSION
    (5, 8, True)
    """
    return version if stored_version is None else max(version, min(stored_version + 1, MAX_VERSION))


class Engine(Protocol):
    """A search engine that stores documents with signatures; safe for many processes at once.

    Every method raises `Unavailable` for what may pass and `Permanent` for what will not. The methods that read raise
    `Permanent` when the index does not exist, naming the command that makes it, or was written with another schema.
    """

    index: str
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

    def searching(self, query: Query | None = None) -> "EngineSearch":
        """Return the search of a query, as request flows; without a query everything matches."""

    def run(self, flow: RequestFlow[T]) -> T:
        """Send the requests of a flow, wait for the responses, and return its result."""

    def search(self, query: Query, size: int, view: ReadView = NOW, exclude: Collection[str] = ()) -> Ranking:
        """Return the first `size` hits of the ranking, each with only its packed signatures.

        The view of an earlier ranking leaves out what was written since.
        Where nothing matches and the index lacks a field that words are looked for in, `UsageError` names likely ones.
        Documents with one of the content hashes in `exclude` are left out of hits and total; all others are ranked as
        they are with them.
        """
        return self.run(self.searching(query).window(size, view, exclude))

    def fetch(self, ids: Sequence[tuple[str, str]], query: Query | None = None) -> list[StoredDocument]:
        """Read documents by (index, id), in this order; deleted documents are omitted.

        Where the index's name is an alias, it means every index behind it. With a query its words are marked, and in a
        cluster documents that do not match it, or that a filter of the alias excludes, are left out.
        """
        return self.run(self.searching(query).fetch(ids))

    def dates(self, ids: Sequence[tuple[str, str]]) -> dict[tuple[str, str], str]:
        """Read the dates of documents by (index, id), in ISO 8601, signed or not.

        Documents without a date that is understood are left out.
        """
        return self.run(self.searching().dates(ids))

    def find(self, searches: Sequence[SignatureLookup], query: Query | None = None) -> list[LookupResult]:
        """Look up signature values; returns a result for each lookup. With a query, only among its matches."""
        return self.run(self.searching(query).find(searches))

    def long_signatures(self, ids: Sequence[tuple[str, str]]) -> dict[tuple[str, str], bytes]:
        """Read the long signatures of documents by (index, id); documents without any are omitted."""
        return self.run(self.searching().long_signatures(ids))

    def suggest(self, words: Sequence[str]) -> dict[str, str]:
        """Suggest for each unknown word the most similar term of the index.

        Nearly: a letter missing, one too many, another one, or two exchanged; of several the one that most documents
        hold. Words without such a term are left out, and so are all but the first ten.
        """

    def scan(self, filters: Sequence[Filter] = (), size: int = 1_000) -> Iterator[list[Hit]]:
        """Scan the whole index in slices, in the order of writing."""

    def delete(self, ids: Sequence[str], version: int, *, any_version: bool = False) -> list[Outcome]:
        """Delete documents and leave tombstones with the given version.

        An existing newer version is kept (`STALE`), unless `any_version` is set: then the
        tombstone has the next one (`next_version`).
        """

    def refresh(self) -> None:
        """Make all writes visible to searches."""

    def info(self) -> Info:
        """Describe the engine and the index; never raises for a missing index."""

    def health_issues(self) -> list[HealthIssue]:
        """List the problems of the index, if it exists, and of its server."""

    def close(self) -> None:
        """Close connections and files."""

    def put_records(self, ledger: Ledger, entries: Mapping[str, Mapping[str, object]]) -> None:
        """Store JSON records next to the index, by key; existing records are overwritten."""

    def get_records(self, ledger: Ledger, prefix: str = "") -> Iterator[tuple[str, Any]]:
        """Read the current records whose key starts with the prefix, in key order.

        They are those of the index, whatever name it was reached by, and the indexes that they name have their own
        names. What another program has made of a record is never checked here: `ledger.read_ledger` does that.
        """

    def get_record(self, ledger: Ledger, key: str) -> Any:
        """Read the current record of one key; None if there is none."""

    def get_records_by_key(self, ledger: Ledger, keys: Sequence[str]) -> dict[str, Any]:
        """Read the current records of some keys; missing ones are omitted."""

    def read_record(self, ledger: Ledger, key: str) -> tuple[Any, RecordState | None]:
        """Read the latest record with a key, and its state; both are None if there is none."""

    def replace_record(
        self, ledger: Ledger, key: str, entry: Mapping[str, object], state: RecordState | None
    ) -> RecordState | None:
        """Replace a record in a known state; returns its new state, None if others have written meanwhile.

        Args:
            ledger: The ledger.
            key: The record's key.
            entry: The record.
            state: The state of the one that was read; None if there was none.
        """

    def count(self, ledger: Ledger) -> int:
        """Count the records of a ledger without reading them; the newest may not be counted yet."""

    def delete_records(self, ledger: Ledger, keys: Iterable[str]) -> int:
        """Remove records by key; returns how many existed."""

    def delete_unchanged(self, ledger: Ledger, entries: Mapping[str, Any]) -> int:
        """Remove the records, given by key, that have not changed since they were read; returns how many."""

    def repair_ledgers(self) -> list[str]:
        """Rebuild ledgers that another program created, keeping their records; returns their names."""

    def cursor_key(self) -> bytes:
        """Return the cursor key created by `create`; empty if it does not exist, or may not be read."""
