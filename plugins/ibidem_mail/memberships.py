"""Places of documents in threads and works: their stored form, and finding them for all documents of an index."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ibidem.index.documents import AT_ONCE, TEXTS_AT_ONCE
from ibidem_dedupe.overrides import DocumentRef
from ibidem_engines.engine import Engine
from ibidem_engines.stored_groups import FIELDS, THREAD, WORK, MembershipChange, Values, hash_packed
from ibidem_ingest.document import Document
from ibidem_ingest.mail.head import family_id
from ibidem_mail.forest import Forest, ThreadedMail
from ibidem_mail.parents import Parents, thread_mails
from ibidem_mail.version_order import versions
from ibidem_mail.versioned_document import versioned_documents
from ibidem_mail.works import Works

Progress = Callable[[int], None]  # called with the number of documents read so far


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


def thread_members(rows: Iterable[ThreadedMail], families: Mapping[str, str]) -> dict[str, ThreadMember]:
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
    current: bool  # whether it is the last version; of copies, the last by name or date

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


# How a mail is below another, by what says so.
ANSWERS: Mapping[object, str] = {
    "headers": "answers {}, according to its header",
    "quotation": "answers {}, which it quotes",
    "subject": "answers {}, by subject, people and time",
    "family": "attached to {}",
}

# What says that a document is a version.
VERSIONS: Mapping[object, str] = {
    "declared": "as a field declares",
    "name": "by its name and text",
    "text": "by its text",
}


def membership_reason(why: Mapping[str, object]) -> str:
    """Explain why a document belongs to a thread or a work.

    >>> membership_reason({"signature": "thread", "by": "quotation", "parent": "in.mbox#1"})
    'answers in.mbox#1, which it quotes'
    >>> membership_reason({"signature": "version", "by": "name", "edition": 2})
    'version 2, by its name and text'
    """
    if why["signature"] == "thread":
        return ANSWERS.get(why.get("by"), "of the same thread").format(why.get("parent"))
    by = VERSIONS.get(why.get("by"))
    return f"version {why['edition']}" + (f", {by}" if by else "")


@dataclass(frozen=True, slots=True)
class WrittenMembers:
    """The counts of written threads or works."""

    documents: int  # documents that have a place in a thread, or in a work
    sets: int  # threads, or works
    written: int  # documents whose fields were written, since they were others
    changed: int  # documents that were written again meanwhile: they have no place until the next time
    ambiguous: int  # documents whose id several indexes hold; they have no place

    def as_json(self, sets: str) -> dict[str, int]:
        """Return the counts as `ibidem regroup --json` prints them."""
        return {
            "documents": self.documents,
            sets: self.sets,
            "written": self.written,
            "changed": self.changed,
            "ambiguous": self.ambiguous,
        }


@dataclass(slots=True)
class Reading:
    """One pass over all documents of an index, with the data needed to write to them."""

    engine: Engine  # the index, or the set of those behind an alias
    progress: Progress  # called with the number of documents read so far
    text_hashes: dict[DocumentRef, int] = field(default_factory=dict)  # `hash_packed` of each document that was read
    families: dict[str, str] = field(default_factory=dict)  # the mail that each attachment names

    def documents(self) -> Iterator[Document]:
        """Read all documents completely."""
        for hits in self.engine.scan(size=AT_ONCE):
            hashes = {(hit.index, hit.id): hash_packed(hit.packed) for hit in hits}
            names = list(hashes)
            for start in range(0, len(names), TEXTS_AT_ONCE):
                for stored in self.engine.fetch(names[start : start + TEXTS_AT_ONCE]):
                    document = stored.document
                    self.text_hashes[stored.index, document.id] = hashes[stored.index, document.id]
                    if family := family_id(document.meta, document.id):
                        self.families[document.id] = family
                    yield document
            self.progress(len(self.text_hashes))

    def write(self, places: Mapping[str, Values], fields: tuple[str, ...], sets: int) -> WrittenMembers:
        """Write the places of documents that differ from the stored ones."""
        store, nothing = self.engine.memberships(), dict.fromkeys(fields)
        store.prepare()
        holders = Counter(name for _, name in self.text_hashes)
        names, planned, written = list(self.text_hashes), 0, 0
        for start in range(0, len(names), AT_ONCE):
            batch = names[start : start + AT_ONCE]
            stored = self.engine.run(store.read(batch))
            changes = []
            for name in batch:
                wanted = places.get(name[1], nothing) if holders[name[1]] == 1 else nothing
                if name in stored and wanted != {field: stored[name][field] for field in fields}:
                    changes.append(MembershipChange(name, self.text_hashes[name], wanted))
            planned += len(changes)
            written += store.write(changes) if changes else 0
        ambiguous = sum(count for count in holders.values() if count > 1)
        documents = sum(holders[name] == 1 for name in places)
        return WrittenMembers(documents, sets, written, planned - written, ambiguous)


def write_threads(engine: Engine, progress: Progress = lambda _: None) -> WrittenMembers:
    """Find the threads of all mails, and store the place of each mail and attachment."""
    reading = Reading(engine.group_set(), progress)
    forest = Forest.grow(Parents.find(thread_mails(reading.documents())))
    members = thread_members(forest.rows(), reading.families)
    places = {name: member.values() for name, member in members.items()}
    return reading.write(places, THREAD, len({member.thread for member in members.values()}))


def write_works(engine: Engine, progress: Progress = lambda _: None) -> WrittenMembers:
    """Find the works of all documents, and store each document's place among the versions."""
    reading = Reading(engine.group_set(), progress)
    rows = list(versions(Works.find(versioned_documents(reading.documents()))))
    places = {row.id: WorkMember(row.work, row.version, row.by or "", row.current).values() for row in rows}
    return reading.write(places, WORK, len({row.work for row in rows}))
