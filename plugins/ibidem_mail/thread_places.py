"""Places of new mails in stored threads, found by their headers among the threads that they affect.

A mail is placed when its groups are settled. The mails that its head names, those that name it, and those that name
what it names are looked up, and their threads are read whole: these are all that it may change. Parents by quotation
or subject stay as the last search through all documents found them, and none is looked for.

In a cluster a document that is placed counts as a later write, so places are written when all groups are settled, or
those of many documents.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from ibidem_dedupe.overrides import DocumentRef
from ibidem_engines.engine import Engine
from ibidem_engines.query import Filter, Query
from ibidem_engines.stored_groups import (
    THREAD,
    GroupedDocument,
    MembershipChange,
    Values,
    hash_packed,
    index_places,
)
from ibidem_ingest.document import Document
from ibidem_ingest.mail.head import (
    ANSWERED,
    FAMILY,
    MESSAGE_ID,
    REFERENCES,
    ancestor_ids,
    family_id,
    is_mail,
    message_ids,
)
from ibidem_mail.forest import Forest
from ibidem_mail.memberships import Memberships, thread_members
from ibidem_mail.parents import By, Parents, thread_mails
from ibidem_workers.groups.lookup_match import ref

# Documents of the touched threads that are read for one mail; a mail that touches more has no place for now.
MAX_DOCUMENTS = 2_000

AT_ONCE, TEXTS_AT_ONCE = 500, 20  # documents that are placed together, and those whose texts are in memory together

MAX_WAITING = 50_000  # documents that wait for their places, before they are placed although others are not settled yet

TURNS = 3  # how often documents are placed again of which some have changed after they were read

VALUES = 1_000  # values that are looked up at once


class _Crowd(Exception):
    """There are more documents than the limit."""


@dataclass(slots=True)
class ThreadPlaces:
    """The places of mails in the stored threads of an index."""

    engine: Engine  # the index, or the set of those behind an alias
    # Renews the lease on settling; returns whether another process settles now.
    is_lost: Callable[[], bool] = lambda: False
    limit: int = MAX_DOCUMENTS  # documents of the touched threads that are read for one mail
    _waiting: list[DocumentRef] = field(default_factory=list)
    _has_threads: bool | None = None
    _is_prepared: bool = False

    def add(self, names: Sequence[DocumentRef]) -> None:
        """Record documents that need a place, unless the index stores no threads (checked once)."""
        if self._has_threads is None:
            self._has_threads = self.engine.memberships().has_threads()
        if self._has_threads:
            self._waiting += names
        if len(self._waiting) >= MAX_WAITING:
            self.place()

    def place(self) -> None:
        """Place the recorded mails and attachments that have no place yet; without the lease, they stay recorded."""
        if self._waiting:
            self.engine.refresh()  # some have joined a group meanwhile; the current state is read before the write
        while (batch := self._waiting[:AT_ONCE]) and not self.is_lost():
            stored = self.engine.run(self.engine.memberships().read(batch))
            self._place([name for name in batch if name in stored and not stored[name]["thread"]])
            del self._waiting[:AT_ONCE]  # only now: if one of several indexes was deleted, the next step continues

    def _place(self, names: Sequence[DocumentRef], turn: int = 1) -> None:
        """Place documents together, or in halves if they affect too many others."""
        if not names or self.is_lost():
            return
        try:
            touched = self._touched(names)
        except _Crowd:
            half = len(names) // 2
            for some in (names[:half], names[half:]) if half else ():
                self._place(some)
            return
        changes = list(self._changes(touched)) if touched is not None else []
        if changes and not self._write(changes) and turn < TURNS:
            self._place(names, turn + 1)

    def _write(self, changes: Sequence[MembershipChange]) -> bool:
        """Write places; returns whether all were written, since a document may change after it was read."""
        store = self.engine.memberships()
        if not self._is_prepared:
            store.prepare()
            self._is_prepared = True
        written = store.write(changes)
        self.engine.refresh()  # the look-ups for the next mails need these writes
        return written == len(changes)

    def _touched(self, names: Sequence[DocumentRef]) -> "_Touched | None":
        """Find the mails among documents, and others whose places may change; None if there are none."""
        heads = _Heads()
        for document_name, document in self._documents(names):
            heads.add(document_name, document)
        if not heads.names:
            return None
        new = self._unique(heads.names)
        mail_ids = list(heads.mails)
        found = self._find("id", heads.families)
        for each in (MESSAGE_ID, ANSWERED, REFERENCES):
            found |= self._find(f"meta.{each}", heads.values())
        attached = self._find(f"meta.{FAMILY}", mail_ids)
        stored = self.engine.run(self.engine.memberships().read(sorted(found)))
        threads = {str(each["thread"]) for each in stored.values() if each["thread"]}
        members = self._find("thread", sorted({*threads, *mail_ids}))
        if len(touched := {*new, *attached, *members}) > self.limit:
            raise _Crowd
        return self._read(touched, new)

    def _find(self, field_name: str, values: Sequence[str]) -> set[DocumentRef]:
        """Look up the documents that have any of the values in a field."""
        names: set[DocumentRef] = set()
        for start in range(0, len(values), VALUES):
            filters = tuple(Filter(field_name, value) for value in values[start : start + VALUES])
            ranking = self.engine.search(Query(filters=filters), self.limit)
            if ranking.total > len(ranking.hits):
                raise _Crowd
            names |= {(hit.index, hit.id) for hit in ranking.hits}
        return names

    def _unique(self, names: Sequence[DocumentRef]) -> set[DocumentRef]:
        """Leave out documents whose id exists in several indexes, since answers to them are ambiguous."""
        if len(index_places(self.engine.groups())) == 1:
            return set(names)
        holders = Counter(id_ for _, id_ in self._find("id", sorted({id_ for _, id_ in names})))
        return {name for name in names if holders[name[1]] == 1}

    def _read(self, names: Iterable[DocumentRef], new: set[DocumentRef]) -> "_Touched":
        """Read the documents with their memberships."""
        documents = self.engine.groups().read(sorted(names))
        stored = self.engine.run(self.engine.memberships().read([ref(each) for each in documents]))
        return _Touched(documents, stored, new)

    def _documents(self, names: Sequence[DocumentRef]) -> Iterator[tuple[DocumentRef, Document]]:
        for start in range(0, len(names), TEXTS_AT_ONCE):
            for each in self.engine.fetch(names[start : start + TEXTS_AT_ONCE]):
                yield (each.index, each.document.id), each.document

    def _changes(self, touched: "_Touched") -> Iterator[MembershipChange]:
        """Yield the places of documents that differ from the stored ones."""
        families: dict[str, str] = {}
        parents = Parents.of_heads(thread_mails(self._mails(touched, families)), touched.known_parents())
        members = thread_members(Forest.grow(parents).rows(), families)
        holders = Counter(id_ for _, id_ in touched.stored)
        for each in touched.documents:
            name = ref(each)
            member = members.get(name[1]) if holders[name[1]] == 1 else None
            if member and member.values() != touched.place(name):
                yield MembershipChange(name, hash_packed(each.packed), member.values())

    def _mails(self, touched: "_Touched", families: dict[str, str]) -> Iterator[Document]:
        """Yield the mails that have or get a place, and record which mail each attachment names."""
        for name, document in self._documents([ref(each) for each in touched.documents]):
            if not is_mail(document.meta):
                if family := family_id(document.meta, document.id):
                    families[document.id] = family
            elif name in touched.new or touched.place(name)["thread"]:
                yield document


@dataclass(slots=True)
class _Heads:
    """The message ids in the headers of new documents."""

    names: list[DocumentRef] = field(default_factory=list)  # the mails, and what is attached to mails
    mails: dict[str, None] = field(default_factory=dict)  # ids of the mails, once each
    families: list[str] = field(default_factory=list)  # ids of the mails that attachments name
    _message_ids: dict[str, None] = field(default_factory=dict)

    def add(self, name: DocumentRef, document: Document) -> None:
        """Record the header of a document."""
        if is_mail(document.meta):
            self.names.append(name)
            self.mails[document.id] = None
            own = message_ids(document.meta.get(MESSAGE_ID))[:1]
            self._message_ids |= dict.fromkeys([*own, *ancestor_ids(document.meta)])
        elif family := family_id(document.meta, document.id):
            self.names.append(name)
            self.families.append(family)

    def values(self) -> list[str]:
        """Return the message ids in all forms that readers write."""
        return [form for each in self._message_ids for form in (f"<{each}>", each)]


@dataclass(frozen=True, slots=True)
class _Touched:
    """New documents, and others whose places they may change."""

    documents: Sequence[GroupedDocument]  # all of them
    stored: Mapping[DocumentRef, Values]  # their stored memberships
    new: set[DocumentRef]  # those that are new

    def place(self, name: DocumentRef) -> Values:
        """Return the stored place of a document in a thread."""
        stored = self.stored.get(name, {})
        return {each: stored.get(each) for each in THREAD}

    def known_parents(self) -> dict[str, tuple[str, By]]:
        """Return the parents that were found by the contents of mails, by id."""
        places = [(id_, Memberships.read(values).thread) for (_, id_), values in self.stored.items()]
        return {
            id_: (place.parent, cast("By", place.by))
            for id_, place in places
            if place and place.by in {"quotation", "subject"}
        }
