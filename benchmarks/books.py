"""Relations of books, found through the index, and their cost; written to docs/figures/books.md.

    python benchmarks/books.py [--collections FOLDER] [--rounds N]

Relations: every pair of `ecco_tcp_pages` that the level `partial` joins, found through shared keys over the whole
collection, with its labels (text relation and pagination, computed from exact overlap) and with the figures that
Spasojevic and Poncin published for their own books. A label of a direction that its own coverage contradicts (the text
said to be contained is covered less than the other) is counted separately. `its` and `cs`: which of the two scores of
unique words finds parts of books, on excerpts of 2,000 words from the middle of each of `gitenberg_editions`, by other
editions.

Cost: seconds of processor time on one core, the median of the rounds. A book of 100,000 words with all signatures; the
alignment of the unique words of two editions; and collections of 100, 300 and 1,000 books (real ones, and runs of their
pages beginning at random places): finding candidates and grouping them as `ibidem groups` does, without signing, with
the exponent of growth. All pairs of such a collection grow with the square of its size, since it is made of the same
books; a user waits for its groups, for which a text is compared with the first of each.
"""

import csv
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from pathlib import Path

from benchmark import draw_lots, exponent, in_turn, introduction, options, publish
from ibidem_dedupe.leader_clustering import group
from ibidem_dedupe.pairs import duplicates
from ibidem_dedupe.policy import Policy
from ibidem_ingest.document import Document, read_record
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.signatures.long_text import LongSignatures, sign_long
from ibidem_ingest.signatures.sign import sign
from ibidem_ingest.signatures.unique_words import (
    CS,
    ITS,
    MIN_ALIGNED,
    common_places,
    compare,
    longest,
    sequence_similarity,
)
from ibidem_lab.evaluate import Collection, sign_collection
from stories import stories

ECCO, EDITIONS = "ecco_tcp_pages", "gitenberg_editions"
PARTIAL = Policy(level="partial")
PUBLISHED = (
    ("same pagination", "98.2 / 88.4"),
    ("different pagination", "92.3 / 73.5"),
    ("contiguous subset", "95.2 / 86.9"),
    ("overlapping text", "78.6 / 96.3"),
)
EITHER = ("same_pagination", "different_pagination")
HOLDING = ("contiguous_subset", "contains", "part_of")
SIZES = (100, 300, 1_000)
EXCERPT = 2_000
WORDS = 100_000


def books(collections: Path, name: str) -> list[Document]:
    return [*stories(collections / name / "docs.jsonl.xz")]


def related_pairs(collection: Collection) -> dict[tuple[str, str], dict[str, object]]:
    """Find all pairs at `partial`, with the relation of the first to the second."""
    match, long_pairs = collection.build_matcher(PARTIAL)
    if match is None:
        raise RuntimeError("nothing decides on long texts at this level")
    pairs = duplicates(collection.columns, PARTIAL, match, long_pairs)
    relations = {}
    for row, other in zip(pairs.row.tolist(), pairs.earlier.tolist(), strict=True):
        evidence = match.evidence(row, other)
        relations[collection.ids[row], collection.ids[other]] = dict(evidence.why) if evidence else {}
    return relations


def relation_from(relations: dict[tuple[str, str], dict[str, object]], a: str, b: str) -> tuple[str, str]:
    """Return relation and direction as seen from the first of two; nothing where they were not found."""
    turn = {"part_of": "contains", "contains": "part_of"}
    if (a, b) in relations:
        why = relations[a, b]
        return str(why.get("relation", "")), str(why.get("direction", ""))
    why = relations.get((b, a), {})
    relation, direction = str(why.get("relation", "")), str(why.get("direction", ""))
    return turn.get(relation, relation), turn.get(direction, direction)


def agrees(label: dict[str, str], relation: str, direction: str) -> bool:
    text, pages = label["text_relation"], label["pagination"]
    if text == "same_text":
        return relation in (EITHER if pages == "mixed" else (pages,))
    if text == "partial_overlap":
        return relation == "overlapping_text"
    return relation in HOLDING and direction == ("part_of" if text == "a_contained_in_b" else "contains")


def is_contradicted(label: dict[str, str]) -> bool:
    """Return whether the text that is contained by its label is covered less than the other."""
    columns = {"a_contained_in_b": ("cov_a", "cov_b"), "b_contained_in_a": ("cov_b", "cov_a")}.get(
        label["text_relation"]
    )
    return columns is not None and float(label[columns[0]]) < float(label[columns[1]])


def kind(label: dict[str, str]) -> str:
    if label["text_relation"] == "same_text":
        return f"same text, {label['pagination'].replace('_', ' ')}"
    return "contained" if "contained" in label["text_relation"] else "overlap in part"


def relations(collections: Path, tables: Tables) -> Iterator[str]:
    collection = sign_collection(books(collections, ECCO), tables)
    relations = related_pairs(collection)
    with (collections / ECCO / "pairs.tsv").open(encoding="utf-8") as table:
        labels = list(csv.DictReader(table, delimiter="\t"))
    total, hits, contradictions = Counter(map(kind, labels)), Counter(), Counter()
    differences = []
    for label in labels:
        relation, direction = relation_from(relations, label["a"], label["b"])
        if agrees(label, relation, direction):
            hits[kind(label)] += 1
        elif is_contradicted(label):
            contradictions[kind(label)] += 1
        if not agrees(label, relation, direction):
            why = "its own coverage contradicts it" if is_contradicted(label) else ""
            text = relation or "nothing"
            text += f", {direction}" if direction and direction != relation else ""
            differences.append(
                f"| {label['a']} | {label['b']} | {label['text_relation']}, {label['pagination']} | "
                f"{label['cov_a']} / {label['cov_b']} | {text} | {why} |"
            )
    yield "| label | pairs | found so | label contradicted by its own coverage |\n|---|---|---|---|"
    for name, count in sorted(total.items()):
        yield f"| {name} | {count} | {hits[name]} | {contradictions[name]} |"
    yield "\nWhere label and relation disagree:\n"
    yield "| a | b | label | covered a / b | relation found | |\n|---|---|---|---|---|---|"
    yield from differences
    pairs = {frozenset((label["a"], label["b"])) for label in labels}
    yield "\nFurther pairs that were found:\n\n| a | b | relation found | confidence |\n|---|---|---|---|"
    for (a, b), why in relations.items():
        if frozenset((a, b)) not in pairs:
            yield f"| {a} | {b} | {why.get('relation') or why.get('signature')} | {why.get('confidence', '')} |"
    yield (
        "\nPublished, for other books, precision / recall in %: " + "; ".join(f"{n} {f}" for n, f in PUBLISHED) + ".\n"
    )


def scores(collections: Path) -> Iterator[str]:
    """Yield how many excerpts each score of unique words finds."""
    works = {}
    with (collections / EDITIONS / "clusters.tsv").open(encoding="utf-8") as table:
        works = {row["id"]: row["cluster"] for row in csv.DictReader(table, delimiter="\t")}
    signatures = {each.id: sign_long(each) for each in books(collections, EDITIONS)}
    excerpts = {each.id: excerpt(each) for each in books(collections, EDITIONS)}
    counts = {"its": [0, 0], "cs": [0, 0]}
    pairs = 0
    for (name, part), (other, book) in ((a, b) for a in excerpts.items() for b in signatures.items()):
        if name == other or part is None or book is None:
            continue
        is_same_work = works[name] == works[other]
        pairs += is_same_work
        if not (part.words.comparable and book.words.comparable):
            continue
        length = longest(*common_places(part.words, book.words))[0].size
        sizes = part.words.words.size, book.words.words.size
        reached = {
            "its": length > 1 and sequence_similarity(length, *sizes) >= ITS,
            "cs": length >= MIN_ALIGNED and length / (sizes[0] * sizes[1]) ** 0.5 >= CS,
        }
        for score, enough in reached.items():
            counts[score][0 if is_same_work else 1] += enough
    yield f"| score | of {pairs} excerpts by other editions of the work | by other works |\n|---|---|---|"
    for score, (hits, false_hits) in counts.items():
        yield f"| `{score}` ≥ {ITS if score == 'its' else CS} | {hits} | {false_hits} |"


def excerpt(book: Document) -> LongSignatures | None:
    words = book.text.split()
    start = max(0, len(words) // 2 - EXCERPT // 2)
    return sign_long(Document(book.id, " ".join(words[start : start + EXCERPT])))


def seconds(rounds: int, run: Callable[[], object]) -> float:
    """Return the median seconds of processor time of a call."""
    return statistics.median(in_turn([run], rounds, time.process_time)[0])


def costs(collections: Path, tables: Tables, rounds: int) -> Iterator[str]:
    documents = books(collections, ECCO)
    pages = [page for book in documents for page in book.text.split("\f")]
    long_book: list[str] = []
    while sum(len(page.split()) for page in long_book) < WORDS:
        long_book.append(pages[len(long_book)])
    document = read_record({"id": "long", "pages": long_book}, "a benchmark")
    words = sum(len(page.split()) for page in long_book)
    per_book = seconds(rounds, lambda: sign([document], tables))
    yield f"- a book of {words:,} words on {len(long_book)} pages, all signatures: {per_book * 1e3:.1f} ms"
    editions = [
        signatures.words for each in books(collections, EDITIONS) if (signatures := sign_long(each)) is not None
    ]
    pairs = [(a, b) for a, b in combinations(editions, 2) if compare(a, b) is not None]
    align_seconds = seconds(rounds, lambda: [compare(a, b) for a, b in pairs]) / len(pairs)
    mean = sum(a.words.size for a, _ in pairs) / len(pairs)
    yield f"- aligning two editions, {mean:,.0f} unique words: {align_seconds * 1e3:.2f} ms"


def make_books(sources: Sequence[Document], size: int) -> list[Document]:
    """Make a collection of so many books: real ones, then runs of pages of real ones."""
    lot = draw_lots(7)
    texts = list(sources[:size])
    while len(texts) < size:
        pages = lot.choice(sources).text.split("\f")
        length = max(2, int(len(pages) * lot.uniform(0.3, 0.9)))
        start = lot.randrange(0, max(1, len(pages) - length))
        record = {"id": f"part-{len(texts)}", "pages": pages[start : start + length]}
        texts.append(read_record(record, "a benchmark"))
    return texts


def growth(collections: Path, tables: Tables) -> Iterator[str]:
    sources = books(collections, ECCO)
    yield "| books | groups | signing, s | finding and grouping, s |\n|---|---|---|---|"
    times = []
    for size in SIZES:
        texts = make_books(sources, size)
        begin = time.process_time()
        collection = sign_collection(texts, tables)
        sign_seconds = time.process_time() - begin
        begin = time.process_time()
        match, long_pairs = collection.build_matcher(PARTIAL)
        grouping = group(collection.columns, PARTIAL, None, match, long_pairs)
        times.append(time.process_time() - begin)
        yield f"| {size:,} | {len(grouping.leads):,} | {sign_seconds:.1f} | {times[-1]:.1f} |"
    power = exponent(SIZES, times)
    yield f"\nFrom {SIZES[0]} to {SIZES[-1]:,} books the cost grows with the power {power:.2f} of their number."


def main() -> None:
    """Print the figures and write them down."""
    arguments = options(__doc__, rounds=5).parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tables = Tables(folder)
        parts = (
            ("Relations", relations(arguments.collections, tables)),
            ("`its` and `cs` on excerpts", scores(arguments.collections)),
            ("Cost", costs(arguments.collections, tables, arguments.rounds)),
            ("Growth", growth(arguments.collections, tables)),
        )
        lines = (line for title, part in parts for line in (f"## {title}\n", *part, ""))
        publish("books", "What books are to each other", lines, introduction(__doc__, "Relations: every"))


if __name__ == "__main__":
    main()
