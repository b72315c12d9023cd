"""Evaluation on labelled documents: agreement of decision and labels, and the pairs on which they disagree."""

import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import islice
from time import perf_counter
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ibidem.comparison.compare import Signals, signals
from ibidem.grouped_search.api import guards, reason
from ibidem.index.idf_build import ForeignShare, LanguageSampler
from ibidem_dedupe import evidence
from ibidem_dedupe.candidates import KeyIndex
from ibidem_dedupe.collection import choose_policy
from ibidem_dedupe.column_rules import Bools, Rows
from ibidem_dedupe.evidence import Why
from ibidem_dedupe.leader_clustering import group
from ibidem_dedupe.pairs import LongSignatureCache, LongTextMatcher, PageKeys, decide, duplicates
from ibidem_dedupe.policy import Policy
from ibidem_ingest.document import Document
from ibidem_ingest.errors import Refusal, UsageError
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.signatures.long_text import LongSignatures
from ibidem_ingest.signatures.packed import PackedColumns
from ibidem_ingest.signatures.sign import sign_and_pack
from ibidem_lab.labels import Labels, Pair, order_pair


@dataclass(frozen=True, slots=True)
class PairFigures:
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


@dataclass(frozen=True, slots=True)
class EvidenceCount:
    """The pairs that a kind of evidence joins, and no stronger kind."""

    found: int  # pairs
    right: int  # how many of the pairs are duplicates


def count_evidence(evidence: Mapping[Pair, str], true: AbstractSet[Pair]) -> dict[str, EvidenceCount]:
    """Count pairs for each kind of evidence, the most frequent first."""
    right = Counter(name for pair, name in evidence.items() if pair in true)
    return {name: EvidenceCount(count, right[name]) for name, count in Counter(evidence.values()).most_common()}


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


MAX_LISTED = 10  # so many are listed, half of either kind where there are enough of both

SLICE = 50_000  # pairs that are compared at once: bounds the memory

Kind = Literal["missed", "wrong"]


@dataclass(frozen=True, slots=True)
class Mistake:
    """A pair on which labels and signatures disagree."""

    a: str  # one document's id
    b: str  # the other's
    kind: Kind  # `missed`: a duplicate by the labels alone; `wrong`: one by the signatures alone
    why: str  # the reason in words
    signals: Signals  # signals of the pair, by signature


def insufficient_share(signals: Signals) -> str:
    """Return the similarity of a pair, which was not sufficient.

    >>> insufficient_share({"length": {"ratio": 0.5}, "minhash": {"shared": 31, "of": 100, "band": True}})
    'only about 47 % of the text shared, one is 50 % shorter'
    """
    parts = [shared_share(name, signals[name]) for name in ("minhash", "termvector") if name in signals]
    figures: dict[str, object] = {"length_ratio": signals["length"].get("ratio")}
    if "numbers" in signals:
        figures["numbers_agree"] = signals["numbers"]["agree"]
    return f"only {', '.join([*parts, *guards(figures)])}" if parts else "one of them has no words to sign"


def shared_share(name: str, figures: Why) -> str:
    """Return how much of a signature two documents share."""
    share = reason({"signature": name, **figures})
    if name == "minhash" and not figures["band"]:
        return f"{share} and no band of three"
    return f"{share} (fewer than 60 rare terms)" if figures.get("full") is False else share


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The agreement of the duplicates found with labels."""

    documents: int  # how many were signed
    labelled: int  # how many of them have labels; found pairs of the others count as wrong
    pairs: PairFigures  # the pair decision over all candidates, groups aside
    # For each kind of evidence, how many pairs it is the first to join, and how many of these are right.
    evidence: Mapping[str, EvidenceCount]
    ari: float  # adjusted Rand index of the groups, in the order of the documents, against the sets of the labels
    sets: SetFigures  # the same in duplicate sets
    refused: int  # documents that could not be read
    unknown: Sequence[str]  # ids that the labels name and no document has
    mistakes: Sequence[Mistake]  # the worst of the pairs on which labels and signatures disagree
    took_s: float  # seconds it took
    foreign: Sequence[ForeignShare] = ()  # languages whose documents are in another one


@dataclass(frozen=True, eq=False, slots=True)
class Collection:
    """Documents that were signed in memory."""

    ids: Sequence[str]  # their ids, in the order of the files
    columns: PackedColumns  # their packed values
    long: Mapping[str, bytes]  # their long signatures, encoded, by id
    left_out: AbstractSet[str]  # ids of documents that could not be read
    refused: int  # how many could not be read

    def build_matcher(self, policy: Policy) -> tuple[LongTextMatcher | None, KeyIndex | None]:
        """Return the matcher of long texts, and their candidate pairs; None below level `partial`."""
        if policy.level != "partial" or policy.related is None:
            return None, None
        names = [("", name) for name in self.ids]
        keys = PageKeys()
        for name, value in self.long.items():
            if (signatures := LongSignatures.decode(value)) is not None:
                keys.add(("", name), signatures)
        longs = LongSignatureCache(lambda refs: {ref: self.long[ref[1]] for ref in refs if ref[1] in self.long})
        return LongTextMatcher(names, self.columns.unpack_row, policy, longs), keys.key_index(names, self.columns)


def evaluate(
    items: Iterable[Document | Refusal],
    labels: Labels,
    tables: Tables,
    policy: Policy | None = None,
    *,
    progress: Callable[[int], None] = lambda _: None,
) -> Evaluation:
    """Sign documents in memory, and compare the duplicates found with labels."""
    began = perf_counter()
    sampler = LanguageSampler()
    collection = sign_collection(sampler.sample(items), tables, progress)
    policy = policy or choose_policy(collection.columns)
    ids, true = set(collection.ids), labels.pairs(collection.ids)
    matcher, suspected = collection.build_matcher(policy)
    evidence = found_evidence(collection, policy, matcher, suspected)
    pairs = set(evidence)
    groups = group(collection.columns, policy, None, matcher, suspected).lead.tolist()
    sets = components(collection.ids, true)
    return Evaluation(
        documents=len(collection.ids),
        labelled=labels.count(ids),
        pairs=PairFigures.measure(true, pairs),
        evidence=count_evidence(evidence, true),
        ari=adjusted_rand(sets, groups),
        sets=SetFigures.measure(sets, groups),
        refused=collection.refused,
        unknown=sorted(labels.ids - ids - collection.left_out),
        mistakes=worst_mistakes(collection, true, pairs, matcher or policy),
        took_s=round(perf_counter() - began, 2),
        foreign=sampler.find_foreign(tables.of),
    )


def worst_mistakes(
    collection: Collection, true: AbstractSet[Pair], pairs: AbstractSet[Pair], rule: LongTextMatcher | Policy
) -> list[Mistake]:
    """Return the worst errors: the most similar missed pairs, and the least similar wrong pairs."""
    row = {name: number for number, name in enumerate(collection.ids)}
    missed, wrong = (sort_pairs(collection, row, some) for some in (true - pairs, pairs - true))
    first: list[tuple[Pair, Kind]] = [(pair, "missed") for pair in missed[::-1]]
    first = first[: max(MAX_LISTED // 2, MAX_LISTED - len(wrong))]
    mistakes = []
    for pair, kind in first + [(pair, "wrong") for pair in wrong[: MAX_LISTED - len(first)]]:
        rows = row[pair[0]], row[pair[1]]
        a, b = map(collection.columns.unpack_row, rows)
        if a is None or b is None:
            mistakes.append(Mistake(*pair, kind, "one of them has no words to sign", {}))
            continue
        evidence = decide(a, b, rule) if isinstance(rule, Policy) else rule.evidence(*rows)
        weights = signals(a, b)
        why = reason(evidence.why, pair[1]) if evidence else insufficient_share(weights)
        mistakes.append(Mistake(*pair, kind, why, weights))
    return mistakes


def sort_pairs(collection: Collection, row: Mapping[str, int], pairs: Iterable[Pair]) -> list[Pair]:
    """Sort pairs by their share of equal slots, the least similar first."""
    iterator = iter(sorted(pairs))
    entries: list[tuple[float, Pair]] = []
    slots, has_slots = collection.columns.slots, collection.columns.slot_count > 0
    while batch := list(islice(iterator, SLICE)):
        rows = np.array([[row[a], row[b]] for a, b in batch])
        resemblance = (slots[rows[:, 0]] == slots[rows[:, 1]]).mean(axis=1) * has_slots[rows].all(axis=1)
        entries += zip(resemblance.tolist(), batch, strict=True)
    return [pair for _, pair in sorted(entries)]


def found_evidence(
    collection: Collection, policy: Policy, matcher: LongTextMatcher | None = None, long_index: KeyIndex | None = None
) -> dict[Pair, str]:
    """Return all pairs that the decision joins, by their ids, each with the kind of its strongest evidence."""
    if matcher is None:
        matcher, long_index = collection.build_matcher(policy)
    pairs = duplicates(collection.columns, policy, matcher, long_index)
    names = collection.ids
    return {
        order_pair(names[a], names[b]): evidence.TABLE.name(code)
        for a, b, code in zip(pairs.row.tolist(), pairs.earlier.tolist(), pairs.code.tolist(), strict=True)
    }


def sign_collection(
    items: Iterable[Document | Refusal], tables: Tables, progress: Callable[[int], None] = lambda _: None
) -> Collection:
    """Sign documents in memory, keeping only packed values and long signatures."""
    refusals: list[Refusal] = []
    packed: dict[str, bytes] = {}
    long_signatures: dict[str, bytes] = {}
    documents = tables.look_through_first(split_refusals(refusals, items))
    for document, signatures, value in sign_and_pack(documents, tables):
        if document.id in packed:
            raise UsageError(f"the id {document.id!r} occurs twice", "labels need ids that name one document")
        packed[document.id] = value
        if signatures.long:
            long_signatures[document.id] = signatures.long
        progress(len(packed))
    if not packed:
        raise UsageError("there are no documents to evaluate", "name files with documents")
    left_out = {refusal.id for refusal in refusals}
    columns = PackedColumns.decode(list(packed.values()))
    return Collection(list(packed), columns, long_signatures, left_out, len(refusals))


def split_refusals(refusals: list[Refusal], items: Iterable[Document | Refusal]) -> Iterator[Document]:
    for item in items:
        if isinstance(item, Refusal):
            refusals.append(item)
        else:
            yield item


FOLDS = 5

Counts = NDArray[np.float64]


@dataclass(frozen=True, eq=False, slots=True)
class Truth:
    """The labelled pairs of a collection, in folds."""

    collection: Collection  # signed documents
    part: Rows  # (n,) the number of each document's duplicate set
    fold: Rows  # (n,) the fold of each document: that of its duplicate set
    true: Rows  # pairs of rows that are duplicates, as `smaller * size + larger`
    unjudged: Rows  # pairs without a label
    # How many documents of the whole collection each of these stands for. Sets are drawn whole, so a wrong pair of two
    # sets stands for as many pairs: half of the sets have half of the duplicates, and a quarter of the pairs of
    # different sets.
    sampled: float = 1.0

    @classmethod
    def build(
        cls, collection: Collection, part: Sequence[int], true: set[Pair], unjudged: set[Pair], collection_size: int = 0
    ) -> "Truth":
        """Split the sets into folds by a hash of their first id, so that the order of the files does not matter."""
        row = {name: at for at, name in enumerate(collection.ids)}
        first: dict[int, str] = {}
        for name, position in sorted(zip(collection.ids, part, strict=True)):
            first.setdefault(position, name)
        fold = np.array([zlib.crc32(first[at].encode()) % FOLDS for at in part], np.int64)
        numbers = (sorted(sorted((row[a], row[b])) for a, b in pairs) for pairs in (true, unjudged))
        judged, not_judged = (np.array([a * len(row) + b for a, b in each], np.int64) for each in numbers)
        return cls(collection, np.array(part), fold, judged, not_judged, max(1.0, collection_size / len(row)))

    def code(self, a: Rows, b: Rows) -> Rows:
        """Encode pairs of rows as numbers."""
        codes: Rows = np.minimum(a, b) * len(self.fold) + np.maximum(a, b)
        return codes

    def weigh(self, a: Rows, b: Rows, is_true: Bools) -> Counts:
        """Return how many pairs of the whole collection each pair represents, relative to a duplicate."""
        return np.where(is_true | (self.part[a] == self.part[b]), 1.0, self.sampled)

    def counts(self, a: Rows, b: Rows) -> Counts:
        """Count found and true, found, and true pairs for each fold."""
        size = len(self.fold)
        codes = np.setdiff1d(self.code(a, b), self.unjudged)
        is_true = np.isin(codes, self.true)
        weights = self.weigh(*np.divmod(codes, size), is_true)
        parts = ((codes[is_true], None), (codes, weights), (self.true, None))
        columns = [np.bincount(self.fold[pairs // size], each, minlength=FOLDS) for pairs, each in parts]
        return np.stack(columns, axis=1).astype(np.float64)


def f1(counts: Counts) -> float:
    """Return the harmonic mean of precision and recall, from the counts of correct, found and true pairs."""
    hits, reported, true = counts.tolist()
    return 2 * hits / (reported + true) if hits else 0.0


def score(counts: Counts) -> PairFigures:
    """Return precision, recall and F1 of counts."""
    hits, reported, true = counts.tolist()
    shares = hits / max(1, reported), hits / max(1, true), f1(counts)
    return PairFigures(round(true), round(reported), *(round(each, 4) for each in shares))
