"""How well duplicates agree with labels, at the default figures, beside datasketch at its best.

    python benchmarks/quality.py [--collections FOLDER] [--seed N] [--halves]

Pairs: precision, recall and F1 over all pairs, as `ibidem evaluate` counts them. datasketch: min-hash of 128
permutations over shingles of five words, pairs that `MinHashLSH` hands back and whose estimate reaches the threshold.
At 0.5 it means what near means here; at its best, of thresholds from 0.3 to 0.9, it was chosen on the labels
themselves, for each collection anew, which nobody could do in earnest. `--halves` splits each collection by its
duplicate sets: the figures were chosen on the first half, so the second one tells what they are worth.
"""

import argparse
import re
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import xxhash
from datasketch import MinHash, MinHashLSH

from ibidem.agreement import PairFigures, components
from ibidem.evaluation import Collection, collect, found_pairs, passing, without
from ibidem.labels import Pair, ordered, parse_condition, read_pairs
from ibidem_engines.query import Filter
from ibidem_ingest.decision import Policy
from ibidem_ingest.document import Document
from ibidem_ingest.idf.tables import Tables
from ibidem_ingest.readers import read

WORD = re.compile(r"\w+")
PERMUTATIONS = 128
NEAR = 0.5
THRESHOLDS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


@dataclass(frozen=True, slots=True)
class Labelled:
    """A collection with labels.

    Args:
        name: Its folder.
        labels: The file of labels.
        least: The F1 to reach.
        positive: Which listed pairs are duplicates.
        unjudged: A file of pairs that the labels do not speak about.
        filters: Which documents are taken.
    """

    name: str
    labels: str
    least: float
    positive: str = ""
    unjudged: str = ""
    filters: tuple[Filter, ...] = ()


COLLECTIONS = (
    Labelled("newspaper_ocr_overproof", "clusters.tsv", 0.80),
    Labelled("ota_terms_en", "clusters.tsv", 0.845, unjudged="unjudged.tsv"),
    Labelled("reuters21578", "pairs_exact.tsv", 0.955, "jac5>=0.5", filters=(Filter("meta.texttype", "NORM"),)),
    Labelled("civil_code_sections", "pairs_exact.tsv", 0.91, "jac5>=0.5"),
)


@dataclass(frozen=True, eq=False, slots=True)
class Judged:
    """What is true of a collection, and what may be counted.

    Args:
        true: Pairs that are duplicates.
        unjudged: Pairs that the labels do not speak about.
    """

    true: set[Pair]
    unjudged: set[Pair]

    def figures(self, found: set[Pair]) -> PairFigures:
        """Compare pairs found with those that are duplicates."""
        return PairFigures.of(self.true - self.unjudged, found - self.unjudged)

    def half(self, ids: set[str]) -> "Judged":
        """Return what is true of some of the documents."""
        return Judged(within(self.true, ids), within(self.unjudged, ids))


def within(pairs: set[Pair], ids: set[str]) -> set[Pair]:
    """Keep the pairs of some documents."""
    return {pair for pair in pairs if pair[0] in ids and pair[1] in ids}


def judged(folder: Path, labelled: Labelled, ids: Sequence[str]) -> Judged:
    """Read the labels of a collection."""
    true = read_pairs(folder / labelled.labels, parse_condition(labelled.positive), ids)
    none = parse_condition("")
    return Judged(true, read_pairs(folder / labelled.unjudged, none, ids) if labelled.unjudged else set())


def halves(ids: Sequence[str], pairs: set[Pair]) -> tuple[set[str], set[str]]:
    """Split documents in two, those that pairs connect together."""
    sets = components(ids, pairs)
    first = {name for name, part in zip(ids, sets, strict=True) if zlib.crc32(ids[part].encode()) & 1 == 0}
    return first, set(ids) - first


def min_hashes(documents: Sequence[Document], seed: int) -> Iterator[MinHash]:
    """Sign documents with datasketch, a batch at a time."""
    texts = (WORD.findall(document.text.lower()) for document in documents)
    shingled = [[" ".join(words[at : at + 5]).encode() for at in range(max(1, len(words) - 4))] for words in texts]
    yield from MinHash.bulk(shingled, num_perm=PERMUTATIONS, seed=seed, hashfunc=xxhash.xxh32_intdigest)


def peer_pairs(names: Sequence[str], hashes: Sequence[MinHash], threshold: float) -> set[Pair]:
    """Find pairs with datasketch."""
    index = MinHashLSH(threshold=threshold, num_perm=PERMUTATIONS)
    found = set()
    for at, (name, each) in enumerate(zip(names, hashes, strict=True)):
        for other in index.query(each):
            if each.jaccard(hashes[other]) >= threshold:
                found.add(ordered(name, names[other]))
        index.insert(at, each, check_duplication=False)
    return found


def peer_figures(documents: Sequence[Document], truth: Judged, seed: int) -> dict[float, PairFigures]:
    """Return datasketch's figures at each threshold."""
    names = [document.id for document in documents]
    hashes = list(min_hashes(documents, seed))
    return {threshold: truth.figures(peer_pairs(names, hashes, threshold)) for threshold in THRESHOLDS}


def three(figures: PairFigures) -> str:
    """Write precision, recall and F1."""
    return f"{figures.precision:.3f} / {figures.recall:.3f} / {figures.f1:.3f}"


def line(labelled: Labelled, documents: Sequence[Document], truth: Judged, ours: PairFigures, seed: int) -> str:
    """Write a collection's figures as a row."""
    peer = peer_figures(documents, truth, seed)
    best = max(peer, key=lambda threshold: peer[threshold].f1)
    reached = "yes" if ours.f1 >= labelled.least else "NO"
    return (
        f"| {labelled.name} | {len(documents):,} | {ours.true:,} | {three(ours)} | {labelled.least} {reached} | "
        f"{three(peer[NEAR])} | {three(peer[best])} at {best} |"
    )


def in_halves(labelled: Labelled, collection: Collection, truth: Judged, found: set[Pair]) -> Iterator[str]:
    """Write the figures of a collection's two halves as rows."""
    for number, ids in enumerate(halves(collection.ids, truth.true | found), 1):
        half = truth.half(ids).figures(within(found, ids))
        yield f"| {labelled.name}, half {number} | {three(half)} |"


def main() -> None:
    """Print the figures."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--collections", type=Path, default=Path("../shared/data"))
    options.add_argument("--seed", type=int, default=1, help="of datasketch's permutations")
    options.add_argument("--halves", action="store_true", help="the two halves instead of the whole")
    asked = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tables = Tables(folder)
        if asked.halves:
            print("| collection | precision / recall / F1 |\n|---|---|")
        else:
            print("| collection | documents | true pairs | ours: P / R / F1 | to reach | datasketch at 0.5 | at best |")
            print("|---|---|---|---|---|---|---|")
        for labelled in COLLECTIONS:
            place = asked.collections / labelled.name
            documents = list(passing(without([], read([place / "docs.jsonl.xz"])), labelled.filters, set()))
            collection = collect(documents, tables)
            truth, found = judged(place, labelled, collection.ids), found_pairs(collection, Policy())
            if asked.halves:
                print("\n".join(in_halves(labelled, collection, truth, found)))
                continue
            print(line(labelled, documents, truth, truth.figures(found), asked.seed), flush=True)


if __name__ == "__main__":
    main()
