"""The order of the versions of a work: by what they declare, then by date; the last one is current."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

from ibidem_dedupe.versions.versioned_document import VersionedDocument
from ibidem_dedupe.versions.works import By, Works

Key = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Version:
    """A document as a version of its work.

    Args:
        work: Id of the first version.
        id: The document's id.
        version: Its place among the versions, from 1; copies that follow each other have the same.
        current: Whether it is the last version; of copies, the first one is.
        replaces: Id of its predecessor; None for the first version.
        by: What says that it is of the work: `declared`, `name` or `text`; None for the first document.
    """

    work: str
    id: str
    version: int
    current: bool
    replaces: str | None
    by: By | None


def versions(works: Works) -> Iterator[Version]:
    """Yield each document as a version, work by work, in order.

    Args:
        works: The works.
    """
    reasons = _reasons(works)
    for rows in works.members():
        ordered = sort_versions([works.documents[row] for row in rows])
        row_of = {id(works.documents[row]): row for row in rows}
        yield from _number(ordered, [reasons.get(row_of[id(each)]) for each in ordered])


def _number(documents: Sequence[VersionedDocument], reasons: Sequence[By | None]) -> Iterator[Version]:
    """Number the versions of one work; the first document needs no reason, and hands its own to those that lack one."""
    places: list[int] = []
    first_of: list[VersionedDocument] = []
    for document in documents:
        if not first_of or first_of[-1].digest != document.digest:
            first_of.append(document)
        places.append(len(first_of))
    for at, (document, place) in enumerate(zip(documents, places, strict=True)):
        yield Version(
            work=documents[0].id,
            id=document.id,
            version=place,
            current=document is first_of[-1],
            replaces=first_of[place - 2].id if place > 1 else None,
            by=(reasons[at] or reasons[0]) if at else None,
        )


def _reasons(works: Works) -> Mapping[int, By]:
    """Return for each row what joined it; of several, the one that joined it to the nearest earlier document."""
    found: dict[int, tuple[int, By]] = {}
    for (a, b), by in works.by.items():
        for row, distance in ((b, b - a), (a, len(works.documents) + b - a)):
            if row not in found or distance < found[row][0]:
                found[row] = distance, by
    return {row: by for row, (_, by) in found.items()}


def sort_versions(documents: Sequence[VersionedDocument]) -> list[VersionedDocument]:
    """Put the versions of a work in order: by number, then date, then draft before final; a successor comes later.

    A document without a number comes where its date puts it among those that have one.

    Args:
        documents: Those of one work, in the order of their dates.
    """
    keys = dict(enumerate(_keys(documents)))
    named = {name: at for at, document in reversed(list(enumerate(documents))) for name in document.called}
    later: dict[int, set[int]] = {at: set() for at in keys}
    for at, document in enumerate(documents):
        for name in document.replaces:
            later[named.get(name, at)].add(at)
        for name in document.replaced_by:
            later[at].add(named.get(name, at))
    return [documents[at] for at in _sort(keys, {at: others - {at} for at, others in later.items()})]


def _keys(documents: Sequence[VersionedDocument]) -> Iterator[Key]:
    """Yield by what each document is ordered."""
    is_dated = all(document.date for document in documents)
    numbered = sorted((each.date, each.number) for each in documents if each.number)
    for document in documents:
        number = document.number
        if not number and is_dated:
            number = max((each for date, each in numbered if date <= document.date), default=())
        dates = (document.date, document.stage) if is_dated else (document.stage, document.date)
        yield number, *dates, document.id


def _sort(keys: Mapping[int, Key], later: Mapping[int, set[int]]) -> Iterator[int]:
    """Yield numbers by their keys, each before those that come later (Kahn 1962); a circle is cut at its first."""
    waits = dict.fromkeys(keys, 0)
    for others in later.values():
        for other in others:
            waits[other] += 1
    done: set[int] = set()
    ready = [(keys[at], at) for at, count in waits.items() if not count]
    remaining = sorted(keys, key=lambda at: keys[at], reverse=True)
    heapify(ready)
    while len(done) < len(keys):
        while not ready:
            if (at := remaining.pop()) not in done:
                ready.append((keys[at], at))
        _, at = heappop(ready)
        if at in done:
            continue
        done.add(at)
        yield at
        for other in later[at]:
            waits[other] -= 1
            if not waits[other]:
                heappush(ready, (keys[other], other))
