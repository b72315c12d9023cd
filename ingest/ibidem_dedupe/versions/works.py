"""Works: which documents are versions of one work, by what they declare, by their names, and by the text they share.

A field that declares it is believed. A name alone is not: two documents of one name share text, or they are two works,
since every company has a privacy policy. A name that few works have needs less of it. Documents whose names differ are
two works, whatever they share; where one has no name, text decides. Documents that declare two works are never joined.

Cost grows with the text: of each document some runs are looked up, and each is compared with the few before it that
have the same run or name.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from ibidem_dedupe.versions.versioned_document import SAMPLE, VersionedDocument

By = Literal["declared", "name", "text"]
Name = tuple[str, str]
Relation = Literal["same", "heading", "longer", "none", "other"]

NOTED = 24
"""Runs of a document that are looked up: those with the smallest hashes."""

NEAREST = 8
"""Documents that a document is compared with, of those before it that have the same run or name."""

LEAST_SHARED: Mapping[Relation, float] = {"same": 0.15, "heading": 0.15, "longer": 0.3, "none": 0.3}
"""Share of runs that two documents have in common at the least, by how their names compare."""

LEAST_SHARED_RARE: Mapping[Relation, float] = {**LEAST_SHARED, "same": 0.02, "heading": 0.08}
"""The same for names that few works have: what is left of a text that was written anew."""

MOST_WORKS = 4
"""Works that have a name at the most for it to be rare; counted when those that share much are joined."""

WEAK = frozenset(("heading",))
"""Kinds of names that stand in for a missing one."""


@dataclass(eq=False, slots=True)
class Works:
    """Documents, joined into works.

    Args:
        documents: The documents, in the order of their dates.
        by: For each joined pair of rows, the earlier one first, what says that they are of one work.
    """

    documents: Sequence[VersionedDocument]
    by: dict[tuple[int, int], By] = field(default_factory=dict)
    _root: list[int] = field(default_factory=list)

    @classmethod
    def find(cls, documents: Iterable[VersionedDocument]) -> "Works":
        """Join documents into works.

        Args:
            documents: In any order.
        """
        ordered = sorted(documents, key=lambda each: (each.date, each.number, each.id))
        works = cls(ordered, _root=list(range(len(ordered))))
        for a, b in works._declared():
            works._join(a, b, "declared")
        unsure = [pair for pair in works._candidates() if not works._join_by_text(*pair, frozenset(), LEAST_SHARED)]
        common = works._common_names()
        for a, b, share in unsure:
            works._join_by_text(a, b, share, common, LEAST_SHARED_RARE)
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
        self._root[second] = first

    def _join_by_text(
        self, a: int, b: int, share: float, common: frozenset[Name], least: Mapping[Relation, float]
    ) -> bool:
        """Join two documents that share enough.

        Args:
            a: Row of the one.
            b: Row of the other.
            share: Share of runs that they have in common.
            common: Names that do not count.
            least: Share that they need.

        Returns:
            Whether they are settled: joined, or of two works for certain.
        """
        one, other = self.documents[a], self.documents[b]
        relation = name_relation(one, other, common)
        if relation == "other" or (one.works and other.works and not one.works & other.works):
            return True
        if share < least[relation]:
            return False
        self._join(a, b, "text" if relation == "none" else "name")
        return True

    def _common_names(self) -> frozenset[Name]:
        """Return the names that many works have."""
        works: defaultdict[Name, set[int]] = defaultdict(set)
        for row, document in enumerate(self.documents):
            for name in document.names.items():
                works[name].add(self._find(row))
        return frozenset(name for name, roots in works.items() if len(roots) > MOST_WORKS)

    def _declared(self) -> Iterator[tuple[int, int]]:
        """Yield pairs of which one names the other, or that name the same work."""
        called: dict[str, int] = {}
        for row, document in enumerate(self.documents):
            for name in document.called:
                called.setdefault(name, row)
        works: dict[str, int] = {}
        for row, document in enumerate(self.documents):
            for name in sorted(document.works):
                other = works.setdefault(name, called.get(name, row))
                if other != row:
                    yield other, row
            for name in sorted(document.replaces | document.replaced_by):
                if called.get(name, row) != row:
                    yield called[name], row

    def _candidates(self) -> Iterator[tuple[int, int, float]]:
        """Yield pairs that have a name or a run in common and are not joined yet, with the share that they share."""
        holders: dict[object, list[int]] = {}
        for row, document in enumerate(self.documents):
            others: set[int] = set()
            for key in (*document.names.items(), *document.sample[:NOTED].tolist()):
                line = holders.setdefault(key, [])
                others.update(line[-NEAREST:])
                line.append(row)
            for other in sorted(others, reverse=True):
                if self._find(other) != self._find(row) and (share := shared(self.documents[other], document)):
                    yield other, row, share


def name_relation(a: VersionedDocument, b: VersionedDocument, common: frozenset[Name] = frozenset()) -> Relation:
    """Return how the names of two documents compare, version marks aside.

    Args:
        a: One document.
        b: The other.
        common: Names that do not count where both have them.
    """
    equal = {kind for kind, name in a.names.items() if b.names.get(kind) == name}
    rare = {kind for kind in equal if (kind, a.names[kind]) not in common}
    if rare or equal:
        relation: Relation = "same" if (rare or equal) - WEAK else "heading"
        return relation if rare or not common else "none"
    kinds = (a.names.keys() & b.names.keys()) - WEAK
    words = [(set(a.names[kind].split()), set(b.names[kind].split())) for kind in kinds]
    if any(one <= other or other <= one for one, other in words):
        return "longer"
    return "other" if words else "none"


def shared(a: VersionedDocument, b: VersionedDocument) -> float:
    """Estimate the share of runs that two documents have in common, of all that they have.

    Broder, "On the resemblance and containment of documents" (1997), section 4: the smallest hashes of both together
    are a sample of all runs; those that both have are counted. Texts of fewer runs than a sample holds are compared
    whole.
    """
    if not a.runs or not b.runs:
        return float(a.digest == b.digest)
    both = np.union1d(a.sample, b.sample)[:SAMPLE]
    in_both = np.intersect1d(a.sample, b.sample, assume_unique=True)
    return float(np.isin(both, in_both, assume_unique=True).sum()) / both.size
