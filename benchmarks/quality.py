"""How well duplicates agree with labels at every level, beside other methods; written to docs/figures/quality.md.

    python benchmarks/quality.py [--collections FOLDER] [--seeds N] [COLLECTION …]

Pairs: precision, recall and F1 over all pairs, as `ibidem evaluate` counts them, at the default figures. These were
chosen on one half of each collection (its duplicate sets divided by a hash); the first figures are those of the other
half, the F1 behind them that of the whole. The other methods are those of `benchmarks/peers.py`: datasketch at 0.5, 0.7
and 0.8 and at the threshold that is best for this collection, which was chosen on the labels themselves and which
nobody could choose in earnest (over several seeds: the mean, with the lowest and the highest F1); SimHash at 3 bits and
at its best; Solr's TextProfileSignature.

Besides: the same level without runs of characters, so that their worth is seen, and the figures that `ibidem tune`
chooses on the first half, which are the default ones where others are no better there.

Newswire and codes are measured by two truths each. A text of fewer than 20 tokens is a duplicate only where the titles
agree too, which labels that were computed from texts do not know: newswire is measured with the labels as they are, and
without the pairs of such texts that have other titles. Of codes half of the five-word runs, and half of the words of
each in runs of eight words or more that both have, since no text with misread letters fulfils the first.

Sets: those of the labels that were found with the very same documents, those that were not, and those found that no
label knows, as the papers count them. Published, each on its authors' own collection: Conrad, Guo and Schriber 2003,
Table 8, news judged by librarians: precision 0.908, recall 0.963; pairs of books, Yalniz, Can and Manmatha 2011, Table
3: precision 1.000, recall 0.957 (1,092 English books), and of parts of books 0.995 and 0.919. How relations of books
agree with labels is told by `benchmarks/books.py`.
"""

import argparse
import statistics
import tempfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ibidem.dedupe.leader_clustering import group
from ibidem.dedupe.parameters import PRESETS
from ibidem.evaluation.evaluate import (
    Collection,
    filter_documents,
    found_evidence,
    found_pairs,
    sign_collection,
    split_refusals,
)
from ibidem.evaluation.labels import (
    Pair,
    PairFigures,
    SetFigures,
    components,
    count_evidence,
    parse_condition,
    read_pairs,
)
from ibidem.evaluation.tune import Figures, tune_on
from ibidem_engines.query import Filter
from ibidem_ingest.document import Document
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.pairs.policy import LEVELS, Level, Policy
from ibidem_ingest.readers import read
from ibidem_ingest.signatures.packed_columns import PackedColumns
from measured import write
from peers import THRESHOLDS, by_datasketch, by_profile, by_simhash, min_hashes

ROW_THRESHOLDS = (0.5, 0.7, 0.8)
"""Thresholds of datasketch that are told beside the best."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """A collection with labels.

    Args:
        name: Its folder.
        labels: The file of labels.
        level: The level that is meant for it.
        least: The F1 to reach there, over the whole.
        positive: Which listed pairs are duplicates.
        also: What they have to be besides.
        unjudged: A file of pairs that the labels do not speak about.
        filters: Which documents are taken.
        preset: The preset that is meant for it; the default figures when empty.
        titles: Whether pairs of short texts with other titles are taken from the labels.
    """

    name: str
    labels: str
    level: Level
    least: float
    positive: str = ""
    also: str = ""
    unjudged: str = ""
    filters: tuple[Filter, ...] = ()
    preset: str = ""
    titles: bool = False

    @property
    def truth(self) -> str:
        """Which truth is meant, where there are two."""
        if self.titles:
            return ", titles of short texts agree"
        return f", {self.positive} and {self.also}" if self.also else ""

    @property
    def policy(self) -> Policy:
        """The figures that are meant for it."""
        return PRESETS[self.preset].policy if self.preset else Policy()


NORMAL = (Filter("meta.texttype", "NORM"),)
"""Stories, without tables and flashes."""

COLLECTIONS = (
    Labelled("newspaper_ocr_overproof", "clusters.tsv", "near", 0.98, preset="scans"),
    Labelled("ota_terms_en", "clusters.tsv", "near", 0.845, unjudged="unjudged.tsv", preset="law"),
    Labelled("reuters21578", "pairs_exact.tsv", "near", 0.958, "jac5>=0.5", filters=NORMAL),
    Labelled("reuters21578", "pairs_exact.tsv", "near", 0.958, "jac5>=0.5", filters=NORMAL, titles=True),
    Labelled("civil_code_sections", "pairs_exact.tsv", "near", 0.91, "jac5>=0.5"),
    Labelled("civil_code_sections", "pairs_exact.tsv", "near", 0.74, "cov_a>=0.5", also="cov_b>=0.5"),
    Labelled("gitenberg_editions", "clusters.tsv", "partial", 0.94, unjudged="unjudged.tsv"),
    Labelled("cis_ocr_pages", "clusters.tsv", "partial", 0.94),
    Labelled("ecco_tcp_pages", "pairs.tsv", "partial", 0.97),
)


@dataclass(frozen=True, eq=False, slots=True)
class Truth:
    """What is true of a collection, and what may be counted.

    Args:
        ids: Its documents.
        pairs: Pairs that are duplicates.
        unjudged: Pairs that the labels do not speak about.
        second: Documents of the half that no figure was chosen on.
    """

    ids: Sequence[str]
    pairs: set[Pair]
    unjudged: set[Pair]
    second: set[str]

    @classmethod
    def of(
        cls, folder: Path, labelled: Labelled, ids: Sequence[str], title: Mapping[str, int] | None = None
    ) -> "Truth":
        """Read the labels of a collection and halve it.

        Args:
            folder: Where they are.
            labelled: Which of them count.
            ids: The documents that there are.
            title: Of each document the hash of its title, where its text is short; else 0.
        """
        none = parse_condition("")
        pairs = read_pairs(folder / labelled.labels, parse_condition(labelled.positive), ids)
        if labelled.also:
            pairs &= read_pairs(folder / labelled.labels, parse_condition(labelled.also), ids)
        pairs = {(a, b) for a, b in pairs if not title or title[a] == title[b] or not title[a] or not title[b]}
        unjudged = read_pairs(folder / labelled.unjudged, none, ids) if labelled.unjudged else set()
        sets = components(ids, pairs)
        second = {name for name, part in zip(ids, sets, strict=True) if zlib.crc32(ids[part].encode()) & 1}
        return cls(ids, pairs, unjudged, second)

    def figures(self, pairs: set[Pair]) -> PairFigures:
        """Compare pairs found with those that are duplicates."""
        return PairFigures.of(self.pairs - self.unjudged, pairs - self.unjudged)

    def of_second(self, pairs: set[Pair]) -> PairFigures:
        """Compare them on the second half; a pair across the halves counts where its first document is."""
        return PairFigures.of(self.there(self.pairs - self.unjudged), self.there(pairs - self.unjudged))

    def there(self, pairs: set[Pair]) -> set[Pair]:
        """Keep the pairs of the second half."""
        return {pair for pair in pairs if pair[0] in self.second}


@dataclass(frozen=True, slots=True)
class Row:
    """What a method reaches on a collection.

    Args:
        method: Its name.
        second: Precision, recall and F1 on the half that no figure was chosen on; means over seeds.
        f1: F1 over the whole; one for each seed.
    """

    method: str
    second: tuple[float, float, float]
    f1: tuple[float, ...]

    @classmethod
    def of(cls, method: str, truth: Truth, runs: Sequence[set[Pair]]) -> "Row":
        """Measure what a method found, once for each seed."""
        halves = [truth.of_second(pairs) for pairs in runs]
        means = [statistics.mean(getattr(each, name) for each in halves) for name in ("precision", "recall", "f1")]
        return cls(method, (means[0], means[1], means[2]), tuple(truth.figures(pairs).f1 for pairs in runs))

    @property
    def mean(self) -> float:
        """The mean F1 over the whole."""
        return statistics.mean(self.f1)

    def __str__(self) -> str:
        spread = f" ({min(self.f1):.3f} to {max(self.f1):.3f})" if len(self.f1) > 1 else ""
        return f"| {self.method} | {' | '.join(f'{each:.3f}' for each in self.second)} | {self.mean:.3f}{spread} |"


def ours(truth: Truth, collection: Collection, labelled: Labelled) -> Iterator[Row]:
    """Measure every level at the default figures, and those that are meant for the collection."""
    for level in LEVELS:
        yield Row.of(f"ibidem, {level}", truth, [found_pairs(collection, Policy(level=level))])
    without = Policy(level=labelled.level, characters=None)
    yield Row.of(f"ibidem, {labelled.level}, without characters", truth, [found_pairs(collection, without)])
    if labelled.level == "near":
        yield tuned(truth, collection)
    if labelled.preset:
        pairs = found_pairs(collection, labelled.policy.at(labelled.level))
        yield Row.of(f"ibidem, {labelled.level}, preset {labelled.preset}", truth, [pairs])


def tuned(truth: Truth, collection: Collection) -> Row:
    """Measure the figures that `ibidem tune` chooses on the first half."""
    rows = [row for row, name in enumerate(truth.ids) if name not in truth.second]
    columns = PackedColumns.of([collection.columns.values[row] for row in rows])
    half = Collection([truth.ids[row] for row in rows], columns, {}, frozenset(), 0)
    there = set(half.ids)
    some = (
        {pair for pair in pairs if there.issuperset(pair)} for pairs in (truth.pairs - truth.unjudged, truth.unjudged)
    )
    choice = tune_on(half, *some)
    figures = choice.chosen if choice.improves else Figures()
    return Row.of(f"ibidem tune on the first half: {figures}", truth, [found_pairs(collection, figures.policy)])


def theirs(truth: Truth, documents: Sequence[Document], seeds: int) -> Iterator[Row]:
    """Measure the other methods."""
    yield from of_datasketch(truth, documents, seeds)
    by_bits = {bits: Row.of(f"SimHash, {bits} bits", truth, [pairs]) for bits, pairs in by_simhash(documents).items()}
    yield from selection(by_bits, (3,))
    yield Row.of("Solr's TextProfileSignature", truth, [by_profile(documents)])


def of_datasketch(truth: Truth, documents: Sequence[Document], seeds: int) -> Iterator[Row]:
    """Measure datasketch at the usual thresholds and at its best."""
    runs: dict[float, list[set[Pair]]] = {threshold: [] for threshold in THRESHOLDS}
    for seed in range(1, seeds + 1):
        hashes = min_hashes(documents, seed)
        for threshold in THRESHOLDS:
            runs[threshold].append(by_datasketch(truth.ids, hashes, threshold))
    rows = {threshold: Row.of(f"datasketch at {threshold}", truth, pairs) for threshold, pairs in runs.items()}
    yield from selection(rows, ROW_THRESHOLDS)


def selection(rows: Mapping[float, Row], thresholds: Sequence[float]) -> Iterator[Row]:
    """Yield the rows that are told always, and the best one."""
    best = max(rows, key=lambda key: rows[key].mean)
    yield from (rows[key] for key in thresholds if key != best)
    yield Row(f"{rows[best].method}, its best", rows[best].second, rows[best].f1)


def sets_found(truth: Truth, collection: Collection, policy: Policy) -> Iterator[str]:
    """Say how many duplicate sets agree, as Conrad's Table 8 counts them: on the second half, and on the whole."""
    groups = group(collection.columns, policy, None, *collection.build_matcher(policy)).lead.tolist()
    true = components(truth.ids, truth.pairs)
    rows = [row for row, name in enumerate(truth.ids) if name in truth.second]
    yield told_sets("Sets", SetFigures.of([true[row] for row in rows], [groups[row] for row in rows]))
    yield told_sets("Of the whole", SetFigures.of(true, groups))


def found_by(truth: Truth, collection: Collection, policy: Policy) -> str:
    """Say which kind of evidence joins how many pairs, as `ibidem evaluate` does, over the whole."""
    evidence = {pair: name for pair, name in found_evidence(collection, policy).items() if pair not in truth.unjudged}
    counted = count_evidence(evidence, truth.pairs).items()
    text = "; ".join(f"{name} {each.found:,} ({each.right:,} right)" for name, each in counted)
    return f"Found by, of the whole: {text}."


def told_sets(where: str, sets: SetFigures) -> str:
    """Write sets down, with their recall and precision."""
    recall = sets.agree / max(1, sets.agree + sets.missed)
    precision = sets.agree / max(1, sets.agree + sets.over)
    text = f"{sets.agree:,} agree, {sets.missed:,} missed, {sets.over:,} over"
    return f"{where}: {text}: precision {precision:.3f}, recall {recall:.3f}."


def section(labelled: Labelled, folder: Path, tables: Tables, seeds: int) -> Iterator[str]:
    """Measure a collection and write it down."""
    documents = list(filter_documents(split_refusals([], read([folder / "docs.jsonl.xz"])), labelled.filters, set()))
    collection = sign_collection(documents, tables)
    titles = dict(zip(collection.ids, collection.columns.title.tolist(), strict=True))
    truth = Truth.of(folder, labelled, collection.ids, titles if labelled.titles else None)
    own, others = list(ours(truth, collection, labelled)), list(theirs(truth, documents, seeds))
    meant = own[-1] if labelled.preset else own[LEVELS.index(labelled.level)]
    best = max(others, key=lambda row: row.mean)
    yield f"## {labelled.name}{labelled.truth}\n"
    yield f"{len(documents):,} documents, {len(truth.pairs - truth.unjudged):,} pairs that are duplicates."
    yield from sets_found(truth, collection, labelled.policy.at(labelled.level))
    yield found_by(truth, collection, labelled.policy.at(labelled.level))
    yield ""
    yield "| method | precision | recall | F1 | F1 of the whole |\n|---|---|---|---|---|"
    yield from map(str, [*own, *others])
    reached = "reached" if meant.mean >= labelled.least else "NOT reached"
    yield f"\n{meant.method}, beside {best.method}:"
    yield f"F1 {compared(meant.second[2], best.second[2])} on the half that no figure was chosen on,"
    yield f"{compared(meant.mean, best.mean)} on the whole. To reach on the whole: {labelled.least}, {reached}.\n"


def compared(ours: float, theirs: float) -> str:
    """Say which of two figures is the higher one."""
    verdict = "better than" if ours > theirs else "as good as" if ours == theirs else "NOT as good as"
    return f"{ours:.3f} is {verdict} {theirs:.3f}"


def main() -> None:
    """Print the figures and write them down."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = [labelled.name for labelled in COLLECTIONS]
    options.add_argument("names", nargs="*", metavar="COLLECTION", choices=[*names, []], help="all when none is named")
    options.add_argument("--collections", type=Path, default=Path("../shared/data"))
    options.add_argument("--seeds", type=int, default=3, help="of datasketch's permutations")
    arguments = options.parse_args()
    lines = ["".join((__doc__ or "").partition("\n\nPairs: ")[1:]).strip(), ""]
    with tempfile.TemporaryDirectory() as folder:
        for labelled in COLLECTIONS:
            if not arguments.names or labelled.name in arguments.names:
                for line in section(labelled, arguments.collections / labelled.name, Tables(folder), arguments.seeds):
                    print(line, flush=True)
                    lines.append(line)
    if not arguments.names:
        write("quality", "How well duplicates agree with labels", lines)


if __name__ == "__main__":
    main()
