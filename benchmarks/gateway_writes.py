"""Cost of signing in the gateway: `_bulk` through a gateway that signs, compared with `_bulk` direct to the engine.

    python benchmarks/gateway_writes.py [--collections FOLDER] [--stories N] [--kind opensearch] [--write]

The server is the one in IBIDEM_TEST_OPENSEARCH (or _ELASTICSEARCH), or started as the tests start it; the gateway is
`ibidem serve`, a process of its own with processes that sign. Both, and the one client, share the machine's processors.

Four ways take turns, each into an index of its own that is made for the turn, in requests of 500 documents: plain
straight to the engine, plain through the gateway, signed on the way, and straight to the engine with the signatures
that were made before. Processor time is that of the client, of the gateway with its processes, and of the engine by
its own count.
"""

import argparse
import http.client
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import orjson

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
sys.path.insert(0, str(Path(__file__).parent))

from ibidem_core.address import OURS, Fields
from ibidem_engines.cluster.source import as_source
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Record
from measured import write
from newswire import CLIENTS, serve, sign_stories
from servers.indices import ask, remove_indices
from servers.session import Servers

PLAIN, SIGNED = "measured-writes-plain", "measured-writes-signed"
BATCH = 500
TURNS = 5
OPEN = {"IBIDEM_GATEWAY_PATHS": "all", "IBIDEM_GATEWAY_INDEXES": "*", "IBIDEM_GATEWAY_SIGN": "true"}
TICK = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Cost:
    """Cost of writing all documents once, in seconds: elapsed, and processor time."""

    elapsed: float
    client: float
    gateway: float
    engine: float

    @property
    def processor(self) -> float:
        """Of all processors together."""
        return self.client + self.gateway + self.engine


def bodies(sources: Sequence[tuple[str, bytes]]) -> list[bytes]:
    """Write the requests."""
    lines = [orjson.dumps({"index": {"_id": id_}}) + b"\n" + source + b"\n" for id_, source in sources]
    return [b"".join(lines[at : at + BATCH]) for at in range(0, len(lines), BATCH)]


def send(base: str, index: str, requests: Sequence[bytes]) -> None:
    """Send requests one after the other."""
    where = urlsplit(base)
    connection = http.client.HTTPConnection(where.hostname or "", where.port, timeout=600)
    for body in requests:
        connection.request("POST", f"/{index}/_bulk", body, {"content-type": "application/x-ndjson"})
        answer = connection.getresponse()
        content = orjson.loads(answer.read())
        if answer.status != 200 or content["errors"]:
            raise RuntimeError(str(content)[:500])
    connection.close()


def engine_seconds(engine: str) -> float:
    """Ask the engine how much processor time it took."""
    nodes = ask(engine, "GET", "/_nodes/stats/process")["nodes"].values()
    return sum(each["process"]["cpu"]["total_in_millis"] for each in nodes) / 1e3


def gateway_seconds() -> float:
    """Add up the processor time of the processes that were started here, and of theirs."""
    parents: dict[int, int] = {}
    took: dict[int, float] = {}
    for each in Path("/proc").glob("[0-9]*/stat"):
        try:
            status = each.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        process = int(each.parent.name)
        parents[process] = int(status[1])
        took[process] = sum(map(int, status[11:15])) / TICK
    own_pids = {os.getpid()}
    for _ in range(4):
        own_pids |= {process for process, parent in parents.items() if parent in own_pids}
    pids = (each for each in own_pids - {os.getpid()} if not is_java(each))
    return sum(took.get(each, 0.0) for each in pids)


def is_java(process: int) -> bool:
    """Return whether a process is the engine, which counts its own time."""
    try:
        return Path(f"/proc/{process}/comm").read_text().strip() == "java"
    except OSError:
        return True


def measure(engine: str, base: str, requests: Sequence[bytes], index: str) -> Cost:
    """Write all documents into a new index.

    Args:
        engine: Its address.
        base: Where requests are sent.
        requests: Their bodies.
        index: Its name; one of the two has ibidem's fields.
    """
    remove_indices(engine, index)
    if index == SIGNED:
        store = open_engine(engine, index)
        store.create()
        store.close()
    else:
        properties = {name: {"type": "text"} for name in ("title", "text")}
        settings = {"number_of_shards": 1, "number_of_replicas": 0}
        definition = {"settings": settings, "mappings": {"properties": properties}}
        ask(engine, "PUT", f"/{index}", orjson.dumps(definition).decode())
    send(base, index, requests[:1])  # connections and processes are there
    client, gateway, server, began = time.process_time(), gateway_seconds(), engine_seconds(engine), time.perf_counter()
    send(base, index, requests)
    ask(engine, "POST", f"/{index}/_refresh")
    return Cost(
        time.perf_counter() - began,
        time.process_time() - client,
        gateway_seconds() - gateway,
        engine_seconds(engine) - server,
    )


def report(engine: str, gateway: str, stories: Sequence[Record]) -> Iterator[str]:
    """Yield the lines of the page."""
    straight = engine.partition("+")[2]
    with_signatures = [(record.document.id, as_source(record, Fields(), "full")) for record in stories]
    plain_requests = bodies([(id_, without_ours(source)) for id_, source in with_signatures])
    ways = {
        "engine, plain": (straight, plain_requests, PLAIN),
        "gateway, passed on": (gateway, plain_requests, PLAIN),
        "engine, signed before": (straight, bodies(with_signatures), SIGNED),
        "gateway, signed on the way": (gateway, plain_requests, SIGNED),
    }
    turns = [
        {name: measure(engine, base, requests, index) for name, (base, requests, index) in ways.items()}
        for _ in range(TURNS)
    ]
    yield "| written | documents a second | processor ms a document: client | gateway | engine |"
    yield "|---|---|---|---|---|"
    for name in ways:
        costs = [turn[name] for turn in turns]
        rate = len(stories) / statistics.median(each.elapsed for each in costs)
        columns = [statistics.median(getattr(each, part) for each in costs) for part in ("client", "gateway", "engine")]
        yield f"| {name} | {rate:,.0f} | " + " | ".join(f"{1e3 * each / len(stories):.2f}" for each in columns) + " |"
    yield ""
    name = "gateway, signed on the way"
    for peer in ("engine, plain", "engine, signed before"):
        pairs = [(turn[name], turn[peer]) for turn in turns]
        elapsed = statistics.median(cost.elapsed / peer_cost.elapsed for cost, peer_cost in pairs)
        processor = statistics.median(cost.processor / peer_cost.processor for cost, peer_cost in pairs)
        yield (
            f"“{name}” compared with “{peer}”: {elapsed:.2f} times as long, {processor:.2f} times the processor time "
            f"(medians of {TURNS} turns)."
        )
        yield ""


def without_ours(source: bytes) -> bytes:
    """Leave signatures out."""
    return orjson.dumps({name: value for name, value in orjson.loads(source).items() if name != OURS})


def main() -> None:
    """Print all figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--collections", type=Path, default=Path("../shared/data"))
    parser.add_argument("--stories", type=int, default=5_000)
    parser.add_argument("--kind", choices=sorted(CLIENTS), default="opensearch")
    parser.add_argument("--write", action="store_true", help="keep the figures in docs/figures")
    options = parser.parse_args()
    stories = sign_stories(options.collections / "reuters21578" / "docs.jsonl.xz", options.stories)
    servers = Servers([options.kind])
    try:
        url = servers.url(options.kind)
        with tempfile.TemporaryDirectory() as folder, serve(url, SIGNED, Path(folder), **OPEN) as (gateway, _):
            report_lines = list(report(url, gateway, stories))
        for index in (PLAIN, SIGNED):
            remove_indices(url, index)
    finally:
        servers.stop()
    lines = [
        f"{len(stories):,} newswire stories into {options.kind}, {BATCH} a request, one client.",
        "",
        *report_lines,
    ]
    sys.stdout.write("\n".join(lines) + "\n")
    if options.write:
        write("gateway-writes", "What signing on the way costs", lines)


if __name__ == "__main__":
    main()
