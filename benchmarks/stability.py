"""Share of fingerprints that change when the idf table is counted again; written to docs/figures/stability.md.

    python benchmarks/stability.py [--collections FOLDER]

The experiment of Conrad, Guo and Schriber (2003, section 6.2, Figures 1 to 4) on newswire by month and on contracts by
year. A table is counted from all documents up to the end of each slice. Fingerprints of 1 to 30 terms are made of 1,000
documents of the first slice (all, where there are fewer), drawn by lot, with one table and with the next: the share of
them that differ. The default table of ibidem does not change with the collection, so that its share would be 0; the
last rows compare the collection's own table with it.

Effect on duplicates: precision, recall and F1 of all pairs of the collection at `near`, as
`benchmarks/quality.py` counts them, with the default table, with the collection's own one of the first slice and of the
last, and with half of the documents (by a hash of their ids) still signed with the table before the last. The same by
rare words alone, without min-hash. *Full sets* is the share of documents with 60 rare terms in the table.
"""

import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmark import draw_lots, introduction, options, publish
from ibidem.cli.idf import draw
from ibidem_dedupe.policy import Policy
from ibidem_ingest.document import Document
from ibidem_ingest.idf.stability import changed_fingerprints, correlation
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.idf.table import Table
from ibidem_ingest.readers import read
from ibidem_ingest.signatures.packed import FULL, pack
from ibidem_ingest.signatures.packed_columns import PackedColumns
from ibidem_ingest.signatures.sign import sign_stream
from ibidem_ingest.text.terms import is_term
from ibidem_ingest.text.tokens import tokens
from ibidem_lab.evaluate import Collection, filter_documents, found_pairs, split_refusals
from measured import FIGURES
from quality import COLLECTIONS, LabelledCollection, Truth

SAMPLED = 1_000
SHOWN = (1, 6, 12, 30)  # lengths of fingerprints that are in the tables; the picture has all of them

# Its Table 4 (terms without digits) and the text on its Figure 1.
PAPER = (
    "| *in the paper, 7 to 10 % a month* | | *769,535 and more* | *0.9808 to 0.9903* |"
    " *17 %* | *17 %* | | *33 to 42 %* |"
)

Ends = Mapping[str, str]  # for each slice, by its name, the date before which its documents were published


@dataclass(frozen=True, slots=True)
class Series:
    """A collection that grows."""

    target: LabelledCollection  # the collection and its labels
    title: str  # description of the collection
    ends: Ends  # its slices; a document without a date is in none


SERIES = (
    Series(
        next(each for each in COLLECTIONS if each.name == "reuters21578"),
        "Newswire by month",
        {"March": "1987-04", "April": "1987-05", "June": "1987-07", "October": "1987-11"},
    ),
    Series(
        next(each for each in COLLECTIONS if each.name == "ota_terms_en"),
        "Contracts by year",
        {str(year): str(year + 1) for year in range(2021, 2027)},
    ),
)


@dataclass(frozen=True, eq=False, slots=True)
class GrowingCollection:
    """A collection and its tables."""

    documents: Sequence[Document]
    tables: Mapping[str, Table]  # a table for each slice, by its name, counted from all documents up to its end
    sample: Sequence[str]  # texts of the first slice, drawn by lot

    @classmethod
    def build(cls, documents: Sequence[Document], ends: Ends) -> "GrowingCollection":
        """Count the tables of a collection, slice by slice."""
        by_date = sorted((each for each in documents if each.date), key=lambda each: each.date)
        tables, counts, position = {}, Counter[str](), 0
        for name, end in ends.items():
            texts = [each.text for each in by_date[position:] if each.date < end]
            for text in texts:
                counts.update({token for token in tokens(text) if is_term(token)})
            position += len(texts)
            tables[name] = Table.build("en", position, dict(counts), f"up to {name}")
        first = [each.text for each in by_date if each.date < next(iter(ends.values()))]
        lot = draw_lots(1)
        return cls(documents, tables, lot.sample(first, min(SAMPLED, len(first))))


@dataclass(frozen=True, slots=True)
class Step:
    """Changes from one table to another."""

    name: str  # names of the two tables
    # Further documents, as a share of the earlier ones; None where one table is not made of the other.
    growth: float | None
    common: int  # terms that both hold
    spearman: float  # rank correlation of these
    shares: Mapping[int, float]  # the share of fingerprints that differ, by their length

    @classmethod
    def measure(cls, name: str, older: Table, newer: Table, texts: Iterable[str], *, is_growth: bool = True) -> "Step":
        """Compare two tables."""
        coefficient = correlation(older, newer)
        growth = newer.documents / older.documents - 1 if is_growth else None
        return cls(
            name, growth, coefficient.common, coefficient.spearman or 0.0, changed_fingerprints(texts, older, newer)
        )

    def __str__(self) -> str:
        growth = "" if self.growth is None else f"{100 * self.growth:.1f} %"
        shares = " | ".join(f"{100 * self.shares[length]:.1f} %" for length in SHOWN)
        return f"| {self.name} | {growth} | {self.common:,} | {self.spearman:.4f} | {shares} |"


def steps(collection: GrowingCollection, default: Table) -> Iterator[Step]:
    """Compare each table with the next, the first with the last, and the default one with the last."""
    names = list(collection.tables)
    for older, newer in [*pairwise(names), (names[0], names[-1])]:
        yield Step.measure(f"{older} to {newer}", collection.tables[older], collection.tables[newer], collection.sample)
    last = collection.tables[names[-1]]
    yield Step.measure(f"default to {names[-1]}", default, last, collection.sample, is_growth=False)


def sign_and_pack(documents: Iterable[Document], tables: Tables) -> dict[str, bytes]:
    """Sign documents and pack their signatures, by id."""
    return {document.id: pack(document, signatures) for document, signatures in sign_stream(documents, tables)}


def table_folder(folder: str, table: Table) -> Tables:
    """Make a folder in which a table is the current one."""
    tables = Tables(Path(folder) / table.name)
    tables.use(table)
    return tables


def signings(collection: GrowingCollection, folder: str) -> Iterator[tuple[str, dict[str, bytes]]]:
    """Sign a collection with one table or another, or with two."""
    first, *_, previous, last = collection.tables
    older, newer = (
        sign_and_pack(collection.documents, table_folder(folder, collection.tables[name])) for name in (previous, last)
    )
    yield "default", sign_and_pack(collection.documents, Tables(folder))
    yield f"own, up to {first}", sign_and_pack(collection.documents, table_folder(folder, collection.tables[first]))
    yield f"own, up to {last}", newer
    yield (
        f"own, half up to {previous}, half up to {last}",
        {name: older[name] if zlib.crc32(name.encode()) & 1 else value for name, value in newer.items()},
    )


def rows(growing_collection: GrowingCollection, truth: Truth, policy: Policy, folder: str) -> Iterator[str]:
    """Measure duplicates with different tables."""
    rare = replace(policy, slots=None)
    for name, values in signings(growing_collection, folder):
        collection = Collection(list(values), PackedColumns.decode(list(values.values())), {}, set(), 0)
        full_share = np.count_nonzero(collection.columns.flags & FULL) / len(values)
        figures = [truth.figures(found_pairs(collection, each)) for each in (policy, rare)]
        text = " | ".join(f"{each.precision:.3f} | {each.recall:.3f} | {each.f1:.3f}" for each in figures)
        yield f"| {name} | {100 * full_share:.1f} % | {text} |"


def section(series: Series, folder: Path) -> Iterator[str]:
    """Measure a collection and yield its section."""
    target = series.target
    everything = list(split_refusals([], read([folder / "docs.jsonl.xz"])))
    collection = GrowingCollection.build(everything, series.ends)
    with TemporaryDirectory() as tables:
        default = Tables(tables).of("en")
        if default is None:
            raise SystemExit("no default table of English")
        changes = list(steps(collection, default))
        half = replace(collection, documents=list(filter_documents(everything, target.filters, set())))
        truth = Truth.build(folder, target, [each.id for each in half.documents])
        duplicates_found = list(rows(half, truth, target.policy, tables))
    picture = FIGURES / f"stability-{target.name}.svg"
    draw({each.name: each.shares for each in changes}, series.title, picture)
    yield f"## {series.title}\n"
    sizes = ", ".join(f"{table.documents:,} up to {name}" for name, table in collection.tables.items())
    yield f"`{target.name}`: {sizes} documents; fingerprints of {len(collection.sample):,}.\n"
    head = " | ".join(f"{length} terms" if length > 1 else "1 term" for length in SHOWN)
    yield f"| tables | growth | terms in common | Spearman | {head} |\n|---|---|---|---|---|---|---|---|"
    yield from map(str, changes)
    yield PAPER
    yield f"\n![Share of fingerprints that change, by their length]({picture.name})\n"
    yield f"Duplicates at `near`{f', preset `{target.preset}`' if target.preset else ''}:\n"
    yield "| table | full sets | precision | recall | F1 | by rare words alone: precision | recall | F1 |"
    yield "|---|---|---|---|---|---|---|---|"
    yield from duplicates_found
    yield ""


def main() -> None:
    """Print the figures and write the page."""
    folder = options(__doc__).parse_args().collections
    lines = (line for series in SERIES for line in section(series, folder / series.target.name))
    title = "How stable signatures are when a collection grows"
    publish("stability", title, lines, introduction(__doc__, "The experiment "))


if __name__ == "__main__":
    main()
