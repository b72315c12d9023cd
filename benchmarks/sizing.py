"""Cost of a document: bytes in each kind of index, and time to sign it; written to docs/figures/sizing.md.

    python benchmarks/sizing.py [--collections FOLDER] [--without-servers] [--documents N]

The first documents of each collection, some megabytes of them; bytes a document. *Text*: its bytes. *Packed*: the value
that a search reads for every hit of a window. *Parts*: pages or chunks and unique words, which long texts have in
addition. Then what signatures and their look-up values add to a document in each kind of index: SQLite compared with a
bare FTS5 table of title and text, the servers with the same index without the object `ibidem`, both after a merge into
one segment.
*min_hash*: what the engine's own filter adds to that index, 100 buckets over runs of five words, indexed, not stored.
The lean layout compresses texts, too: below 0, this saves more than signatures cost. Signing: processor time of one
thread, all signatures. A worker's memory: the most that the largest of them held while a collection was ingested
into SQLite.
"""

import argparse
import resource
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from bare import load_fts
from benchmark import in_turn, introduction, options, publish, run_servers
from clusters import FILTERS, LAYOUTS, MIN_HASH, disk_bytes, load_bare, make_engine
from clusters import batches as requests
from ibidem_core.settings import Settings
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Record
from ibidem_ingest.document import Document
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.readers import read
from ibidem_ingest.signatures.sign import batches, sign
from ibidem_workers.batches import records
from ibidem_workers.ingest import submit
from processor import TimeCost, measure_cost
from servers.indices import remove_indices
from stories import stories

# Description of the documents of each collection, and for how many millions of them the page has costs.
KINDS = {
    "reuters21578": ("newswire stories", 100),
    "newspaper_ocr_overproof": ("newspaper articles, scanned", 100),
    "philtrans_pages_scale": ("single pages of a journal", 100),
    "ota_terms_en": ("contracts", 10),
    "ecco_tcp_pages": ("books, paged", 1),
}

CHARACTERS = 6_000_000
DOCUMENTS = 5_000  # limits of the part of a collection that is measured; the first one reached counts


# Collections that workers take whole, in the order of the memory that they need.
WORKER_COLLECTIONS = ("reuters21578", "ecco_tcp_pages")


LOAD_COSTS: dict[tuple[str, str, str], TimeCost] = {}  # costs of loads, by collection, server and layout

DOCUMENT_COUNTS: dict[str, int] = {}  # number of measured documents of each collection


@dataclass(frozen=True, slots=True)
class Cost:
    kind: str  # description of the documents
    millions: int  # for how many millions the page has costs
    count: int  # documents measured
    words: float  # words of its text, the median
    text: float  # bytes of its text
    packed: float  # bytes of its packed value
    parts: float  # bytes of the signatures of its pages or chunks and of its unique words
    seconds: float  # to sign it
    index_bytes: dict[str, float] = field(default_factory=dict)  # bytes that signatures add, by the kind of index

    @classmethod
    def measure(cls, name: str, signed_records: Sequence[Record], seconds: float) -> "Cost":
        count = len(signed_records)
        return cls(
            *KINDS[name],
            count,
            statistics.median(each.signatures.length for each in signed_records),
            sum(len(each.document.text.encode()) for each in signed_records) / count,
            sum(len(each.packed) for each in signed_records) / count,
            sum(len(each.signatures.long) for each in signed_records) / count,
            seconds / count,
        )

    def row(self, indexes: Sequence[str]) -> str:
        cells = " | ".join(f"{self.index_bytes[name]:,.0f}" if name in self.index_bytes else "" for name in indexes)
        sizes = " | ".join(f"{each:,.0f}" for each in (self.words, self.text, self.packed, self.parts))
        return f"| {self.kind} ({self.count:,}) | {sizes} | {cells} | {self.seconds * 1e3:.2f} ms |"

    def total_row(self, indexes: Sequence[str]) -> str:
        sizes = (self.index_bytes[name] * self.millions / 1e3 if name in self.index_bytes else None for name in indexes)
        cells = " | ".join("" if size is None else f"{size:,.0f} GB" for size in sizes)
        hours = self.seconds * self.millions * 1e6 / 3600
        return f"| {self.millions} million {self.kind} | {cells} | {hours:,.1f} h |"


def first_documents(path: Path, limit: int) -> list[Document]:
    documents: list[Document] = []
    characters = 0
    for document in stories(path):
        documents.append(document)
        characters += len(document.text)
        if len(documents) == limit or characters >= CHARACTERS:
            break
    return documents


def signing_seconds(documents: Sequence[Document], tables: Tables) -> float:
    """Measure the processor time of signing, the least of three."""

    def work() -> None:
        for batch in batches(documents):
            sign(batch, tables)

    return min(in_turn([work], 3, time.process_time)[0])


def sqlite_bytes(signed_records: Sequence[Record]) -> float:
    """Return the bytes that signatures add to a document in SQLite."""
    with tempfile.TemporaryDirectory() as folder:
        bare = Path(folder) / "bare.sqlite"
        load_fts(((each.document.title, each.document.text) for each in signed_records), bare)
        with closing(open_engine(f"sqlite:////{folder}/index.sqlite", "sized")) as engine:
            engine.create()
            for batch in requests(signed_records):
                engine.write(batch)
        return (database_bytes(Path(folder) / "index.sqlite") - database_bytes(bare)) / len(signed_records)


def database_bytes(path: Path) -> int:
    """Return the bytes of a database without its spare pages."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("pragma wal_checkpoint(truncate)")
        connection.execute("vacuum")
        connection.execute("pragma wal_checkpoint(truncate)")
    return path.stat().st_size


def server_bytes(kind: str, url: str, signed_records: Mapping[str, Sequence[Record]]) -> dict[str, dict[str, float]]:
    """Return the bytes that signatures add to a document on a server, by collection and layout."""
    layouts = (MIN_HASH, *LAYOUTS[kind]) if kind in FILTERS else LAYOUTS[kind]
    names = {(each, layout): f"sized-{each}-{layout}" for each in signed_records for layout in ("bare", *layouts)}
    try:
        for (each, layout), name in names.items():
            cost = measure_cost(
                lambda layout=layout, name=name, each=each: fill(url, layout, name, signed_records[each]), url
            )
            LOAD_COSTS[each, kind, layout] = cost
        sizes = disk_bytes(url, list(names.values()))
    finally:
        for name in names.values():
            remove_indices(url, name)
    return {
        each: {
            f"{kind}, {layout}": (sizes[names[each, layout]] - sizes[names[each, "bare"]]) / len(signed_records[each])
            for layout in layouts
        }
        for each in signed_records
    }


def fill(url: str, layout: str, name: str, signed_records: Sequence[Record]) -> None:
    """Write documents to an index of a server."""
    if layout in ("bare", MIN_HASH):
        load_bare(url, signed_records, name, min_hash=layout == MIN_HASH)
        return
    with closing(make_engine(url, layout, name)) as engine:
        for batch in requests(signed_records):
            engine.write(batch)


def measure_all(arguments: argparse.Namespace) -> list[Cost]:
    signed_records: dict[str, list[Record]] = {}
    costs = {}
    with tempfile.TemporaryDirectory() as folder:
        tables = Tables(folder)
        for name in KINDS:
            documents = first_documents(arguments.collections / name / "docs.jsonl.xz", arguments.documents)
            signed_records[name] = [record for batch in batches(documents) for record in records(batch, tables)]
            DOCUMENT_COUNTS[name] = len(signed_records[name])
            costs[name] = Cost.measure(name, signed_records[name], signing_seconds(documents, tables))
            costs[name].index_bytes["SQLite"] = sqlite_bytes(signed_records[name])
            print(costs[name].row(["SQLite"]), flush=True)
    if not arguments.without_servers:
        with run_servers(*LAYOUTS) as servers:
            for server in LAYOUTS:
                for name, index_bytes in server_bytes(server, servers.url(server), signed_records).items():
                    costs[name].index_bytes.update(index_bytes)
    return list(costs.values())


def worker_memory(collections: Path) -> Iterator[str]:
    """Measure the memory of workers, before this process grows: Linux includes the most that the parent held."""
    for name in WORKER_COLLECTIONS:
        with tempfile.TemporaryDirectory() as folder:
            source = collections / name / "docs.jsonl.xz"
            settings = Settings(engine=f"sqlite:////{folder}/index.sqlite", tables=Path(folder) / "tables")
            summary = submit(read([source]), settings)
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        yield f"- {KINDS[name][0]} ({summary['indexed']:,}): {peak:.0f} MB"


def table(costs: Sequence[Cost]) -> Iterator[str]:
    indexes = list(costs[0].index_bytes)
    yield f"| documents | words | text | packed | parts | {' | '.join(f'{each}, more' for each in indexes)} | signing |"
    yield "|---" * (len(indexes) + 6) + "|"
    for cost in costs:
        yield cost.row(indexes)
    yield "\nSo many of them add this to the index, and take so long to sign:\n"
    yield f"| documents | {' | '.join(indexes)} | signing, one processor |"
    yield "|---" * (len(indexes) + 2) + "|"
    for cost in costs:
        yield cost.total_row(indexes)


def told_of_loads() -> Iterator[str]:
    yield "\nProcessor time of a load, for each document: of the server, and of the client (signed before):\n"
    yield "| documents | index | server | client | server / `min_hash` |\n|---|---|---|---|---|"
    for (name, kind, layout), cost in LOAD_COSTS.items():
        filter_cost = LOAD_COSTS.get((name, kind, MIN_HASH))
        ratio = f"{cost.server / filter_cost.server:.2f}" if filter_cost else ""
        each = [f"{seconds / DOCUMENT_COUNTS[name] * 1e3:.2f} ms" for seconds in (cost.server, cost.client)]
        yield f"| {KINDS[name][0]} | {kind}, {layout} | {each[0]} | {each[1]} | {ratio} |"


def main() -> None:
    """Print the figures and write the page."""
    parser = options(__doc__)
    parser.add_argument("--without-servers", action="store_true", help="leave OpenSearch and Elasticsearch out")
    parser.add_argument("--documents", type=int, default=DOCUMENTS, help="of each collection, at most")
    arguments = parser.parse_args()
    memory = list(worker_memory(arguments.collections))
    costs = measure_all(arguments)
    loads = told_of_loads() if LOAD_COSTS else ()
    lines = chain(table(costs), loads, ["", "A worker's memory:", ""], memory)
    publish("sizing", "What a document costs", lines, introduction(__doc__, "The first documents"))


if __name__ == "__main__":
    main()
