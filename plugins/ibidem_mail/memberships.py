"""Places of documents in threads and works: their stored form; finding them for all documents, and for new mails.

In a window, a thread is shown as a tree: a mail below the one that it answers, among several answers the inclusive ones
first; on top is the mail that answers no other of the list. A work is shown with its last version on top.

A new mail is placed by its headers when its groups are settled. The mails that its head names, those that name it, and
those that name what it names are looked up, and their threads are read whole: these are all that it may change. Parents
by quotation or subject stay as the last search through all documents found them. In a cluster a document that is placed
counts as a later write, so places are written when all groups are settled, or those of many documents.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple, cast

from ibidem.index.documents import AT_ONCE, fetch_documents
from ibidem_dedupe.overrides import DocumentRef
from ibidem_dedupe.parameters import Membership
from ibidem_engines import stored_groups
from ibidem_engines.engine import Engine
from ibidem_engines.query import Filter, Query
from ibidem_engines.requests import in_slices
from ibidem_ingest.document import Document
from ibidem_ingest.mail import head
from ibidem_mail.forest import Forest, ThreadedMail
from ibidem_mail.parents import By, Parents, thread_mails
from ibidem_mail.works import Works, versioned_documents, versions
from ibidem_workers.groups.settle import ref

Progress = Callable[[int], None]  # called with the number of documents read so far


BY_FAMILY = "family"  # what says of an attachment that it belongs to its mail


class ThreadMember(NamedTuple):
    """The place of a mail or attachment in a thread."""

    thread: str  # id of the first mail of the thread
    parent: str  # id of the mail that it answers, or that it is attached to; empty at a root
    by: str  # what says so: `headers`, `quotation`, `subject` or `family`; empty at a root
    inclusive: bool  # whether no other mail of the thread holds all of it; of an attachment, of its mail

    @property
    def is_attached(self) -> bool:
        """Whether the document is attached to a mail, and not a mail itself."""
        return self.by == BY_FAMILY

    @classmethod
    def read(cls, values: stored_groups.Values) -> "ThreadMember | None":
        """Parse the stored form; None for a document of no thread."""
        thread, parent, by = (str(values.get(name) or "") for name in ("thread", "parent", "parent_by"))
        return cls(thread, parent, by, bool(values.get("inclusive"))) if thread else None


def thread_places(rows: Iterable[ThreadedMail], families: Mapping[str, str]) -> dict[str, stored_groups.Values]:
    """Return the places of mails and attachments in their stored form, by id.

    An attachment has the thread of its mail, and is inclusive where this is, so that a filter tears no family apart.
    """
    places: dict[str, stored_groups.Values] = {}
    for row in rows:
        places[row.id] = dict(zip(stored_groups.THREAD, (row.thread, row.parent, row.by, row.inclusive), strict=True))
    attachments = {
        name: {**places[mail], "parent": mail, "parent_by": BY_FAMILY}
        for name, mail in families.items()
        if mail in places and name not in places
    }
    return places | attachments


class WorkMember(NamedTuple):
    """The place of a document among the versions of its work."""

    work: str  # id of the first version
    edition: int  # its place among the versions, from 1; copies that follow each other have the same
    by: str  # what says that it is of the work: `declared`, `name` or `text`; empty for the first document
    current: bool  # whether it is the last version; of copies, the last by name or date

    @classmethod
    def read(cls, values: stored_groups.Values) -> "WorkMember | None":
        """Parse the stored form; None for a document of no work.

        >>> WorkMember.read({"work": "a", "edition": 2, "current": True})
        WorkMember(work='a', edition=2, by='', current=True)
        """
        work, by, edition = values.get("work"), str(values.get("edition_by") or ""), values.get("edition")
        number = edition if isinstance(edition, int) else 0
        return cls(str(work), number, by, bool(values.get("current"))) if work else None


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
        return {sets if name == "sets" else name: count for name, count in asdict(self).items()}


@dataclass(slots=True)
class Reading:
    """One pass over all documents of an index, with the data needed to write to them."""

    engine: Engine  # the index, or the set of those behind an alias
    progress: Progress  # called with the number of documents read so far
    text_hashes: dict[DocumentRef, int] = field(default_factory=dict)  # `hash_packed` of each document that was read
    families: dict[str, str] = field(default_factory=dict)  # the mail that each attachment names

    def documents(self) -> Iterator[Document]:
        for hits in self.engine.scan(size=AT_ONCE):
            hashes = {(hit.index, hit.id): stored_groups.hash_packed(hit.packed) for hit in hits}
            for stored in fetch_documents(self.engine, list(hashes)):
                document = stored.document
                self.text_hashes[stored.index, document.id] = hashes[stored.index, document.id]
                if family := head.family_id(document.meta, document.id):
                    self.families[document.id] = family
                yield document
            self.progress(len(self.text_hashes))

    def write(self, places: Mapping[str, stored_groups.Values], fields: tuple[str, ...], sets: int) -> WrittenMembers:
        """Write the places of documents that differ from the stored ones."""
        store, nothing = self.engine.groups(), dict.fromkeys(fields)
        store.prepare_memberships()
        holders = Counter(name for _, name in self.text_hashes)
        planned = written = 0
        for batch in in_slices(list(self.text_hashes), AT_ONCE):
            stored = self.engine.run(self.engine.searching().memberships(batch))
            changes = []
            for name in batch:
                wanted = places.get(name[1], nothing) if holders[name[1]] == 1 else nothing
                if name in stored and wanted != {field: stored[name][field] for field in fields}:
                    changes.append(stored_groups.MembershipChange(name, self.text_hashes[name], wanted))
            planned += len(changes)
            written += store.write_memberships(changes) if changes else 0
        ambiguous = sum(count for count in holders.values() if count > 1)
        documents = sum(holders[name] == 1 for name in places)
        return WrittenMembers(documents, sets, written, planned - written, ambiguous)


def write_threads(engine: Engine, progress: Progress = lambda _: None) -> WrittenMembers:
    """Find the threads of all mails, and store the place of each mail and attachment."""
    reading = Reading(engine.group_set(), progress)
    forest = Forest.grow(Parents.find(thread_mails(reading.documents())))
    places = thread_places(forest.rows(), reading.families)
    return reading.write(places, stored_groups.THREAD, len({place["thread"] for place in places.values()}))


def write_works(engine: Engine, progress: Progress = lambda _: None) -> WrittenMembers:
    """Find the works of all documents, and store each document's place among the versions."""
    reading = Reading(engine.group_set(), progress)
    rows = list(versions(Works.find(versioned_documents(reading.documents()))))
    places = {
        row.id: dict(zip(stored_groups.WORK, (row.work, row.version, row.by, row.current), strict=True)) for row in rows
    }
    return reading.write(places, stored_groups.WORK, len({row.work for row in rows}))


# Remedy where no document is of a thread or a work.
COMMANDS: Mapping[Membership, str] = {
    "thread": "find and store the threads of mails with: ibidem regroup --threads",
    "version": "find and store the versions of works with: ibidem regroup --versions",
}


@dataclass(frozen=True, eq=False, slots=True)
class WindowMembers:
    """The stored threads or works of the documents of a window."""

    kind: Membership
    names: Sequence[DocumentRef]  # index and id of each row
    stored: Sequence[stored_groups.Values]  # their stored values
    days: Sequence[int]  # first day of each row's date; a large number without one

    @property
    def is_ordered(self) -> bool:
        """Whether the document on top is the current one."""
        return self.kind == "version"

    def member(self, row: int) -> ThreadMember | WorkMember | None:
        """Return a row's place in its thread, or in its work if works are grouped."""
        return (ThreadMember if self.kind == "thread" else WorkMember).read(self.stored[row])

    def set_name(self, row: int) -> str:
        """Return the thread or work of a row; empty for other documents."""
        return str(self.stored[row].get("thread" if self.kind == "thread" else "work") or "")

    def top(self, rows: Sequence[int]) -> int:
        """Return the row to show on top: the first mail in the tree of answers, or the last version."""
        if self.kind == "version":
            return min(rows, key=self._age)
        ids = {self.names[row][1] for row in rows}
        return min(rows, key=lambda row: (self.parent(row) in ids, self.parent(row) != "", self.days[row], row))

    def order(self, rows: Sequence[int], top: int) -> tuple[Sequence[int], Mapping[int, int]]:
        """Return the other rows, inclusive mails or later versions first, and the depth of each, in display order."""
        others = [row for row in rows if row != top]
        if self.kind == "version":
            newest = sorted(others, key=self._age)
            return newest, dict.fromkeys(newest, 1)
        depths = self._tree(others, top)
        return sorted(depths, key=lambda row: not self.is_inclusive(row)), depths

    def mark(self, row: int, others: Sequence[int] | None) -> dict[str, Any]:
        """Return what the hit of a row says of it; a lead gets the other rows of its group."""
        member = self.member(row)
        if isinstance(member, WorkMember):
            return {"edition": member.edition, "current": member.current}
        families = {} if others is None else {"families": self.families((row, *others))}
        return {"inclusive": member.inclusive, "parent": member.parent or None} | families if member else {}

    def why(self, row: int) -> dict[str, Any] | None:
        """Return why a row belongs to its thread or work, also in words."""
        if (member := self.member(row)) is None:
            return None
        place = {"edition": member.edition} if isinstance(member, WorkMember) else {"parent": member.parent or None}
        why = {"signature": self.kind, "by": member.by or None, **place}
        return why | {"phrase": membership_reason(why)}

    def stats(self, ranked: int) -> dict[str, Any]:
        """Return how many of the ranked rows have a place; the remedy if none has."""
        rows = range(ranked)
        placed = sum(bool(self.set_name(row)) for row in rows)
        families = {"families": self.families(rows)} if self.kind == "thread" and placed else {}
        return {"placed": placed} | families | ({} if placed or not ranked else {"remedy": COMMANDS[self.kind]})

    def parent(self, row: int) -> str:
        """Return the id of the mail that a row answers or is attached to; empty at a root."""
        return str(self.stored[row].get("parent") or "")

    def is_inclusive(self, row: int) -> bool:
        """Return whether no other mail of the thread contains the whole mail."""
        return bool(self.stored[row].get("inclusive"))

    def families(self, rows: Sequence[int]) -> int:
        """Count the families of rows, each of a mail and what is attached to it."""
        members = ((row, self.member(row)) for row in rows)
        mails = {row: each.parent for row, each in members if isinstance(each, ThreadMember) and each.is_attached}
        return len({(self.set_name(row), mails.get(row, self.names[row][1])) for row in rows})

    def _age(self, row: int) -> tuple[int, bool, int]:
        """Return the sort key of versions, the last version first."""
        work = self.member(row)
        return (-work.edition, not work.current, row) if isinstance(work, WorkMember) else (0, True, row)

    def _tree(self, rows: Sequence[int], top: int) -> Mapping[int, int]:
        """Return the depth of each row, in tree order; rows that answer no other row are right below the top."""
        by_id, name = {self.names[row][1]: row for row in reversed(rows)}, self.names[top][1]
        below: defaultdict[int, list[int]] = defaultdict(list)
        for row in rows:
            above = by_id.get(self.parent(row), top)
            below[top if above == row else above].append(row)
        for answers in below.values():
            answers.sort(
                key=lambda row: (self.parent(row) != name, not self.is_inclusive(row), self.days[row], row),
                reverse=True,
            )
        depths: dict[int, int] = {}
        waiting = [(row, 1) for row in below.pop(top, ())]
        while waiting:
            row, depth = waiting.pop()
            depths[row] = depth
            waiting += [(each, depth + 1) for each in below.pop(row, ())]
        return depths | {row: 1 for row in rows if row not in depths}  # in a cycle the top is itself a parent


# Documents of the touched threads that are read for one mail; a mail that touches more has no place for now.
MAX_DOCUMENTS = 2_000

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
            self._has_threads = self.engine.groups().has_threads()
        if self._has_threads:
            self._waiting += names
        if len(self._waiting) >= MAX_WAITING:
            self.place()

    def place(self) -> None:
        """Place the recorded mails and attachments that have no place yet; without the lease, they stay recorded."""
        if self._waiting:
            self.engine.refresh()  # some have joined a group meanwhile; the current state is read before the write
        while (batch := self._waiting[:AT_ONCE]) and not self.is_lost():
            stored = self.engine.run(self.engine.searching().memberships(batch))
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
        changes = list(self._changes(*touched)) if touched is not None else []
        if changes and not self._write(changes) and turn < TURNS:
            self._place(names, turn + 1)

    def _write(self, changes: Sequence[stored_groups.MembershipChange]) -> bool:
        """Write places; returns whether all were written, since a document may change after it was read."""
        store = self.engine.groups()
        if not self._is_prepared:
            store.prepare_memberships()
            self._is_prepared = True
        written = store.write_memberships(changes)
        self.engine.refresh()  # the look-ups for the next mails need these writes
        return written == len(changes)

    def _touched(
        self, names: Sequence[DocumentRef]
    ) -> tuple[Sequence[stored_groups.GroupedDocument], set[DocumentRef]] | None:
        """Find the mails among documents and others whose places may change, and which are new; None without mails."""
        placed, families = list[DocumentRef](), list[str]()
        mails, named = dict[str, None](), dict[str, None]()  # ids of the mails, and message ids in their headers
        for entry in fetch_documents(self.engine, names):
            document, name = entry.document, (entry.index, entry.document.id)
            if head.is_mail(document.meta):
                placed.append(name)
                mails[document.id] = None
                own = head.message_ids(document.meta.get(head.MESSAGE_ID))[:1]
                named |= dict.fromkeys([*own, *head.ancestor_ids(document.meta)])
            elif family := head.family_id(document.meta, document.id):
                placed.append(name)
                families.append(family)
        if not placed:
            return None
        new = set(placed)
        if len(stored_groups.index_places(self.engine.groups())) != 1:  # answers to an id of several are ambiguous
            holders = Counter(id_ for _, id_ in self._find("id", sorted({id_ for _, id_ in placed})))
            new = {name for name in placed if holders[name[1]] == 1}
        found = self._find("id", families)
        forms = [form for each in named for form in (f"<{each}>", each)]  # all that readers write
        for each in (head.MESSAGE_ID, head.ANSWERED, head.REFERENCES):
            found |= self._find(f"meta.{each}", forms)
        attached = self._find(f"meta.{head.FAMILY}", list(mails))
        stored = self.engine.run(self.engine.searching().memberships(sorted(found)))
        threads = {str(each["thread"]) for each in stored.values() if each["thread"]}
        members = self._find("thread", sorted({*threads, *mails}))
        if len(touched := {*new, *attached, *members}) > self.limit:
            raise _Crowd
        return self.engine.groups().read(sorted(touched)), new

    def _find(self, field_name: str, values: Sequence[str]) -> set[DocumentRef]:
        """Look up the documents that have any of the values in a field."""
        names: set[DocumentRef] = set()
        for some in in_slices(values, VALUES):
            filters = tuple(Filter(field_name, value) for value in some)
            ranking = self.engine.search(Query(filters=filters), self.limit)
            if ranking.total > len(ranking.hits):
                raise _Crowd
            names |= {(hit.index, hit.id) for hit in ranking.hits}
        return names

    def _changes(
        self, documents: Sequence[stored_groups.GroupedDocument], new: set[DocumentRef]
    ) -> Iterator[stored_groups.MembershipChange]:
        """Yield the places of documents that differ from the stored ones; those that are `new` have none."""
        names = [ref(each) for each in documents]
        stored = self.engine.run(self.engine.searching().memberships(names))
        families: dict[str, str] = {}

        def mails() -> Iterator[Document]:
            """Yield the mails that have or get a place, and record which mail each attachment names."""
            for entry in fetch_documents(self.engine, names):
                document, name = entry.document, (entry.index, entry.document.id)
                if not head.is_mail(document.meta):
                    if family := head.family_id(document.meta, document.id):
                        families[document.id] = family
                elif name in new or stored.get(name, {}).get("thread"):
                    yield document

        members = {id_: ThreadMember.read(values) for (_, id_), values in stored.items()}
        known = {  # the parents that were found by the contents of mails
            id_: (each.parent, cast("By", each.by))
            for id_, each in members.items()
            if each and each.by in {"quotation", "subject"}
        }
        places = thread_places(Forest.grow(Parents.of_heads(thread_mails(mails()), known)).rows(), families)
        holders = Counter(id_ for _, id_ in stored)
        for name, each in zip(names, documents, strict=True):
            place, own = places.get(name[1]) if holders[name[1]] == 1 else None, stored.get(name, {})
            if place and place != {field: own.get(field) for field in stored_groups.THREAD}:
                yield stored_groups.MembershipChange(name, stored_groups.hash_packed(each.packed), place)
