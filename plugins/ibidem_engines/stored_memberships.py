"""Stored memberships: the thread of each mail and the work of each version, stored with the documents.

An engine filters, collapses and counts by them. They are found in the whole index at once. A document that is written
again has none until they are found again; a mail gets its thread where its groups are settled.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, cast

from xxhash import xxh3_64_intdigest

from ibidem_dedupe.overrides import DocumentRef
from ibidem_engines.engine import Engine
from ibidem_engines.requests import RequestFlow

if TYPE_CHECKING:
    from ibidem_dedupe.threads.forest import ThreadedMail

THREAD = ("thread", "parent", "parent_by", "inclusive")
WORK = ("work", "edition", "edition_by", "current")
FIELDS = (*THREAD, *WORK)  # names of the fields, below `ibidem` in a cluster

Values = Mapping[str, object]  # values by the names of fields; None if a document has none


BY_FAMILY = "family"  # what says of an attachment that it belongs to its mail


@dataclass(frozen=True, slots=True)
class ThreadMember:
    """The place of a mail or attachment in a thread."""

    thread: str  # id of the first mail of the thread
    parent: str  # id of the mail that it answers, or that it is attached to; empty at a root
    by: str  # what says so: `headers`, `quotation`, `subject` or `family`; empty at a root
    inclusive: bool  # whether no other mail of the thread holds all of it; of an attachment, of its mail

    @property
    def is_attached(self) -> bool:
        """Whether the document is attached to a mail, and not a mail itself."""
        return self.by == BY_FAMILY

    def values(self) -> Values:
        """Return the stored form.

        >>> ThreadMember("a", "", "", True).values()
        {'thread': 'a', 'parent': None, 'parent_by': None, 'inclusive': True}
        """
        return dict(zip(THREAD, (self.thread, self.parent or None, self.by or None, self.inclusive), strict=True))


def thread_members(rows: Iterable["ThreadedMail"], families: Mapping[str, str]) -> dict[str, ThreadMember]:
    """Return the places of mails and attachments, by id.

    An attachment has the thread of its mail, and is inclusive where this is, so that a filter tears no family apart.
    """
    mails = {row.id: ThreadMember(row.thread, row.parent or "", row.by or "", row.inclusive) for row in rows}
    attachments = {
        name: ThreadMember(mails[mail].thread, mail, BY_FAMILY, mails[mail].inclusive)
        for name, mail in families.items()
        if mail in mails and name not in mails
    }
    return mails | attachments


@dataclass(frozen=True, slots=True)
class WorkMember:
    """The place of a document among the versions of its work."""

    work: str  # id of the first version
    edition: int  # its place among the versions, from 1; copies that follow each other have the same
    by: str  # what says that it is of the work: `declared`, `name` or `text`; empty for the first document
    current: bool  # whether it is the last version; of copies, the first one is

    def values(self) -> Values:
        """Return the stored form."""
        return dict(zip(WORK, (self.work, self.edition, self.by or None, self.current), strict=True))


@dataclass(frozen=True, slots=True)
class Memberships:
    """The stored thread and work of a document."""

    thread: ThreadMember | None = None  # its place in a thread; None if it has none
    work: WorkMember | None = None  # its place among the versions of a work; None if it has none

    @classmethod
    def read(cls, values: Values) -> "Memberships":
        """Parse the stored form.

        >>> Memberships.read({"work": "a", "edition": 2, "current": True}).work
        WorkMember(work='a', edition=2, by='', current=True)
        """
        text = {name: str(values.get(name) or "") for name in FIELDS}
        edition = values.get("edition")
        thread = ThreadMember(text["thread"], text["parent"], text["parent_by"], bool(values.get("inclusive")))
        number = edition if isinstance(edition, int) else 0
        work = WorkMember(text["work"], number, text["edition_by"], bool(values.get("current")))
        return cls(thread if thread.thread else None, work if work.work else None)

    def values(self, fields: Sequence[str] = FIELDS) -> Values:
        """Return the stored form of some fields; None for fields that the document lacks."""
        stored = {**(self.thread.values() if self.thread else {}), **(self.work.values() if self.work else {})}
        return {name: stored.get(name) for name in fields}


NO_MEMBERSHIPS = Memberships()


@dataclass(frozen=True, slots=True)
class MembershipChange:
    """Values to store with a document."""

    name: DocumentRef  # its index and id
    text_hash: int  # `hash_packed` of its packed signatures when it was read
    values: Values


def hash_packed(packed: bytes | None) -> int:
    """Hash packed signatures, to detect that a document has changed since it was read; 0 without signatures."""
    return xxh3_64_intdigest(packed) if packed else 0


class MembershipStore(Protocol):
    """The memberships of an index or of a group set; it raises the errors of `Engine`."""

    def prepare(self) -> None:
        """Add the fields to an index that lacks them."""

    def has_threads(self) -> bool:
        """Return whether any document has a place in a thread."""

    def read(self, names: Sequence[DocumentRef]) -> RequestFlow[dict[DocumentRef, Memberships]]:
        """Read the memberships of documents; deleted documents are omitted."""

    def write(self, changes: Sequence[MembershipChange]) -> int:
        """Write values of documents, except for documents whose text has changed since they were read.

        Returns:
            How many were written.
        """


class WithMemberships(Engine, Protocol):
    """An engine whose index stores memberships."""

    def memberships(self) -> MembershipStore:
        """Return the memberships of the index."""


def membership_store(engine: Engine) -> MembershipStore:
    """Return the store of an index's memberships."""
    return cast("WithMemberships", engine).memberships()
