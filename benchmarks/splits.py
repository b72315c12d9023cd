"""Figures chosen on one half of labelled sets and judged on the other, for ibidem and others alike.

    python benchmarks/splits.py [--collections FOLDER] [--splits N] [COLLECTION …]

Each collection's duplicate sets are divided by a hash, in eight ways. On the first half `ibidem tune --learn` chooses
thresholds and learns a rule, told how large the whole is; datasketch and SimHash get the threshold that is best there
(0.3 to 0.9; 3 to 12 bits). All are judged on the second half: a pair counts in the half of its first document. Given
are the mean F1 of the splits, and the lowest and the highest. Without a choice: ibidem's default and presets,
datasketch at 0.7 with runs of five words, as text-dedup sets it, and SimHash at 3 bits. `recommended` is what `tune
--learn` says to use. Signatures, and candidates of datasketch at 0.3, are the same for all splits.
"""

import hashlib
import statistics
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmark import introduction, options, publish
from ibidem_dedupe.collection import choose_policy
from ibidem_dedupe.parameters import PRESETS
from ibidem_dedupe.policy import Policy
from ibidem_ingest.document import Document
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.signatures.packed import PackedColumns
from ibidem_lab.evaluate import Collection, PairFigures, components, found_evidence, sign_collection
from ibidem_lab.labels import Pair
from ibidem_lab.tune import choose_figures
from peers import BITS, THRESHOLDS, estimated_pairs, min_hashes, simhash_pairs
from quality import COLLECTIONS, LabelledCollection, Truth, read_documents

SPLITS = 8
# Collections with enough sets to choose on; newswire by its labels as they are.
FEW_SETS = ("manual_pages", "copyright_files")
CHOSEN = tuple(each for each in COLLECTIONS if each.level == "near" and not each.titles and each.name not in FEW_SETS)

TEXT_DEDUP = 0.7
MANKU = 3
Found = Mapping[float, set[Pair]]


@dataclass(frozen=True, eq=False, slots=True)
class Splits:
    """A collection that is divided several ways."""

    target: LabelledCollection  # the collection
    collection: Collection  # its signed documents
    truth: Truth  # its ground truth
    # F1 on the second half, by method.
    scores: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def halve(self, split: int) -> set[str]:
        ids = self.truth.ids
        parts = components(ids, self.truth.pairs)
        digests = (hashlib.blake2b(f"{split} {ids[part]}".encode(), digest_size=1).digest() for part in parts)
        return {name for name, digest in zip(ids, digests, strict=True) if digest[0] & 1}

    def judge(self, half: set[str], pairs: set[Pair]) -> float:
        true, found = (
            {pair for pair in each - self.truth.unjudged if pair[0] in half} for each in (self.truth.pairs, pairs)
        )
        return PairFigures.measure(true, found).f1

    def add(self, method: str, half: set[str], pairs: set[Pair]) -> None:
        self.scores[method].append(self.judge(half, pairs))

    def add_own(self, second: set[str], known: dict[Policy, set[Pair]]) -> None:
        """Note what ibidem reaches, by default and by what it chooses on the first half."""
        choice = choose_figures(*self.first_half(second), learn=True, collection_size=len(self.truth.ids))
        rule = choose_policy(self.collection.columns)
        policies = {"ibidem, default": rule, "ibidem tune": choice.chosen.policy if choice.thresholds_improve else rule}
        if self.target.preset:
            policies[f"ibidem, preset {self.target.preset}"] = PRESETS[self.target.preset].policy
        if choice.learned:
            policies["ibidem tune --learn"] = Policy.from_rule(choice.learned.rule)
        policies["ibidem, as recommended"] = choice.policy if choice.choice != "default" else rule
        for method, policy in policies.items():
            if policy not in known:
                known[policy] = set(found_evidence(self.collection, policy))
            self.add(method, second, known[policy])

    def first_half(self, second: set[str]) -> tuple[Collection, set[Pair], set[Pair]]:
        """Return the documents of the first half, with the labels of pairs inside it."""
        rows = [row for row, name in enumerate(self.truth.ids) if name not in second]
        ids = [self.truth.ids[row] for row in rows]
        columns = PackedColumns.decode([self.collection.columns.values[row] for row in rows])
        judged, unjudged = (
            {pair for pair in pairs if not second.intersection(pair)}
            for pairs in (self.truth.pairs - self.truth.unjudged, self.truth.unjudged)
        )
        return Collection(ids, columns, {}, frozenset(), 0), judged, unjudged

    def add_peer(self, method: str, found: Found, usual: float, second: set[str]) -> None:
        """Note what another method reaches at its usual threshold, and at the best one of the first half."""
        first = set(self.truth.ids) - second
        best = max(found, key=lambda threshold: self.judge(first, found[threshold]))
        self.add(f"{method} at {usual}", second, found[usual])
        self.add(f"{method}, tuned", second, found[best])

    def lines(self) -> Iterator[str]:
        yield "| method | F1, mean | lowest | highest |\n|---|---|---|---|"
        for method, scores in self.scores.items():
            yield f"| {method} | {statistics.mean(scores):.3f} | {min(scores):.3f} | {max(scores):.3f} |"
        means = {method: statistics.mean(scores) for method, scores in self.scores.items()}
        peer = max((name for name in means if not name.startswith("ibidem")), key=lambda name: means[name])
        own = means["ibidem, as recommended"]
        verdict = "better than" if own > means[peer] else "NOT better than"
        yield f"\nAs recommended {own:.3f} is {verdict} {peer}, {means[peer]:.3f}.\n"


def peers(documents: Sequence[Document], ids: Sequence[str]) -> tuple[Found, Found]:
    """Find the pairs of datasketch and of SimHash at every threshold."""
    estimates = estimated_pairs(ids, min_hashes(documents, 1))
    minhash = {at: {pair for pair, estimate in estimates.items() if estimate >= at} for at in THRESHOLDS}
    simhash = simhash_pairs(documents)
    return minhash, {float(bits): simhash[bits] for bits in BITS}


def section(target: LabelledCollection, folder: Path, tables: Tables, count: int) -> Iterator[str]:
    documents = read_documents(target, folder)
    collection = sign_collection(documents, tables)
    splits = Splits(target, collection, Truth.build(folder, target, collection.ids))
    minhash, simhash = peers(documents, collection.ids)
    known: dict[Policy, set[Pair]] = {}
    for split in range(count):
        second = splits.halve(split)
        splits.add_own(second, known)
        splits.add_peer("datasketch", minhash, TEXT_DEDUP, second)
        splits.add_peer("SimHash", simhash, MANKU, second)
    yield f"## {target.name}{target.truth}\n"
    yield f"{len(documents):,} documents, {len(splits.truth.pairs - splits.truth.unjudged):,} pairs, {count} splits.\n"
    yield from splits.lines()


def main() -> None:
    """Print the figures and write the page."""
    parser = options(__doc__, splits=SPLITS)
    parser.add_argument("names", nargs="*", metavar="COLLECTION", help="all when none is named")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        lines = (
            line
            for target in CHOSEN
            if not arguments.names or target.name in arguments.names
            for line in section(target, arguments.collections / target.name, Tables(folder), arguments.splits)
        )
        title = "Figures chosen on one half and judged on the other"
        publish("splits", title, lines, introduction(__doc__, "Each collection's"), keep=not arguments.names)


if __name__ == "__main__":
    main()
