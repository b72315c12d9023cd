"""Order of the versions of a work: by declared relations, then by date; the last one is current."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import accumulate, groupby
from operator import itemgetter

from ibidem_ingest.document import Document
from ibidem_mail.versioned_document import STAGES, Stage, VersionedDocument, read_marks
from ibidem_mail.works import By, Works

Key = tuple[tuple[int, ...], str, Stage]  # by what a version is ordered: number, date and stage


@dataclass(frozen=True, slots=True)
class Version:
    """A document as a version of its work."""

    work: str  # id of the first version
    id: str  # the document's id
    version: int  # its place among the versions, from 1; copies that follow each other have the same
    current: bool  # whether it is the last version; of copies, the last by name or date
    replaces: str | None  # id of its predecessor; None for the first version
    by: By | None  # what says that it is of the work: `declared`, `name` or `text`; None for the first document


def versions(works: Works) -> Iterator[Version]:
    """Yield each document as a version, work by work, in order."""
    reasons = _reasons(works)
    for rows in works.members():
        ordered = sort_versions([works.documents[row] for row in rows])
        row_of = {id(works.documents[row]): row for row in rows}
        yield from _number(ordered, [reasons.get(row_of[id(each)]) for each in ordered])


def _number(documents: Sequence[VersionedDocument], reasons: Sequence[By | None]) -> Iterator[Version]:
    """Number the versions of one work; the first document needs no reason."""
    copies = [list(each) for _, each in groupby(documents, lambda document: document.digest)]
    last_of = [next(each for each in same if _marks(each) == _marks(same[-1])) for same in copies]
    places = [place for place, same in enumerate(copies, 1) for _ in same]
    for position, (document, place) in enumerate(zip(documents, places, strict=True)):
        yield Version(
            work=documents[0].id,
            id=document.id,
            version=place,
            current=document is last_of[-1],
            replaces=last_of[place - 2].id if place > 1 else None,
            by=reasons[position] if position else None,
        )


def _marks(document: VersionedDocument) -> Key:
    """Return by what a document is ordered."""
    return document.number, document.date, document.stage


def _reasons(works: Works) -> Mapping[int, By]:
    """Return for each row the reason that joined it to the nearest earlier document."""
    reasons: dict[int, tuple[int, By]] = {}
    for (a, b), by in works.by.items():
        for row, distance in ((b, b - a), (a, len(works.documents) + b - a)):
            if row not in reasons or distance < reasons[row][0]:
                reasons[row] = distance, by
    return {row: by for row, (_, by) in reasons.items()}


def sort_versions(documents: Sequence[VersionedDocument]) -> list[VersionedDocument]:
    """Sort the versions of a work by number, date, and draft before final; a successor comes later.

    A document without a number comes where its date puts it among those that have one, and a document without a date
    behind those of an earlier stage: a final one behind all drafts. Of equal ones the first comes first.
    """
    keys = _keys(documents)
    named = {name: at for at, document in reversed(list(enumerate(documents))) for name in document.called}
    successors: dict[int, set[int]] = {at: set() for at in range(len(documents))}
    for position, document in enumerate(documents):
        for name in document.replaces:
            successors[named.get(name, position)].add(position)
        for name in document.replaced_by:
            successors[position].add(named.get(name, position))
    return [documents[at] for at in _sort(keys, _cut_circles(keys, successors))]


def version_places(groups: Iterable[Sequence[int]], documents: Mapping[int, Document]) -> Mapping[int, int]:
    """Return the place of each row among the versions of its group; of two equal rows, the first one comes last.

    >>> titles = ("Lease v2", "Lease v10", "Lease v10")
    >>> version_places([[0, 1, 2]], {row: Document("a", "", title) for row, title in enumerate(titles)})
    {0: 0, 2: 1, 1: 2}
    """
    places: dict[int, int] = {}
    for rows in groups:
        row_of = {read_marks(documents[row]): row for row in sorted(rows, reverse=True) if row in documents}
        places |= {row_of[each]: place for place, each in enumerate(sort_versions(list(row_of)))}
    return places


def _keys(documents: Sequence[VersionedDocument]) -> Mapping[int, Key]:
    """Return the sort keys of documents."""
    numbered_runs = sorted((each.date, each.number) for each in documents if each.number and each.date)
    lowest: tuple[int, ...] = ()
    highest = list(accumulate((number for _, number in numbered_runs), max, initial=lowest))
    keys: dict[int, Key] = {}
    for position, document in enumerate(documents):
        if document.date:
            number = document.number or highest[bisect_right(numbered_runs, document.date, key=itemgetter(0))]
            keys[position] = number, document.date, document.stage
    for stage in STAGES:
        earlier = sorted(key for key in keys.values() if key[2] < stage)
        latest = {number: date for number, date, _ in earlier}
        highest_number, last_date, _ = earlier[-1] if earlier else ((), "", stage)
        for position, document in enumerate(documents):
            if document.stage == stage and not document.date:
                number = document.number or highest_number
                keys[position] = number, latest.get(number, "") if document.number else last_date, stage
    return keys


def _cut_circles(keys: Mapping[int, Key], successors: Mapping[int, set[int]]) -> Mapping[int, set[int]]:
    """Sort the documents of a cycle of replacements by their keys; documents outside cycles are unchanged.

    A circle is a strongly connected component, found by two walks (Sharir 1981); graphlib finds a circle, and not what
    is on one.
    """
    predecessors: dict[int, set[int]] = {at: set() for at in successors}
    for position, others in successors.items():
        for other in others:
            predecessors[other].add(position)
    visits: set[int] = set()
    ends = [end for start in successors for end in _walk(start, successors, visits)]
    visits = set()
    circle = {at: end for end in reversed(ends) for at in _walk(end, predecessors, visits)}
    return {
        at: {other for other in others if circle[at] != circle[other] or (keys[at], at) < (keys[other], other)}
        for at, others in successors.items()
    }


def _walk(start: int, edges: Mapping[int, set[int]], visits: set[int]) -> Iterator[int]:
    """Yield the unvisited nodes reachable from a start, each after the nodes reachable from it."""
    path = [(start, iter(edges[start]))] if start not in visits else []
    visits.add(start)
    while path:
        position, others = path[-1]
        other = next((each for each in others if each not in visits), None)
        if other is None:
            path.pop()
            yield position
        else:
            visits.add(other)
            path.append((other, iter(edges[other])))


def _sort(keys: Mapping[int, Key], successors: Mapping[int, set[int]]) -> Iterator[int]:
    """Yield numbers by their keys, each before its successors (Kahn 1962)."""
    waits = dict.fromkeys(keys, 0)
    for others in successors.values():
        for other in others:
            waits[other] += 1
    ready = [(keys[at], at) for at, count in waits.items() if not count]
    heapify(ready)
    while ready:
        _, position = heappop(ready)
        yield position
        for other in successors[position]:
            waits[other] -= 1
            if not waits[other]:
                heappush(ready, (keys[other], other))
