"""An earlier release leaves an index, decisions, deletions, messages and a killed worker; this version takes them over.

The release is the last tag or, while there is none, the last commit of the schema before this one; it is built from the
history of the project into an environment of its own.
"""

import json
import random
import re
import subprocess
import tarfile
from collections.abc import Iterator
from contextlib import closing
from io import BytesIO
from pathlib import Path

from faults.environment import Own, wait_for
from faults.kill import descendants, kill
from ibidem_engines.connect import open_engine
from ibidem_engines.ledger import load_overrides
from ibidem_ingest.signatures.schema import SCHEMA
from ibidem_workers import dead_letters
from ibidem_workers.runs import runs, summary
from nodes.history import History
from servers.command_line import Way
from servers.indices import ask, remove_indices
from servers.packages import interpreter
from support.archives import extract

ROOT = Path(__file__).parents[2]
SCHEMA_FILE = "ingest/ibidem_ingest/signatures/schema.py"
DOCUMENTS = 60
BATCH_CHARACTERS = 1_000  # a few documents in each message, so that some are left when a worker is killed

PATIENCE_S = 300.0
REMEDY = "ibidem backfill --into NAME"


def git(*arguments: str) -> bytes:
    """Ask the history of the project."""
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, check=True).stdout


def earlier_commit() -> str:
    """Name the last tag, or the last commit of the schema before this one."""
    if tags := git("tag", "--sort=-creatordate").split():
        return tags[0].decode()
    commits = git("log", "--format=%H", f'-SSCHEMA = "{SCHEMA}"', "--", SCHEMA_FILE).split()
    return git("rev-parse", f"{commits[-1].decode()}^").decode().strip()


def schema_of(commit: str) -> str:
    """Return the signature schema of a release."""
    found = re.search(r'^SCHEMA = "(.*)"', git("show", f"{commit}:{SCHEMA_FILE}").decode(), re.MULTILINE)
    return found[1] if found else "an unknown one"


def build(commit: str, folder: Path) -> Path:
    """Build a release from the history; returns its command."""
    with tarfile.open(fileobj=BytesIO(git("archive", commit))) as archive:
        extract(archive, folder / "earlier")
    return interpreter(f"ibidem-{commit[:12]}", [str(folder / "earlier")]).with_name("ibidem")


class Upgrade:
    """One index of a cluster behind an alias, and RabbitMQ, as both releases use them."""

    def __init__(self, folder: Path, earlier: Path, own: Own) -> None:
        engine, broker = own.server("opensearch").launch.url, own.server("rabbitmq").launch.url
        self.way = Way(folder, engine, broker, LEASE=2, BATCH_CHARACTERS=BATCH_CHARACTERS)
        self.folder, self._earlier = folder, earlier
        self.address, self.alias = self.way.environment["IBIDEM_ENGINE"], self.way.index
        self.history = History(random.Random(1987))  # noqa: S311 - a lot that can be drawn again

    def earlier(self, *typed: str, **settings: str) -> str:
        """Run a command of the earlier release to its end, under some other settings."""
        environment = self.way.environment | {f"IBIDEM_{name}": value for name, value in settings.items()}
        process = subprocess.run(
            [self._earlier, *typed],
            cwd=self.folder, env=environment, capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip
        if process.returncode not in {0, 3}:
            raise RuntimeError(f"{typed}: {process.stderr}")
        return process.stdout

    def leave(self) -> int:
        """Let the earlier release fill an index, delete, decide, and submit; returns how much its worker leaves."""
        first, second = self.folder / "first.jsonl", self.folder / "second.jsonl"
        self.history.write(first, DOCUMENTS)
        own_queue = f"filesystem:////{self.folder}/queue"  # with a broker it would wait for workers
        self.earlier("ingest", str(first), INDEX=f"{self.alias}-1", BROKER=own_queue)
        ask(self.address, "PUT", f"/{self.alias}-1/_alias/{self.alias}")
        names = sorted(self.history.standing)
        for name in names[:3]:
            self.earlier("delete", name, "--yes")
            self.history.deleted[name] = self.history.standing.pop(name)
        self.earlier("overrides", "add", names[3], names[4], "--as", "same")
        self.history.decisions[names[3], names[4]] = "same"
        self.history.write(second, DOCUMENTS)
        run = json.loads(self.earlier("ingest", str(second), "--no-wait", "--json"))["run"]
        self._kill_worker()
        return int(json.loads(self.earlier("status", run, "--json"))["pending"])

    def _kill_worker(self) -> None:
        """Let a worker of the earlier release take some messages, and kill it with all its processes."""
        with self.way.log.open("ab") as log:
            worker = subprocess.Popen(
                [self._earlier, "worker", "--concurrency", "1"],
                cwd=self.folder, env=self.way.environment, stdout=log, stderr=log,
            )  # fmt: skip
        try:
            if not wait_for(lambda: "batch done" in self.way.log.read_text(), PATIENCE_S):
                raise RuntimeError(f"the earlier worker indexes nothing: {self.way.log.read_text()[-300:]}")
        finally:
            for pid in (worker.pid, *descendants(worker.pid)):
                kill(pid)
            worker.wait()

    def take_over(self, *, workers_first: bool) -> Iterator[str]:
        """Let this version's backfill sign the index, and its workers empty the queue; yields what was wrong."""
        if workers_first:
            yield from self._refuse_workers()
        account = self.way.json("backfill", "--into", f"{self.alias}-2")
        if account["state"] != "done":
            yield f"the backfill is {account['state']}"
        self.way.start_worker()
        if not wait_for(lambda: not self._pending(), PATIENCE_S):
            yield f"{self._pending()} stay pending"
        with closing(open_engine(self.address, self.alias)) as engine:
            yield from (f"{each.refusal.id} is dead: {each.refusal.why}" for each in dead_letters.letters(engine))
            yield from self.history.wrong(engine)
            yield from self.history.brought_back(engine)
            if not load_overrides(engine):
                yield "no decision is left"

    def _refuse_workers(self) -> Iterator[str]:
        """Start a worker of this version at the index as it was left, where it may only say what to do, and end."""
        worker = self.way.start_worker()
        if not wait_for(lambda: worker.poll() is not None, PATIENCE_S):
            yield "a worker stays at an index of another schema"
        elif REMEDY not in " ".join(self.way.log.read_text().split()):
            yield f"a worker ends without the remedy: {self.way.log.read_text()[-300:]}"
        self.way.stop()

    def _pending(self) -> int:
        with closing(open_engine(self.address, self.alias)) as engine:
            return sum(int(str(summary(engine, run.run)["pending"])) for run in runs(engine))

    def end(self) -> None:
        """End the workers and remove the indexes."""
        self.way.end()
        for name in (f"{self.alias}-1", f"{self.alias}-2", self.alias):
            remove_indices(self.address, name)


def upgrade_from(folder: Path) -> Iterator[str]:
    """Take over from an earlier release, in either order; yields lines in Markdown."""
    commit = earlier_commit()
    command = build(commit, folder)
    yield f"The earlier release is commit {commit[:10]}, of schema {schema_of(commit)}; this one has {SCHEMA}."
    yield ""
    with Own() as own:
        for workers_first in (False, True):
            place = folder / f"place-{workers_first}"
            place.mkdir()
            upgrade = Upgrade(place, command, own)
            try:
                pending = upgrade.leave()
                faults = list(upgrade.take_over(workers_first=workers_first))
            finally:
                upgrade.end()
            order = "workers, then backfill, then workers" if workers_first else "backfill, then workers"
            documents = f"{len(upgrade.history.standing)} documents, {pending} of them pending"
            yield f"- {order}: {documents}, {len(faults)} laws broken."
            yield from (f"    - {fault}" for fault in faults[:10])
