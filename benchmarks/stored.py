"""Stored groups: agreement with the grouping of a whole index, their cost, and the cost of a hot key.

    python benchmarks/stored.py [--collections FOLDER] [--part NAME]… [--documents N] [--stories N] [--copies N]
                                [--sizes N,N] [--rounds N] [--write]

Newswire is written in the order of its dates to an index of its own, in SQLite and in the servers that
`IBIDEM_TEST_OPENSEARCH` and `IBIDEM_TEST_ELASTICSEARCH` name. Then groups are settled, by one process and by eight that
begin at the same time, of which one settles and the others wait, and compared with the groups of `ibidem groups` in
the same order. Seconds are those of signing and writing, and of settling, in one process each and one after the other,
so that their ratio is what counts. Growth is that of settling stories and generations of them, as a power of their
number. A search is compared with native collapse.
"""

import argparse
import multiprocessing
import os
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from multiprocessing.queues import SimpleQueue
from multiprocessing.synchronize import Barrier
from pathlib import Path

import measured
import plan
import stored_search
from benchmark import exponent, options
from generations import generations
from ibidem.index.groups import index_groups
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine
from ibidem_engines.group_checkpoint import POLICY
from ibidem_engines.records import records
from ibidem_ingest.document import Document
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.signatures.sign import sign
from ibidem_workers.groups.follower import Follower
from ibidem_workers.groups.service import settle_all
from processor import TimeCost, measure_cost, server_seconds
from servers.indices import ask, remove_indices
from stories import NEWSWIRE, stories

BATCH = 500
WORKERS = 8


def sorted_stories(path: Path) -> list[Document]:
    """Read newswire in the order of days and ids."""
    return sorted(stories(path), key=lambda each: ((each.date or "9")[:10], each.id))


def fill(engine: Engine, documents: Sequence[Document], tables: Tables) -> float:
    """Sign and write documents; returns the seconds."""
    began = time.perf_counter()
    stream = iter(documents)
    while batch := [replace(each, version=1) for each in islice(stream, BATCH)]:
        engine.write(list(records(batch, tables)))
    return time.perf_counter() - began


def settle(engine: Engine) -> float:
    """Settle groups; returns the seconds."""
    began = time.perf_counter()
    Follower(engine).catch_up()
    return time.perf_counter() - began


def settle_apart(address: str, index: str, ready: Barrier, ends: SimpleQueue[float]) -> None:
    """Settle groups in a process of its own, once all are started; returns its processor time from then on."""
    engine = open_engine(address, index)
    ready.wait()
    began = time.process_time()
    settle_all(engine)
    ends.put(time.process_time() - began)


def leads(engine: Engine) -> dict[str, str]:
    """Return the lead of each document by the stored groups."""
    store = engine.groups()
    store.newest()
    names = [hit.id for batch in engine.scan() for hit in batch]
    rows = [
        each
        for at in range(0, len(names), 1_000)
        for each in store.read([(engine.index, name) for name in names[at : at + 1_000]])
    ]
    by_group = {each.group: each.name.id for each in rows if each.lead}
    return {each.name.id: by_group.get(each.group, "") for each in rows}


def agreement(engine: Engine) -> tuple[int, int]:
    """Count the documents whose lead is that of the whole-index grouping, and all."""
    index = index_groups(engine, POLICY)
    names = [name for _, name in index.names]
    leads_by_name = {names[row]: names[int(lead)] for row, lead in enumerate(index.grouping.lead)}
    groups = leads(engine)
    return sum(groups[name] == lead for name, lead in leads_by_name.items()), len(leads_by_name)


def places(folder: str) -> Iterator[tuple[str, str]]:
    """Return the engines by name."""
    yield "SQLite", f"sqlite:////{folder}/index.sqlite"
    for name in ("OpenSearch", "Elasticsearch"):
        if address := os.environ.get(f"IBIDEM_TEST_{name.upper()}"):
            yield name, address


def newswire(folder: str, documents: Sequence[Document], tables: Tables) -> Iterator[str]:
    """Yield a row for each engine: agreement with one process and with eight, and cost."""
    for name, address in places(folder):
        for workers in (1, WORKERS):
            engine = open_engine(address, f"stored{os.getpid()}-{workers}")
            engine.create()
            url = "" if name == "SQLite" else address
            write_cost = measure_cost(partial(fill, engine, documents, tables), url)
            engine.refresh()
            if workers == 1:
                settle_cost = measure_cost(partial(settle, engine), url)
            else:
                settle_cost = several(address, url, engine.index, workers)
            agreements, document_count = agreement(engine)
            elapsed = (
                f"{write_cost.elapsed:.1f} | {settle_cost.elapsed:.1f} | {settle_cost.elapsed / write_cost.elapsed:.2f}"
            )
            ratio = settle_cost.processor / write_cost.processor
            processor = f"{write_cost.processor:.1f} | {settle_cost.processor:.1f} | {ratio:.2f}"
            yield f"{name} | {workers} | {document_count:,} | {agreements:,} | {elapsed} | {processor} |"
            engine.close()
            if name != "SQLite":
                remove_indices(address, engine.index)


def several(address: str, url: str, index: str, workers: int) -> TimeCost:
    """Let processes settle the same index at the same time; from when all are started until the last has settled.

    Their start and end is not settling, and takes longer than it on two processors.
    """
    context = multiprocessing.get_context("spawn")
    ready, ends = context.Barrier(workers + 1), context.SimpleQueue()
    processes = [context.Process(target=settle_apart, args=(address, index, ready, ends)) for _ in range(workers)]
    for each in processes:
        each.start()
    ready.wait()
    server, began = server_seconds(url), time.perf_counter()
    client = sum(ends.get() for _ in processes)
    settle_cost = TimeCost(time.perf_counter() - began, client, server_seconds(url) - server)
    for each in processes:
        each.join()
    return settle_cost


def growth(folder: str, documents: Sequence[Document], sizes: Sequence[int], tables: Tables) -> Iterator[str]:
    """Yield a row for each size: the time of signing, writing and settling in SQLite, and the memory of the process.

    Processor time, which other work on the machine lengthens least; all of it is this process's in SQLite.
    """
    tables.of("en")  # to make the default table takes as long as to sign some hundred thousand stories
    began = time.process_time()
    stream = iter(documents)
    parts = [list(records(batch, tables)) for batch in iter(lambda: list(islice(stream, BATCH)), [])]
    signed_records = [record for batch in parts for record in batch]
    seconds_each = (time.process_time() - began) / len(signed_records)
    signatures = sign(
        documents, tables
    )  # a record keeps the signatures that engines store in addition to the packed value
    signed_records = [replace(record, signatures=each) for record, each in zip(signed_records, signatures, strict=True)]
    previous: tuple[int, float] | None = None
    for size in sizes:
        engine = open_engine(f"sqlite:////{folder}/growth{size}.sqlite", "growth")
        engine.create()
        record_stream, began = generations(signed_records, size), time.process_time()
        while batch := list(islice(record_stream, BATCH)):
            engine.write(batch)
        write_cost = seconds_each * size + time.process_time() - began
        memory_before, began = memory(), time.process_time()
        settle(engine)
        settle_cost = time.process_time() - began
        power = f"{exponent((previous[0], size), (previous[1], settle_cost)):.2f}" if previous else ""
        groups = engine.groups().counts().groups
        times = f"{write_cost:.1f} | {settle_cost:.1f} | {1e3 * settle_cost / size:.2f}"
        yield f"{size:,} | {groups:,} | {times} | {power} | {memory() - memory_before:.0f} |"
        previous = size, settle_cost
        engine.close()


def memory() -> float:
    """Return the most memory that this process has held, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def hot_key(folder: str, documents: Sequence[Document], copies: int, rounds: int, tables: Tables) -> Iterator[str]:
    """Yield a row for each engine: milliseconds a document for copies of one text, of many texts, and for stories.

    They take turns; the first round warms the server up, whose code is slow until it has run for a while.
    """
    usual = sorted(documents, key=lambda each: len(each.text))[len(documents) // 2]
    tens = [replace(each, id=f"{each.id}-{number}") for each in documents[: copies // TEN] for number in range(TEN)]
    batches = [replace(usual, id=f"copy{number}") for number in range(copies)], tens, documents[:copies]
    for name, address in places(folder):
        costs: list[list[TimeCost]] = [[] for _ in batches]
        for turn in range(rounds + 1):
            for at, batch in enumerate(batches):
                cost = settle_fresh(name, address, f"hot{os.getpid()}-{turn}-{at}", batch, tables)
                costs[at] += [cost] if turn else []
        processor = [1e3 * statistics.median(each.processor for each in batch) / copies for batch in costs]
        server = [1e3 * statistics.median(each.server for each in batch) / copies for batch in costs]
        milliseconds = " | ".join(
            f"{client_ms:.2f} | {server_ms:.2f}" for client_ms, server_ms in zip(processor, server, strict=True)
        )
        ratios = " | ".join(f"{processor[0] / each:.2f}" for each in processor[1:])
        yield f"{name} | {copies:,} | {milliseconds} | {ratios} |"


TEN = 10  # copies of each text in the second batch: about as many documents join a lead as in the first


def settle_fresh(name: str, address: str, index: str, documents: Sequence[Document], tables: Tables) -> TimeCost:
    """Settle documents in an index of their own."""
    engine = open_engine(address, index)
    engine.create()
    fill(engine, documents, tables)
    engine.refresh()
    took = measure_cost(partial(settle, engine), "" if name == "SQLite" else address)
    engine.close()
    if name != "SQLite":
        remove_indices(address, index)
    return took


OF_PROCESSOR = "processor: written, s | processor: settled, s | processor: ratio"

Part = Callable[[argparse.Namespace, str, Sequence[Document], Tables], list[str]]


def agreement_part(
    arguments: argparse.Namespace, folder: str, documents: Sequence[Document], tables: Tables
) -> list[str]:
    """Measure agreement and cost."""
    documents = documents[: arguments.documents]
    return [
        f"{len(documents):,} newswire stories, written in the order of their dates. `agree`: documents whose lead is",
        "that of `ibidem groups` in the same order. Elapsed, and of the processor: of all processes and of the server.",
        "",
        f"| engine | processes | documents | agree | signed and written, s | settled, s | ratio | {OF_PROCESSOR} |",
        "|---|---|---|---|---|---|---|---|---|---|",
        *(f"| {row}" for row in newswire(folder, documents, tables)),
    ]


def hot_part(arguments: argparse.Namespace, folder: str, documents: Sequence[Document], tables: Tables) -> list[str]:
    """Measure a hot key."""
    return [
        "Milliseconds of the processor a document, of settling copies of a story of middle length, as many copies of",
        "which ten have one text, and as many stories: of this process and the server, and of the server alone. A",
        "document that joins a lead is written again, a story is not. Medians of rounds in turn.",
        "",
        "| engine | documents | copies | server's | tens | server's | stories | server's | / tens | / stories |",
        "|---|---|---|---|---|---|---|---|---|---|",
        *(f"| {row}" for row in hot_key(folder, documents, arguments.copies, arguments.rounds, tables)),
    ]


def growth_part(arguments: argparse.Namespace, folder: str, documents: Sequence[Document], tables: Tables) -> list[str]:
    """Measure growth."""
    return [
        f"{len(documents):,} stories and generations of them (`benchmarks/generations.py`) in SQLite; seconds of the",
        "processor. `Written`: signed and written, texts cut to eight words. `More memory`: what settling added.",
        "",
        "| documents | groups | written, s | settled, s | ms a document | exponent | more memory, MB |",
        "|---|---|---|---|---|---|---|",
        *(f"| {row}" for row in growth(folder, documents, [int(each) for each in arguments.sizes.split(",")], tables)),
    ]


def search_part(arguments: argparse.Namespace, folder: str, documents: Sequence[Document], tables: Tables) -> list[str]:
    """Measure a search."""
    rows: list[str] = []
    for name, address in list(places(folder))[1:]:
        index = f"stored-search-{os.getpid()}"
        engine = open_engine(address, index)
        engine.create()
        fill(engine, documents, tables)
        engine.refresh()
        settle(engine)
        engine.refresh()
        ask(address, "POST", f"/{index}/_forcemerge?max_num_segments=1")
        engine.close()
        rows += stored_search.rows(name, address, index, arguments.rounds)
        remove_indices(address, index)
    return [
        f"{len(documents):,} newswire stories; native: `collapse` on `ibidem.group` with `inner_hits` of three; ours:",
        '`dedupe="collapse"`, `dedupe_by="stored"`, three duplicates shown. `First time`: by a client that has not',
        "counted the groups of the query yet. Milliseconds as in `benchmarks/stored_search.py`; the server's are",
        "counted in tens, and hold what others ask of it.",
        "",
        "| server | groups | page | queries | way | elapsed | own | server's | ratio |",
        "|---|---|---|---|---|---|---|---|---|",
        *rows,
    ]


def plan_part(arguments: argparse.Namespace, folder: str, documents: Sequence[Document], tables: Tables) -> list[str]:
    """Compute the cost of a billion documents."""
    del arguments, folder, documents, tables
    return [
        "Computed from [what a document costs](sizing.md) and from the figures above, for newswire stories.",
        "",
        "| what | a billion stories | from |",
        "|---|---|---|",
        *(f"| {row} |" for row in plan.billion()),
    ]


PARTS: Mapping[str, tuple[str, Part]] = {
    "agreement": ("Agreement and cost", agreement_part),
    "hot": ("A text with very many copies", hot_part),
    "growth": ("Growth", growth_part),
    "search": ("A search", search_part),
    "plan": ("A billion documents", plan_part),
}


def main() -> None:
    """Measure, and print or write the page."""
    parser = options(__doc__, copies=1_500, sizes="10000,30000,90000", rounds=5, write=False)
    parser.add_argument("--documents", type=int, default=3_000, help="stories whose groups are compared")
    parser.add_argument("--stories", type=int, default=12_000, help="stories that grow, and that are searched")
    parser.add_argument("--part", choices=PARTS, action="append")
    arguments = parser.parse_args()
    parts = arguments.part or list(PARTS)
    documents = [] if parts == ["plan"] else sorted_stories(arguments.collections / NEWSWIRE)[: arguments.stories]
    with tempfile.TemporaryDirectory(prefix="ibidem-stored-") as folder:
        tables = Tables(Path(folder) / "tables")
        for name in parts:
            title, part = PARTS[name]
            lines = part(arguments, folder, documents, tables)
            sys.stdout.write("\n".join([f"## {title}", "", *lines, ""]) + "\n")
            sys.stdout.flush()
            if arguments.write:
                measured.write_part("stored", "Stored groups", [each for each, _ in PARTS.values()], title, lines)


if __name__ == "__main__":
    main()
