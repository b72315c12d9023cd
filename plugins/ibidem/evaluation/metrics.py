"""Metrics of agreement with labels: precision, recall, F1, adjusted Rand index."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass

from ibidem.evaluation.labels import Pair


@dataclass(frozen=True, slots=True)
class PairFigures:
    """How well pairs agree with labels.

    Args:
        true: Pairs that are duplicates.
        found: Pairs that were found.
        precision: Share of those found that are duplicates; 1.0 when none was found.
        recall: Share of the duplicates that were found; 1.0 when there are none.
        f1: Harmonic mean of the two.
    """

    true: int
    found: int
    precision: float
    recall: float
    f1: float

    @classmethod
    def of(cls, true: AbstractSet[Pair], pairs: AbstractSet[Pair]) -> "PairFigures":
        """Compare pairs found with those that are duplicates.

        >>> PairFigures.of({("a", "b"), ("a", "c")}, {("a", "b")}).f1
        0.6667
        """
        right = len(true & pairs)
        precision = right / len(pairs) if pairs else 1.0
        recall = right / len(true) if true else 1.0
        f1 = 2 * precision * recall / (precision + recall) if right else 0.0
        return cls(len(true), len(pairs), round(precision, 4), round(recall, 4), round(f1, 4))

    def as_json(self) -> dict[str, object]:
        """Return the figures by name."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class EvidenceCount:
    """What a kind of evidence joins that no stronger one does.

    Args:
        found: Pairs.
        right: Those of them that are duplicates.
    """

    found: int
    right: int

    def as_json(self) -> dict[str, object]:
        """Return the figures by name."""
        return asdict(self)


def count_evidence(evidence: Mapping[Pair, str], true: AbstractSet[Pair]) -> dict[str, EvidenceCount]:
    """Count pairs for each kind of evidence, the most frequent first.

    >>> count_evidence({("a", "b"): "minhash", ("a", "c"): "minhash"}, {("a", "b")})
    {'minhash': EvidenceCount(found=2, right=1)}
    """
    right = Counter(name for pair, name in evidence.items() if pair in true)
    return {name: EvidenceCount(count, right[name]) for name, count in Counter(evidence.values()).most_common()}


@dataclass(frozen=True, slots=True)
class SetFigures:
    """How well duplicate sets agree with labels, as Conrad's Table 8 counts them; a set has two documents or more.

    Args:
        agree: Labelled sets that were found as they are, with the same documents.
        missed: Labelled sets that were not.
        over: Sets found that no label knows.
    """

    agree: int
    missed: int
    over: int

    @classmethod
    def of(cls, true: Sequence[int], sizes: Sequence[int]) -> "SetFigures":
        """Compare two partitions of the same documents, each given as a number for each document's part."""
        right, ours = sets(true), sets(sizes)
        return cls(len(right & ours), len(right - ours), len(ours - right))

    def as_json(self) -> dict[str, object]:
        """Return the figures by name."""
        return asdict(self)


def sets(parts: Sequence[int]) -> set[frozenset[int]]:
    """Return the parts of two documents or more.

    >>> sets([0, 0, 2])
    {frozenset({0, 1})}
    """
    members: dict[int, list[int]] = {}
    for document, part in enumerate(parts):
        members.setdefault(part, []).append(document)
    return {frozenset(documents) for documents in members.values() if len(documents) > 1}


def components(ids: Sequence[str], pairs: Iterable[Pair]) -> list[int]:
    """Return for each document the number of the set that pairs join it to: the first of its documents.

    >>> components(["a", "b", "c"], [("b", "c")])
    [0, 1, 1]
    """
    place = {name: number for number, name in enumerate(ids)}
    part = list(range(len(ids)))

    def first(number: int) -> int:
        while part[number] != number:
            part[number] = part[part[number]]
            number = part[number]
        return number

    for a, b in pairs:
        low, high = sorted((first(place[a]), first(place[b])))
        part[high] = low
    return [first(number) for number in part]


def adjusted_rand(a: Sequence[int], b: Sequence[int]) -> float:
    """Return the adjusted Rand index of two partitions (Hubert and Arabie 1985): 1 the same, about 0 by chance.

    >>> adjusted_rand([0, 0, 1, 1], [5, 5, 7, 7]), adjusted_rand([0, 0, 1, 1], [0, 1, 0, 1])
    (1.0, -0.5)
    """
    both = _pairs(Counter(zip(a, b, strict=True)).values())
    left, right, every = _pairs(Counter(a).values()), _pairs(Counter(b).values()), _pairs([len(a)])
    expected = left * right / every if every else 0.0
    highest = (left + right) / 2
    return round((both - expected) / (highest - expected), 4) if highest != expected else 1.0


def _pairs(sizes: Iterable[int]) -> float:
    return sum(size * (size - 1) / 2 for size in sizes)
