"""Speed of ingest through the file queue into SQLite: newswire, books, pages, 200,000 pages and stories.

    python benchmarks/ingest.py [--collections FOLDER] [--books] [--pages] [--large] [--workers N]

Newswire: 21,577 stories. The clock runs from the moment when the first worker says that it takes messages to the moment
when the account of the last batch is read; reading, validating, cutting and sending all lie within it. The workers'
start (imports, idf table) is printed separately; modules are compiled, as in an installation after its first start.

Books: 98 with 19,557 pages, so that long signatures are made. Pages: 92,428, a document each. Each with the peak
memory of the largest process, which is a worker.

Large: pages and newswire, again under new ids until there are 200,000; compared with a bare load of the same texts
into an FTS5 table of title and text, one process, transactions of 500, reading included in both.
"""

import argparse
import os
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import count, islice
from pathlib import Path

from ibidem_core.settings import Settings
from ibidem_engines.connect import open_engine
from ibidem_ingest.document import Document
from ibidem_ingest.errors import Refusal
from ibidem_ingest.readers import read
from ibidem_workers.pool import Pool
from ibidem_workers.runs import RunMonitor, summary
from ibidem_workers.submit import Submission

NEWSWIRE = Path("reuters21578/docs.jsonl.xz")
PAGES = Path("philtrans_pages_scale/docs.jsonl.xz")
BOOKS = Path("ecco_tcp_pages/docs.jsonl.xz")
LARGE = 200_000
ROWS = 500

Source = Callable[[], Iterator[Document | Refusal]]


@dataclass(frozen=True)
class Cost:
    """Cost of one run.

    Args:
        start: Seconds until the first worker was ready.
        run: Seconds from then until the run was done.
        send: Seconds from then until all was sent.
        processor: Seconds of processor time of all processes, the workers' start included.
        peak: Megabytes of memory that the largest worker took at most, of all runs so far.
        summary: The run's account.
    """

    start: float
    run: float
    send: float
    processor: float
    peak: float
    summary: dict[str, object]


def newswire(collections: Path) -> Iterator[Document | Refusal]:
    """Read the stories."""
    yield from read([collections / NEWSWIRE])


def books(collections: Path) -> Iterator[Document | Refusal]:
    """Read the books."""
    yield from read([collections / BOOKS])


def pages(collections: Path) -> Iterator[Document | Refusal]:
    """Read the pages."""
    yield from read([collections / PAGES])


def large(collections: Path) -> Iterator[Document | Refusal]:
    """Read pages and stories again and again under new ids, until there are enough."""
    items = (
        replace(item, id=f"{item.id}-{turn}") if turn and isinstance(item, Document) else item
        for turn in count()
        for item in read([collections / PAGES, collections / NEWSWIRE])
    )
    yield from islice(items, LARGE)


def compile_modules() -> None:
    """Import the modules of a worker once, so that they are compiled, also where the environment keeps no bytecode."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    subprocess.run([sys.executable, "-c", "import ibidem_workers.worker"], check=True)


def through_the_queue(source: Source, folder: Path, workers: int) -> Cost:
    """Run a collection through queue and workers."""
    settings = Settings(
        engine=f"sqlite:////{folder}/index.sqlite",
        broker=f"filesystem:////{folder}/queue",
        tables=folder / "tables",
        concurrency=workers,
    )
    compile_modules()
    engine = open_engine(settings.engine, settings.index)
    engine.create()
    began, processor = time.monotonic(), processor_time()
    with closing(engine), Pool(settings) as pool:
        while pool.ready_at is None:
            pool.check()
            time.sleep(0.005)
        submission = Submission(engine, settings)
        record = submission.send(source())
        send_end = time.monotonic()
        RunMonitor(engine, record.run).wait(lambda _: pool.check())
        end = time.monotonic()
        account = summary(engine, record.run)
    ready = pool.ready_at
    return Cost(ready - began, end - ready, send_end - ready, processor_time() - processor, peak_memory(), account)


def processor_time() -> float:
    """Return the processor time of this process and of its ended children, in seconds."""
    usage = (resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in usage)


def peak_memory() -> float:
    """Return the most memory of an ended child of this process, in megabytes."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


def bare_load(source: Source, folder: Path) -> float:
    """Load titles and texts into an FTS5 table; returns seconds."""
    began = time.monotonic()
    with closing(sqlite3.connect(folder / "bare.sqlite", isolation_level=None)) as connection:
        connection.execute("pragma journal_mode = wal")
        connection.execute("create virtual table texts using fts5(title, text, tokenize = 'unicode61')")
        documents = (item for item in source() if isinstance(item, Document))
        while rows := [(item.title, item.text) for item in islice(documents, ROWS)]:
            connection.execute("begin")
            connection.executemany("insert into texts(title, text) values (?, ?)", rows)
            connection.execute("commit")
    return time.monotonic() - began


def report(name: str, cost: Cost, bare: float) -> None:
    """Print the figures of one collection."""
    read_ = cost.summary["read"]
    print(f"{name}: {read_:,} documents, {os.cpu_count()} cores")
    print(f"  workers' start           {cost.start:7.2f} s")
    print(f"  queue, workers, SQLite   {cost.run:7.2f} s   (sent after {cost.send:.2f} s)")
    print(f"  processor time           {cost.processor:7.2f} s   (all processes, the workers' start included)")
    print(f"  peak memory of a worker  {cost.peak:7.0f} MB")
    print(f"  bare FTS5 load           {bare:7.2f} s")
    print(f"  ratio                    {cost.run / bare:7.2f}")
    print(f"  account                  { {key: cost.summary[key] for key in ('indexed', 'refused', 'duplicates')} }")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--collections", type=Path, default=Path("../shared/data"), help="folder of the collections")
    parser.add_argument("--books", action="store_true", help="also books, with signatures of pages")
    parser.add_argument("--pages", action="store_true", help="also 92,428 pages")
    parser.add_argument("--large", action="store_true", help="also 200,000 documents (some minutes)")
    parser.add_argument("--workers", type=int, default=0, help="worker processes; 0: one for each core")
    options = parser.parse_args()
    sources = {"books": (options.books, books), "pages": (options.pages, pages), "large": (options.large, large)}
    selection = [("newswire", newswire)] + [(name, source) for name, (size, source) in sources.items() if size]
    for name, source in selection:
        with tempfile.TemporaryDirectory() as folder:
            bare = bare_load(lambda source=source: source(options.collections), Path(folder))
            cost = through_the_queue(lambda source=source: source(options.collections), Path(folder), options.workers)
            report(name, cost, bare)


if __name__ == "__main__":
    main()
