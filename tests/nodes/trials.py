"""Trials: a cluster is given one trouble in the middle of an ingest, deletions, decisions and searches, and healed."""

import os
import random
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from faults.environment import WORKERS, Command, Setting, wait_for
from faults.kill import descendants
from faults.round import ATTEMPTS, find_faults
from ibidem.cli import SOME_REFUSED
from nodes.cluster import FrailNodes
from nodes.history import History, people
from nodes.searches import Searches, fill
from servers.command_line import DONE
from servers.flood import Flood
from servers.nodes import NAMES
from servers.process import Process

DOCUMENTS = 90
ACTS = 5
CANCELLED = "searches are cancelled"
AWAY_S = 15.0  # longer than a node, a client, a lease and the broker's heartbeat wait

# Within which a command comes to its end: three nodes on a busy machine are slow, and slow is not wrong.
PATIENCE_S = 600.0


@dataclass(frozen=True)
class Outcome:
    """The result of a trial."""

    trouble: str
    documents: int  # how many were submitted
    attempts: int  # how often the command was given
    acknowledged: int  # deletions and decisions that were acknowledged while there was trouble
    whole: int  # searches that were answered
    failed: int  # searches that failed
    wrong: list[str]  # broken laws, in words
    seconds: float  # what it took

    def row(self) -> str:
        """Tell it as a line of a table."""
        cells = (self.trouble, self.documents, self.attempts, self.acknowledged, self.whole, self.failed)
        return f"| {' | '.join(map(str, cells))} | {len(self.wrong)} | {self.seconds:.0f} |"


class Place:
    """A cluster of three nodes, RabbitMQ, workers, and all that was done so far."""

    def __init__(self, folder: Path, nodes: FrailNodes, broker: Process, rng: random.Random) -> None:
        self.nodes, self.broker, self.rng = nodes, broker, rng
        self.setting = Setting(folder, broker.launch.url, nodes.front, rng, {})
        self.history = self.setting.shelf = History(rng)
        self.searched = fill(nodes)

    @property
    def index(self) -> str:
        return self.setting.settings.index

    def begin(self) -> None:
        """Ingest a first file in peace, so that people have documents to delete and decide on in every trouble."""
        path = self.setting.folder / "first.jsonl"
        self.history.write(path, DOCUMENTS)
        self.setting.way.json("ingest", str(path), exit_code=SOME_REFUSED, timeout=PATIENCE_S)

    def others(self, name: str) -> list[str]:
        return [each for each in NAMES if each != name]


def _one_way(place: Place, *, refused: bool) -> None:
    """Let the node with the primary shard reach one other node no more, which reaches it."""
    assert place.nodes.links
    holder = place.nodes.holder(place.index)
    direction = (holder, place.rng.choice(place.others(holder)))
    (place.nodes.links.refuse if refused else place.nodes.links.silence)(direction)


def _unheard(place: Place) -> None:
    """Let nobody hear the node with the primary shard, which hears them all."""
    assert place.nodes.links
    holder = place.nodes.holder(place.index)
    for name in place.others(holder):
        place.nodes.links.silence((holder, name))


def _deaf_leader(place: Place) -> None:
    """Let the leader hear nobody, while all hear it."""
    assert place.nodes.links
    leader = place.nodes.leader()
    for name in place.others(leader):
        place.nodes.links.silence((name, leader))


def _full(place: Place) -> None:
    place.nodes.disks[place.nodes.holder(place.index)].begin("full")


def _slow(place: Place) -> None:
    for disk in place.nodes.disks.values():
        disk.begin("slow")


def _flood(place: Place) -> None:
    disk = Flood(place.nodes.address, place.index)
    disk.kill()
    time.sleep(AWAY_S)
    disk.start_again()


def _pause_broker(place: Place) -> None:
    pids = descendants(place.broker.keeper.pid)
    for number, seconds in ((signal.SIGSTOP, AWAY_S), (signal.SIGCONT, 0.0)):
        for pid in pids:
            os.kill(pid, number)
        time.sleep(seconds)


def _restart_broker(place: Place) -> None:
    place.broker.kill()
    time.sleep(AWAY_S / 3)
    place.broker.start_again()


def _storm(kind: str) -> Callable[[Place], None]:
    return lambda place: setattr(place.nodes, "storm", kind)


# Troubles that would leave no trace if they stopped nothing, so that the nodes say whether they did.
COUNTED: dict[str, Callable[[Place], None]] = {
    "one way silent, from the primary's node to another": lambda place: _one_way(place, refused=False),
    "one way refused, from the primary's node to another": lambda place: _one_way(place, refused=True),
    "the primary's node is heard by nobody": _unheard,
    "the leader hears nobody": _deaf_leader,
    "all disks are slow": _slow,
    "the disk of the primary's node is full": _full,
    "half of all requests are answered 429": _storm("429"),
    "half of all requests are answered 503, in HTML": _storm("503"),
    "half of all answers are lost": _storm("lost"),
}

TROUBLES = COUNTED | {
    "the primary's node is paused": lambda place: place.nodes.signal(place.nodes.holder(place.index), signal.SIGSTOP),
    "the leader is paused": lambda place: place.nodes.signal(place.nodes.leader(), signal.SIGSTOP),
    "the primary's node is killed": lambda place: place.nodes.kill(place.nodes.holder(place.index)),
    "the disks are above the flood stage": _flood,
    CANCELLED: lambda _: None,
    "RabbitMQ is paused": _pause_broker,
    "RabbitMQ is restarted": _restart_broker,
}


def try_trouble(place: Place, trouble: str) -> Outcome:
    """Submit, delete, decide and search; let the trouble come and pass; look at what is left."""
    began = time.monotonic()
    setting, history = place.setting, place.history
    path = setting.folder / "submitted.jsonl"
    lines = history.write(path, DOCUMENTS)
    crowd = people(history, setting.engine, place.rng, ACTS)
    searches = Searches(place.nodes, place.searched, cancels=trouble == CANCELLED)
    command = setting.ingest(path)
    command.wait_for_run()
    time.sleep(place.rng.random())
    crowd.start()
    searches.start()
    TROUBLES[trouble](place)
    time.sleep(AWAY_S)
    unfelt = trouble in COUNTED and not place.nodes.is_felt
    place.nodes.heal()
    searches.calm()
    crowd.finish()
    command, attempts, ended = finish_ingest(setting, command, path)
    faults = [*ended, *crowd.faults, *searches.finish(), *(["it stopped and delayed nothing"] if unfelt else [])]
    account = command.account() if command.process.returncode in DONE else {}
    faults += find_faults(setting, account, lines, PATIENCE_S)
    faults += brought_back(place)
    return Outcome(
        trouble, lines, attempts, crowd.acknowledged, searches.whole, searches.failed, faults, time.monotonic() - began
    )


def finish_ingest(setting: Setting, command: Command, path: Path) -> tuple[Command, int, list[str]]:
    """Give a command again until it has done its work or does not end."""
    attempts, ended = 1, list[str]()

    def has_ended() -> bool:
        ended.extend(replace_workers(setting))
        return command.process.poll() is not None

    while wait_for(has_ended, PATIENCE_S) and command.process.returncode not in DONE and attempts < ATTEMPTS:
        attempts, command = attempts + 1, setting.ingest(path)
    return command, attempts, ended


def replace_workers(setting: Setting) -> list[str]:
    """Start a worker for each that ended, which none may do; returns those in words."""
    workers = setting.way.workers
    ended = [each for each in workers if each.poll() is not None]
    for each in ended:
        workers.remove(each)
        setting.way.start_worker(concurrency=WORKERS)
    return [f"a worker ended with exit code {each.returncode}" for each in ended]


def brought_back(place: Place) -> list[str]:
    """Submit all deleted documents once more, as they were; returns those that come back."""
    path = place.setting.folder / "again.jsonl"
    path.write_text(place.history.deleted_lines())
    account = place.setting.way.json("ingest", str(path), timeout=PATIENCE_S) if place.history.deleted else {"stale": 0}
    faults = place.history.brought_back(place.setting.engine)
    if account["stale"] != len(place.history.deleted):
        faults.append(f"of {len(place.history.deleted)} deleted documents {account['stale']} are called stale")
    return faults
