"""What a user waits for: whole commands as the README has them, in pairs; written to docs/figures/waits.md.

    python benchmarks/waits.py [--collections FOLDER] [--rounds N] [--server NAME …] [--write]

Each command runs as a process of its own from its first line to its exit, in an empty folder and with no option: its
start, the start of its workers, reading, detecting languages, signing, writing, settling of groups and its summary are
all in its time. Newswire is 21,577 stories in a file of JSON Lines, which name no language.

Beside it runs what does the same without duplicates, also as a process from start to exit: a bare FTS5 table (titles
and texts, one process, transactions of 500), or the client's `helpers.bulk` (one process, requests of 500) into the
same index without the object `ibidem`. Both sides run in turn, in the other order every other time, and a first turn is
not counted: each turn gives a ratio; the table has the median, with the lowest and the highest. Processor time is that
of all processes: the command, its workers, and the nodes of the server. Of those every client's work is counted: the
figures are valid where nobody else uses it.
"""

import argparse
import lzma
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from clusters import BARE, make_bare, send_bare
from ibidem.demo import licences
from ibidem_ingest.document import Document
from ibidem_ingest.readers import read
from ingest import NEWSWIRE, bare_load, compile_modules
from measured import write
from processor import TimeCost, measure_cost
from servers.indices import remove_indices
from servers.session import Servers

STORIES = "docs.jsonl"
INDEX = "measured-waits"
QUERY = "wheat"
BARE_TABLE = "bare.sqlite"
OF_BARE = "select title, snippet(texts, 1, '*', '*', '…', 30) from texts where texts match ? order by rank limit 10"
FTS, BULK = "bare FTS5 table", "`helpers.bulk`"

Command = Callable[[Path], object]
"""Work in a folder."""


@dataclass(frozen=True, slots=True)
class Wait:
    """A command, and what it is compared with.

    Args:
        name: The command, and where to.
        peer_name: Description of the other side.
        command: Runs it.
        peer: Runs the other side.
        prepare: Prepares a folder for the two; not counted.
        url: The server; empty for SQLite.
    """

    name: str
    peer_name: str
    command: Command
    peer: Command
    prepare: Command
    url: str = ""

    def row(self, rounds: int) -> str:
        """Measure both in turn, and write the row."""
        turns = [self._turn(turn) for turn in range(rounds + 1)][1:]
        cells = [self.name, self.peer_name]
        for clock in ("elapsed", "processor"):
            own, theirs = ([float(getattr(turn[side], clock)) for turn in turns] for side in (0, 1))
            ratios = [a / b for a, b in zip(own, theirs, strict=True)]
            spread = f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
            cells += [f"{statistics.median(own):.2f} s", f"{statistics.median(theirs):.2f} s", spread]
        return f"| {' | '.join(cells)} |"

    def _turn(self, turn: int) -> tuple[TimeCost, TimeCost]:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            self.prepare(folder)
            costs = {}
            for work in (self.command, self.peer)[:: 1 if turn % 2 else -1]:
                costs[work] = measure_cost(lambda work=work: work(folder), self.url)
            return costs[self.command], costs[self.peer]


def ibidem(*arguments: str, **settings: str) -> Command:
    """Return the run of a command.

    Args:
        arguments: Those of the command.
        settings: Settings of ibidem; no others are in its environment.
    """
    variables = {name: value for name, value in os.environ.items() if not name.startswith("IBIDEM_")}
    variables.pop("PYTHONDONTWRITEBYTECODE", None)
    variables |= {f"IBIDEM_{name}": value for name, value in settings.items()}
    command = [str(Path(sys.executable).with_name("ibidem")), *arguments]

    def run(folder: Path) -> None:
        done = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"{' '.join(command)}: {done.stderr}")

    return run


def peer(work: str, *arguments: str) -> Command:
    """Return the run of one of `PEERS` by a process of its own."""
    command = [sys.executable, __file__, "--peer", work, *arguments]
    return lambda folder: subprocess.run(command, cwd=folder, check=True)


def load_fts(_: str) -> None:
    """Load the stories into a bare FTS5 table."""
    bare_load(lambda: read([STORIES]), Path())


def load_fts_licences(_: str) -> None:
    """Load the licence texts of this machine into a bare FTS5 table."""
    bare_load(licences, Path())


def load_bulk(url: str) -> None:
    """Load the stories with the client's own helper."""
    make_bare(url)
    send_bare(url, (item for item in read([STORIES]) if isinstance(item, Document)))


PEERS: dict[str, Callable[[str], None]] = {each.__name__: each for each in (load_fts, load_fts_licences, load_bulk)}


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


def sqlite_waits(stories: Path) -> Iterator[Wait]:
    """Yield the waits with an SQLite file."""

    def link(folder: Path) -> None:
        (folder / STORIES).symlink_to(stories)

    def index(folder: Path) -> None:
        link(folder)
        ibidem("ingest", STORIES)(folder)
        peer("load_fts")(folder)

    ingest, search = ibidem("ingest", STORIES), ibidem("search", QUERY)
    yield Wait("`ibidem ingest` of newswire into SQLite", FTS, ingest, peer("load_fts"), link)
    yield Wait("the first `ibidem search` after it", f"{FTS}, ten best", search, search_fts, index)
    again = f"{FTS}, loaded anew"
    yield Wait("`ibidem ingest` of the same again", again, ingest, peer("load_fts"), index_then_forget(index))
    demo = f"{FTS} of the same licence texts"
    yield Wait("`ibidem demo`", demo, ibidem("demo"), peer("load_fts_licences"), lambda _: None)


def index_then_forget(index: Command) -> Command:
    """Return what prepares a folder as `index` does, without the bare table."""

    def prepare(folder: Path) -> None:
        index(folder)
        for path in folder.glob(f"{BARE_TABLE}*"):
            path.unlink()

    return prepare


def cluster_waits(kind: str, url: str, stories: Path) -> Iterator[Wait]:
    """Yield the waits with a server."""

    def empty(folder: Path) -> None:
        remove_indices(url, INDEX)
        (folder / STORIES).symlink_to(stories)

    def foreign(folder: Path) -> None:
        empty(folder)
        peer("load_bulk", url)(folder)

    bulk = peer("load_bulk", url)
    ingest = ibidem("ingest", STORIES, ENGINE=url, INDEX=INDEX)
    yield Wait(f"`ibidem ingest` of newswire into {kind}", BULK, ingest, bulk, empty, url)
    backfill = ibidem("backfill", ENGINE=url, INDEX=BARE)
    yield Wait(f"`ibidem backfill` of what `helpers.bulk` wrote to {kind}", BULK, backfill, bulk, foreign, url)


def lines(arguments: argparse.Namespace) -> Iterator[str]:
    """Measure, and yield the rows."""
    yield "| command | beside | elapsed | beside | ratio | processor | beside | ratio |"
    yield f"|{'---|' * 8}"
    servers = Servers(arguments.server)
    with tempfile.TemporaryDirectory() as folder:
        stories = unpacked(arguments.collections, Path(folder))
        try:
            yield from (wait.row(arguments.rounds) for wait in sqlite_waits(stories))
            for kind in arguments.server:
                url = servers.url(kind)
                yield from (wait.row(arguments.rounds) for wait in cluster_waits(kind, url, stories))
                for name in (BARE, INDEX):
                    remove_indices(url, name)
        finally:
            servers.stop()


def main() -> None:
    """Print the figures and keep them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--collections", type=Path, default=Path("../shared/data"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--server", choices=("opensearch", "elasticsearch"), nargs="*", default=[])
    parser.add_argument("--write", action="store_true", help="keep the figures in docs/figures/waits.md")
    parser.add_argument("--peer", nargs="+", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.peer:
        name, url = islice([*arguments.peer, ""], 2)
        PEERS[name](url)
        return
    compile_modules()
    page = ["".join((__doc__ or "").partition("\n\nEach command ")[1:]).strip(), ""]
    for line in lines(arguments):
        print(line, flush=True)
        page.append(line)
    if arguments.write:
        write("waits", "What a user waits for", page)


if __name__ == "__main__":
    main()
