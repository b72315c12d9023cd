"""Threads or works of all documents of an index: found again, and stored where they have changed."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from ibidem.index.documents import AT_ONCE, TEXTS_AT_ONCE
from ibidem_dedupe.overrides import DocumentRef
from ibidem_dedupe.threads.forest import Forest
from ibidem_dedupe.threads.parents import Parents
from ibidem_dedupe.threads.thread_mail import thread_mails
from ibidem_dedupe.versions.version_order import versions
from ibidem_dedupe.versions.versioned_document import versioned_documents
from ibidem_dedupe.versions.works import Works
from ibidem_engines.engine import Engine
from ibidem_engines.stored_groups import (
    NO_MEMBERSHIPS,
    THREAD,
    WORK,
    MembershipChange,
    Values,
    WorkMember,
    hash_packed,
    thread_members,
)
from ibidem_ingest.document import Document
from ibidem_ingest.mail.head import family_id

Progress = Callable[[int], None]  # called with the number of documents read so far


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
                if name in stored and wanted != stored.get(name, NO_MEMBERSHIPS).values(fields):
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
