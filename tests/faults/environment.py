"""An engine and a broker that may go away, their workers, and all that was submitted so far."""

import contextlib
import json
import random
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Literal, Protocol, Self

from faults.kill import descendants, processes_with
from faults.submissions import Shelf
from faults.table import small_table
from ibidem_core.errors import Unavailable
from ibidem_core.settings import load
from ibidem_engines.connect import open_engine
from ibidem_workers.ingest import runs, summary
from servers import redis, session
from servers.command_line import Way
from servers.indices import remove_indices
from servers.network import Trouble, network
from servers.process import Process

Broker = Literal["none", "rabbitmq", "redis"]
EngineName = Literal["sqlite", "opensearch", "elasticsearch"]
Role = Literal["broker", "engine"]
Victim = Literal["worker", "submitter", "broker", "engine", "network to the broker", "network to the engine"]

NETWORKS: dict[Role, Victim] = {"broker": "network to the broker", "engine": "network to the engine"}
PREPARE = session.PREPARE | {"redis": redis.prepare_lasting}
POLL = 0.05
WORKERS = 2  # processes that take batches from a broker

# Settings under which a small collection makes many batches, and a dead worker's batch does not wait long.
SMALL = {"LEASE": 2, "BATCH_CHARACTERS": 1_000, "CONCURRENCY": 2}


class Own(ExitStack):
    """Servers of our own, each started when it is first asked for; they end with the block."""

    def __init__(self) -> None:
        super().__init__()
        self._running: dict[str, Process] = {}

    def server(self, name: str) -> Process:
        if name not in self._running:
            process = self._running[name] = Process(name, PREPARE[name])
            self.callback(process.stop)
            process.wait()
        return self._running[name]


class Breakable(Protocol):
    """A server that a command needs, and that may be unavailable for a while."""

    def kill(self) -> None:
        """Take it away without a warning."""

    def start_again(self) -> object:
        """Bring it back as it was."""


class Setting:
    """One pair of broker and engine, as a context."""

    def __init__(
        self, folder: Path, broker: str, engine: str, rng: random.Random, breakable: dict[Victim, Breakable]
    ) -> None:
        self.folder, self.breakable = folder, breakable
        self._works_itself = not broker
        small_table(folder)
        self.way = Way(folder, engine or f"sqlite:////{folder}/index.sqlite", broker, **SMALL)
        self.settings = load(self.way.environment, folder)
        self.engine = open_engine(self.settings.engine, self.settings.index)
        self.shelf = Shelf(rng)
        self.takes = 1.0
        self._settled: set[str] = set()

    def __enter__(self) -> Self:
        """Make the index and start workers, where commands do not work themselves."""
        self.engine.create()
        if not self._works_itself:
            self.way.start_worker(concurrency=WORKERS)
        return self

    def __exit__(self, *_: object) -> None:
        """End the workers and remove what was made."""
        self.way.end()
        self.engine.close()
        if not self.settings.engine.startswith("sqlite"):
            remove_indices(self.settings.engine, self.settings.index)

    @property
    def victims(self) -> list[Victim]:
        """The processes that can be killed."""
        return ["worker", "submitter", *self.breakable]

    def ingest(self, path: Path) -> "Command":
        return Command(self, path)

    def runs(self) -> set[str]:
        """Name the runs so far; nothing while the engine is away."""
        with contextlib.suppress(Unavailable):
            return {run.run for run in runs(self.engine)}
        return set()

    def settle(self, seconds: float) -> list[str]:
        """Let workers finish what killed commands had sent; returns the runs of which something is pending for ever."""
        if self._works_itself:  # what a killed command had not done yet is done by the one that is given again
            return []
        left = wait_for(lambda: not self._pending(), seconds)
        return [] if left else [f"run {run} stays pending" for run in self._pending()]

    def leftovers(self, seconds: float) -> list[str]:
        """Name the processes that outlive their command by so many seconds; workers excluded."""

        def left() -> set[int]:
            workers = {pid for each in self.way.workers for pid in (each.pid, *descendants(each.pid))}
            return set(processes_with("IBIDEM_INDEX", self.settings.index)) - workers

        wait_for(lambda: not left(), seconds)
        return [f"process {pid} outlives its command" for pid in left()]

    def _pending(self) -> set[str]:
        summaries = {run: summary(self.engine, run) for run in self.runs() - self._settled}
        self._settled |= {run for run, account in summaries.items() if not account["pending"]}
        return summaries.keys() - self._settled


def of_our_own(
    resources: Own, folder: Path, broker: Broker, engine: EngineName, rng: random.Random, *, networks: bool = False
) -> Setting:
    """Start the servers of a setting, which may be killed; with networks before them that may be cut."""
    breakable: dict[Victim, Breakable] = {}
    urls: dict[str, str] = {}
    roles: dict[Role, str] = {"broker": broker, "engine": engine}
    for role, name in roles.items():
        if name in PREPARE:
            breakable[role] = resources.server(name)
            urls[role] = resources.server(name).launch.url
            if networks:
                proxy, urls[role] = resources.enter_context(network(urls[role]))
                breakable[NETWORKS[role]] = Trouble(proxy, "cut")
    return Setting(folder, urls.get("broker", ""), urls.get("engine", ""), rng, breakable)


class Command:
    """`ibidem ingest` at work."""

    def __init__(self, setting: Setting, path: Path) -> None:
        self._setting, self._known = setting, setting.runs()
        self._output = setting.folder / "told.json"
        self._output.unlink(missing_ok=True)
        self.process = setting.way.start("ingest", str(path), "--json", output=self._output)

    def wait_for_run(self) -> None:
        """Wait until it has noted its run, or is over."""
        wait_for(lambda: self.process.poll() is not None or bool(self._setting.runs() - self._known), 30)

    def account(self) -> dict[str, Any]:
        account: dict[str, Any] = json.loads(self._output.read_text())
        return account


def wait_for(condition: Callable[[], bool], seconds: float) -> bool:
    """Look again and again until something is true; False when it is not in that time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(POLL)
    return condition()
