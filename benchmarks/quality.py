"""Agreement of duplicates with labels at every level, compared with other methods; written to docs/figures/quality.md.

    python benchmarks/quality.py [--collections FOLDER] [--seeds N] [COLLECTION …]

Pairs: precision, recall and F1 over all pairs, as `ibidem evaluate` counts them, at the default figures. These were
chosen on one half of each collection (its duplicate sets divided by a hash); the first figures are for the other half,
the last F1 is for the whole. The other methods are those of `benchmarks/peers.py`: datasketch at 0.5, 0.7 and 0.8 and
at the best threshold of this collection, which is chosen on the labels themselves and so cannot be known in practice
(over several seeds: the mean, with the lowest and the highest F1); SimHash at 3 bits and at its best; Solr's
TextProfileSignature.

The default is the rule that an index of these documents is settled by, chosen without labels. Further rows: the same
level without runs of characters, which shows their effect, and what `ibidem tune` chooses on the first half: the
default where nothing is better there.

Newswire and codes have two ground truths each. A text of fewer than 20 tokens is a duplicate only where the titles
agree too, but the labels were computed from texts alone: newswire is measured with the labels as they are, and without
pairs of such texts with different titles. For codes, duplicates share half of their five-word runs; or half of the
words of each are in common runs of eight words or more, since no text with misread letters fulfils the first.

Sets: label sets that were found with exactly the same documents (agree), label sets that were not (missed), and sets
found that are no label set (over), as the papers count them. Published, each on its authors' own collection: Conrad,
Guo and Schriber 2003, Table 8, news judged by librarians: precision 0.908, recall 0.963; pairs of books, Yalniz, Can
and Manmatha 2011, Table 3: precision 1.000, recall 0.957 (1,092 English books), and of parts of books 0.995 and 0.919.
`benchmarks/books.py` measures how relations of books agree with labels.
"""

import statistics
import tempfile
import zlib
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from benchmark import introduction, options, publish
from ibidem_dedupe.collection import choose_policy
from ibidem_dedupe.leader_clustering import group
from ibidem_dedupe.parameters import PRESETS
from ibidem_dedupe.policy import LEVELS, Level, Policy
from ibidem_ingest.document import Document
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.readers import read
from ibidem_ingest.signatures.packed import TITLED, PackedColumns
from ibidem_lab.evaluate import (
    Collection,
    PairFigures,
    SetFigures,
    components,
    count_evidence,
    found_evidence,
    sign_collection,
    split_refusals,
)
from ibidem_lab.labels import Labels, Pair
from ibidem_lab.tune import choose_figures
from peers import THRESHOLDS, datasketch_pairs, min_hashes, profile_pairs, simhash_pairs

ROW_THRESHOLDS = (0.5, 0.7, 0.8)  # thresholds of datasketch that have a row, next to the best one


@dataclass(frozen=True, slots=True)
class LabelledCollection:
    name: str  # its folder
    labels: str  # the file of labels
    level: Level  # the level to measure
    goal: float  # the F1 to reach there, over the whole
    positive: str = ""  # condition on the listed pairs that are duplicates
    also: str = ""  # a second condition on them
    unjudged: str = ""  # a file of pairs without a judgement
    text_type: str = ""  # only documents of this type are read
    preset: str = ""  # the preset for it, which has a row of its own
    titles: bool = False  # whether to leave out pairs of short texts with different titles

    @property
    def truth(self) -> str:
        """Name of the ground truth, where there are two."""
        if self.titles:
            return ", titles of short texts agree"
        return f", {self.positive} and {self.also}" if self.also else ""


NORMAL = "NORM"  # stories, without tables and flashes

COLLECTIONS = (
    LabelledCollection("newspaper_ocr_overproof", "clusters.tsv", "near", 0.946, preset="scans"),
    LabelledCollection("ota_terms_en", "clusters.tsv", "near", 0.872, unjudged="unjudged.tsv", preset="law"),
    LabelledCollection("reuters21578", "pairs_exact.tsv", "near", 0.941, "jac5>=0.5", text_type=NORMAL),
    LabelledCollection("reuters21578", "pairs_exact.tsv", "near", 0.973, "jac5>=0.5", text_type=NORMAL, titles=True),
    LabelledCollection("civil_code_sections", "pairs_exact.tsv", "near", 0.936, "jac5>=0.5"),
    LabelledCollection("civil_code_sections", "pairs_exact.tsv", "near", 0.66, "cov_a>=0.5", also="cov_b>=0.5"),
    LabelledCollection("manual_pages", "pairs_exact.tsv", "near", 0.73, "jac5>=0.5"),
    LabelledCollection("copyright_files", "pairs_exact.tsv", "near", 0.77, "jac5>=0.5"),
    LabelledCollection("gitenberg_editions", "clusters.tsv", "partial", 0.94, unjudged="unjudged.tsv"),
    LabelledCollection("cis_ocr_pages", "clusters.tsv", "partial", 0.94),
    LabelledCollection("ecco_tcp_pages", "pairs.tsv", "partial", 0.97),
)


@dataclass(frozen=True, eq=False, slots=True)
class Truth:
    ids: Sequence[str]  # its documents
    pairs: set[Pair]  # pairs that are duplicates
    unjudged: set[Pair]  # pairs without a judgement, which are not counted
    second: set[str]  # documents of the half that no threshold was chosen on

    @classmethod
    def build(
        cls, folder: Path, target: LabelledCollection, ids: Sequence[str], title: Mapping[str, int] | None = None
    ) -> "Truth":
        pairs = Labels.read(folder / target.labels, target.positive).pairs(ids)
        if target.also:
            pairs &= Labels.read(folder / target.labels, target.also).pairs(ids)
        pairs = {(a, b) for a, b in pairs if not title or title[a] == title[b] or not title[a] or not title[b]}
        unjudged = Labels.read(folder / target.unjudged).pairs(ids) if target.unjudged else set()
        sets = components(ids, pairs)
        second = {name for name, part in zip(ids, sets, strict=True) if zlib.crc32(ids[part].encode()) & 1}
        return cls(ids, pairs, unjudged, second)

    def figures(self, pairs: set[Pair]) -> PairFigures:
        """Compare the pairs that were found with the ground truth."""
        return PairFigures.measure(self.pairs - self.unjudged, pairs - self.unjudged)

    def second_figures(self, pairs: set[Pair]) -> PairFigures:
        """Compare them on the second half; a pair across the halves counts in the half of its first document."""
        return PairFigures.measure(
            self.second_pairs(self.pairs - self.unjudged), self.second_pairs(pairs - self.unjudged)
        )

    def second_pairs(self, pairs: set[Pair]) -> set[Pair]:
        return {pair for pair in pairs if pair[0] in self.second}


@dataclass(frozen=True, slots=True)
class Row:
    method: str  # its name
    # Precision, recall and F1 on the half that no threshold was chosen on; means over seeds.
    second: tuple[float, float, float]
    f1: tuple[float, ...]  # F1 over the whole; one for each seed

    @classmethod
    def measure(cls, method: str, truth: Truth, runs: Sequence[set[Pair]]) -> "Row":
        halves = [truth.second_figures(pairs) for pairs in runs]
        means = [statistics.mean(getattr(each, name) for each in halves) for name in ("precision", "recall", "f1")]
        return cls(method, (means[0], means[1], means[2]), tuple(truth.figures(pairs).f1 for pairs in runs))

    @property
    def mean(self) -> float:
        return statistics.mean(self.f1)

    def __str__(self) -> str:
        spread = f" ({min(self.f1):.3f} to {max(self.f1):.3f})" if len(self.f1) > 1 else ""
        return f"| {self.method} | {' | '.join(f'{each:.3f}' for each in self.second)} | {self.mean:.3f}{spread} |"


def own_rows(truth: Truth, collection: Collection, target: LabelledCollection, rule: Policy) -> Iterator[Row]:
    """Measure ibidem: every level by the default rule, and what it is chosen instead."""
    policies = {level: rule.at(level) for level in LEVELS}
    policies |= {f"{target.level}, without characters": replace(rule, level=target.level, characters=None)}
    if target.preset:
        policies |= {f"{target.level}, preset {target.preset}": PRESETS[target.preset].policy.at(target.level)}
    for name, policy in policies.items():
        yield Row.measure(f"ibidem, {name}", truth, [set(found_evidence(collection, policy))])
    if target.level == "near":
        yield tune_row(truth, collection, rule)


def tune_row(truth: Truth, collection: Collection, rule: Policy) -> Row:
    """Measure what `ibidem tune` chooses on the first half."""
    rows = [row for row, name in enumerate(truth.ids) if name not in truth.second]
    columns = PackedColumns.decode([collection.columns.values[row] for row in rows])
    half = Collection([truth.ids[row] for row in rows], columns, {}, frozenset(), 0)
    half_ids = set(half.ids)
    pair_sets = (
        {pair for pair in pairs if half_ids.issuperset(pair)}
        for pairs in (truth.pairs - truth.unjudged, truth.unjudged)
    )
    choice = choose_figures(half, *pair_sets, collection_size=len(truth.ids))
    figures, policy = (str(choice.chosen), choice.policy) if choice.choice != "default" else ("the default", rule)
    return Row.measure(f"ibidem tune on the first half: {figures}", truth, [set(found_evidence(collection, policy))])


def peer_rows(truth: Truth, documents: Sequence[Document], seeds: int) -> Iterator[Row]:
    yield from datasketch_rows(truth, documents, seeds)
    by_bits = {
        bits: Row.measure(f"SimHash, {bits} bits", truth, [pairs]) for bits, pairs in simhash_pairs(documents).items()
    }
    yield from selection(by_bits, (3,))
    yield Row.measure("Solr's TextProfileSignature", truth, [profile_pairs(documents)])


def datasketch_rows(truth: Truth, documents: Sequence[Document], seeds: int) -> Iterator[Row]:
    """Measure datasketch at the usual thresholds and at its best."""
    runs: dict[float, list[set[Pair]]] = {threshold: [] for threshold in THRESHOLDS}
    for seed in range(1, seeds + 1):
        hashes = min_hashes(documents, seed)
        for threshold in THRESHOLDS:
            runs[threshold].append(datasketch_pairs(truth.ids, hashes, threshold))
    rows = {threshold: Row.measure(f"datasketch at {threshold}", truth, pairs) for threshold, pairs in runs.items()}
    yield from selection(rows, ROW_THRESHOLDS)


def selection(rows: Mapping[float, Row], thresholds: Sequence[float]) -> Iterator[Row]:
    best = max(rows, key=lambda key: rows[key].mean)
    yield from (rows[key] for key in thresholds if key != best)
    yield Row(f"{rows[best].method}, its best", rows[best].second, rows[best].f1)


def set_lines(truth: Truth, collection: Collection, policy: Policy) -> Iterator[str]:
    """Count the duplicate sets that agree, as Conrad's Table 8 does: on the second half, and on the whole."""
    groups = group(collection.columns, policy, None, *collection.build_matcher(policy)).lead.tolist()
    true = components(truth.ids, truth.pairs)
    rows = [row for row, name in enumerate(truth.ids) if name in truth.second]
    yield set_line("Sets", SetFigures.measure([true[row] for row in rows], [groups[row] for row in rows]))
    yield set_line("Of the whole", SetFigures.measure(true, groups))


def evidence_line(truth: Truth, collection: Collection, policy: Policy) -> str:
    """Count the pairs of each kind of evidence, as `ibidem evaluate` does, over the whole."""
    evidence = {pair: name for pair, name in found_evidence(collection, policy).items() if pair not in truth.unjudged}
    counts = count_evidence(evidence, truth.pairs).items()
    text = "; ".join(f"{name} {each.found:,} ({each.right:,} right)" for name, each in counts)
    return f"Found by, of the whole: {text}."


def set_line(location: str, sets: SetFigures) -> str:
    recall = sets.agree / max(1, sets.agree + sets.missed)
    precision = sets.agree / max(1, sets.agree + sets.over)
    text = f"{sets.agree:,} agree, {sets.missed:,} missed, {sets.over:,} over"
    return f"{location}: {text}: precision {precision:.3f}, recall {recall:.3f}."


def read_documents(target: LabelledCollection, folder: Path) -> list[Document]:
    documents = split_refusals([], read([folder / "docs.jsonl.xz"]))
    return [each for each in documents if not target.text_type or each.meta.get("texttype") == target.text_type]


def section(target: LabelledCollection, folder: Path, tables: Tables, seeds: int) -> Generator[str, None, str]:
    """Measure a collection and yield the lines of its section; returns its row in the table of all."""
    documents = read_documents(target, folder)
    collection = sign_collection(documents, tables)
    columns = collection.columns
    titles = dict(zip(collection.ids, np.where(columns.flags & TITLED, columns.title, 0).tolist(), strict=True))
    truth = Truth.build(folder, target, collection.ids, titles if target.titles else None)
    rule = choose_policy(columns)
    rows, peers = list(own_rows(truth, collection, target, rule)), list(peer_rows(truth, documents, seeds))
    main_row, best = rows[LEVELS.index(target.level)], max(peers, key=lambda row: row.mean)
    yield f"## {target.name}{target.truth}\n"
    yield f"{len(documents):,} documents, {len(truth.pairs - truth.unjudged):,} pairs that are duplicates."
    yield from set_lines(truth, collection, rule.at(target.level))
    yield evidence_line(truth, collection, rule.at(target.level))
    yield ""
    yield "| method | precision | recall | F1 | F1 of the whole |\n|---|---|---|---|---|"
    yield from map(str, [*rows, *peers])
    verdict = "reached" if main_row.mean >= target.goal else "NOT reached"
    yield f"\n{main_row.method}, compared with {best.method}:"
    yield f"F1 {compare(main_row.second[2], best.second[2])} on the half that no figure was chosen on,"
    yield f"{compare(main_row.mean, best.mean)} on the whole. To reach on the whole: {target.goal}, {verdict}.\n"
    name, result = f"{target.name}{target.truth}", "won" if main_row.mean > best.mean else "lost"
    return f"| {name} | {main_row.mean:.3f} | {best.mean:.3f} ({best.method}) | {result} |"


def compare(figure: float, peer_figure: float) -> str:
    """Say which of two F1 is the higher one."""
    verdict = "better than" if figure > peer_figure else "as good as" if figure == peer_figure else "NOT as good as"
    return f"{figure:.3f} is {verdict} {peer_figure:.3f}"


def main() -> None:
    """Print the figures and write the page."""
    parser = options(__doc__, seeds=3)
    parser.add_argument("names", nargs="*", metavar="COLLECTION", help="all when none is named")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        targets = [each for each in COLLECTIONS if not arguments.names or each.name in arguments.names]
        lines = sections(targets, arguments.collections, Path(folder), arguments.seeds)
        title = "How well duplicates agree with labels"
        publish("quality", title, lines, introduction(__doc__, "Pairs: precision"), keep=not arguments.names)


def sections(targets: Sequence[LabelledCollection], collections: Path, folder: Path, seeds: int) -> Iterator[str]:
    rows = []
    for target in targets:
        row = yield from section(target, collections / target.name, Tables(folder), seeds)
        rows.append(row)
    yield "## All of them\n"
    yield "F1 of the whole: by default, and of the best other method at the threshold that is best here.\n"
    yield "| collection | ibidem | best other with hindsight | |\n|---|---|---|---|"
    yield from rows


if __name__ == "__main__":
    main()
