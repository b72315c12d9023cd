"""Cost of the page for people: lists of ten groups over newswire and over contracts, complete with their files.

    python benchmarks/page.py [--collections FOLDER] [--kind opensearch] [--rounds N] [--write]

The server is the one in IBIDEM_TEST_OPENSEARCH (or _ELASTICSEARCH), or started as the tests start it; the gateway is
`ibidem serve`, a process of its own. Groups are settled, as `ibidem ingest` leaves them. Each list is asked for once
before it is measured. The processor's time is that of the gateway alone.
"""

import argparse
import os
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlencode, urlsplit

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
sys.path.insert(0, str(Path(__file__).parent))

from ibidem_engines.connect import open_engine
from ibidem_workers.groups.follower import Follower
from measured import write
from newswire import CLIENTS, QUERIES, load, serve, sign_stories
from processor import process_seconds
from servers.indices import remove_indices
from servers.session import Servers

INDEX = "measured-page"
COLLECTIONS = {
    "reuters21578": ("newswire stories", QUERIES),
    "ota_terms_en": ("contracts", ("privacy", "personal data", "arbitration", "terms of service", "the")),
}
LISTS = {
    "as it opens": {},
    "collapsed": {"dedupe": "collapse"},
    "second page": {"page": "2"},
    "top results grouped": {"by": "window"},
    "`partial`": {"level": "partial"},
}


WAITS = "Where it is above the number of processors, lists wait for those, and the processor's time is what compares."


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of one list.

    Args:
        elapsed: Milliseconds until a browser has it.
        processor: Milliseconds of the gateway's processor.
    """

    elapsed: float
    processor: float


def fetch(connection: HTTPConnection, path: str) -> bytes:
    """Ask for a page or file as a browser does."""
    connection.request("GET", path, headers={"accept": "text/html"})
    answer = connection.getresponse()
    read = answer.read()
    if answer.status != 200:
        raise RuntimeError(f"{path}: {read[:300]!r}")
    return read


def measure(connection: HTTPConnection, process: int, path: str, rounds: int) -> Cost:
    """Measure a page with all its files."""
    html = fetch(connection, path).decode()
    files = [each for each in re.findall(r'(?:href|src)="(/[^"]*)"', html) if "/static/" in each]
    began_processor, took = process_seconds(process), []
    for _ in range(rounds):
        began = time.perf_counter()
        for each in (path, *files):
            fetch(connection, each)
        took.append((time.perf_counter() - began) * 1e3)
    return Cost(statistics.median(took), (process_seconds(process) - began_processor) * 1e3 / rounds)


def report(url: str, folder: Path, collections: Path, rounds: int) -> Iterator[str]:
    """Yield the lines of the page of figures."""
    yield "| collection | list | median ms | slowest query ms | gateway's processor ms |"
    yield "|---|---|---|---|---|"
    for name, (about, queries) in COLLECTIONS.items():
        documents = sign_stories(collections / name / "docs.jsonl.xz", None)
        load(url, documents, INDEX)
        engine = open_engine(url, INDEX)
        Follower(engine).catch_up()
        engine.refresh()
        engine.close()
        with serve(url, INDEX, folder) as (gateway, process):
            where = urlsplit(gateway)
            connection = HTTPConnection(where.hostname or "", where.port)
            for called, options in LISTS.items():
                costs = [
                    measure(connection, process, f"/?{urlencode({'q': query, **options})}", rounds) for query in queries
                ]
                median, slowest = (choose([cost.elapsed for cost in costs]) for choose in (statistics.median, max))
                processor = statistics.median(cost.processor for cost in costs)
                yield f"| {len(documents):,} {about} | {called} | {median:.0f} | {slowest:.0f} | {processor:.0f} |"
        remove_indices(url, INDEX)


def main() -> None:
    """Print all figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--collections", type=Path, default=Path("../shared/data"))
    parser.add_argument("--kind", choices=sorted(CLIENTS), default="opensearch")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--write", action="store_true", help="keep the figures in docs/figures")
    options = parser.parse_args()
    servers = Servers([options.kind])
    try:
        with tempfile.TemporaryDirectory() as folder:
            rows = list(report(servers.url(options.kind), Path(folder), options.collections, options.rounds))
    finally:
        servers.stop()
    load_average = os.getloadavg()[1]
    lines = [
        f"Lists of ten groups in {options.kind}, `near` unless said otherwise, with all files.",
        "",
        *rows,
        "",
        f"Load average of the machine meanwhile: {load_average:.1f}. {WAITS}",
    ]
    sys.stdout.write("\n".join(lines) + "\n")
    if options.write:
        write("page", "What the page costs", lines)


if __name__ == "__main__":
    main()
