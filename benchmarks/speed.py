"""Speed of ibidem compared with other libraries, and its growth with the collection; written to docs/figures/speed.md.

    python benchmarks/speed.py [--collections FOLDER] [--rounds N] [--without-servers]

Each figure is a ratio: both sides run in turn in one process, and each turn gives a ratio; the table has the median of
the turns, the lowest and the highest. So noise of the machine affects both sides, and is visible. Above 1, ibidem is
faster; below 1, it does more than the other side, and the ratio is the cost of that. Signing and grouping: processor
time of one thread. Loads: elapsed time, and processor time of all processes, including the server.

Growth: the same work on n, 3 n and 10 n documents; the exponent is the slope of the straight line through the
logarithms (1: twice the documents take twice the time; 2: four times).

The benchmarks whose parts run here say what is compared: `signing`, `grouping`, `ingest`, `clusters`. The servers are
the ones in IBIDEM_TEST_OPENSEARCH and IBIDEM_TEST_ELASTICSEARCH, or started as the tests start them.
`benchmarks/search.py` compares searches with the servers' own `collapse`.
"""

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import chain, combinations
from pathlib import Path

from benchmark import SERVERS, in_turn, introduction, options, publish, run_servers
from clusters import BARE, BATCH, FILTERS, load, load_bare, make_engine
from growth import disk_growth, format_seconds, memory_growth
from ibidem_dedupe.leader_clustering import group
from ibidem_dedupe.policy import Policy
from ibidem_engines.engine import Record
from ibidem_engines.records import records
from ibidem_ingest.document import Document
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.signatures.packed_columns import PackedColumns
from ibidem_ingest.signatures.sign import sign
from ingest import bare_load, newswire, through_the_queue
from processor import TimeCost, measure_cost
from servers.indices import remove_indices
from signing import datasketch_minhash, documents, gaoya_minhash, our_minhash, rensa_minhash
from stories import NEWSWIRE, stories, values

SIGNED = 500
WINDOW = 500
STORIES = 5_000  # documents that are signed, hits of a window, and stories that are loaded into a server

Work = Callable[[], object]
Clock = Callable[[], float]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Times of ibidem and of a peer for the same task."""

    task: str  # description of ibidem's task
    peer: str  # description of the peer's task
    own_seconds: Sequence[float]  # seconds of ibidem in each turn
    peer_seconds: Sequence[float]  # seconds of the peer in the same turns

    def __str__(self) -> str:
        ratios = [peer_time / own_time for own_time, peer_time in zip(self.own_seconds, self.peer_seconds, strict=True)]
        spread = f"{min(ratios):.2f} to {max(ratios):.2f}"
        times = " | ".join(format_seconds(statistics.median(each)) for each in (self.own_seconds, self.peer_seconds))
        return f"| {self.task} | {self.peer} | {times} | {statistics.median(ratios):.2f} | {spread} |"


def compare(
    names: tuple[str, str], own_work: Work, peer_work: Work, rounds: int, clock: Clock = time.process_time
) -> Comparison:
    """Run ibidem and a peer in turn."""
    return Comparison(*names, *in_turn([own_work, peer_work], rounds, clock))


def compare_signing(collections: Path, tables: Tables, rounds: int) -> Iterator[Comparison]:
    """Compare signing with other libraries."""
    several = documents(collections, SIGNED)
    texts = [each.text for each in several]
    task = f"min-hash of {len(texts)} documents of 800 words"
    peers = {"gaoya": gaoya_minhash, "rensa": rensa_minhash, "datasketch": datasketch_minhash}
    for name, peer in peers.items():
        work = lambda peer=peer: peer(texts)  # noqa: E731 - the peer of this turn
        yield compare((task, f"{name}, min-hash"), lambda: our_minhash(several), work, rounds)
        yield compare(("all signatures of the same", f"{name}, min-hash"), lambda: sign(several, tables), work, rounds)


def compare_grouping(signatures: Sequence[bytes], rounds: int) -> Comparison:
    """Compare the grouping of a window with a naive one: sets of rare terms, every pair compared."""
    window = signatures[:WINDOW]
    sets = [frozenset(row.tolist()) for row in PackedColumns.decode(window).terms]

    def compare_pairs() -> int:
        return sum(len(a & b) >= 40 for a, b in combinations(sets, 2))

    names = (f"a window of {WINDOW} grouped by all signatures", "rare terms of every pair as Python sets")
    return compare(names, lambda: group(PackedColumns.decode(window), Policy()), compare_pairs, rounds)


def compare_queue(collections: Path, rounds: int) -> Iterator[Comparison]:
    """Compare a load of newswire through queue and workers into SQLite with a bare FTS5 table; both read the files."""
    seconds, processor, bare = [], [], []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            bare.append(measure_cost(lambda folder=folder: bare_load(lambda: newswire(collections), Path(folder))))
            cost = through_the_queue(lambda: newswire(collections), Path(folder), 0)
            seconds.append(cost.run)
            processor.append(cost.processor)
    task = "newswire, its language given, through queue and workers into SQLite, no groups settled"
    peer = "bare FTS5 table, one process"
    yield Comparison(f"{task} (elapsed)", peer, seconds, [each.elapsed for each in bare])
    yield Comparison(f"{task} (processor, workers' start included)", peer, processor, [each.client for each in bare])


def compare_loads(
    names: tuple[str, str], own_work: Work, peer_work: Work, rounds: int, url: str = ""
) -> Iterator[Comparison]:
    """Run two loads in turn as `compare` does; elapsed time, and processor time of client and server together."""
    costs: dict[Work, list[TimeCost]] = {own_work: [], peer_work: []}
    for turn in range(rounds + 1):
        for work in (own_work, peer_work)[:: 1 if turn % 2 else -1]:
            cost = measure_cost(work, url)
            costs[work] += [cost] if turn else []
    task, peer = names
    for clock in ("elapsed", "processor"):
        sides = [[float(getattr(each, clock)) for each in costs[work]] for work in (own_work, peer_work)]
        yield Comparison(f"{task} ({clock})", peer, *sides)


def compare_writes(
    kind: str, url: str, several: Sequence[Document], tables: Tables, rounds: int
) -> Iterator[Comparison]:
    """Compare signing and writing stories to a server with the client's own helper without signatures."""

    def sign_stories() -> list[Record]:
        return [record for at in range(0, len(several), BATCH) for record in records(several[at : at + BATCH], tables)]

    def write_signed() -> None:
        with closing(make_engine(url, "full")) as engine:
            load(engine, sign_stories())

    bare = sign_stories()
    names = (
        f"{len(bare):,} stories signed and written to {kind}, no queue, no groups settled",
        "the client's `helpers.bulk`, no signatures",
    )
    yield from compare_loads(names, write_signed, lambda: load_bare(url, bare), rounds, url)
    if kind in FILTERS:
        names = (names[0], "`helpers.bulk` into `min_hash`, 100 buckets")
        yield from compare_loads(names, write_signed, lambda: load_bare(url, bare, min_hash=True), rounds, url)
    for name in (BARE, "measured-full"):
        remove_indices(url, name)


def table(arguments: argparse.Namespace, tables: Tables) -> Iterator[str]:
    """Yield the lines of the page."""
    several = list(stories(arguments.collections / NEWSWIRE))
    signatures = values(several, tables)
    yield "## Compared with others\n"
    yield "| ibidem | compared with | ibidem | the other | ratio | spread |\n|---|---|---|---|---|---|"
    yield from map(str, compare_signing(arguments.collections, tables, arguments.rounds))
    yield str(compare_grouping(signatures, arguments.rounds))
    yield from map(str, compare_queue(arguments.collections, arguments.rounds))
    kinds = () if arguments.without_servers else SERVERS
    with run_servers(*kinds) as servers:
        for kind in kinds:
            yield from map(str, compare_writes(kind, servers.url(kind), several[:STORIES], tables, arguments.rounds))
    yield "\n## Growth\n"
    yield "| work | n | 3 n | 10 n | exponent |\n|---|---|---|---|---|"
    yield from map(str, memory_growth(arguments.collections, tables, signatures, arguments.rounds))
    yield from map(str, disk_growth(several))


def main() -> None:
    """Print the figures and write the page."""
    parser = options(__doc__, rounds=5)
    parser.add_argument("--without-servers", action="store_true", help="leave OpenSearch and Elasticsearch out")
    arguments = parser.parse_args()
    os.environ["RAYON_NUM_THREADS"] = "1"  # gaoya's threads
    with tempfile.TemporaryDirectory() as folder:
        lines = chain(table(arguments, Tables(folder)), load_average(os.getloadavg()[0]))
        publish("speed", "How fast it is, and how that grows", lines, introduction(__doc__, "Each figure "))


def load_average(first: float) -> Iterator[str]:
    """Yield the load of the machine before and after."""
    yield ""
    yield f"The load of the machine was {first:.1f} before the first line and {os.getloadavg()[0]:.1f} after the last."


if __name__ == "__main__":
    main()
