"""The stored thread and work of one document, as `ibidem inspect` shows them."""

from collections.abc import Mapping, Sequence
from typing import Any

from ibidem.grouped_search.explanations import format_count, membership_reason
from ibidem.index.documents import fetch_hits
from ibidem.index.stored_thread import read_thread
from ibidem_engines.engine import Engine
from ibidem_engines.query import Filter, Query
from ibidem_engines.stored_groups import NO_MEMBERSHIPS

NAMED = 3  # mails that are named as holding one


def read_membership(engine: Engine, name: str) -> dict[str, dict[str, object]]:
    """Read the stored thread and work of a document; each is empty if missing."""
    names = [(hit.index, hit.id) for hit in fetch_hits(engine, [name])]
    stored = engine.run(engine.searching().memberships(names)) if names else {}
    found = next(iter(stored.values()), NO_MEMBERSHIPS)
    answer: dict[str, dict[str, object]] = {"thread": {}, "work": {}}
    if (thread := found.thread) is not None:
        answer["thread"] = {
            "name": thread.thread,
            "documents": count(engine, "thread", thread.thread),
            "parent": thread.parent or None,
            "by": thread.by or None,
            "inclusive": thread.inclusive,
            "contained_in": list(contained_in(engine, name)) if not thread.inclusive else [],
        }
    if (work := found.work) is not None:
        answer["work"] = {
            "name": work.work,
            "documents": count(engine, "work", work.work),
            "edition": work.edition,
            "by": work.by or None,
            "current": work.current,
        }
    return answer


def contained_in(engine: Engine, name: str) -> Sequence[str]:
    """Return the ids of the mails that contain all of a mail or attachment, the nearest first."""
    thread = read_thread(engine, name)
    entry = thread.entry(name) if thread else None
    if thread and entry and entry.member.is_attached:
        entry = thread.entry(entry.member.parent)
    return entry.holders if entry else ()


def count(engine: Engine, field: str, name: str) -> int:
    """Count the documents of a thread or a work."""
    return engine.search(Query(filters=(Filter(field, name),)), 1).total


def describe_membership(membership: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Describe in sentences the thread and work of a document, with the reasons.

    >>> describe_membership({"thread": {}, "work": {
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
    rest = len(holders) - NAMED
    names = holders[:NAMED] if rest > 0 else holders[:-1]
    return f"{', '.join(names)} and {f'{rest} more' if rest > 0 else holders[-1]} hold"


def begin(called: str, membership: Mapping[str, Any]) -> str:
    """Describe a thread or a work by its first document."""
    return f"{called} of {format_count(membership['documents'], 'document')} that begins with {membership['name']}"
