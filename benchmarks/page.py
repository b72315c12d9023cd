"""Cost of the page for people: lists of ten groups over newswire and over contracts, complete with their files.

    python benchmarks/page.py [--collections FOLDER] [--kind opensearch] [--rounds N] [--write]

The server is the one in IBIDEM_TEST_OPENSEARCH (or _ELASTICSEARCH), or started as the tests start it; the gateway is
`ibidem serve`, a process of its own. Groups are settled, as `ibidem ingest` leaves them. Each list is asked for once
before it is measured. The processor's time is that of the gateway alone.
"""

import os
import re
import statistics
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlencode, urlsplit

from benchmark import SERVERS, options, publish, run_servers
from ibidem_engines.connect import open_engine
from ibidem_workers.groups.follower import Follower
from newswire import QUERIES, load, serve, sign_stories
from processor import process_seconds
from servers.indices import remove_indices

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
    """The cost of one list."""

    elapsed: float  # milliseconds until a browser has it
    processor: float  # milliseconds of the gateway's processor


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
    yield "| collection | list | median ms | slowest query ms | gateway's processor ms |\n|---|---|---|---|---|"
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
    yield f"\nLoad average of the machine meanwhile: {os.getloadavg()[1]:.1f}. {WAITS}"


def main() -> None:
    """Print all figures."""
    arguments = options(__doc__, kind=SERVERS, rounds=20, write=False).parse_args()
    head = [f"Lists of ten groups in {arguments.kind}, `near` unless said otherwise, with all files.", ""]
    with run_servers(arguments.kind) as servers, tempfile.TemporaryDirectory() as folder:
        lines = report(servers.url(arguments.kind), Path(folder), arguments.collections, arguments.rounds)
        publish("page", "What the page costs", lines, head, keep=arguments.write)


if __name__ == "__main__":
    main()
