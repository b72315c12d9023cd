"""What a user waits for: whole commands as the README has them, in pairs; written to docs/figures/waits.md.

    python benchmarks/waits.py [--collections FOLDER] [--rounds N] [--server [NAME …]] [--write]

Without names after `--server` no server is measured; without the option both are.

Each command runs as a process of its own from its first line to its exit, in an empty folder and with no option: its
start, the start of its workers, reading, detecting languages, signing, writing, settling of groups and its summary are
all in its time. Newswire is 21,577 stories in a file of JSON Lines, which name no language.

Beside it runs what loads the same and finds no duplicates (`bare.py`), also as a process from start to exit: a bare
FTS5 table (titles and texts, one process, transactions of 500), or the client's `helpers.bulk` (requests of
500) into the same index without the object `ibidem`. Both sides run in turn, in the other order every other time, and a
first turn is not counted: each turn gives a ratio; the table has the median, with the lowest and the highest. Processor
time is that of all processes: the command, its workers, and the nodes of the server. Of those every client's work is
counted: the figures are valid where nobody else uses it.

`regroup --all` compares all documents anew, and writes only the groups that change: here none, since the ingest has
settled them. Beside it runs `groups`, which groups the same documents and stores nothing.
"""

import argparse
import json
import lzma
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import orjson

from benchmark import SERVERS, introduction, options, publish, run_servers
from clusters import BARE, make_bare
from ibidem.cli.demo import licences
from processor import TimeCost, measure_cost
from servers.indices import remove_indices
from stories import NEWSWIRE

STORIES, LICENCES = "docs.jsonl", "licences.jsonl"
INDEX = "measured-waits"
QUERY = "wheat"
COPIES = 1, 5
BARE_TABLE = "bare.sqlite"
OF_BARE = "select title, snippet(texts, 1, '*', '*', '…', 30) from texts where texts match ? order by rank limit 10"

Command = Callable[[Path], object]  # work in a folder


@dataclass(frozen=True, slots=True)
class Wait:
    name: str  # the command, and where to
    peer_name: str  # description of the other side
    command: Command  # runs it
    peer: Command  # runs the other side


@dataclass(frozen=True, slots=True)
class Session:
    """Commands that a user gives one after the other in a folder."""

    prepare: Command  # prepares the folder; not counted
    waits: Sequence[Wait]  # the commands
    url: str = ""  # the server; empty for SQLite
    keep: bool = False  # whether the folder is prepared once for all turns, since the commands leave it as it is

    def rows(self, rounds: int) -> Iterator[str]:
        """Measure both sides of every command in turn, and yield the rows."""
        turns = list(self._turns(rounds + 1))[1:]
        for wait, costs in zip(self.waits, zip(*turns, strict=True), strict=True):
            yield to_row(wait, costs)

    def _turns(self, count: int) -> Iterator[list[tuple[TimeCost, TimeCost]]]:
        with tempfile.TemporaryDirectory() as name:
            for turn in range(count):
                folder = Path(name) if self.keep else Path(name, str(turn))
                if not (turn and self.keep):
                    folder.mkdir(exist_ok=True)
                    self.prepare(folder)
                yield [self._pair(wait, folder, reverse=bool(turn % 2)) for wait in self.waits]

    def _pair(self, wait: Wait, folder: Path, *, reverse: bool) -> tuple[TimeCost, TimeCost]:
        works = [wait.peer, wait.command] if reverse else [wait.command, wait.peer]
        costs = [measure_cost(lambda work=work: work(folder), self.url) for work in works]
        print(wait.name, *costs, file=sys.stderr, flush=True)
        return (costs[1], costs[0]) if reverse else (costs[0], costs[1])


def to_row(wait: Wait, costs: Sequence[tuple[TimeCost, TimeCost]]) -> str:
    """Write the row of a command, with its medians and ratios."""
    cells = [wait.name, wait.peer_name]
    for clock in ("elapsed", "processor"):
        own, theirs = ([float(getattr(turn[side], clock)) for turn in costs] for side in (0, 1))
        ratios = [a / b for a, b in zip(own, theirs, strict=True)]
        spread = f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
        cells += [f"{statistics.median(own):.2f} s", f"{statistics.median(theirs):.2f} s", spread]
    return f"| {' | '.join(cells)} |"


def ibidem(*arguments: str, **settings: str) -> Command:
    variables = {name: value for name, value in os.environ.items() if not name.startswith("IBIDEM_")}
    variables.pop("PYTHONDONTWRITEBYTECODE", None)
    variables |= {f"IBIDEM_{name}": value for name, value in settings.items()}
    command = [str(Path(sys.executable).with_name("ibidem")), *arguments]

    def run(folder: Path) -> None:
        done = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"{' '.join(command)}: {done.stderr}")

    return run


def bare(*arguments: str) -> Command:
    command = [sys.executable, str(Path(__file__).with_name("bare.py")), *arguments]
    return lambda folder: subprocess.run(command, cwd=folder, check=True)


def search_fts(folder: Path) -> None:
    """Search in a bare FTS5 table by a process that loads nothing else."""
    program = (
        f"import sqlite3\nfor row in sqlite3.connect({BARE_TABLE!r}).execute({OF_BARE!r}, [{QUERY!r}]): print(row)"
    )
    subprocess.run([sys.executable, "-c", program], cwd=folder, check=True, capture_output=True)


def unpacked(collections: Path, folder: Path) -> Path:
    """Unpack the stories, as most files of JSON Lines are not compressed."""
    with lzma.open(collections / NEWSWIRE) as packed, (folder / STORIES).open("wb") as plain:
        shutil.copyfileobj(packed, plain)
    return folder / STORIES


def in_sqlite(stories: Path) -> Iterator[Session]:
    ingest, search = ibidem("ingest", STORIES), ibidem("search", QUERY)
    load = bare("fts", STORIES, BARE_TABLE)
    waits = (
        Wait("`ibidem ingest` of newswire into SQLite", "bare FTS5 table", ingest, load),
        Wait("the first `ibidem search` after it", "search in the bare table", search, search_fts),
    )
    yield Session(lambda folder: (folder / STORIES).symlink_to(stories), waits)
    demo = Wait("`ibidem demo`", "bare FTS5 table of the same texts", ibidem("demo"), bare("fts", LICENCES, BARE_TABLE))

    def collect(folder: Path) -> None:
        records = (json.dumps(document.as_record()) for document in licences())
        (folder / LICENCES).write_text("\n".join(records), encoding="utf-8")

    yield Session(collect, [demo])
    yield from (settle_again("SQLite", stories, copies) for copies in COPIES)


def write_copies(stories: Path, copies: int, target: Path) -> None:
    """Write stories several times, each time under other ids."""
    with target.open("wb") as file:
        for number in range(copies):
            for line in stories.read_bytes().splitlines():
                story = orjson.loads(line)
                file.write(orjson.dumps(story | {"id": f"{story['id']}-{number}"}) + b"\n")


def settle_again(location: str, stories: Path, copies: int, url: str = "") -> Session:
    """Return the session that settles the groups of stories a second time."""
    place = {"ENGINE": url, "INDEX": INDEX} if url else {}

    def prepare(folder: Path) -> None:
        if url:
            remove_indices(url, INDEX)
        write_copies(stories, copies, folder / STORIES)
        ibidem("ingest", STORIES, **place)(folder)

    name = f"`ibidem regroup --all` of newswire{f', {copies} copies of each,' if copies > 1 else ''} in {location}"
    wait = Wait(name, "`ibidem groups`", ibidem("regroup", "--all", **place), ibidem("groups", **place))
    return Session(prepare, [wait], url, keep=True)


def in_cluster(kind: str, url: str, stories: Path) -> Session:
    def prepare(folder: Path) -> None:
        remove_indices(url, INDEX)
        make_bare(url)
        (folder / STORIES).symlink_to(stories)

    bulk, place = bare("bulk", STORIES, url, BARE), {"ENGINE": url, "INDEX": INDEX}
    backfill = f"`ibidem backfill` of what `helpers.bulk` wrote to {kind}"
    waits = (
        Wait(f"`ibidem ingest` of newswire into {kind}", "`helpers.bulk`", ibidem("ingest", STORIES, **place), bulk),
        Wait("the first `ibidem search` after it", "the same once more", *[ibidem("search", QUERY, **place)] * 2),
        Wait(backfill, "`helpers.bulk`", ibidem("backfill", ENGINE=url, INDEX=BARE), bulk),
    )
    return Session(prepare, waits, url)


def lines(arguments: argparse.Namespace) -> Iterator[str]:
    yield f"| command | beside | elapsed | beside | ratio | processor | beside | ratio |\n|{'---|' * 8}"
    with run_servers(*arguments.server) as servers, tempfile.TemporaryDirectory() as folder:
        stories = unpacked(arguments.collections, Path(folder))
        for session in in_sqlite(stories):
            yield from session.rows(arguments.rounds)
        for kind in arguments.server:
            url = servers.url(kind)
            yield from in_cluster(kind, url, stories).rows(arguments.rounds)
            yield from settle_again(kind, stories, COPIES[-1], url).rows(arguments.rounds)
            for name in (BARE, INDEX):
                remove_indices(url, name)


def main() -> None:
    parser = options(__doc__, rounds=2, write=False)
    parser.add_argument("--server", choices=SERVERS, nargs="*", default=SERVERS)
    arguments = parser.parse_args()
    # Modules are compiled once, as in an installation after its first start.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    subprocess.run([sys.executable, "-c", "import ibidem.cli.ingest, ibidem_workers.tasks"], check=True)
    head = introduction(__doc__, "Each command ")
    publish("waits", "What a user waits for", lines(arguments), head, keep=arguments.write)


if __name__ == "__main__":
    main()
