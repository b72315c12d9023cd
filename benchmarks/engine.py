"""Cost of the SQLite engine: a load with look-ups next to a bare FTS5 load, and a window next to a plain search.

    python benchmarks/engine.py [--collections FOLDER] [--stories N]

All in one run and one process; seconds are of processor time, searches the median of 21 in elapsed milliseconds. The
stories are read, signed and packed before a clock starts.
"""

import argparse
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path

from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine, Record, SignatureLookup
from ibidem_engines.query import Query, parse_query
from ibidem_engines.records import records
from ibidem_ingest.document import Document
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.readers import read
from ibidem_ingest.signatures.lookup_keys import LookupField, lookup_keys
from ibidem_ingest.signatures.packed import unpack

BATCH = 400
MOST_HITS = 50
"""Hits of a look-up, as a worker requests them."""

ROUNDS = 21
ALIKE: tuple[LookupField, ...] = ("fingerprint", "profile", "bands")
QUERIES = ("the", "said", "oil price", "oil OR wheat OR gold")


def batches(stories: Sequence[Record]) -> list[Sequence[Record]]:
    """Cut stories into batches."""
    return [stories[at : at + BATCH] for at in range(0, len(stories), BATCH)]


def processor_seconds(work: Callable[[], object]) -> float:
    """Measure processor seconds."""
    begin = time.process_time()
    work()
    return time.process_time() - begin


def median_ms(work: Callable[[], object]) -> float:
    """Measure elapsed milliseconds, the median of some rounds."""
    rounds = []
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        work()
        rounds.append((time.perf_counter() - begin) * 1e3)
    return statistics.median(rounds)


def bare_load(path: Path, stories: Sequence[Record]) -> None:
    """Load title and text into an FTS5 table, a transaction for each batch."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("pragma journal_mode = wal")
        connection.execute("create virtual table stories using fts5(title, text)")
        for batch in batches(stories):
            rows = [(each.document.title, each.document.text) for each in batch]
            connection.execute("begin")
            connection.executemany("insert into stories values (?, ?)", rows)
            connection.execute("commit")


def searches(batch: Sequence[Record], looked_up: Sequence[LookupField]) -> list[SignatureLookup]:
    """Make the look-ups that a worker makes for documents that it has written."""
    values = [(each.document.id, lookup_keys(packed)) for each in batch if (packed := unpack(each.packed))]
    return [
        SignatureLookup({clue: keys[clue] for clue in looked_up if clue in keys}, limit=MOST_HITS, own_id=name)
        for name, keys in values
    ]


def look_up(engine: Engine, batch: Sequence[Record], seconds: dict[str, float]) -> int:
    """Look for copies first, then for near duplicates; count the documents with candidates."""
    count = 0
    for looked_up in (("content",), ALIKE):
        begin = time.process_time()
        lookups = searches(batch, looked_up)
        middle = time.process_time()
        answers = engine.find(lookups)
        seconds["find"] += time.process_time() - middle
        seconds["values"] += middle - begin
        count += sum(bool(answer.hits) for answer in answers)
        batch = [each for each, answer in zip(batch, answers, strict=True) if not answer.hits]
    return count


def plain_search(engine: Engine, query: Query) -> None:
    """Search without grouping: show the ten best."""
    hits = engine.search(query, 10).hits
    engine.fetch([(hit.index, hit.id) for hit in hits], query)


def wide_search(engine: Engine, query: Query) -> None:
    """Read a window of 500 and show ten of it."""
    hits = engine.search(query, 500).hits
    engine.fetch([(hit.index, hit.id) for hit in hits[:10]], query)


def load(engine: Engine, stories: Sequence[Record]) -> None:
    """Write and look up batch after batch, and print the time of each part."""
    seconds = {"write": 0.0, "values": 0.0, "find": 0.0}
    count = 0
    for batch in batches(stories):
        begin = time.process_time()
        engine.write(batch)
        seconds["write"] += time.process_time() - begin
        count += look_up(engine, batch, seconds)
    for name, took in seconds.items():
        print(f"{name:18} {took:6.2f} s  {1e6 * took / len(stories):6.1f} µs a document")
    print(f"with candidates    {count}")


def main() -> None:
    """Print all figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--collections", type=Path, default=Path("../shared/data"))
    parser.add_argument("--stories", type=int, default=None)
    options = parser.parse_args()
    source = read([options.collections / "reuters21578" / "docs.jsonl.xz"])
    documents = [each for each in islice(source, options.stories) if isinstance(each, Document)]
    with tempfile.TemporaryDirectory() as folder:
        tables = Tables(Path(folder))
        stories = [
            each for at in range(0, len(documents), BATCH) for each in records(documents[at : at + BATCH], tables)
        ]
        print(f"{len(stories)} stories, batches of {BATCH}, SQLite {sqlite3.sqlite_version}")
        bare = processor_seconds(lambda: bare_load(Path(folder) / "bare.sqlite", stories))
        print(f"bare FTS5 load     {bare:6.2f} s")
        engine = open_engine(f"sqlite:///{folder}/index.sqlite", "news")
        engine.create()
        load(engine, stories)
        print(f"file               {(Path(folder) / 'index.sqlite').stat().st_size / 1e6:6.1f} MB")
        for words in QUERIES:
            query = parse_query(words)
            plain_ms = median_ms(lambda query=query: plain_search(engine, query))
            window_ms = median_ms(lambda query=query: wide_search(engine, query))
            total = engine.search(query, 1).total
            print(
                f"{words!r}: {total} match; ten shown {plain_ms:.1f} ms, window of 500 and ten shown {window_ms:.1f} ms"
            )
        engine.close()


if __name__ == "__main__":
    main()
