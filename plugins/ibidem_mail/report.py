"""The stored thread and work of one document: for `ibidem inspect`, and as a tree for the page."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ibidem.grouped_search.api import format_count
from ibidem.index.documents import fetch_hits
from ibidem_engines.engine import Engine
from ibidem_engines.query import Filter, Query
from ibidem_ingest.dates import interval
from ibidem_ingest.document import Document
from ibidem_mail.forest import Forest
from ibidem_mail.memberships import ThreadMember, WindowMembers, WorkMember, membership_reason
from ibidem_mail.parents import Parents, thread_mails

MAX_DOCUMENTS = 200  # documents of a thread that are read

UNDATED = 1 << 31
MAX_ANCESTORS = 20
MAX_NAMES = 3  # mails that are named as holding one


def read(engine: Engine, name: str) -> dict[str, dict[str, object]]:
    """Read the stored thread and work of a document; each is empty if missing."""
    names = [(hit.index, hit.id) for hit in fetch_hits(engine, [name])]
    stored = engine.run(engine.searching().memberships(names)) if names else {}
    found = next(iter(stored.values()), {})
    answer: dict[str, dict[str, object]] = {"thread": {}, "work": {}}
    if (thread := ThreadMember.read(found)) is not None:
        documents = count(engine, "thread", thread.thread)
        tree = None if thread.inclusive else read_thread(engine, name)
        entry = tree.entry(name) if tree else None
        if tree and entry and entry.member.is_attached:
            entry = tree.entry(entry.member.parent)
        answer["thread"] = {
            "name": thread.thread,
            "documents": documents,
            "parent": thread.parent or None,
            "by": thread.by or None,
            "inclusive": thread.inclusive,
            "contained_in": list(entry.holders) if entry else [],  # the nearest first
        }
    if (work := WorkMember.read(found)) is not None:
        answer["work"] = {
            "name": work.work,
            "documents": count(engine, "work", work.work),
            "edition": work.edition,
            "by": work.by or None,
            "current": work.current,
        }
    return answer


def count(engine: Engine, field: str, name: str) -> int:
    """Count the documents of a thread or a work."""
    return engine.search(Query(filters=(Filter(field, name),)), 1).total


def describe(membership: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Describe in sentences the thread and work of a document, with the reasons.

    >>> describe({"thread": {}, "work": {
    ...     "name": "a", "documents": 2, "edition": 2, "by": "name", "current": True}})
    ['Work of 2 documents that begins with a: it is version 2, by its name and text; the current one.']
    """
    lines = []
    if thread := membership["thread"]:
        reason = "answers no mail" if thread["parent"] is None else membership_reason({"signature": "thread", **thread})
        reason = reason.replace("attached", "is attached")
        lines.append(f"{begin('Thread', thread)}: it {reason}; {describe_holders(thread)} all of it.")
    if work := membership["work"]:
        is_current = "" if work["current"] else "not "
        reason = membership_reason({"signature": "version", **work})
        lines.append(f"{begin('Work', work)}: it is {reason}; {is_current}the current one.")
    return lines


def describe_holders(thread: Mapping[str, Any]) -> str:
    """Describe which mails contain all of a mail.

    >>> describe_holders({"inclusive": False, "contained_in": ["b", "c", "d", "e"]})
    'b, c, d and 1 more hold'
    """
    if thread["inclusive"]:
        return "no other mail holds"
    holders = thread["contained_in"]
    if len(holders) < 2:
        return f"{holders[0] if holders else 'another mail'} holds"
    rest = len(holders) - MAX_NAMES
    names = holders[:MAX_NAMES] if rest > 0 else holders[:-1]
    return f"{', '.join(names)} and {f'{rest} more' if rest > 0 else holders[-1]} hold"


def begin(called: str, membership: Mapping[str, Any]) -> str:
    """Describe a thread or a work by its first document."""
    return f"{called} of {format_count(membership['documents'], 'document')} that begins with {membership['name']}"


class ThreadEntry(NamedTuple):
    document: Document  # the document, whole
    member: ThreadMember  # its stored place
    depth: int  # how deep it is in the tree; 0 is the top
    holders: Sequence[str] = ()  # ids of the mails that hold all of it, the nearest first
    alters: bool = False  # whether it alters what it quotes of the mail that it answers


class StoredThread(NamedTuple):
    entries: Sequence[ThreadEntry]  # its documents in the order of the tree, inclusive answers first
    total: int  # how many documents it has
    families: int  # number of mails that were read, each with its attachments

    @property
    def inclusive(self) -> int:
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
    names = [(hit.index, hit.id) for hit in fetch_hits(engine, [id_])]
    stored = engine.run(engine.searching().memberships(names)) if len(names) == 1 else {}
    own = next((each for values in stored.values() if (each := ThreadMember.read(values))), None)
    if own is None:
        return None
    ranking = engine.search(Query(filters=(Filter("thread", own.thread),)), MAX_DOCUMENTS)
    found = [(hit.index, hit.id) for hit in ranking.hits]
    documents = {(each.index, each.document.id): each.document for each in engine.fetch(found)}
    stored = engine.run(engine.searching().memberships(list(documents)))
    places = {name: each for name, values in stored.items() if (each := ThreadMember.read(values))}
    rows = sorted(places, key=lambda name: (documents[name].date or "~", name))
    days = [interval(documents[name].date or "")[0] for name in rows]
    members = WindowMembers(
        "thread", rows, [stored[name] for name in rows], [UNDATED if day is None else day for day in days]
    )
    everything = range(len(rows))
    top = members.top(everything)
    _, depths = members.order(everything, top)
    mails = (documents[name] for name in rows if not places[name].is_attached)
    forest = Forest.grow(Parents.find(thread_mails(mails)))
    holders = {row.id: row.contained_in for row in forest.rows()}
    altering = {answer for _, answer, _ in forest.altered()}
    entries = []
    for row, depth in {top: 0, **depths}.items():
        name = rows[row]
        document, id_ = documents[name], name[1]
        entries.append(ThreadEntry(document, places[name], depth, holders.get(id_, ()), id_ in altering))
    return StoredThread(entries, ranking.total, members.families(everything))
