"""A node of a cluster is lost while documents are taken in, and comes back: nothing may be missing, then or after."""

import random
import time
from dataclasses import dataclass
from pathlib import Path

from faults.environment import Command, Setting, until
from faults.round import PATIENCE, broken
from ibidem_workers.runs import summary
from servers.command_line import DONE
from servers.nodes import Nodes

DOCUMENTS = 240
"""So many make some sixty batches, so that a node is lost between two of them."""


@dataclass(frozen=True)
class Loss:
    """The result of a loss.

    Args:
        node: Which one was lost: the one that held the primary shard.
        before: Documents that were accounted for when it went.
        after: Documents that were accounted for since.
        wrong: What broke a law while the node was away, and once it was back; empty when all is well.
        seconds: What it took.
    """

    node: str
    before: int
    after: int
    wrong: list[str]
    seconds: float

    def row(self) -> str:
        """Tell it as a line of a table."""
        return f"| {self.node} | {self.before:,} | {self.after:,} | {len(self.wrong)} | {self.seconds:.0f} |"


def cluster_setting(nodes: Nodes, folder: Path, rng: random.Random) -> Setting:
    """Take the file queue and a cluster, of which a command knows every node."""
    return Setting(folder, "", nodes.address, rng, {})


def lose(nodes: Nodes, setting: Setting, documents: int = DOCUMENTS) -> Loss:
    """Lose the node that holds the primary shard in the middle of an ingest; look, start it again, look once more."""
    began = time.monotonic()
    nodes.settle()
    path = setting.folder / "submitted.jsonl"
    lines = setting.shelf.write(path, documents)
    known = setting.runs()
    command = setting.ingest(path)
    begun = _begun(setting, known, command, lines // 4)
    node = nodes.lose_primary(setting.settings.index)
    in_the_middle = lines // 4 <= begun < lines and command.process.poll() is None
    ended = command.process.wait(PATIENCE)
    account = command.account() if ended in DONE else {}
    wrong = broken(setting, account, lines)
    nodes.start_again(node)
    wrong += [f"{each}, once the node is back" for each in broken(setting, account, lines)]
    if not in_the_middle:
        wrong.append(f"the node went when {begun} of {lines} documents were accounted for, not in the middle")
    return Loss(node, begun, lines - begun, wrong, time.monotonic() - began)


def _begun(setting: Setting, known: set[str], command: Command, enough: int) -> int:
    """Wait until enough documents are accounted for, or the command is over; returns how many are."""
    until(lambda: command.process.poll() is not None or _accounted(setting, known) >= enough, PATIENCE)
    return _accounted(setting, known)


def _accounted(setting: Setting, known: set[str]) -> int:
    """Count the documents of the run that is new which are accounted for."""
    return sum(int(str(summary(setting.engine, one)["read"])) for one in setting.runs() - known)
