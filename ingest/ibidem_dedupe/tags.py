"""Tags that reviewers give to documents, kept as a ledger whose entries are never changed.

An entry gives a tag to documents, or takes it back: who, when, which documents with which texts, in which group. The
last entry on a document holds, and `relevant` and `not-relevant` replace each other. Tags join and part no documents.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, get_args
from unicodedata import normalize

from ibidem_core.records import parse_record
from ibidem_dedupe.overrides import DocumentRef
from ibidem_ingest.errors import UsageError, short_repr

RELEVANT, NOT_RELEVANT, PRIVILEGED = "relevant", "not-relevant", "privileged"
USUAL = (RELEVANT, NOT_RELEVANT, PRIVILEGED)  # tags that every review has; any other word may be one

RELEVANCE = (RELEVANT, NOT_RELEVANT)  # tags of which a document has one at most

MAX_TAG = 100
MAX_DOCUMENTS = 10_000  # documents of one entry

Action = Literal["add", "remove"]
ACTIONS: tuple[Action, ...] = get_args(Action)

Kind = Literal["document", "group", "thread"]
# What was tagged in one step: documents that were named, a group of duplicates, or a thread of mails.
KINDS: tuple[Kind, ...] = get_args(Kind)


def read_tag(typed: str) -> str:
    """Normalize a tag: lower case and single spaces, so that `Privileged` and `privileged` are one tag.

    >>> read_tag("  Project  Falcon ")
    'project falcon'
    """
    tag = " ".join(normalize("NFC", typed).lower().split())
    if not 0 < len(tag) <= MAX_TAG or "," in tag or not tag.isprintable():
        raise UsageError(
            f"tag {short_repr(typed)} is not allowed",
            f"write {', '.join(USUAL)} or a word of your own, at most {MAX_TAG} characters without a comma",
        )
    return tag


@dataclass(frozen=True, slots=True)
class TaggedDocument:
    """A document as it was when it was tagged."""

    index: str
    id: str
    content: str = ""  # the content hash of its text: `ch3:` and 32 hex digits; empty if it was not signed

    @property
    def name(self) -> DocumentRef:
        """Index and id of the document."""
        return self.index, self.id


@dataclass(frozen=True, slots=True)
class TagEntry:
    """An entry of the ledger of tags."""

    tag: str  # the tag, as `read_tag` writes it
    action: Action  # whether the documents got it, or it was taken back
    documents: tuple[TaggedDocument, ...]
    author: str = ""  # name of the person
    date: str = ""  # when, ISO 8601 in UTC
    kind: Kind = "document"  # in what they were found
    # Index and id of the first document of that group or thread; None for documents that were named.
    lead: DocumentRef | None = None
    reason: str = ""  # why

    def __post_init__(self) -> None:
        """Refuse a tag that `read_tag` has not normalized."""
        if read_tag(self.tag) != self.tag:
            raise UsageError(f"tag {short_repr(self.tag)} is not written as tags are", f"write {read_tag(self.tag)!r}")

    def as_record(self) -> dict[str, object]:
        """Return the record that is stored and shown."""
        return asdict(self) | {
            "documents": [asdict(each) for each in self.documents],
            "lead": None if self.lead is None else list(self.lead),
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "TagEntry":
        """Parse a record of `as_record`; unknown fields are ignored."""
        return parse_record(cls, {name: record[name] for name in cls.__slots__ if name in record})

    def among(self, names: Collection[DocumentRef]) -> "TagEntry | None":
        """Return the entry reduced to documents that a user may read; None if it is about none of them.

        Lead and reason were written with all of its documents in view, so they are left out where one is.
        """
        documents = tuple(each for each in self.documents if each.name in names)
        if len(documents) == len(self.documents) and (self.lead is None or self.lead in names):
            return self
        return replace(self, documents=documents, lead=None, reason="") if documents else None


@dataclass(frozen=True, slots=True)
class LastEntry:
    """The last entry on a document and a tag; it decides whether the document has the tag."""

    entry: TagEntry
    content: str  # content hash of the document when it was made


def question(tag: str) -> tuple[str, ...]:
    """Return the tags that exclude each other and this one, such as relevant and not relevant.

    >>> question("relevant"), question("privileged")
    (('relevant', 'not-relevant'), ('privileged',))
    """
    return RELEVANCE if tag in RELEVANCE else (tag,)


class Tags:
    """The entries of tags of an index, and the current tags of each document."""

    def __init__(self, entries: Iterable[TagEntry]) -> None:
        self.entries: Sequence[TagEntry] = list(entries)
        self._last: dict[DocumentRef, dict[tuple[str, ...], LastEntry]] = {}
        for entry in self.entries:
            for document in entry.documents:
                self._take(entry, document)

    def _take(self, entry: TagEntry, document: TaggedDocument) -> None:
        """Apply an entry to a document; removing a tag that the document does not have changes nothing."""
        entries, asked = self._last.setdefault(document.name, {}), question(entry.tag)
        last = entries.get(asked)
        if entry.action == "add" or last is None or last.entry.tag == entry.tag:
            entries[asked] = LastEntry(entry, document.content)

    @property
    def names(self) -> Collection[DocumentRef]:
        """The documents of all entries."""
        return self._last.keys()

    @property
    def tagged(self) -> Collection[DocumentRef]:
        """The documents that have a tag now."""
        return [name for name in self._last if self.standing(name)]

    def standing(self, name: DocumentRef) -> Mapping[str, LastEntry]:
        """Return the last entry of each current tag of a document, in alphabetical order of the tags."""
        given = [last for last in self._last.get(name, {}).values() if last.entry.action == "add"]
        return {last.entry.tag: last for last in sorted(given, key=lambda last: last.entry.tag)}

    def holds(self, entry: TagEntry, name: DocumentRef) -> bool:
        """Return whether an entry is the last one on a document and its tag."""
        last = self._last.get(name, {}).get(question(entry.tag))
        return last is not None and last.entry is entry

    def rows(self) -> Iterator[tuple[TagEntry, TaggedDocument]]:
        """Yield every document of every entry."""
        for entry in self.entries:
            for document in entry.documents:
                yield entry, document


def has_changed(old_hash: str, now: str) -> bool:
    """Return whether a text has changed between two content hashes; False for hashes of different schemes.

    >>> has_changed("ch3:aa", "ch3:bb"), has_changed("ch3:aa", "ch4:bb"), has_changed("", "ch3:bb")
    (True, False, False)
    """
    return old_hash != now and old_hash.partition(":")[0] == now.partition(":")[0]
