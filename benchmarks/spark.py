"""All groups settled again on Spark beside one process, over equal indexes; docs/figures/spark.md.

    nice python benchmarks/spark.py [--collections FOLDER] [--sizes N,N] [--masters 'local[1],local[2]'] [--write]

Newswire and generations of it (`generations.py`), as in million.md, in equal indexes of one OpenSearch node. Processor:
of all processes of the command, Java and executors among them, and of the server in brackets behind. Shuffled bytes
come from Spark's log of events. Memory: the most that all processes of the command held together.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

import million
from benchmark import exponent, introduction, options, run_servers, show
from ibidem_engines.connect import open_engine
from measured import write_part
from processor import server_seconds
from servers.indices import remove_indices
from stories import NEWSWIRE

HEADS = "documents | how | elapsed, s | processor, s | memory, MB | shuffled, MB | beside one process | exponent"
TICK = os.sysconf("SC_CLK_TCK")


def watch(command: Sequence[str], folder: str, environment: Mapping[str, str]) -> tuple[float, float, float]:
    """Run a command; return its elapsed time, the processor time of all of its processes, and their memory in MB."""
    began = time.perf_counter()
    process = subprocess.Popen(command, cwd=folder, env=dict(environment), start_new_session=True)
    seconds: Counter[str] = Counter()
    memory = 0.0
    while process.poll() is None or any(True for _ in members(process.pid)):
        held = 0.0
        for number, ticks, pages in members(process.pid):
            seconds[number] = max(seconds[number], ticks)
            held += pages * os.sysconf("SC_PAGE_SIZE") / 1e6
        memory = max(memory, held)
        time.sleep(0.05)
    if process.returncode:
        raise SystemExit(f"{command}: {process.returncode}")
    return time.perf_counter() - began, sum(seconds.values()) / TICK, memory


def members(session: int) -> Iterator[tuple[str, int, int]]:
    """Yield the processes of a session that still run: number, ticks of the processor, pages of memory."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session and fields[0] != "Z":
            yield path.parent.name, int(fields[11]) + int(fields[12]), int(fields[21])


def shuffled(folder: Path) -> int:
    """Add up the bytes of all shuffles, from the log of events."""
    lines = (json.loads(line) for path in folder.rglob("events_*") for line in path.open(encoding="utf-8"))
    ends = (
        line["Task Metrics"] for line in lines if line["Event"] == "SparkListenerTaskEnd" and "Task Metrics" in line
    )
    return sum(each["Shuffle Write Metrics"]["Shuffle Bytes Written"] for each in ends)


def rows(url: str, collection: Path, sizes: Sequence[int], masters: Sequence[str]) -> Iterator[str]:
    """Yield a row for each way and size."""
    previous: dict[str, tuple[int, float]] = {}
    for size in sizes:
        found, alone = {}, 0.0
        for way in ("one process", *masters):
            with tempfile.TemporaryDirectory(prefix="ibidem-spark-") as folder:
                million.load(url, url, collection, folder, size)
                environment = os.environ | {"IBIDEM_ENGINE": url, "IBIDEM_INDEX": million.INDEX}
                events = Path(folder, "events")
                events.mkdir()
                confs = ("spark.eventLog.enabled=true", f"spark.eventLog.dir={events}", "spark.driver.memory=3g")
                submit = " ".join(f"--conf {each}" for each in (*confs, "spark.eventLog.compress=false"))
                environment |= {"PYSPARK_SUBMIT_ARGS": f"{submit} pyspark-shell", "PYSPARK_PYTHON": sys.executable}
                command = [str(Path(sys.executable).with_name("ibidem")), "regroup", "--all"]
                server = server_seconds(url)
                took, own, memory = watch(command + ["--spark", way] * (way in masters), folder, environment)
                server = server_seconds(url) - server
                with closing(open_engine(url, million.INDEX)) as engine:
                    found[way] = million.check(engine, size)
                moved = shuffled(events)
                remove_indices(url, million.INDEX)
            alone = alone or own + server
            power = exponent((previous[way][0], size), (previous[way][1], own + server)) if way in previous else None
            previous[way] = size, own + server
            cells = [
                f"{size:,}, {found[way]:,} groups",
                way,
                f"{took:.0f}",
                f"{own:.1f} ({server:.1f})",
                f"{memory:.0f}",
            ]
            cells += [f"{moved / 1e6:,.0f}" if way in masters else ""]
            cells += [f"{(own + server) / alone:.2f}", f"{power:.2f}" if power is not None else ""]
            yield f"| {' | '.join(cells)} |"
        if len({*found.values()}) > 1:
            raise SystemExit(f"the groups differ: {found}")


def main() -> None:
    """Measure, and print or write the page."""
    parser = options(__doc__, sizes="100000,1000000")
    parser.add_argument("--masters", default="local[1],local[2]")
    parser.add_argument("--write", action="store_true", help="keep the figures in docs/figures/spark.md")
    arguments = parser.parse_args()
    sizes, masters = [int(each) for each in arguments.sizes.split(",")], arguments.masters.split(",")
    with run_servers() as servers:
        url = servers.started("opensearch")
        lines = [*introduction(__doc__, "Newswire and"), f"| {HEADS} |", f"|{'---|' * (HEADS.count('|') + 1)}"]
        lines += show(rows(url, arguments.collections / NEWSWIRE, sizes, masters))
        if arguments.write:
            write_part("spark", "Groups on Spark", ("OpenSearch",), "OpenSearch", lines)


if __name__ == "__main__":
    main()
