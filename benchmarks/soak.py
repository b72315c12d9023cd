"""An hour of steady ingest and search over OpenSearch and RabbitMQ; written to docs/figures/soak.md.

    python benchmarks/soak.py [--collections FOLDER] [--minutes M] [--documents D] [--searches S] [--workers N]

OpenSearch and RabbitMQ are those in IBIDEM_TEST_OPENSEARCH and IBIDEM_TEST_RABBITMQ, or started as the tests start
them. One `ibidem ingest -` reads D documents a second, in all that time one run; `ibidem worker` takes them from the
broker; `ibidem serve` answers S searches a second with `dedupe=indent`. Each is a process of its own, and all share the
machine's processors with the servers and this benchmark.

A search's time runs from the moment when it was due to the end of its answer, so that one that had to wait for others
includes that wait. Memory is the resident memory that the kernel reports, read every ten seconds. At the end, the
summary of the run is compared with the documents sent, and every text of the index with the newest one sent under its
id.
"""

import argparse
import asyncio
import contextlib
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import opensearchpy

from benchmark import options, publish, run_servers
from measured import FIGURES
from newswire import await_port, body
from rates import JSON
from resident import Memory, children
from servers.indices import ask, remove_indices
from servers.process import free_ports
from soak_picture import draw
from steady import Stream, hash_text

SAMPLED_EVERY_S = 10.0
TICK_S = 0.1
QUARTERS = 4
QUERIES = ("bank", "trade", "oil prices", "export", "said year", "royal society", "observations", "experiment",
           "motion court", "judgment plaintiff", "personal data", "water", "account")  # fmt: skip
IBIDEM = Path(sys.executable).with_name("ibidem")


@dataclass(slots=True)
class Soak:
    """Samples taken while it runs."""

    began: float  # the start, by `time.monotonic`
    # Of each search: seconds after the start when it was due, and milliseconds until its answer.
    answers: list[tuple[float, float]] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)  # why searches had no answer
    # Seconds after the start, documents in the index, and documents sent, without repeats.
    counts: list[tuple[float, int, int]] = field(default_factory=list)
    # Processes that ran or waited for a processor, as the kernel averages them over a minute.
    load: list[float] = field(default_factory=list)

    def now(self) -> float:
        """Return the seconds since the start."""
        return time.monotonic() - self.began


@contextlib.contextmanager
def run_command(
    folder: Path, settings: dict[str, str], *arguments: str, **streams: Any
) -> Iterator[subprocess.Popen[str]]:
    """Run a command of ibidem in parallel to this process; it is asked to end with the context."""
    environment = os.environ | {f"IBIDEM_{name}": value for name, value in settings.items()}
    with (folder / f"{arguments[0]}.log").open("wb") as log:
        process = subprocess.Popen([IBIDEM, *arguments], env=environment, stderr=log, text=True, **streams)
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()


def send_steadily(stream: Stream, ingest: subprocess.Popen[str], rate: float, soak: Soak, seconds: float) -> None:
    """Write documents to a command's standard input at a steady rate, then close it."""
    lines, count = stream.lines(), 0
    with ingest.stdin as pipe:
        while (now := soak.now()) < seconds:
            while count < rate * now:
                pipe.write(next(lines))
                count += 1
            pipe.flush()
            time.sleep(TICK_S)


async def search_steadily(gateway: str, index: str, rate: float, soak: Soak, seconds: float) -> None:
    """Send a search each time that one is due, also before the last one is answered."""

    async def send(number: int, due: float) -> None:
        request = {**body(QUERIES[number % len(QUERIES)], 10), "dedupe": "indent"}
        try:
            async with session.post(f"{gateway}/{index}/_search", data=json.dumps(request), headers=JSON) as answer:
                response = await answer.json()
            if answer.status != 200 or "dedupe" not in response:
                soak.failures.append(f"{due:.0f} s: {answer.status} {str(response)[:200]}")
        except (aiohttp.ClientError, TimeoutError) as error:
            soak.failures.append(f"{due:.0f} s: {error!r}")
        soak.answers.append((due, (soak.now() - due) * 1e3))

    async with aiohttp.ClientSession() as session, asyncio.TaskGroup() as tasks:
        for number in range(int(rate * seconds)):
            due = number / rate
            await asyncio.sleep(max(0.0, due - soak.now()))
            tasks.create_task(send(number, due))


def watch(url: str, index: str, stream: Stream, memory: Memory, soak: Soak, seconds: float) -> None:  # noqa: PLR0913, PLR0917 - all that is looked at
    """Take a sample each ten seconds."""
    while soak.now() < seconds:
        memory.sample(soak.now())
        count = ask(url, "GET", f"/{index}/_count")["count"]
        soak.counts.append((soak.now(), count, len(stream.newest)))
        soak.load.append(os.getloadavg()[0])
        time.sleep(SAMPLED_EVERY_S)


def percentile(took: Sequence[float], share: float) -> float:
    """Return the time within which so large a share of answers came."""
    return sorted(took)[min(len(took) - 1, int(len(took) * share))]


def quarter_rows(soak: Soak, seconds: float) -> Iterator[str]:
    """Yield a row of a table for each quarter of the time, and one for all of it."""
    yield "| minutes | documents a second | searches | median ms | 90 % within ms | 99 % within ms | slowest ms |"
    yield "|---|---|---|---|---|---|---|"
    each = seconds / QUARTERS
    for begin, end in [*((part * each, (part + 1) * each) for part in range(QUARTERS)), (0, seconds)]:
        took = [ms for due, ms in soak.answers if begin <= due < end]
        counts = [(at, count) for at, count, _ in soak.counts if begin <= at <= end]
        rate = (counts[-1][1] - counts[0][1]) / (counts[-1][0] - counts[0][0])
        times = " | ".join(f"{percentile(took, share):.0f}" for share in (0.5, 0.9, 0.99, 1.0))
        yield f"| {begin / 60:.0f} to {end / 60:.0f} | {rate:.1f} | {len(took):,} | {times} |"


def wrong_in_the_end(url: str, index: str, stream: Stream) -> int:
    """Count the ids that are missing in the index, superfluous, or there with another text than the newest."""
    missing = dict(stream.newest)
    faults = 0
    with opensearchpy.OpenSearch(url.partition("+")[2], timeout=60) as client:
        for hit in opensearchpy.helpers.scan(client, {"_source": ["text"]}, index=index, size=1_000):
            faults += missing.pop(hit["_id"], None) != hash_text(hit["_source"]["text"])
    return faults + len(missing)


def account(status: dict[str, Any], stream: Stream, faults: int) -> Iterator[str]:
    """Yield the documents sent, and their outcomes."""
    totals = stream.counts
    yield (
        f"Handed in: {sum(totals.values()):,} documents: {totals['new']:,} new ones, {totals['copy']:,} copies under"
        f" other ids, {totals['near']:,} copies with one word of twenty changed, {totals['version']:,} newer versions,"
        f" and {totals['again']:,} that had come before."
    )
    yield ""
    fates = " + ".join(f"{status[fate]:,} {fate}" for fate in ("indexed", "unchanged", "stale", "refused"))
    yield f"The account: {status['read']:,} read = {fates}; duplicates found: {status['duplicates']}."
    yield ""
    yield f"In the end the index holds {len(stream.newest):,} ids; missing, too many or with an older text: {faults}."


def report(soak: Soak, memory: Memory, seconds: float) -> Iterator[str]:
    """Yield the samples."""
    yield from quarter_rows(soak, seconds)
    yield ""
    behind = statistics.median(sent_count - indexed_count for _, indexed_count, sent_count in soak.counts)
    yield (
        f"Searches without an answer: {len(soak.failures)}. Of the documents handed in, {behind:,.0f} were on their way"
        " in the median: those of the batch that was being filled, and of those that were being written."
    )
    yield ""
    yield "Megabytes of memory, medians of a minute:"
    yield ""
    yield "| process | after five minutes | in the end | at most | end to five minutes |"
    yield "|---|---|---|---|---|"
    yield from memory.rows()
    yield ""
    yield f"The machine's load was {statistics.median(soak.load):.1f} in the median, servers and other work included."


def soak_hour(url: str, broker: str, arguments: argparse.Namespace, folder: Path) -> Iterator[str]:
    """Run the hour, and yield the lines of the page."""
    index, seconds = f"soak-{os.getpid()}", arguments.minutes * 60.0
    settings = {"ENGINE": url, "BROKER": broker, "INDEX": index, "TABLES": str(folder / "tables")}
    stream = Stream(arguments.collections)
    (port,) = free_ports(1)
    try:
        with (
            run_command(folder, settings, "serve", "--port", str(port)) as gateway,
            run_command(folder, settings, "worker", "--concurrency", str(arguments.workers)) as workers,
            run_command(
                folder, settings, "ingest", "-", "--json", stdin=subprocess.PIPE, stdout=subprocess.PIPE
            ) as ingest,
        ):
            await_port(port)
            wait_for_workers(url, index, workers.pid, arguments.workers)
            pids = {f"worker {at}": pid for at, pid in enumerate(forks(workers.pid), 1)}
            memory = Memory({**pids, "gateway": gateway.pid, "ingest": ingest.pid})
            soak = Soak(time.monotonic())
            with ThreadPoolExecutor() as threads:
                feeding = threads.submit(send_steadily, stream, ingest, arguments.documents, soak, seconds)
                watching = threads.submit(watch, url, index, stream, memory, soak, seconds)
                asyncio.run(search_steadily(f"http://127.0.0.1:{port}", index, arguments.searches, soak, seconds))
                watching.result()
                feeding.result()
            status = json.loads(ingest.stdout.read())
        draw(memory, soak.counts, soak.answers, FIGURES / "soak.svg")
        yield from report(soak, memory, seconds)
        ask(url, "POST", f"/{index}/_refresh")
        yield ""
        yield from account(status, stream, wrong_in_the_end(url, index, stream))
        for why in soak.failures[:20]:
            print(why, file=sys.stderr)
    finally:
        remove_indices(url, index)


def forks(pid: int) -> list[int]:
    """Return the workers of a command: a starter, its child, has forked them."""
    return [worker for starter in children(pid) for worker in children(starter)]


def wait_for_workers(url: str, index: str, pid: int, count: int) -> None:
    """Wait until all workers have started and the index that one of them creates can be searched."""
    while len(forks(pid)) < count or index not in ask(url, "GET", f"/{index}?ignore_unavailable=true"):
        time.sleep(0.2)
    ask(url, "GET", f"/_cluster/health/{index}?wait_for_active_shards=1&timeout=30s")


def main() -> None:
    """Run, print and write."""
    parser = options(__doc__, minutes=60.0, workers=2)
    parser.add_argument("--documents", type=float, default=25.0, help="a second")
    parser.add_argument("--searches", type=float, default=2.0, help="a second")
    arguments = parser.parse_args()
    setting = (
        f"{arguments.documents:.0f} documents and {arguments.searches:.0f} searches a second for"
        f" {arguments.minutes:.0f} minutes, {arguments.workers} workers, one gateway, one OpenSearch node, RabbitMQ."
    )
    head = [
        setting,
        "\n![Memory, documents and search times over the time](soak.svg)\n",
    ]
    with run_servers("opensearch", "rabbitmq") as servers, tempfile.TemporaryDirectory() as folder:
        lines = soak_hour(servers.url("opensearch"), servers.url("rabbitmq"), arguments, Path(folder))
        publish("soak", "An hour of steady work", lines, head)


if __name__ == "__main__":
    main()
