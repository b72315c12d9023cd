"""Ingest through the queue into a cluster compared with the client's `helpers.bulk`; written to docs/figures/loads.md.

    python benchmarks/loads.py [--collections FOLDER] [--stories N] [--rounds N] [--workers N] [--server NAME] [--write]

Newswire is read from its file by both sides. Ours goes through the file queue and worker processes, which sign, into
the layout `full`; the other's is `helpers.bulk` of one process, in requests of 500, into the same index without the
object `ibidem`. Both sides run in turn, in the other order every other time, and a first turn is not counted: each
turn gives a ratio; the table has the median, the lowest and the highest. The clock runs from when every worker
takes messages until the account of the last batch is read. Processor time is that of all processes: submitter, workers,
server; the start of the workers is listed separately. Both sides take the stories for English ones. `ibidem ingest`
detects the language of documents that do not say theirs, unless `--language` names it: that is measured by itself.
"""

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from clusters import BARE, make_bare, make_engine, send_bare
from ibidem_core.settings import Settings
from ibidem_engines.connect import open_engine
from ibidem_ingest.document import Document
from ibidem_ingest.errors import Refusal
from ibidem_ingest.readers.formats import detect
from ibidem_workers.pool import Pool
from ibidem_workers.runs import RunMonitor, summary
from ibidem_workers.submit import Submission
from ingest import newswire
from measured import write
from processor import client_seconds, measure_cost, process_seconds, server_seconds
from servers.indices import remove_indices
from servers.session import Servers

INDEX = "measured-queue"
LOOKS_EVERY_S = 0.005
SERVERS = ("opensearch", "elasticsearch")


@dataclass(frozen=True, slots=True)
class Load:
    """Cost of a load, in seconds.

    Args:
        elapsed: By the clock.
        client: Processor time of this process.
        server: Of the server.
        workers: Of the workers.
        start: Of the workers, before they took messages.
    """

    elapsed: float
    client: float
    server: float
    workers: float = 0.0
    start: float = 0.0

    @property
    def processor(self) -> float:
        """Processor time of all processes."""
        return self.client + self.server + self.workers


def stories(collections: Path, count: int) -> Iterator[Document | Refusal]:
    """Read so many stories of the file."""
    return islice(newswire(collections), count)


def load_through_queue(url: str, collections: Path, count: int, workers: int) -> Load:
    """Load stories through the queue."""
    make_engine(url, "full", INDEX).close()
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(
            engine=url,
            index=INDEX,
            broker=f"filesystem:////{folder}/queue",
            tables=Path(folder) / "tables",
            concurrency=workers,
        )
        with closing(open_engine(url, INDEX)) as engine, Pool(settings) as pool:
            wait_for_all(pool)
            start = total_seconds(pool.pids)
            server, client, begin = server_seconds(url), client_seconds(), time.perf_counter()
            submission = Submission(engine, settings)
            run = submission.send(stories(collections, count)).run
            RunMonitor(engine, run).wait(lambda _: pool.check())
            elapsed = time.perf_counter() - begin
            load = Load(
                elapsed,
                client_seconds() - client,
                server_seconds(url) - server,
                total_seconds(pool.pids) - start,
                start,
            )
            account = summary(engine, run)
    if account["indexed"] != account["read"]:
        raise SystemExit(f"not all were indexed: {account}")
    return load


def wait_for_all(pool: Pool) -> None:
    """Wait until every worker takes messages."""
    while not all(worker.ready for worker in pool._workers):  # noqa: SLF001 - `is_ready` says only whether one is
        pool.check()
        time.sleep(LOOKS_EVERY_S)


def total_seconds(processes: Sequence[int]) -> float:
    """Add up the processor time of processes."""
    return sum(map(process_seconds, processes))


def load_plain(url: str, collections: Path, count: int) -> Load:
    """Load stories with the client's own helper."""
    make_bare(url)
    cost = measure_cost(
        lambda: send_bare(url, (item for item in stories(collections, count) if isinstance(item, Document))), url
    )
    return Load(cost.elapsed, cost.client, cost.server)


def turns(url: str, arguments: argparse.Namespace) -> list[tuple[Load, Load]]:
    """Load both ways in turn."""
    rounds = []
    for turn in range(arguments.rounds + 1):
        work = {
            "ours": lambda: load_through_queue(url, arguments.collections, arguments.stories, arguments.workers),
            "theirs": lambda: load_plain(url, arguments.collections, arguments.stories),
        }
        loads = {name: work[name]() for name in sorted(work, reverse=bool(turn % 2))}
        rounds.append((loads["ours"], loads["theirs"]))
        print(turn, *loads.items(), flush=True)
    return rounds[1:]


def ratio(ratios: Sequence[float]) -> str:
    """Write the median with the lowest and the highest."""
    return f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"


def table(kind: str, rounds: Sequence[tuple[Load, Load]], count: int) -> Iterator[str]:
    """Write the rows of a server."""
    own_loads, bulk_loads = zip(*rounds, strict=True)
    rate = [b.elapsed / a.elapsed for a, b in rounds]
    processor = [a.processor / b.processor for a, b in rounds]
    yield f"| {kind} | {count:,} | {ratio(rate)} | {ratio(processor)} |"
    for side_name, side in (("ours", own_loads), ("`helpers.bulk`", bulk_loads)):
        each = {name: statistics.median(getattr(load, name) for load in side) for name in Load.__slots__}
        parts = " | ".join(f"{each[name]:.2f} s" for name in ("elapsed", "client", "workers", "server", "start"))
        ROWS.append(f"| {kind}, {side_name} | {parts} |")


def detection(collections: Path, count: int) -> str:
    """Write what it costs to detect the language of stories."""
    texts = [each.text for each in stories(collections, count) if isinstance(each, Document)]
    detect(texts[0])  # loads the model
    start = time.process_time()
    for text in texts:
        detect(text)
    cost = (time.process_time() - start) / len(texts)
    return f"\nDetection of the language: {cost * 1e3:.2f} ms of the processor a story."


ROWS: list[str] = []
"""Of the second table, in the order of measuring."""


def lines(arguments: argparse.Namespace) -> Iterator[str]:
    """Measure, and yield the lines."""
    yield "| server | documents | rate / `helpers.bulk` | processor time / `helpers.bulk` |\n|---|---|---|---|"
    servers = Servers(arguments.server)
    try:
        for kind in arguments.server:
            url = servers.url(kind)
            yield from table(kind, turns(url, arguments), arguments.stories)
            for name in (BARE, INDEX):
                remove_indices(url, name)
    finally:
        servers.stop()
    yield "\nMedians: elapsed, then processor time.\n"
    yield "| load | elapsed | this process | workers | server | workers' start |\n|---|---|---|---|---|---|"
    yield from ROWS
    yield detection(arguments.collections, arguments.stories)


def main() -> None:
    """Print the figures and keep them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--collections", type=Path, default=Path("../shared/data"))
    parser.add_argument("--stories", type=int, default=21_577)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--workers", type=int, default=0, help="0: one for each processor")
    parser.add_argument("--server", choices=SERVERS, nargs="*", default=SERVERS)
    parser.add_argument("--write", action="store_true", help="keep the figures in docs/figures/loads.md")
    arguments = parser.parse_args()
    page = ["".join((__doc__ or "").partition("\n\nNewswire ")[1:]).strip(), ""]
    page += list(lines(arguments))
    sys.stdout.write("\n".join(page) + "\n")
    if arguments.write:
        write("loads", "Ingest through the queue into a cluster", page)


if __name__ == "__main__":
    main()
