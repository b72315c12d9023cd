"""Agreement of a run with labels: precision, recall and F1 of pairs, the same sets, the adjusted Rand index."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass

from ibidem_lab.labels import Pair


@dataclass(frozen=True, slots=True)
class PairFigures:
    """The agreement of pairs with labels."""

    true: int  # pairs that are duplicates
    found: int  # pairs that were found
    precision: float  # share of those found that are duplicates; 1.0 when none was found
    recall: float  # share of the duplicates that were found; 1.0 when there are none
    f1: float  # harmonic mean of the two

    @classmethod
    def measure(cls, true: AbstractSet[Pair], pairs: AbstractSet[Pair]) -> "PairFigures":
        """Compare the found pairs with the labelled pairs.

        >>> PairFigures.measure({("a", "b"), ("a", "c")}, {("a", "b")}).f1
        0.6667
        """
        hits = len(true & pairs)
        precision = hits / len(pairs) if pairs else 1.0
        recall = hits / len(true) if true else 1.0
        f1 = 2 * precision * recall / (precision + recall) if hits else 0.0
        return cls(len(true), len(pairs), round(precision, 4), round(recall, 4), round(f1, 4))

    def as_json(self) -> dict[str, object]:
        """Return the figures by name."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class EvidenceCount:
    """The pairs that a kind of evidence joins, and no stronger kind."""

    found: int  # pairs
    right: int  # how many of the pairs are duplicates

    def as_json(self) -> dict[str, object]:
        """Return the figures by name."""
        return asdict(self)


def count_evidence(evidence: Mapping[Pair, str], true: AbstractSet[Pair]) -> dict[str, EvidenceCount]:
    """Count pairs for each kind of evidence, the most frequent first.

    >>> count_evidence({("a", "b"): "minhash", ("a", "c"): "minhash"}, {("a", "b")})
    {'minhash': EvidenceCount(found=2, right=1)}
    """
    hits = Counter(name for pair, name in evidence.items() if pair in true)
    return {name: EvidenceCount(count, hits[name]) for name, count in Counter(evidence.values()).most_common()}


@dataclass(frozen=True, slots=True)
class SetFigures:
    """Agreement of duplicate sets with labels, as in Conrad's Table 8; a set has two or more documents."""

    agree: int  # labelled sets that were found with exactly the same documents
    missed: int  # labelled sets that were not
    over: int  # sets found that no label knows

    @classmethod
    def measure(cls, true: Sequence[int], sizes: Sequence[int]) -> "SetFigures":
        """Compare two partitions of the same documents, each as a list of set numbers."""
        true_sets, own_sets = sets(true), sets(sizes)
        return cls(len(true_sets & own_sets), len(true_sets - own_sets), len(own_sets - true_sets))

    def as_json(self) -> dict[str, object]:
        """Return the figures by name."""
        return asdict(self)


def sets(parts: Sequence[int]) -> set[frozenset[int]]:
    """Return the sets of two or more documents.

    >>> sets([0, 0, 2])
    {frozenset({0, 1})}
    """
    members: dict[int, list[int]] = {}
    for document, part in enumerate(parts):
        members.setdefault(part, []).append(document)
    return {frozenset(documents) for documents in members.values() if len(documents) > 1}


def components(ids: Sequence[str], pairs: Iterable[Pair]) -> list[int]:
    """Return for each document the number of its set: the index of the set's first document.

    >>> components(["a", "b", "c"], [("b", "c")])
    [0, 1, 1]
    """
    place = {name: number for number, name in enumerate(ids)}
    part = list(range(len(ids)))

    def find_root(number: int) -> int:
        """Return the representative of a set, and compress the path to it."""
        while part[number] != number:
            part[number] = part[part[number]]
            number = part[number]
        return number

    for a, b in pairs:
        first, second = sorted((find_root(place[a]), find_root(place[b])))
        part[second] = first
    return [find_root(number) for number in part]


def adjusted_rand(a: Sequence[int], b: Sequence[int]) -> float:
    """Return the adjusted Rand index of two partitions (Hubert and Arabie 1985): 1 the same, about 0 by chance.

    >>> adjusted_rand([0, 0, 1, 1], [5, 5, 7, 7]), adjusted_rand([0, 0, 1, 1], [0, 1, 0, 1])
    (1.0, -0.5)
    """
    agreement = _pairs(Counter(zip(a, b, strict=True)).values())
    pairs_a, pairs_b, total = _pairs(Counter(a).values()), _pairs(Counter(b).values()), _pairs([len(a)])
    chance = pairs_a * pairs_b / total if total else 0.0
    maximum = (pairs_a + pairs_b) / 2
    return round((agreement - chance) / (maximum - chance), 4) if maximum != chance else 1.0


def _pairs(sizes: Iterable[int]) -> float:
    return sum(size * (size - 1) / 2 for size in sizes)
