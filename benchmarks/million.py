"""A million stories: signed, written, settled, with time, memory and disk of each stage; docs/figures/million.md.

    nice python benchmarks/million.py [--collections FOLDER] [--engine NAME]… [--sizes N,N] [--write]

Newswire and generations of it (`generations.py`): a generation has the duplicates of the stories, and none with another
generation. The whole texts of each generation are signed, as by a worker; the documents written have shifted look-up
keys, and the first eight words as its text, since settling reads no texts. Making generations is no part of a stage.

Each server is a node of its own, started as the tests start it, with 512 MB of heap. A stage is a process of its own,
with one thread but for the server's. Processor: of the process, and of the server in brackets behind. Memory: the
most that the process held. Exponent: how settling grows with the number, as a power, by processor time. Elapsed time
says little where other work ran on the machine: `load` is the average number of processes that wanted to run.
"""

import multiprocessing
import os
import resource
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from benchmark import exponent, introduction, options, run_servers, show
from generations import generation
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine, Record
from ibidem_ingest.document import Document
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.readers import read
from ibidem_ingest.signatures.sign import sign
from ibidem_workers.batches import records
from ibidem_workers.groups.follower import settle_all
from measured import write_part
from processor import server_seconds
from servers.indices import ask, remove_indices
from stories import NEWSWIRE

if TYPE_CHECKING:
    from multiprocessing.queues import SimpleQueue

INDEX = "measured-million"
BATCH = 500
HEADS = (
    "documents | stage | elapsed, s | load | processor, s | documents a second of it | memory, MB | disk, MB | exponent"
)
ORDER = ("SQLite", "OpenSearch", "Elasticsearch")
USUAL = ("sqlite", "opensearch")


@dataclass(slots=True)
class StageCost:
    elapsed: float = 0.0  # seconds by the clock
    own: float = 0.0  # processor seconds of the process
    server: float = 0.0  # those of the server
    memory: float = 0.0  # the most that the process held, in MB
    # The average number of processes that wanted to run.
    load: float = field(default_factory=lambda: os.getloadavg()[0])

    def add(self, url: str, work: Callable[[], object]) -> None:
        server, own, began = server_seconds(url), time.process_time(), time.perf_counter()
        work()
        self.elapsed += time.perf_counter() - began
        self.own += time.process_time() - own
        self.server += server_seconds(url) - server
        self.memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        self.load = (self.load + os.getloadavg()[0]) / 2

    @property
    def processor(self) -> float:
        return self.own + self.server


Costs = dict[str, StageCost]


def load(  # noqa: PLR0913 - what, where and how
    address: str, url: str, collection: Path, folder: str, size: int, *, signs_all: bool = True
) -> Costs:
    """Write a number of documents, and sign each generation or the first alone."""
    costs = {"signed": StageCost(), "written": StageCost()}
    tables = Tables(Path(folder) / "tables")
    stories = signed_records(collection, tables)
    documents = [each.document for each in stories]
    with closing(open_engine(address, INDEX)) as engine:
        engine.create()
        written = 0
        for number in count():
            wanted = documents[: size - written]
            if signs_all:
                costs["signed"].add("", partial(deque, records(wanted, tables), 0))
            batch: list[Record] = []
            for record in generation(stories[: len(wanted)], number):
                batch.append(record)
                if len(batch) == BATCH:
                    costs["written"].add(url, partial(engine.write, batch))
                    batch = []
            costs["written"].add(url, partial(engine.write, batch))
            written += len(wanted)
            print(address, written, costs, file=sys.stderr, flush=True)
            if written == size:
                costs["written"].add(url, engine.refresh)
                return costs
    return costs


def signed_records(collection: Path, tables: Tables) -> list[Record]:
    documents = [replace(item, version=1) for item in read([collection]) if isinstance(item, Document)]
    signatures = sign(documents, tables)
    return [
        replace(record, signatures=each) for record, each in zip(records(documents, tables), signatures, strict=True)
    ]


def settle(address: str, url: str) -> Costs:
    cost = StageCost()
    with closing(open_engine(address, INDEX)) as engine:
        cost.add(url, partial(settle_all, engine))
    return {"settled": cost}


def apart(work: Callable[[], Costs]) -> Costs:
    """Do a stage in a process of its own."""
    context = multiprocessing.get_context("spawn")
    costs: SimpleQueue[Costs] = context.SimpleQueue()
    process = context.Process(target=put, args=(work, costs))
    process.start()
    result = costs.get()
    process.join()
    return result


def put(work: Callable[[], Costs], costs: "SimpleQueue[Costs]") -> None:
    """Hand the costs of a stage over."""
    costs.put(work())


def rows(address: str, url: str, collection: Path, folder: str, sizes: Sequence[int]) -> Iterator[str]:
    previous: tuple[int, float] | None = None
    for size in sizes:
        costs = apart(partial(load, address, url, collection, folder, size))
        disk = disk_bytes(address, url)
        costs |= apart(partial(settle, address, url))
        settled = costs["settled"].processor
        power = exponent((previous[0], size), (previous[1], settled)) if previous else None
        previous = size, settled
        with closing(open_engine(address, INDEX)) as engine:
            groups = check(engine, size)
        for name, cost in costs.items():
            own = f"{cost.own:.1f}" + (f" ({cost.server:.1f})" if url else "")
            space = {"written": disk, "settled": disk_bytes(address, url)}.get(name)
            cells = [
                *(f"{size:,}", f"{name}, {groups:,} groups" if name == "settled" else name),
                *(f"{cost.elapsed:.0f}", f"{cost.load:.1f}", own, f"{size / cost.processor:,.0f}"),
                *(f"{cost.memory:.0f}", f"{space / 1e6:,.0f}" if space else ""),
                f"{power:.2f}" if power is not None and name == "settled" else "",
            ]
            yield f"| {' | '.join(cells)} |"
        remove(address, url)


def check(engine: Engine, size: int) -> int:
    """Count the groups; every document is there."""
    counts = engine.groups().counts()
    if counts.documents != size:
        raise SystemExit(f"{counts.documents:,} of {size:,} documents are there")
    return counts.groups


def disk_bytes(address: str, url: str) -> int:
    if not url:
        path = Path(address.removeprefix("sqlite:///"))
        return sum(each.stat().st_size for each in path.parent.glob(f"{path.name}*"))
    ask(url, "POST", f"/{INDEX}/_flush")
    return int(ask(url, "GET", f"/{INDEX}/_stats/store")["_all"]["primaries"]["store"]["size_in_bytes"])


def remove(address: str, url: str) -> None:
    if url:
        remove_indices(url, INDEX)
    else:
        path = Path(address.removeprefix("sqlite:///"))
        for each in path.parent.glob(f"{path.name}*"):
            each.unlink()


def main() -> None:
    """Measure, and print or write the page."""
    parser = options(__doc__, sizes="100000,1000000")
    parser.add_argument("--engine", choices=[each.lower() for each in ORDER], action="append")
    parser.add_argument("--write", action="store_true", help="keep the figures in docs/figures/million.md")
    arguments = parser.parse_args()
    sizes = [int(each) for each in arguments.sizes.split(",")]
    with run_servers() as servers, tempfile.TemporaryDirectory(prefix="ibidem-million-") as folder:
        for name in ORDER:
            if name.lower() not in (arguments.engine or USUAL):
                continue
            url = "" if name == "SQLite" else servers.started(name.lower())
            address = url or f"sqlite:////{folder}/million.sqlite"
            lines = [*introduction(__doc__, "Newswire and"), f"| {HEADS} |", f"|{'---|' * (HEADS.count('|') + 1)}"]
            lines += show(rows(address, url, arguments.collections / NEWSWIRE, folder, sizes))
            servers.stop()
            if arguments.write:
                write_part("million", "A million stories", ORDER, name, lines)


if __name__ == "__main__":
    main()
