"""Latency of `ibidem backfill --follow`: from a document's write to its signatures, and what following costs when idle.

    python benchmarks/follow.py [--collections FOLDER] [--writes N] [--idle S] [--kind opensearch] [--write]

The server is the one in IBIDEM_TEST_OPENSEARCH (or _ELASTICSEARCH), or started as the tests start it; the gateway and
the follower are processes of their own. All of them share the machine's processors.

Newswire stories are written one by one, at random moments, half of them through the gateway and half straight to the
engine. From the moment the write is answered, the document is read until it has signatures, and searched for by them
until it is found. Then nothing is written, and the requests and the processor time that following takes are counted.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson

from benchmark import SERVERS, draw_lots, options, publish, run_servers
from ibidem_engines.engine import Record
from newswire import serve, sign_stories
from processor import process_seconds
from servers.indices import ask, remove_indices
from stories import NEWSWIRE

INDEX = "measured-follow"
BETWEEN_S = 1.5  # seconds between two writes, at most

POLL_S = 0.01


def latency(engine: str, door: str, record: Record) -> tuple[float, float]:
    """Write a document and return the seconds until it is signed, and until a search finds it by its signatures."""
    document = {"title": record.document.title, "text": record.document.text}
    ask(door, "PUT", f"/{INDEX}/_doc/{record.document.id}", orjson.dumps(document).decode())
    began = time.perf_counter()
    while "ibidem" not in ask(engine, "GET", f"/{INDEX}/_doc/{record.document.id}")["_source"]:
        time.sleep(POLL_S)
    signed = time.perf_counter() - began
    clauses = [{"ids": {"values": [record.document.id]}}, {"exists": {"field": "ibidem.content"}}]
    body = orjson.dumps({"query": {"bool": {"filter": clauses}}, "size": 0}).decode()
    while not ask(engine, "POST", f"/{INDEX}/_search", body)["hits"]["total"]["value"]:
        time.sleep(POLL_S)
    return signed, time.perf_counter() - began


def count_refreshes(engine: str) -> int:
    """Return how often the engine refreshed the index."""
    return int(ask(engine, "GET", f"/{INDEX}*/_stats/refresh")["_all"]["primaries"]["refresh"]["external_total"])


@contextmanager
def following(engine: str, folder: Path) -> Iterator[int]:
    """Run `ibidem backfill --follow`; yields its process id."""
    settings = {"IBIDEM_ENGINE": engine, "IBIDEM_INDEX": INDEX, "IBIDEM_TABLES": str(folder)}
    command = [str(Path(sys.executable).with_name("ibidem")), "backfill", "--follow"]
    with subprocess.Popen(command, env=os.environ | settings, stderr=subprocess.DEVNULL) as follower:
        try:
            yield follower.pid
        finally:
            follower.terminate()


def idle(engine: str, follower: int, seconds: float) -> Iterator[str]:
    """Yield what following costs while nothing is written."""
    time.sleep(10)  # what was written last is settled
    before, refreshes_before = process_seconds(follower), count_refreshes(engine)
    time.sleep(seconds)
    took, refreshes = process_seconds(follower) - before, count_refreshes(engine)
    yield (
        f"While nothing is written, following takes {1e3 * took / seconds:.1f} ms of a processor a second, and "
        f"{refreshes - refreshes_before} refreshes in {seconds:.0f} s."
    )


def row(name: str, seconds: Sequence[float]) -> str:
    """Write latencies as a row of a table."""
    cuts = statistics.quantiles(seconds, n=100, method="inclusive")
    return f"| {name} | {1e3 * cuts[49]:.0f} | {1e3 * cuts[94]:.0f} | {1e3 * cuts[98]:.0f} | {1e3 * max(seconds):.0f} |"


def report(kind: str, engine: str, stories: Sequence[Record], idle_s: float) -> Iterator[str]:
    """Yield the lines of the page."""
    remove_indices(engine, INDEX)
    mapping: dict[str, Any] = {"properties": {name: {"type": "text"} for name in ("title", "text")}}
    ask(engine, "PUT", f"/{INDEX}", orjson.dumps({"mappings": mapping}).decode())
    lot = draw_lots(7)
    with (
        tempfile.TemporaryDirectory() as folder,
        serve(engine, INDEX, Path(folder)) as (gateway, _),
        following(engine, Path(folder)) as follower,
    ):
        latency(engine, engine, stories[0])  # fields and table are there
        latencies = []
        for at, story in enumerate(stories[1:]):
            time.sleep(lot.uniform(0, BETWEEN_S))
            latencies.append(latency(engine, (engine, gateway)[at % 2], story))
        yield f"{len(latencies)} newswire stories in {kind}: milliseconds from the answer to a write until …"
        yield "\n| | median | 95 % within | 99 % within | slowest |\n|---|---|---|---|---|"
        yield row("the document is signed", [signed for signed, _ in latencies])
        yield row("a search finds it by its signatures", [found for _, found in latencies])
        yield ""
        load = os.getloadavg()[1]
        yield f"Meanwhile {load:.0f} processes of the machine wanted its {len(os.sched_getaffinity(0))} processors."
        yield ""
        yield from idle(engine, follower, idle_s)
    remove_indices(engine, INDEX)


def main() -> None:
    """Print all figures."""
    arguments = options(__doc__, writes=200, idle=30.0, kind=SERVERS, write=False).parse_args()
    stories = sign_stories(arguments.collections / NEWSWIRE, arguments.writes + 1)
    with run_servers(arguments.kind) as servers:
        lines = report(arguments.kind, servers.url(arguments.kind), stories, arguments.idle)
        publish("follow", "How soon a document is signed", lines, keep=arguments.write)


if __name__ == "__main__":
    main()
