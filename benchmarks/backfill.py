"""How quickly an index that others filled is signed in its place, and that memory does not grow meanwhile.

    python benchmarks/backfill.py [--collections FOLDER] [--documents N] [--workers N] [--server NAME] [--write]

The server is the one in IBIDEM_TEST_OPENSEARCH (or IBIDEM_TEST_ELASTICSEARCH), or started as the tests start it. An
index of others, two shards, with field names of its own, is filled with newswire stories and pages; this plain
load is timed too. Then `ibidem backfill` runs as a process of its own. Its resident memory, and that of its processes
that sign, is read from /proc whenever a page is accounted for, and told at 10, 50 and 100 % of the documents.
`--write` keeps the page.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine
from ibidem_ingest.document import Document
from ibidem_ingest.readers import read
from ibidem_workers.backfill.checkpoint import load_checkpoint
from ibidem_workers.runs import summary
from ibidem_workers.settings import Settings
from measured import write

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from processor import Spent, spent
from servers.indices import ask, remove_indices
from servers.session import Servers

INDEX = "measured-theirs"
BULK = 500
SHARES = (0.1, 0.5, 1.0)
LOOKS_EVERY_S = 0.2
MAPPING = {
    "settings": {"number_of_shards": 2, "number_of_replicas": 0},
    "mappings": {
        "dynamic": False,
        "properties": {"headline": {"type": "text"}, "body": {"properties": {"content": {"type": "text"}}}},
    },
}


@dataclass(frozen=True)
class Progress:
    """One look at the processes.

    Args:
        documents: How many were accounted for.
        seconds: Since the start.
        own: Resident megabytes of the process that hands out.
        signing: Of those that sign, all together.
    """

    documents: int
    seconds: float
    own: float
    signing: float


def documents(collections: Path) -> Iterator[Document]:
    """Read stories and pages."""
    names = ("reuters21578", "philtrans_pages_scale")
    source = chain.from_iterable(read([collections / name / "docs.jsonl.xz"]) for name in names)
    return (one for one in source if isinstance(one, Document))


def fill(address: str, source: Iterator[Document]) -> tuple[int, float]:
    """Fill an index as its owners do; returns how many documents and the seconds of the requests."""
    remove_indices(address, INDEX)
    ask(address, "PUT", f"/{INDEX}", json.dumps(MAPPING))
    count, spent = 0, 0.0
    while some := list(islice(source, BULK)):
        lines = [line for one in some for line in ({"index": {"_id": one.id}}, stored(one))]
        body = "".join(f"{json.dumps(line)}\n" for line in lines)
        began = time.perf_counter()
        ask(address, "POST", f"/{INDEX}/_bulk", body)
        count, spent = count + len(some), spent + time.perf_counter() - began
    return count, spent


def stored(one: Document) -> dict[str, object]:
    """Write a document as its owners do."""
    return {"headline": one.title, "body": {"content": one.text}, "published": one.date}


def watched(settings: Settings, engine: Engine) -> list[Progress]:
    """Run the command and look at its memory."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("IBIDEM_")}
    command = [str(Path(sys.executable).with_name("ibidem")), "backfill"]
    began = time.perf_counter()
    process = subprocess.Popen(command, env=environment | settings.as_environment(), stdout=subprocess.DEVNULL)
    progress: list[Progress] = []
    while process.poll() is None:
        one = load_checkpoint(engine)
        done = one.documents if one else 0
        at_work = children(process.pid)
        if len(at_work) >= settings.workers and (not progress or done > progress[-1].documents):
            progress.append(
                Progress(done, time.perf_counter() - began, resident(process.pid), sum(map(resident, at_work)))
            )
        time.sleep(LOOKS_EVERY_S)
    if process.returncode not in (0, 3):
        raise SystemExit(f"backfill left with {process.returncode}")
    return progress


def children(pid: int) -> list[int]:
    """List the processes that a process started."""
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def resident(pid: int) -> float:
    """Read a process's resident memory in megabytes; 0 when it has ended."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0.0
    lines = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
    return int(lines.get("VmRSS", "0 kB").split()[0]) / 1024


def per(seconds: float, count: int) -> str:
    """Write what each of many took."""
    return f"{seconds / count * 1e3:.2f} ms"


def page(  # noqa: PLR0913, PLR0917 - what one page tells
    head: str, count: int, load_s: float, progress: list[Progress], counts: dict[str, object], cost: Spent
) -> list[str]:
    """Write what was measured."""
    took_s = float(str(counts["took_s"]))
    signed_s = next((each.seconds for each in progress if each.documents >= count), progress[-1].seconds)
    own, signing = max(each.own for each in progress), max(each.signing for each in progress)
    rows = []
    for share in SHARES:
        one = next((each for each in progress if each.documents >= share * count), progress[-1])
        rows.append(
            f"| {share:.0%} | {one.documents:,} | {one.seconds:.0f} | {one.own:.0f} | {one.signing:.0f} |".replace(
                "%", " %"
            )
        )
    return [
        f"{head}: {count:,} documents (stories and pages), two shards.",
        "",
        f"Plain load by `_bulk`: {count / load_s:,.0f} documents a second.",
        f"`ibidem backfill`, start to end: {took_s:.0f} s, {count / took_s:,.0f} documents a second.",
        f"All were signed after {signed_s:.0f} s ({count / signed_s:,.0f} a second); the rest settled their groups.",
        f"Client and server, processor time a document: {per(cost.client, count)} and {per(cost.server, count)}.",
        f"Signed {counts['indexed']:,}, unchanged {counts['unchanged']:,}, refused {counts['refused']:,}.",
        "",
        "| done | documents | seconds | memory of the process that hands out, MB | of those that sign, MB |",
        "|---|---|---|---|---|",
        *rows,
        "",
        f"Most at any time: {own:.0f} MB and {signing:.0f} MB.",
    ]


def main() -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--collections", type=Path, default=Path("../shared/data"), help="folder of the collections")
    parser.add_argument("--documents", type=int, default=50_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--server", choices=("opensearch", "elasticsearch"), default="opensearch")
    parser.add_argument("--write", action="store_true", help="keep the figures in docs/figures/backfill.md")
    options = parser.parse_args()
    servers = Servers([options.server])
    with tempfile.TemporaryDirectory() as folder:
        address = servers.url(options.server)
        count, load_s = fill(address, islice(documents(options.collections), options.documents))
        settings = Settings(
            engine=address,
            index=INDEX,
            fields="title=headline,text=body.content,date=published,meta=",
            tables=Path(folder),
            concurrency=options.workers,
        )
        with closing(open_engine(settings.address, INDEX)) as engine:
            engine.create()
            progress: list[Progress] = []
            cost = spent(lambda: progress.extend(watched(settings, engine)), address)
            counts = summary(engine)
        remove_indices(address, INDEX)
    servers.stop()
    lines = page(options.server, count, load_s, progress, counts, cost)
    print("\n".join(lines))
    if options.write:
        write("backfill", "Signing an index that is there already", lines)


if __name__ == "__main__":
    main()
