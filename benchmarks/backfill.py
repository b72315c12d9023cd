"""Speed of signing a foreign index in place, and its memory, which does not grow.

    python benchmarks/backfill.py [--collections FOLDER] [--documents N] [--workers N] [--server NAME] [--write]

The server is the one in IBIDEM_TEST_OPENSEARCH (or IBIDEM_TEST_ELASTICSEARCH), or started as the tests start it. An
index of others, two shards, with field names of its own, is filled with newswire stories and pages; this plain load is
timed too, and so is `_update_by_query` without a script: the engine's own way to write each document again, which signs
nothing. Then `ibidem backfill` runs as a process of its own: it signs, then settles groups. Last, groups are settled
again with nothing held in memory, as in an index with too many leads for that. The command's resident memory, and that
of its processes that sign, is read from /proc whenever a page is accounted for, and printed at 10, 50 and 100 % of the
documents. A first turn with a fourth of the documents is not counted: a server that has run for long has compiled its
code. `--write` keeps the page.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import astuple, dataclass
from functools import partial
from itertools import chain, islice
from pathlib import Path

from benchmark import SERVERS, options, run_servers
from ibidem_core.settings import Settings
from ibidem_engines.cluster import settled_leads
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine
from ibidem_ingest.document import Document
from ibidem_workers.backfill.checkpoint import load_checkpoint
from ibidem_workers.groups.service import regroup
from ibidem_workers.runs import summary
from measured import write
from processor import TimeCost, measure_cost, process_seconds, server_seconds
from resident import children, resident_mb
from servers.indices import ask, remove_indices
from stories import NEWSWIRE, PAGES, stories

INDEX = "measured-theirs"
BULK = 500
SHARES = (0.1, 0.5, 1.0)
LOOKS_EVERY_S = 0.2
REGROUP = "`ibidem regroup`, nothing held in memory"
MAPPING = {
    "settings": {"number_of_shards": 2, "number_of_replicas": 0},
    "mappings": {
        "dynamic": False,
        "properties": {"headline": {"type": "text"}, "body": {"properties": {"content": {"type": "text"}}}},
    },
}


@dataclass(frozen=True)
class Progress:
    """One sample of the processes."""

    documents: int  # how many were accounted for
    seconds: float  # since the start
    main: float  # resident megabytes of the main process
    signing: float  # resident megabytes of all signing processes


def documents(collections: Path) -> Iterator[Document]:
    """Read stories and pages."""
    return chain(stories(collections / NEWSWIRE), stories(collections / PAGES))


def fill(address: str, source: Iterator[Document]) -> tuple[int, TimeCost]:
    """Fill an index as its owners do; returns how many documents, and the cost of the requests."""
    remove_indices(address, INDEX)
    ask(address, "PUT", f"/{INDEX}", json.dumps(MAPPING))
    count, loads = 0, []
    while batch := list(islice(source, BULK)):
        lines = [line for document in batch for line in ({"index": {"_id": document.id}}, foreign_fields(document))]
        body = "".join(f"{json.dumps(line)}\n" for line in lines)
        loads.append(measure_cost(partial(ask, address, "POST", f"/{INDEX}/_bulk", body), address))
        count += len(batch)
    elapsed, client, server = (sum(column) for column in zip(*map(astuple, loads), strict=True))
    return count, TimeCost(elapsed, client, server)


def rewrite(address: str) -> TimeCost:
    """Let the engine write each document again."""
    ask(address, "POST", f"/{INDEX}/_refresh")

    def work() -> None:
        """Start the task and wait for it: an answer to the request itself has a header for each warning."""
        task = ask(address, "POST", f"/{INDEX}/_update_by_query?wait_for_completion=false")["task"]
        while not ask(address, "GET", f"/_tasks/{task}")["completed"]:
            time.sleep(LOOKS_EVERY_S)

    return measure_cost(work, address)


def foreign_fields(document: Document) -> dict[str, object]:
    """Write a document as its owners do."""
    return {"headline": document.title, "body": {"content": document.text}, "published": document.date}


@dataclass(frozen=True)
class Run:
    """One run of the command."""

    progress: list[Progress]  # looks at its processes, in order of time
    signing: TimeCost  # cost until every document was signed
    settling: TimeCost  # cost from then to the end, which is for groups


def settle_without_memory(address: str, engine: Engine) -> TimeCost:
    """Settle all groups again, every value asked of the server."""
    worth, settled_leads.WORTH = settled_leads.WORTH, -1
    cost = measure_cost(partial(regroup, engine), address)
    settled_leads.WORTH = worth
    return cost


def run(settings: Settings, engine: Engine, count: int) -> Run:
    """Run the command and measure it until all of so many documents are signed, and from then on."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("IBIDEM_")}
    command = [str(Path(sys.executable).with_name("ibidem")), "backfill"]
    began, server = time.perf_counter(), server_seconds(settings.engine)
    process = subprocess.Popen(command, env=environment | settings.as_environment(), stdout=subprocess.DEVNULL)
    progress: list[Progress] = []
    signing: TimeCost | None = None

    def measure_so_far() -> TimeCost:
        """Measure the work up to now."""
        client = sum(map(seconds, [process.pid, *children(process.pid)]))
        return TimeCost(time.perf_counter() - began, client, server_seconds(settings.engine) - server)

    last = measure_so_far()
    while process.poll() is None:
        checkpoint = load_checkpoint(engine)
        count_done = checkpoint.documents if checkpoint else 0
        last = measure_so_far() if process.poll() is None else last
        if signing is None and count_done >= count:
            signing = last
        pids = children(process.pid)
        if len(pids) >= settings.workers and (not progress or count_done > progress[-1].documents):
            memory = [resident_mb(pid) or 0.0 for pid in (process.pid, *pids)]
            progress.append(Progress(count_done, last.elapsed, memory[0], sum(memory[1:])))
        time.sleep(LOOKS_EVERY_S)
    if process.returncode not in (0, 3):
        raise SystemExit(f"backfill left with {process.returncode}")
    signing = signing or last
    settling = TimeCost(
        last.elapsed - signing.elapsed,
        last.client - signing.client,
        server_seconds(settings.engine) - server - signing.server,
    )
    return Run(progress, signing, settling)


def seconds(pid: int) -> float:
    """Read the processor time of a process with its ended children; 0 when it has ended itself."""
    try:
        return process_seconds(pid, children=True)
    except OSError:
        return 0.0


def per(cost: TimeCost, count: int) -> str:
    """Write a table's cells: seconds, documents a second, and processor time of each document."""
    cells = (
        f"{cost.elapsed:.0f}",
        f"{count / cost.elapsed:,.0f}",
        *(f"{each / count * 1e3:.2f} ms" for each in (cost.client, cost.server)),
    )
    return " | ".join(cells)


def page(  # noqa: PLR0913, PLR0917 - one for each part of the page
    head: str,
    count: int,
    peers: Mapping[str, TimeCost],
    result: Run,
    regrouping: TimeCost,
    counts: Mapping[str, object],
) -> list[str]:
    """Return the lines of the page."""
    progress = result.progress
    main_mb, signing = max(look.main for look in progress), max(look.signing for look in progress)
    loads = dict(peers) | {
        "`ibidem backfill`: signing": result.signing,
        "`ibidem backfill`: groups": result.settling,
        REGROUP: regrouping,
    }
    return [
        f"{head}: {count:,} documents (stories and pages), two shards.",
        "",
        "| work | seconds | documents a second | client | server |",
        "|---|---|---|---|---|",
        *(f"| {name} | {per(cost, count)} |" for name, cost in loads.items()),
        "",
        f"Signed {counts['indexed']:,}, unchanged {counts['unchanged']:,}, refused {counts['refused']:,}.",
        "",
        "| done | documents | seconds | memory of the process that hands out, MB | of those that sign, MB |",
        "|---|---|---|---|---|",
        *(memory(share, count, progress) for share in SHARES),
        "",
        f"Most at any time: {main_mb:.0f} MB and {signing:.0f} MB.",
    ]


def memory(share: float, count: int, progress: Sequence[Progress]) -> str:
    """Write a table's row: memory when some share of the documents was done."""
    look = next((each for each in progress if each.documents >= share * count), progress[-1])
    return f"| {share * 100:.0f} % | {look.documents:,} | {look.seconds:.0f} | {look.main:.0f} | {look.signing:.0f} |"


def measure(address: str, source: Iterator[Document], workers: int) -> list[str]:
    """Fill an index, sign it, and return the lines of the page."""
    count, load = fill(address, source)
    peers = {"plain load by `_bulk`": load, "`_update_by_query`, which signs nothing": rewrite(address)}
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(
            engine=address,
            index=INDEX,
            fields="title=headline,text=body.content,date=published,meta=",
            tables=Path(folder),
            concurrency=workers,
        )
        with closing(open_engine(settings.address, INDEX)) as engine:
            engine.create()
            result = run(settings, engine, count)
            counts = summary(engine)
            regrouping = settle_without_memory(address, engine)
    remove_indices(address, INDEX)
    return page(address.partition("+")[0], count, peers, result, regrouping, counts)


def main() -> None:
    """Measure, print, and write the page."""
    arguments = options(__doc__, documents=50_000, workers=2, server=SERVERS, write=False).parse_args()
    with run_servers(arguments.server) as servers:
        address = servers.url(arguments.server)
        for count in (arguments.documents // 4, arguments.documents):
            lines = measure(address, islice(documents(arguments.collections), count), arguments.workers)
            print("\n".join(lines), flush=True)
    if arguments.write:
        write("backfill", "Signing an index that is there already", lines)


if __name__ == "__main__":
    main()
