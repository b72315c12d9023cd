"""Works: the documents that are versions of one work, by declarations, by names, and by shared text; and their order.

A field that declares it is believed. A name alone is not: two documents of one name share text, or they are two works,
since every company has a privacy policy, and something has to say which came first: a number, a stage or a date. Else
they are of one work only if they are nearly the same, as copies are: opinions on a case, or a paper and its review,
share title and day. Two numbers in a name that few works have need less text. Documents whose names differ are two
works, whatever they share; where one has no name, text decides. Works that are declared to be two are never joined,
and text alone joins no two works of different titles, as an untitled document between them might.

Cost grows with the text: of each document some runs are looked up, and each is compared with the few before it that
have the same run or name.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import TopologicalSorter
from heapq import heappop, heappush
from itertools import accumulate, groupby
from operator import itemgetter
from typing import Literal

import numpy as np

from ibidem_dedupe.relations import NO_WORDS
from ibidem_ingest.document import Document
from ibidem_mail.versioned_document import SAMPLE, STAGES, Stage, VersionedDocument, read_version

By = Literal["declared", "name", "text"]
Name = tuple[str, str]
Key = Name | int
Relation = Literal["numbered", "same", "series", "heading", "longer", "none", "other"]

RUN_SAMPLE = 24  # runs of a document that are looked up: those with the smallest hashes

MAX_CANDIDATES = 8  # documents that a document is compared with, of those before it that have the same run or name

# Share of runs that two documents have in common at the least, by how their names compare.
MIN_SHARED: Mapping[Relation, float] = {
    "numbered": 0.15,
    "same": 0.15,
    "series": 0.15,
    "heading": 0.15,
    "longer": 0.3,
    "none": 0.3,
}

# The same for names that few works have, unless one text is far shorter: what is left of one that was written anew.
# A name of several words with two numbers says itself that it has versions: a run in common is enough. Names that
# differ in a date alone (`series`) may be those of issues, which share a footer: they need as much as others.
MIN_SHARED_RARE: Mapping[Relation, float] = {**MIN_SHARED, "numbered": 1 / SAMPLE, "same": 0.02, "heading": 0.08}

MIN_LENGTH = 0.1  # runs of the shorter one of two texts that share little, by those of the longer one

COPY_SHARE = 0.9  # share of runs from which documents of one name are of one work though nothing says which came first

MAX_WORKS = 4  # works that have a name at the most for it to be rare; counted when those that share much are joined

WEAK_KINDS = frozenset(("heading",))  # kinds of names that stand in for a missing one


@dataclass(eq=False, slots=True)
class Works:
    """Documents, joined into works."""

    documents: Sequence[VersionedDocument]  # the documents, in the order of their dates
    # For each joined pair of rows, the earlier one first, what says that they are of one work.
    by: dict[tuple[int, int], By] = field(default_factory=dict)
    _root: list[int] = field(default_factory=list)
    # Of each root, the works that its documents declare to be of, and their titles without version marks.
    _declared: list[frozenset[str]] = field(default_factory=list)
    _titles: list[frozenset[str]] = field(default_factory=list)

    @classmethod
    def find(cls, documents: Iterable[VersionedDocument]) -> "Works":
        ordered = sorted(documents, key=lambda each: (each.date, each.number, each.id))
        titles = [frozenset({each.names["title"]} if "title" in each.names else ()) for each in ordered]
        works = cls(ordered, {}, list(range(len(ordered))), [each.works for each in ordered], titles)
        called: dict[str, int] = {}  # the first document with each name that others may refer to
        for row, document in enumerate(ordered):
            for name in document.called:
                called.setdefault(name, row)
        for a, b in works._same_declared(called):
            works._join(a, b, "declared")
        for a, b in works._replaced(called):
            if not works._are_declared_two(a, b):
                works._join(a, b, "declared")
        unsure = [pair for pair in works._candidates() if not works._join_by_text(*pair, frozenset(), MIN_SHARED)]
        common = works._common_names()
        for a, b, share in unsure:
            works._join_by_text(a, b, share, common, MIN_SHARED_RARE)
        return works

    def members(self) -> Iterator[list[int]]:
        """Yield the rows of each work, in the order of its first document."""
        rows: defaultdict[int, list[int]] = defaultdict(list)
        for row in range(len(self.documents)):
            rows[self._find(row)].append(row)
        yield from rows.values()

    def _find(self, row: int) -> int:
        root = self._root
        while root[row] != row:
            root[row] = root[root[row]]
            row = root[row]
        return row

    def _join(self, a: int, b: int, by: By) -> None:
        self.by.setdefault((min(a, b), max(a, b)), by)
        first, second = sorted((self._find(a), self._find(b)))
        if first != second:
            self._root[second] = first
            self._declared[first] |= self._declared[second]
            self._titles[first] |= self._titles[second]

    def _are_declared_two(self, a: int, b: int) -> bool:
        """Return whether the works of two documents are declared to be different."""
        one, other = self._declared[self._find(a)], self._declared[self._find(b)]
        return bool(one and other) and one.isdisjoint(other)

    def _join_by_text(
        self, a: int, b: int, share: float, common: frozenset[Name], minimum: Mapping[Relation, float]
    ) -> bool:
        """Join the works of two documents that share enough text."""
        relation = name_relation(self.documents[a], self.documents[b], common)
        if relation == "other" or self._are_declared_two(a, b):
            return True
        if share < minimum[relation]:
            return share < MIN_SHARED_RARE[relation]
        if relation != "none" and not may_be_versions(self.documents[a], self.documents[b], relation, share):
            return True
        one, other = self._titles[self._find(a)], self._titles[self._find(b)]
        if relation == "none" and one and other and one.isdisjoint(other):
            return True
        self._join(a, b, "text" if relation == "none" else "name")
        return True

    def _common_names(self) -> frozenset[Name]:
        """Return the names that many works have."""
        works: defaultdict[Name, set[int]] = defaultdict(set)
        for row, document in enumerate(self.documents):
            for name in document.names.items():
                works[name].add(self._find(row))
        return frozenset(name for name, roots in works.items() if len(roots) > MAX_WORKS)

    def _same_declared(self, names: Mapping[str, int]) -> Iterator[tuple[int, int]]:
        """Yield pairs that declare the same work, and pairs in which one declares the other as its work."""
        works: dict[str, int] = {}
        for row, document in enumerate(self.documents):
            for name in sorted(document.works):
                other = works.setdefault(name, names.get(name, row))
                if other != row:
                    yield other, row

    def _replaced(self, names: Mapping[str, int]) -> Iterator[tuple[int, int]]:
        """Yield pairs in which one document declares that it replaces the other, or is replaced by it."""
        for row, document in enumerate(self.documents):
            for name in sorted(document.replaces | document.replaced_by):
                if names.get(name, row) != row:
                    yield names[name], row

    def _candidates(self) -> Iterator[tuple[int, int, float]]:
        """Yield pairs, not yet joined, that share a name or a run of words, with their similarity."""
        holders: dict[Key, list[int]] = {}
        for row, document in enumerate(self.documents):
            others: set[int] = set()
            for key in (*document.names.items(), *document.sample[:RUN_SAMPLE].tolist()):
                others.update(note(holders, key, row))
            for other in sorted(others, reverse=True):
                if self._find(other) != self._find(row) and (share := shared(self.documents[other], document)):
                    yield other, row, share


def note(holders: dict[Key, list[int]], key: Key, row: int) -> Sequence[int]:
    """Return the nearest rows with a key, then add a row; only the nearest rows are kept.

    >>> holders = {}
    >>> [note(holders, "rent", row) for row in range(20)][-1], len(holders["rent"])
    ([11, 12, 13, 14, 15, 16, 17, 18], 8)
    """
    line = holders.get(key, [])
    holders[key] = [*line[1 - MAX_CANDIDATES :], row]
    return line


def name_relation(a: VersionedDocument, b: VersionedDocument, common: frozenset[Name] = frozenset()) -> Relation:
    """Return how the names of two documents compare, ignoring version marks."""
    equal = {kind for kind, name in a.names.items() if b.names.get(kind) == name}
    rare = {kind for kind in equal if (kind, a.names[kind]) not in common}
    if equal:
        return _equal_relation(a, b, rare) if rare else "none"
    kinds = (a.names.keys() & b.names.keys()) - WEAK_KINDS
    words = [(set(a.names[kind].split()), set(b.names[kind].split())) for kind in kinds]
    is_longer = any(one <= other or other <= one for one, other in words)
    if is_longer and not (a.number and b.number):  # the Lesser General Public License 2.1 has versions of its own
        return "longer"
    return "other" if words else "none"


def may_be_versions(a: VersionedDocument, b: VersionedDocument, relation: Relation, share: float) -> bool:
    """Return whether two documents of one name are copies, or play one role and something says which came first."""
    if share >= COPY_SHARE or relation == "numbered":
        return True
    is_alike = share >= MIN_SHARED[relation] or min(a.runs, b.runs) >= MIN_LENGTH * max(a.runs, b.runs)
    has_dates = bool(a.date and b.date) and not (a.date.startswith(b.date) or b.date.startswith(a.date))
    return is_alike and a.roles == b.roles and (has_dates or (a.number, a.stage) != (b.number, b.stage))


def _equal_relation(a: VersionedDocument, b: VersionedDocument, kinds: set[str]) -> Relation:
    """Return the relation of two equal names, by their kinds."""
    strong = kinds - WEAK_KINDS
    if not strong:
        return "heading"
    if a.number and b.number and a.number != b.number and any(a.names[kind].count(" ") > 1 for kind in strong):
        return "numbered"
    has_one_date = any(not (one := a.dates.get(kind)) or b.dates.get(kind, one) == one for kind in strong)
    return "same" if has_one_date else "series"


def shared(a: VersionedDocument, b: VersionedDocument) -> float:
    """Estimate the share of runs that two documents have in common.

    Broder, "On the resemblance and containment of documents" (1997), section 4: the smallest hashes of both together
    are a sample of all runs; those that both have are counted. Texts of fewer runs than a sample holds are compared
    whole.
    """
    if not a.runs or not b.runs:
        return float(a.digest == b.digest)
    both = np.union1d(a.sample, b.sample)[:SAMPLE]
    in_both = np.intersect1d(a.sample, b.sample, assume_unique=True)
    return float(np.isin(both, in_both, assume_unique=True).sum()) / both.size


OrderKey = tuple[tuple[int, ...], str, Stage]  # by what a version is ordered: number, date and stage


@dataclass(frozen=True, slots=True)
class Version:
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
        row_of = {works.documents[row]: row for row in rows}
        ordered = sort_versions(list(row_of))
        copies = [list(each) for _, each in groupby(ordered, lambda document: document.digest)]
        last_of = [next(each for each in same if _marks(each) == _marks(same[-1])) for same in copies]
        places = [place for place, same in enumerate(copies, 1) for _ in same]
        for document, place in zip(ordered, places, strict=True):
            yield Version(
                work=ordered[0].id,
                id=document.id,
                version=place,
                current=document is last_of[-1],
                replaces=last_of[place - 2].id if place > 1 else None,
                by=None if document is ordered[0] else reasons.get(row_of[document]),
            )


def _marks(document: VersionedDocument) -> OrderKey:
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
    predecessors: dict[int, set[int]] = {at: set() for at in range(len(documents))}
    for position, document in enumerate(documents):
        for name in document.replaces:
            predecessors[position].add(named.get(name, position))
        for name in document.replaced_by:
            predecessors[named.get(name, position)].add(position)
    sorter = TopologicalSorter(_cut_circles(keys, predecessors))
    sorter.prepare()
    ordered: list[VersionedDocument] = []
    ready: list[tuple[OrderKey, int]] = []
    while sorter.is_active():
        for each in sorter.get_ready():
            heappush(ready, (keys[each], each))
        _, position = heappop(ready)
        ordered.append(documents[position])
        sorter.done(position)
    return ordered


def version_places(groups: Iterable[Sequence[int]], documents: Mapping[int, Document]) -> Mapping[int, int]:
    """Return the place of each row among the versions of its group; of two equal rows, the first one comes last.

    >>> titles = ("Lease v2", "Lease v10", "Lease v10")
    >>> version_places([[0, 1, 2]], {row: Document("a", "", title) for row, title in enumerate(titles)})
    {0: 0, 2: 1, 1: 2}
    """
    places: dict[int, int] = {}
    for rows in groups:
        row_of = {read_version(documents[row], NO_WORDS): row for row in sorted(rows, reverse=True) if row in documents}
        places |= {row_of[each]: place for place, each in enumerate(sort_versions(list(row_of)))}
    return places


def _keys(documents: Sequence[VersionedDocument]) -> Mapping[int, OrderKey]:
    numbered_runs = sorted((each.date, each.number) for each in documents if each.number and each.date)
    lowest: tuple[int, ...] = ()
    highest = list(accumulate((number for _, number in numbered_runs), max, initial=lowest))
    keys: dict[int, OrderKey] = {}
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


def _cut_circles(keys: Mapping[int, OrderKey], predecessors: Mapping[int, set[int]]) -> Mapping[int, set[int]]:
    """Sort the documents of a cycle of replacements by their keys; documents outside cycles are unchanged.

    A circle is a strongly connected component, found by two walks (Sharir 1981); graphlib finds a circle, and not what
    is on one.
    """
    successors: dict[int, set[int]] = {at: set() for at in predecessors}
    for position, others in predecessors.items():
        for other in others:
            successors[other].add(position)
    visits: set[int] = set()
    ends = [end for start in predecessors for end in _walk(start, predecessors, visits)]
    visits = set()
    circle = {at: end for end in reversed(ends) for at in _walk(end, successors, visits)}
    return {
        at: {other for other in others if circle[at] != circle[other] or (keys[other], other) < (keys[at], at)}
        for at, others in predecessors.items()
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
