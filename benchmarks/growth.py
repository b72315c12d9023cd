"""Growth of the cost of signing, grouping, loading and searching with the number of documents; `speed` prints it."""

import math
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path

from benchmark import in_turn, took_ms
from ibidem.grouped_search.api import search
from ibidem_core.settings import Settings
from ibidem_dedupe.leader_clustering import group
from ibidem_dedupe.policy import Policy
from ibidem_dedupe.request import parse_request
from ibidem_engines.connect import open_engine
from ibidem_engines.query import parse_query
from ibidem_ingest.document import Document
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.signatures.packed_columns import PackedColumns
from ibidem_ingest.signatures.sign import sign
from ingest import through_the_queue
from signing import documents
from stories import PAGES, stories, values

TIMES = (1, 3, 10)
QUERIES = ("bank", "trade", "oil prices", "shares", "said year", "market")


def format_seconds(seconds: float) -> str:
    """Write seconds in a unit that suits them."""
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1e3:.1f} ms"


@dataclass(frozen=True, slots=True)
class Growth:
    """Times of the same task on more and more documents."""

    task: str
    seconds: Mapping[int, float]  # its time, by the number of documents

    @property
    def exponent(self) -> float:
        """The slope of the straight line through the logarithms."""
        sizes, seconds = (list(map(math.log, each)) for each in (self.seconds, self.seconds.values()))
        return statistics.linear_regression(sizes, seconds).slope

    def __str__(self) -> str:
        times = " | ".join(f"{size:,}: {format_seconds(seconds)}" for size, seconds in self.seconds.items())
        return f"| {self.task} | {times} | {self.exponent:.2f} |"


def measure_growth(task: str, smallest: int, work: Callable[[int], object], rounds: int) -> Growth:
    """Measure processor time on n, 3 n and 10 n documents, the least of some rounds."""
    sizes = [smallest * times for times in TIMES]
    seconds = [min(in_turn([partial(work, size)], rounds, time.process_time)[0]) for size in sizes]
    return Growth(task, dict(zip(sizes, seconds, strict=True)))


def memory_growth(collections: Path, tables: Tables, signatures: Sequence[bytes], rounds: int) -> Iterator[Growth]:
    """Measure how signing and grouping grow."""
    several = documents(collections, 300 * TIMES[-1])
    pages = values(islice(stories(collections / PAGES), 9_000 * TIMES[-1]), tables)
    yield measure_growth(
        "all signatures, documents of 800 words", 300, lambda size: sign(several[:size], tables), rounds
    )
    yield measure_growth(
        "a window of newswire, grouped",
        1_000,
        lambda size: group(PackedColumns.decode(signatures[:size]), Policy()),
        rounds,
    )
    yield measure_growth(
        "a whole index of pages, grouped", 9_000, lambda size: group(PackedColumns.decode(pages[:size]), Policy()), 1
    )


def disk_growth(several: Sequence[Document]) -> Iterator[Growth]:
    """Measure how a load, and a search in the loaded index, grow."""
    loads, searches = {}, {}
    for size in (2_000 * times for times in TIMES):
        with tempfile.TemporaryDirectory() as folder:
            loads[size] = through_the_queue(lambda size=size: iter(several[:size]), Path(folder), 0).run
            searches[size] = measure_search(Path(folder))
    yield Growth(
        "stories, their language given, through queue and workers into SQLite, no groups settled (elapsed)", loads
    )
    yield Growth("a search there, `near`, window of 500, ten groups shown (elapsed)", searches)


def measure_search(folder: Path) -> float:
    """Measure a search, the median over queries of the least of three."""
    request = parse_request({"dedupe": "indent"})
    with closing(open_engine(f"sqlite:////{folder}/index.sqlite", Settings().index)) as engine:
        searches = [partial(search, engine, query, request, overrides=()) for query in map(parse_query, QUERIES)]
        return statistics.median(min(took_ms(each) for _ in range(3)) / 1e3 for each in searches)
