"""All groups settled again on Spark beside one process; docs/figures/spark.md.

    nice python benchmarks/spark.py [--collections FOLDER] [--sizes N,N] [--sets N,N] [--masters M,M] [--write]

Newswire and generations of it (`generations.py`), as in million.md, in equal indexes of one OpenSearch node. Processor:
of all processes of the command, Java and executors among them, and of the server in brackets behind. Shuffled bytes
come from Spark's log of events. Memory: the most that all processes of the command held together.

Without an index: documents are read from a Parquet file, and groups are found and not written. They are those of one
pass, leads and all. Pages of scanned and printed books, and made-up documents: a template that all of them share in
half of their min-hash samples, copies of one text, and documents without duplicates. One process: with decoding.

Signing by workers: 10,000 stories of newswire by RabbitMQ into OpenSearch, after as many others, in batches of
100,000 characters. Processor: of the processes that read, sign and write documents, the least of three times.
"""

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from argparse import Namespace
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import islice, product
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import orjson
import pyarrow as pa
from pyarrow import parquet

import million
from benchmark import exponent, introduction, options, run_servers, show
from generations import generations
from ibidem_dedupe.collection import choose_policy
from ibidem_dedupe.leader_clustering import group
from ibidem_dedupe.overrides import Overrides
from ibidem_engines.connect import open_engine
from ibidem_engines.ledger import POLICY, GroupCheckpoint
from ibidem_ingest.document import Document
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.readers import read
from ibidem_ingest.signatures.packed import PackedColumns
from ibidem_spark import steps
from ibidem_spark.rounds import TAIL, WIDTH
from ibidem_spark.settle import DOCUMENT, ROWS, SparkSettling, open_session
from ibidem_workers.batches import records
from ibidem_workers.groups.settle import Rules
from measured import write_part
from processor import process_seconds, server_seconds
from servers.command_line import Way
from servers.indices import remove_indices
from servers.session import Servers
from stories import NEWSWIRE
from support.windows import signatures, value

FIGURES = "documents | how | elapsed, s | processor, s | memory, MB | shuffled, MB | rounds"
HEADS, SETS = f"{FIGURES} | beside one process | exponent", f"{FIGURES} | pairs | groups | beside one process"
PARTS = "OpenSearch", "Without an index", "Signing by workers"
STORIES = 10_000  # that workers sign
TICK = os.sysconf("SC_CLK_TCK")
STAGES = {"documents": "read", "several": "copies", "digests": "copies", "lost": "written"}
ROUND = ("open", "window", "decided", "leads", "pairs", "follows", "joins")
Sizes = Sequence[tuple[int, int]]
Samples = list[tuple[float, float]]  # the time by the clock, and the processor seconds until then


@dataclass(slots=True)
class Cost:
    """Cost of a command."""

    samples: Samples  # of all of its processes
    memory: float  # the most that they held together, in MB

    @property
    def elapsed(self) -> float:
        return self.samples[-1][0] - self.samples[0][0]

    @property
    def processor(self) -> float:
        return self.samples[-1][1]

    def between(self, start: float, end: float) -> float:
        """Return the processor seconds between two times."""
        times, seconds = zip(*self.samples, strict=True)
        first, last = np.interp([start, end], times, seconds)
        return float(last - first)


def watch(command: Sequence[str], folder: str, environment: Mapping[str, str]) -> Cost:
    """Run a command, and look at its processes until the last has ended."""
    samples: Samples = [(time.time(), 0.0)]
    process = subprocess.Popen(command, cwd=folder, env=dict(environment), start_new_session=True)
    ticks: Counter[str] = Counter()
    memory = 0.0
    while process.poll() is None or any(True for _ in members(process.pid)):
        held = 0.0
        for number, taken, pages in members(process.pid):
            ticks[number] = max(ticks[number], taken)
            held += pages * os.sysconf("SC_PAGE_SIZE") / 1e6
        samples.append((time.time(), ticks.total() / TICK))
        memory = max(memory, held)
        time.sleep(0.05)
    if process.returncode:
        raise SystemExit(f"{command}: {process.returncode}")
    return Cost(samples, memory)


def members(session: int) -> Iterator[tuple[str, int, int]]:
    """Yield the processes of a session and children of its first: number, ticks of the processor, pages of memory."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if str(session) in {fields[1], fields[3]} and fields[0] != "Z":
            yield path.parent.name, int(fields[11]) + int(fields[12]), int(fields[21])


@dataclass(slots=True)
class Log:
    """What Spark's log of events tells."""

    shuffled: int  # bytes of all shuffles
    rounds: int
    stages: dict[str, float]  # processor seconds of each stage
    alone: float  # those of the driver while no task runs

    @classmethod
    def read(cls, folder: Path, cost: Cost) -> "Log":
        found = cls(0, 0, Counter(), cost.processor)
        jobs: dict[int, tuple[str, float]] = {}
        running, since = 0, 0.0
        for path in folder.rglob("events_*"):
            for line in map(json.loads, path.open(encoding="utf-8")):
                if line["Event"] == "SparkListenerJobStart":
                    name = line["Properties"].get("spark.job.description", "")
                    jobs[line["Job ID"]] = name, line["Submission Time"] / 1e3
                elif line["Event"] == "SparkListenerJobEnd":
                    name, start = jobs[line["Job ID"]]
                    kind = name.partition("-")[0]
                    stage = "rounds" if kind in ROUND else STAGES.get(kind, kind)
                    found.stages[stage] += cost.between(start, line["Completion Time"] / 1e3)
                    found.rounds = max(found.rounds, int(name.partition("-")[2] or 0) if kind == "pairs" else 0)
                elif line["Event"] == "SparkListenerTaskStart":
                    since = since if running else line["Task Info"]["Launch Time"] / 1e3
                    running += 1
                elif line["Event"] == "SparkListenerTaskEnd":
                    running -= 1
                    if not running:
                        found.alone -= cost.between(since, line["Task Info"]["Finish Time"] / 1e3)
                    metrics = line.get("Task Metrics") or {"Shuffle Write Metrics": {"Shuffle Bytes Written": 0}}
                    found.shuffled += metrics["Shuffle Write Metrics"]["Shuffle Bytes Written"]
        return found

    def line(self, title: str, cost: Cost) -> str:
        """Describe the stages."""
        jobs = sum(self.stages.values())
        stages = self.stages | {"between": cost.processor - jobs}
        parts = [f"{name} {seconds:.1f}" for name, seconds in stages.items()]
        return f"{title}: {', '.join(parts)}; while no task runs {self.alone:.1f} ({self.alone / cost.processor:.0%})"


def run(command: Sequence[str], folder: str, environment: Mapping[str, str]) -> tuple[Cost, Log]:
    """Run a command with a log of Spark's events."""
    events = Path(tempfile.mkdtemp(dir=folder))
    confs = ("spark.eventLog.enabled=true", f"spark.eventLog.dir={events}", "spark.eventLog.compress=false")
    submit = " ".join(f"--conf {each}" for each in (*confs, "spark.driver.memory=3g"))
    more = {"PYSPARK_SUBMIT_ARGS": f"{submit} pyspark-shell", "PYSPARK_PYTHON": sys.executable}
    cost = watch(command, folder, os.environ | environment | more)
    return cost, Log.read(events, cost)


def rows(url: str, collection: Path, sizes: Sequence[int], masters: Sequence[str]) -> Iterator[str]:
    """Yield a row for each way and size, and then the stages of each."""
    previous: dict[str, tuple[int, float]] = {}
    stages = []
    for size in sizes:
        found, alone = {}, 0.0
        for way in ("one process", *masters):
            with tempfile.TemporaryDirectory(prefix="ibidem-spark-") as folder:
                million.load(url, url, collection, folder, size, signs_all=False)
                command = [str(Path(sys.executable).with_name("ibidem")), "regroup", "--all"]
                command += ["--spark", way] * (way in masters)
                server = server_seconds(url)
                cost, log = run(command, folder, {"IBIDEM_ENGINE": url, "IBIDEM_INDEX": million.INDEX})
                server = server_seconds(url) - server
                with closing(open_engine(url, million.INDEX)) as engine:
                    found[way] = million.check(engine, size)
                remove_indices(url, million.INDEX)
            whole = cost.processor + server
            alone = alone or whole
            power = exponent((previous[way][0], size), (previous[way][1], whole)) if way in previous else None
            previous[way] = size, whole
            cells = [f"{size:,}, {found[way]:,} groups", way, f"{cost.elapsed:.0f}"]
            cells += [f"{cost.processor:.1f} ({server:.1f})", f"{cost.memory:.0f}"]
            cells += [f"{log.shuffled / 1e6:,.0f}", str(log.rounds)] if way in masters else ["", ""]
            cells += [f"{whole / alone:.2f}", f"{power:.2f}" if power is not None else ""]
            yield f"| {' | '.join(cells)} |"
            stages += [log.line(f"{size:,}, {way}", cost)] * (way in masters)
        if len({*found.values()}) > 1:
            raise SystemExit(f"the groups differ: {found}")
    yield "\nProcessor seconds of each stage, without the server's:\n"
    yield from (f"- {each}" for each in stages)


def sets(collections: Path, few: int, many: int, sizes: Sequence[int]) -> Iterator[tuple[str, list[bytes], Sizes]]:
    """Yield sets of packed values, with the widths of rounds, and the rows that one task settles, that are tried."""
    template = signatures(0).slots[:48]  # 16 keys of min-hash; two documents with them are no duplicates
    rows = (replace(each, slots=(*template, *each.slots[48:])) for each in map(signatures, range(1, few + 1)))
    yield "a template", [value(each, f"{at}") for at, each in enumerate(rows)], ((WIDTH, 0),)
    yield "copies of one text", [value(signatures(0), f"{at}") for at in range(many)], ((WIDTH, TAIL),)
    yield "without duplicates", [value(signatures(at), f"{at}") for at in range(many)], ((WIDTH, TAIL),)
    with tempfile.TemporaryDirectory() as folder:
        tables = Tables(Path(folder))
        stories = million.signed_records(collections / NEWSWIRE, tables)
        for size in sizes:
            yield "newswire", [each.packed for each in generations(stories, size)], ((WIDTH, TAIL), (WIDTH, 0))
        for name in ("philtrans_pages_scale", "ecco_tcp_pages"):
            documents = [each for each in islice(read([collections / name]), few) if isinstance(each, Document)]
            yield name, [each.packed for each in records(documents, tables)], ((WIDTH, TAIL), (WIDTH, 0), (1, 0))


def without_index(arguments: Namespace, masters: Sequence[str]) -> Iterator[str]:
    """Yield a row for each set, whose groups are found without an index and compared with those of one pass."""
    few, many = map(int, arguments.sets.split(","))
    sizes = [int(each) for each in arguments.stories.split(",") if each]
    for name, values, tried in sets(arguments.collections, few, many, sizes):
        if not values:
            continue
        with tempfile.TemporaryDirectory(prefix="ibidem-spark-") as folder:
            documents = Path(folder, "documents")
            save(values, PackedColumns.decode(values), documents)
            began = time.process_time()
            columns = PackedColumns.decode(parquet.read_table(documents, columns=["packed"])["packed"].to_pylist())
            lead = group(columns, choose_policy(columns)).lead
            took = time.process_time() - began
            follows = {row: earlier for row, earlier in enumerate(lead.tolist()) if row != earlier}
            what = f"{name}, {len(values):,}"
            yield f"| {what} | one process |  | {took:.1f} |  |  |  |  | {len(values) - len(follows):,} | 1.00 |"
            for master, (width, tail) in product(masters, tried):
                command = [sys.executable, __file__, "--settle", folder, "--masters", master, "--width", str(width)]
                cost, log = run([*command, "--tail", str(tail)], folder, {})
                found = json.loads(Path(folder, "found.json").read_text(encoding="utf-8"))
                if found["digest"] != digest(follows):
                    raise SystemExit(f"{name}: the groups differ at width {width}")
                how = f"{master}, width {width}{'' if tail else ', rounds alone'}"
                cells = [what, how, f"{cost.elapsed:.0f}", f"{cost.processor:.1f}", f"{cost.memory:.0f}"]
                cells += [f"{log.shuffled / 1e6:,.0f}", str(log.rounds), f"{found['pairs']:,}", "equal"]
                yield f"| {' | '.join(cells)} | {cost.processor / took:.2f} |"
                print(log.line(f"{what}, {how}", cost), file=sys.stderr)


def save(values: Sequence[bytes], columns: PackedColumns, path: Path) -> None:
    """Write documents as they are after they were read."""
    n = len(values)
    rows: dict[str, object] = {"row": np.arange(n), "index": ["news"] * n, "id": [str(at) for at in range(n)]}
    rows |= {"routing": [""] * n, "seq": np.arange(n), "term": np.ones(n, np.int64), "group": [""] * n}
    rows |= {"lead": [True] * n, "packed": values}
    parquet.write_table(pa.table(rows | steps.figures(columns)), path, row_group_size=20_000)


def settle(master: str, folder: Path, sizes: tuple[int, int]) -> None:
    """Find groups on Spark, without an index, and write down what they are."""
    with open_session(master) as spark:
        documents = spark.read.schema(DOCUMENT).parquet(str(folder / "documents"))
        partitions = max(spark.sparkContext.defaultParallelism, documents.count() // ROWS)
        spark.conf.set("spark.sql.shuffle.partitions", str(partitions))
        work = Path(tempfile.mkdtemp(dir=folder))
        settling = SparkSettling(spark, str(work), None, sizes)  # type: ignore[arg-type] # none
        settler = SimpleNamespace(rules=Rules(POLICY, Overrides([])))
        joins = settling.group(documents, settler, GroupCheckpoint())  # type: ignore[arg-type] # of which rules are read
        joins = joins.select("row", "earlier").toPandas()
        pairs = sum(spark.read.parquet(str(each)).count() for each in work.glob("pairs-*"))
    lead = dict(zip(joins["row"].tolist(), joins["earlier"].tolist(), strict=True))
    (folder / "found.json").write_text(json.dumps({"pairs": pairs, "digest": digest(lead)}), encoding="utf-8")


def digest(lead: Mapping[int, int]) -> str:
    """Return a hash of the leads of rows that follow one."""
    return hashlib.sha256(repr(sorted(lead.items())).encode()).hexdigest()[:16]


def tree_seconds(number: int) -> float:
    """Return the processor time of Celery below a worker, which settles groups, and of Celery's processes."""
    pids = {each for first, _, _ in members(number) for each, _, _ in members(int(first))} - {str(number)}
    return sum(process_seconds(int(each), children=True) for each in pids)


def signing(collections: Path, servers: Servers) -> Iterator[str]:
    """Yield a row for each number of worker processes that sign stories from RabbitMQ."""
    lines = [orjson.dumps(each.as_record()) for each in read([collections / NEWSWIRE]) if isinstance(each, Document)]
    url, least = servers.started("opensearch"), dict.fromkeys((1, 2, 4), float("inf"))
    for processes in [*least] * 3:
        with tempfile.TemporaryDirectory(prefix="ibidem-signing-") as folder:
            way = Way(Path(folder), url, servers.started("rabbitmq"), BATCH_CHARACTERS=100_000)
            worker = way.start_worker(processes)
            for some in (lines[:STORIES], lines[-STORIES:]):  # by the first ones processes learn what signing needs
                path = Path(folder, "stories.jsonl")
                path.write_bytes(b"\n".join(some))
                before = tree_seconds(worker.pid)
                way.json("ingest", str(path), "--wait", timeout=900)
                cost = (tree_seconds(worker.pid) - before) / STORIES * 1e3
            way.end()
            remove_indices(url, way.index)
        least[processes] = min(cost, least[processes])
    yield from (f"| {processes} | {cost:.3f} | {cost / least[1]:.3f} |" for processes, cost in least.items())


def main() -> None:
    """Measure, and print or write the page."""
    parser = options(__doc__, sizes="100000,1000000", sets="10000,1000000", stories="100000,1000000", signing=False)
    for name, kind in (("settle", Path), ("width", int), ("tail", int)):  # of a process that settles a set
        parser.add_argument(f"--{name}", type=kind)
    parser.add_argument("--masters", default="local[1],local[2]")
    parser.add_argument("--write", action="store_true", help="keep the figures in docs/figures/spark.md")
    arguments = parser.parse_args()
    masters = arguments.masters.split(",")
    if arguments.settle is not None:
        settle(masters[0], arguments.settle, (arguments.width, arguments.tail))
        return
    if arguments.sets:
        keep(arguments, PARTS[1], SETS, without_index(arguments, masters))
    if arguments.signing:
        with run_servers() as servers:
            heads = "worker processes | processor, ms a document | beside one"
            keep(arguments, PARTS[2], heads, signing(arguments.collections, servers))
    if arguments.sizes:
        with run_servers() as servers:
            stories, sizes = arguments.collections / NEWSWIRE, [int(each) for each in arguments.sizes.split(",")]
            found = rows(servers.started("opensearch"), stories, sizes, masters)
            keep(arguments, PARTS[0], HEADS, found)


def keep(arguments: Namespace, part: str, heads: str, found: Iterator[str]) -> None:
    """Print rows, and write their part of the page."""
    start = "Newswire and" if part == PARTS[0] else part
    text = introduction(__doc__, start)[0].split("\n\n", 1)[0]
    lines = [text, "", f"| {heads} |", f"|{'---|' * (heads.count('|') + 1)}", *show(found)]
    if arguments.write:
        write_part("spark", "Groups on Spark", PARTS, part, lines)


if __name__ == "__main__":
    main()
