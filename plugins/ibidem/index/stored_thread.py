"""The stored thread of a mail: its mails as a tree with attachments, and which mails contain others."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ibidem.grouped_search.members import WindowMembers
from ibidem.index.documents import fetch_hits
from ibidem_dedupe.threads.forest import Forest
from ibidem_dedupe.threads.parents import Parents
from ibidem_dedupe.threads.thread_mail import thread_mails
from ibidem_engines.engine import Engine
from ibidem_engines.query import Filter, Query
from ibidem_engines.stored_groups import ThreadMember
from ibidem_ingest.dates import interval
from ibidem_ingest.document import Document

MAX_DOCUMENTS = 200  # documents of a thread that are read

UNDATED = 1 << 31
MAX_ANCESTORS = 20


@dataclass(frozen=True, slots=True)
class ThreadEntry:
    """A document in its thread."""

    document: Document  # the document, whole
    member: ThreadMember  # its stored place
    depth: int  # how deep it is in the tree; 0 is the top
    holders: Sequence[str] = ()  # ids of the mails that hold all of it, the nearest first
    alters: bool = False  # whether it alters what it quotes of the mail that it answers


@dataclass(frozen=True, slots=True)
class StoredThread:
    """The part of a thread that was read."""

    name: str  # id of its first mail
    entries: Sequence[ThreadEntry]  # its documents in the order of the tree, inclusive answers first
    total: int  # how many documents it has
    families: int  # number of mails that were read, each with its attachments

    @property
    def inclusive(self) -> int:
        """Number of the read mails that are inclusive."""
        return sum(each.member.inclusive and not each.member.is_attached for each in self.entries)

    def entry(self, id_: str) -> ThreadEntry | None:
        """Return the entry of a document; None if it was not read."""
        return next((each for each in self.entries if each.document.id == id_), None)

    def ancestors(self, id_: str) -> list[Document]:
        """Return the mail that a mail answers, the mail that this one answers, and so on."""
        by_id = {each.document.id: each for each in self.entries}
        mails: list[Document] = []
        at = by_id.get(id_)
        while at is not None and not at.member.is_attached and len(mails) < MAX_ANCESTORS:
            at = by_id.get(at.member.parent)
            mails += [at.document] if at else []
        return mails


def read_thread(engine: Engine, id_: str) -> StoredThread | None:
    """Read the stored thread of a document."""
    names = [(hit.index, hit.id) for hit in fetch_hits(engine, [id_])]
    stored = engine.run(engine.searching().memberships(names)) if len(names) == 1 else {}
    own = next((each.thread for each in stored.values() if each.thread), None)
    if own is None:
        return None
    ranking = engine.search(Query(filters=(Filter("thread", own.thread),)), MAX_DOCUMENTS)
    found = [(hit.index, hit.id) for hit in ranking.hits]
    documents = {(each.index, each.document.id): each.document for each in engine.fetch(found)}
    stored = engine.run(engine.searching().memberships(list(documents)))
    places = {name: each.thread for name, each in stored.items() if each.thread}
    rows = sorted(places, key=lambda name: (documents[name].date or "~", name))
    members = WindowMembers("thread", rows, stored, [_day(documents[name]) for name in rows])
    everything = range(len(rows))
    top = members.top(everything)
    order = members.order(everything, top)
    tree: Mapping[int, int] = {top: -1, **order.places}
    holders, altering = _grow(documents[name] for name in rows if not places[name].is_attached)
    entries = []
    for row in sorted(everything, key=lambda row: tree[row]):
        name, depth = rows[row], order.depths.get(row, 0)
        document, id_ = documents[name], name[1]
        entries.append(ThreadEntry(document, places[name], depth, holders.get(id_, ()), id_ in altering))
    return StoredThread(own.thread, entries, ranking.total, members.families(everything))


def _grow(mails: Iterable[Document]) -> tuple[Mapping[str, Sequence[str]], frozenset[str]]:
    """Return for each mail of a thread the mails that contain it, and the mails that alter their quotations."""
    forest = Forest.grow(Parents.find(thread_mails(mails)))
    return {row.id: row.contained_in for row in forest.rows()}, frozenset(answer for _, answer, _ in forest.altered())


def _day(document: Document) -> int:
    days = interval(document.date) if document.date else None
    return UNDATED if days is None or days[0] is None else days[0]
