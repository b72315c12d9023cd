"""Stored groups: do they agree with the grouping of a whole index, what do they cost, and what does a hot key.

    python benchmarks/stored.py [--collections FOLDER] [--documents N] [--copies N] [--sizes N,N] [--write]

Newswire is written in the order of its dates to an index of its own, in SQLite and in the servers that
`IBIDEM_TEST_OPENSEARCH` and `IBIDEM_TEST_ELASTICSEARCH` name. Then groups are settled, by one process and by eight that
do so at the same time, and compared with what `ibidem groups` finds in the same order. Seconds are those of signing
and writing, and of settling, in one process each and one after the other, so that their ratio is what counts. Growth is
that of settling stories and copies of them under new ids, as a power of their number.
"""

import argparse
import math
import multiprocessing
import os
import random
import resource
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import measured
from ibidem.index.groups import index_groups
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine
from ibidem_engines.records import records
from ibidem_ingest.document import Document
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.readers.inputs import read
from ibidem_workers.groups.checkpoint import POLICY
from ibidem_workers.groups.follow import Follower, store_of

NEWSWIRE = Path("reuters21578/docs.jsonl.xz")
BATCH = 500
WORKERS = 8


@dataclass(frozen=True, slots=True)
class Cost:
    """What writing and settling took.

    Args:
        written: Seconds of signing and writing.
        settled: Seconds of settling.
    """

    written: float
    settled: float


def stories(path: Path) -> list[Document]:
    """Read newswire in the order of days and ids."""
    found = [item for item in read([path]) if isinstance(item, Document)]
    return sorted(found, key=lambda each: ((each.date or "9")[:10], each.id))


def fill(engine: Engine, documents: Sequence[Document], tables: Tables) -> float:
    """Sign and write documents; returns the seconds."""
    began = time.perf_counter()
    every = iter(documents)
    while some := [replace(each, version=1) for each in islice(every, BATCH)]:
        engine.write(list(records(some, tables)))
    return time.perf_counter() - began


def settle(engine: Engine) -> float:
    """Settle groups; returns the seconds."""
    began = time.perf_counter()
    Follower(engine).catch_up()
    return time.perf_counter() - began


def settle_apart(address: str, index: str) -> None:
    """Settle groups in a process of its own."""
    Follower(open_engine(address, index)).catch_up()


def leads(engine: Engine) -> dict[str, str]:
    """Name the lead of each document by the stored groups."""
    store = store_of(engine)
    store.newest()
    names = [hit.id for some in engine.scan() for hit in some]
    found = [
        each
        for at in range(0, len(names), 1_000)
        for each in store.read([(engine.index, name) for name in names[at : at + 1_000]])
    ]
    by_group = {each.group: each.name.id for each in found if each.lead}
    return {each.name.id: by_group.get(each.group, "") for each in found}


def agreement(engine: Engine) -> tuple[int, int]:
    """Count the documents whose lead is that of the whole-index grouping, and all."""
    whole = index_groups(engine, POLICY)
    names = [name for _, name in whole.names]
    right = {names[row]: names[int(lead)] for row, lead in enumerate(whole.grouping.lead)}
    found = leads(engine)
    return sum(found[name] == lead for name, lead in right.items()), len(right)


def repeated(documents: Sequence[Document], count: int) -> Iterator[Document]:
    """Yield stories drawn by lot, under new ids from the second time on."""
    rng = random.Random(3)  # noqa: S311 - made-up data keeps no secret
    for number in range(count):
        one = documents[number] if number < len(documents) else rng.choice(documents)
        yield one if number < len(documents) else replace(one, id=f"again{number}")


def places(folder: str) -> Iterator[tuple[str, str]]:
    """Name the engines."""
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
            written = fill(engine, documents, tables)
            engine.refresh()
            began = time.perf_counter()
            if workers == 1:
                settle(engine)
            else:
                several(address, engine.index, workers)
            settled = time.perf_counter() - began
            agreed, of = agreement(engine)
            yield (
                f"{name} | {workers} | {of:,} | {agreed:,} | {written:.1f} | {settled:.1f} | {settled / written:.2f} |"
            )
            engine.close()


def several(address: str, index: str, workers: int) -> None:
    """Let processes settle the same index at the same time."""
    fresh = multiprocessing.get_context("spawn")
    processes = [fresh.Process(target=settle_apart, args=(address, index)) for _ in range(workers)]
    for each in processes:
        each.start()
    for each in processes:
        each.join()


def growth(folder: str, documents: Sequence[Document], sizes: Sequence[int], tables: Tables) -> Iterator[str]:
    """Yield a row for each engine: seconds for two sizes, the exponent between them, and the memory."""
    for name, address in places(folder):
        took = []
        for size in sizes:
            engine = open_engine(address, f"growth{os.getpid()}-{size}")
            engine.create()
            fill(engine, list(repeated(documents, size)), tables)
            engine.refresh()
            took.append(settle(engine))
            engine.close()
        exponent = math.log(took[-1] / took[0]) / math.log(sizes[-1] / sizes[0])
        seconds = " | ".join(f"{each:.1f}" for each in took)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        yield f"{name} | {seconds} | {exponent:.2f} | {memory:.0f} |"


def hot_key(folder: str, documents: Sequence[Document], copies: int, tables: Tables) -> Iterator[str]:
    """Yield a row for each engine: milliseconds a document for copies of one text, and for different ones."""
    for name, address in places(folder):
        took = []
        usual = sorted(documents, key=lambda each: len(each.text))[len(documents) // 2]
        same = [replace(usual, id=f"copy{number}") for number in range(copies)]
        for number, some in enumerate((same, documents[:copies])):
            engine = open_engine(address, f"hot{os.getpid()}-{number}")
            engine.create()
            fill(engine, some, tables)
            engine.refresh()
            took.append(1e3 * settle(engine) / len(some))
            engine.close()
        yield f"{name} | {copies:,} | {took[0]:.2f} | {took[1]:.2f} | {took[0] / took[1]:.2f} |"


def main() -> None:
    """Measure, and print or write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--collections", type=Path, default=Path("../shared/data"))
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--copies", type=int, default=10_000)
    parser.add_argument("--sizes", default="")
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    documents = stories(asked.collections / NEWSWIRE)[: asked.documents]
    lines = [
        f"{len(documents):,} newswire stories, written in the order of their dates. `agree`: documents whose lead is",
        "that of `ibidem groups` in the same order.",
        "",
        "| engine | processes | documents | agree | signed and written, s | settled, s | ratio |",
        "|---|---|---|---|---|---|---|",
    ]
    with tempfile.TemporaryDirectory(prefix="ibidem-stored-") as folder:
        tables = Tables(Path(folder) / "tables")
        lines += [f"| {row}" for row in newswire(folder, documents, tables)]
        if asked.copies:
            lines += [
                "",
                "Milliseconds a document of settling copies of a story of middle length, and as many stories.",
                "",
            ]
            lines += ["| engine | documents | copies | stories | ratio |", "|---|---|---|---|---|"]
            lines += [f"| {row}" for row in hot_key(folder, documents, asked.copies, tables)]
        if sizes := [int(each) for each in asked.sizes.split(",") if each]:
            heads = " | ".join(f"{size:,}, s" for size in sizes)
            lines += ["", "Settling stories and copies of them under new ids.", ""]
            lines += [f"| engine | {heads} | exponent | memory, MB |", "|---" * (3 + len(sizes)) + "|"]
            lines += [f"| {row}" for row in growth(folder, documents, sizes, tables)]
    sys.stdout.write("\n".join(lines) + "\n")
    if asked.write:
        measured.write("stored", "Stored groups", lines)


if __name__ == "__main__":
    main()
