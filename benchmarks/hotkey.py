"""Cost of a hot key: searches and look-ups in an index with very many equal documents.

    python benchmarks/hotkey.py [--documents N] [--equal N] [--rounds N] [--sqlite] [--write]

Two indexes of the same made-up stories are searched in turn, query by query. One also holds 100,000 copies of a story,
the other 100,000 stories of its words in other orders, so that both match and rank alike. They are made in SQLite, and
in the OpenSearch that IBIDEM_TEST_OPENSEARCH names, unless `--sqlite` is given. Of each query counts the least of all
rounds; a figure is the median over the queries, a ratio that of the medians. The queries hold words of the story that
is copied, so that its copies fill every window. The tables also have the cost of a search without grouping, and whether
an answer said that look-ups were cut.
"""

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from itertools import islice
from pathlib import Path

from benchmark import draw_lots, options, publish, run_servers
from ibidem.grouped_search.api import search
from ibidem.index.inspection import inspect
from ibidem_dedupe.request import parse_request
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine, Record
from ibidem_engines.query import parse_query
from ibidem_engines.records import records
from ibidem_ingest.document import Document
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.signatures.packed import pack
from ibidem_ingest.signatures.sign import sign
from servers.indices import remove_indices

BATCH = 1_000
WORDS = [f"word{number}" for number in range(3_000)]
Way = Callable[[Engine, str], object]


def main() -> None:
    """Fill the indexes, search them, and print the times."""
    arguments = options(__doc__, documents=20_000, equal=100_000, rounds=5, sqlite=False, write=False).parse_args()
    head = table(arguments.documents, arguments.equal)
    with tempfile.TemporaryDirectory(prefix="ibidem-hotkey-") as folder:
        publish("hotkey", "A hot key", measure(Path(folder), arguments), head, keep=arguments.write)


def table(documents: int, equal: int) -> list[str]:
    """Yield the introduction of the page."""
    return [
        f"Milliseconds in an index of {documents:,} made-up stories and {equal:,} of the words of one of them in",
        f"other orders (without), and in one that holds {equal:,} copies of that one instead (with). All queries hold",
        "words of that one. `cut` says whether the answer said that look-ups were cut.",
        "",
    ]


def measure(folder: Path, arguments: argparse.Namespace) -> Iterator[str]:
    """Measure on each engine."""
    yield from ("| engine | way | without | with | ratio | cut |", "|---|---|---|---|---|---|")
    documents, tables = stories(arguments.documents), Tables(folder / "tables")
    with run_servers() as servers:
        addresses = {"SQLite": f"sqlite:///{folder}/index.sqlite"}
        addresses |= {} if arguments.sqlite else {"OpenSearch": servers.url("opensearch")}
        for name, address in addresses.items():
            indexes = [f"hotkey-{os.getpid()}-{suffix}" for suffix in ("without", "with")]
            with ExitStack() as stack:
                if name != "SQLite":
                    for index in indexes:
                        stack.callback(remove_indices, address, index)
                engines = [stack.enter_context(closing(open_engine(address, index))) for index in indexes]
                for engine, extra in zip(engines, (make_shuffles, make_copies), strict=True):
                    fill(engine, documents, extra(documents[0], arguments.equal, tables), tables)
                yield from (f"| {name} | {line}" for line in compare(engines, documents, arguments.rounds))


def stories(count: int) -> list[Document]:
    """Make stories of 80 words; the first is the one that is copied."""
    rng = draw_lots(5)
    return [Document(f"s{at}", " ".join(rng.choices(WORDS, k=80)), version=1) for at in range(count)]


def fill(engine: Engine, documents: Sequence[Document], extra: Iterator[Record], tables: Tables) -> None:
    """Write the stories, and others."""
    engine.create()
    for stream in (sign_all(iter(documents), tables), extra):
        while batch := list(islice(stream, BATCH)):
            engine.write(batch)
    engine.refresh()


def sign_all(documents: Iterator[Document], tables: Tables) -> Iterator[Record]:
    """Sign documents, a batch at a time."""
    while batch := list(islice(documents, BATCH)):
        yield from records(batch, tables)


def make_copies(story: Document, count: int, tables: Tables) -> Iterator[Record]:
    """Yield copies of a story, which is signed once."""
    (record,), (signatures,) = records([story], tables), sign([story], tables)
    for number in range(count):
        document = replace(story, id=f"copy{number}")
        yield replace(record, document=document, digest=f"{number:032x}", packed=pack(document, signatures))


def make_shuffles(story: Document, count: int, tables: Tables) -> Iterator[Record]:
    """Yield stories of the same words in other orders."""
    rng = draw_lots(6)
    words = story.text.split()
    orders = (rng.sample(words, len(words)) for _ in range(count))
    return sign_all((replace(story, id=f"copy{at}", text=" ".join(order)) for at, order in enumerate(orders)), tables)


def ways(documents: Sequence[Document]) -> Mapping[str, Way]:
    """Return the searches to compare by name; each takes an engine and words."""
    return {
        "search, not grouped": lambda engine, query: run_search(engine, query, dedupe="off"),
        "search, identical": lambda engine, query: run_search(engine, query, dedupe_level="identical"),
        "search, near": run_search,
        "search, partial": lambda engine, query: run_search(engine, query, dedupe_level="partial"),
        "search, scope=matches": lambda engine, query: run_search(engine, query, dedupe_scope="matches"),
        "search, scope=index": lambda engine, query: run_search(engine, query, dedupe_scope="index"),
        "inspect": lambda engine, _: inspect(engine, documents[0].id).as_json(),
    }


def run_search(engine: Engine, query: str, **options: str) -> Mapping[str, object]:
    """Search as the command line does."""
    request = parse_request({"dedupe": "indent", "dedupe_max_per_group": 10} | options)
    return search(engine, parse_query(query), request)


def compare(engines: Sequence[Engine], documents: Sequence[Document], rounds: int) -> Iterator[str]:
    """Measure each way on both indexes in turn."""
    words = documents[0].text.split()
    queries = [" OR ".join(words[at : at + 3]) for at in range(0, 15, 3)]
    for name, way in ways(documents).items():
        minima = [[float("inf")] * len(queries) for _ in engines]
        cut = ""
        for _ in range(rounds + 1):
            for number, query in enumerate(queries):
                for row, engine in enumerate(engines):
                    start = time.perf_counter()
                    answer = way(engine, query)
                    minima[row][number] = min(minima[row][number], 1_000 * (time.perf_counter() - start))
                    cut = said_cut(answer) if row else cut
        plain_ms, hot_ms = (statistics.median(each) for each in minima)
        yield f"{name} | {plain_ms:.1f} | {hot_ms:.1f} | {hot_ms / plain_ms:.2f} | {cut} |"


def said_cut(answer: object) -> str:
    """Return whether an answer says that look-ups were cut."""
    if not isinstance(answer, Mapping):
        return ""
    return "yes" if answer.get("capped") or answer.get("dedupe", {}).get("capped") else "no"


if __name__ == "__main__":
    main()
