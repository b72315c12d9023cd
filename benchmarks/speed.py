"""How fast ibidem is beside others, and how that grows with the collection; written to docs/figures/speed.md.

    python benchmarks/speed.py [--collections FOLDER] [--rounds N] [--without-servers]

Each figure is a ratio: both sides run in turn in one process, and each turn makes a ratio; the median of the turns
stands here, with the lowest and the highest. So the day's noise falls on both sides, and can be seen. Above 1, ibidem
is the faster one; below 1, it does more than the other does, and this is what that costs. Signing and grouping:
processor time of one thread. Loads: elapsed time, and processor time of all processes, the server among them.

Growth: the same work on n, 3 n and 10 n documents; the exponent is the slope of the straight line through the
logarithms (1: twice the documents take twice the time; 2: four times).

What is compared is told by the benchmarks whose parts run here: `signing`, `grouping`, `ingest`, `clusters`. The
servers are those in IBIDEM_TEST_OPENSEARCH and IBIDEM_TEST_ELASTICSEARCH, or started as the tests start them. How long
a search takes beside the servers' own `collapse` is measured by `benchmarks/search.py`.
"""

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from clusters import BARE, BATCH, FILTERS, load, load_bare, make_engine
from grouping import NEWSWIRE, stories, values
from growth import in_memory, on_disk, shown
from ibidem.dedupe.leader_clustering import group
from ibidem_engines.engine import Record
from ibidem_engines.records import records
from ibidem_ingest.document import Document
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.pairs.policy import Policy
from ibidem_ingest.signatures.packed_columns import PackedColumns
from ibidem_ingest.signatures.sign import sign
from ingest import bare_load, newswire, through_the_queue
from measured import write
from processor import Spent, spent
from servers.indices import remove_indices
from servers.session import Servers
from signing import datasketch_minhash, documents, gaoya_minhash, our_minhash, rensa_minhash

SIGNED = 500
WINDOW = 500
STORIES = 5_000
"""Documents that are signed beside peers, hits of a window, and stories that are loaded into a server."""

Work = Callable[[], object]
Clock = Callable[[], float]


@dataclass(frozen=True, slots=True)
class Beside:
    """Two ways to the same end.

    Args:
        what: The one, ibidem's.
        than: The other.
        ours: Seconds of each turn.
        theirs: Seconds of the other in the same turns.
    """

    what: str
    than: str
    ours: Sequence[float]
    theirs: Sequence[float]

    def __str__(self) -> str:
        ratios = [other / own for own, other in zip(self.ours, self.theirs, strict=True)]
        spread = f"{min(ratios):.2f} to {max(ratios):.2f}"
        took = " | ".join(shown(statistics.median(each)) for each in (self.ours, self.theirs))
        return f"| {self.what} | {self.than} | {took} | {statistics.median(ratios):.2f} | {spread} |"


def beside(names: tuple[str, str], ours: Work, theirs: Work, rounds: int, clock: Clock = time.process_time) -> Beside:
    """Run two ways in turn, and in the other order every other time; a first turn is not counted."""
    times: dict[Work, list[float]] = {ours: [], theirs: []}
    for turn in range(rounds + 1):
        for work in (ours, theirs)[:: 1 if turn % 2 else -1]:
            begin = clock()
            work()
            times[work] += [clock() - begin] if turn else []
    return Beside(*names, times[ours], times[theirs])


def signing(collections: Path, tables: Tables, rounds: int) -> Iterator[Beside]:
    """Sign beside other libraries."""
    several = documents(collections, SIGNED)
    texts = [each.text for each in several]
    what = f"min-hash of {len(texts)} documents of 800 words"
    peers = {"gaoya": gaoya_minhash, "rensa": rensa_minhash, "datasketch": datasketch_minhash}
    for name, peer in peers.items():
        work = lambda peer=peer: peer(texts)  # noqa: E731 - the peer of this turn
        yield beside((what, f"{name}, min-hash"), lambda: our_minhash(several), work, rounds)
        yield beside(("all signatures of the same", f"{name}, min-hash"), lambda: sign(several, tables), work, rounds)


def grouping(packed: Sequence[bytes], rounds: int) -> Beside:
    """Group a window beside the plainest way: sets of rare terms, every pair compared."""
    window = packed[:WINDOW]
    sets = [frozenset(row.tolist()) for row in PackedColumns.of(window).terms]

    def every_pair() -> int:
        return sum(len(a & b) >= 40 for a, b in combinations(sets, 2))

    names = (f"a window of {WINDOW} grouped by all signatures", "rare terms of every pair as Python sets")
    return beside(names, lambda: group(PackedColumns.of(window), Policy()), every_pair, rounds)


def queued(collections: Path, rounds: int) -> Iterator[Beside]:
    """Load newswire through queue and workers into SQLite, beside a bare FTS5 table; reading included in both."""
    elapsed, processor, bare = [], [], []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            bare.append(spent(lambda folder=folder: bare_load(lambda: newswire(collections), Path(folder))))
            cost = through_the_queue(lambda: newswire(collections), Path(folder), 0)
            elapsed.append(cost.run)
            processor.append(cost.processor)
    what, than = "newswire through queue and workers into SQLite", "bare FTS5 table, one process"
    yield Beside(f"{what} (elapsed)", than, elapsed, [each.elapsed for each in bare])
    yield Beside(f"{what} (processor, workers' start included)", than, processor, [each.client for each in bare])


def both(names: tuple[str, str], ours: Work, theirs: Work, rounds: int, url: str = "") -> Iterator[Beside]:
    """Run two ways in turn as `beside` does; elapsed time, and processor time of client and server together."""
    costs: dict[Work, list[Spent]] = {ours: [], theirs: []}
    for turn in range(rounds + 1):
        for work in (ours, theirs)[:: 1 if turn % 2 else -1]:
            took = spent(work, url)
            costs[work] += [took] if turn else []
    what, than = names
    for clock in ("elapsed", "processor"):
        sides = [[float(getattr(each, clock)) for each in costs[work]] for work in (ours, theirs)]
        yield Beside(f"{what} ({clock})", than, *sides)


def written(kind: str, url: str, several: Sequence[Document], tables: Tables, rounds: int) -> Iterator[Beside]:
    """Sign stories and write them to a server, beside the client's own helper without signatures."""

    def signed() -> list[Record]:
        return [one for at in range(0, len(several), BATCH) for one in records(several[at : at + BATCH], tables)]

    def written_signed() -> None:
        with closing(make_engine(url, "full")) as engine:
            load(engine, signed())

    bare = signed()
    names = (f"{len(bare):,} stories signed and written to {kind}", "the client's `helpers.bulk`, no signatures")
    yield from both(names, written_signed, lambda: load_bare(url, bare), rounds, url)
    if kind in FILTERS:
        filtered = (names[0], "`helpers.bulk` into `min_hash`, 100 buckets")
        yield from both(filtered, written_signed, lambda: load_bare(url, bare, min_hash=True), rounds, url)
    for name in (BARE, "measured-full"):
        remove_indices(url, name)


def table(arguments: argparse.Namespace, tables: Tables) -> Iterator[str]:
    """Measure everything and write it down."""
    several = list(stories(arguments.collections / NEWSWIRE))
    packed = values(several, tables)
    yield "## Beside others\n"
    yield "| ibidem | beside | ibidem | the other | ratio | spread |\n|---|---|---|---|---|---|"
    yield from map(str, signing(arguments.collections, tables, arguments.rounds))
    yield str(grouping(packed, arguments.rounds))
    yield from map(str, queued(arguments.collections, arguments.rounds))
    if not arguments.without_servers:
        yield from on_servers(several[:STORIES], tables, arguments.rounds)
    yield "\n## Growth\n"
    yield "| work | n | 3 n | 10 n | exponent |\n|---|---|---|---|---|"
    yield from map(str, in_memory(arguments.collections, tables, packed, arguments.rounds))
    yield from map(str, on_disk(several))


def on_servers(several: Sequence[Document], tables: Tables, rounds: int) -> Iterator[str]:
    """Measure loads into real servers."""
    servers = Servers(["opensearch", "elasticsearch"])
    try:
        for kind in ("opensearch", "elasticsearch"):
            yield from map(str, written(kind, servers.url(kind), several, tables, rounds))
    finally:
        servers.stop()


def main() -> None:
    """Print the figures and write them down."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--collections", type=Path, default=Path("../shared/data"))
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--without-servers", action="store_true", help="leave OpenSearch and Elasticsearch out")
    arguments = options.parse_args()
    os.environ["RAYON_NUM_THREADS"] = "1"  # gaoya's threads
    lines = ["".join((__doc__ or "").partition("\n\nEach figure ")[1:]).strip(), ""]
    before = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        for line in table(arguments, Tables(folder)):
            print(line, flush=True)
            lines.append(line)
    lines += [
        "",
        f"The load of the machine was {before:.1f} before the first line and {os.getloadavg()[0]:.1f} after the last.",
    ]
    write("speed", "How fast it is, and how that grows", lines)


if __name__ == "__main__":
    main()
