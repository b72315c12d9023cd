"""A node of a cluster is lost while documents are taken in, and comes back: nothing may be missing, then or after."""

import random
import time
from dataclasses import dataclass
from pathlib import Path

from faults.environment import Command, Setting, wait_for
from faults.round import PATIENCE, find_faults
from ibidem_workers.ingest import summary
from servers.command_line import DONE
from servers.nodes import Nodes

DOCUMENTS = 240  # so many make some sixty batches, so that a node is lost between two of them


@dataclass(frozen=True)
class Loss:
    node: str  # which one was lost: the one that held the primary shard
    before: int  # documents that were accounted for when it went
    after: int  # documents that were accounted for since
    wrong: list[str]  # what broke a law while the node was away, and once it was back; empty when all is well
    seconds: float  # what it took

    def row(self) -> str:
        """Tell it as a line of a table."""
        return f"| {self.node} | {self.before:,} | {self.after:,} | {len(self.wrong)} | {self.seconds:.0f} |"


def cluster_setting(nodes: Nodes, folder: Path, rng: random.Random) -> Setting:
    """Take a cluster, of which a command knows every node."""
    return Setting(folder, "", nodes.address, rng, {})


def lose(nodes: Nodes, setting: Setting, documents: int = DOCUMENTS) -> Loss:
    """Lose the node that holds the primary shard in the middle of an ingest; look, start it again, look once more."""
    began = time.monotonic()
    nodes.settle()
    path = setting.folder / "submitted.jsonl"
    lines = setting.shelf.write(path, documents)
    earlier_runs = setting.runs()
    command = setting.ingest(path)
    progress = _begun(setting, earlier_runs, command, lines // 4)
    node = nodes.lose_primary(setting.settings.index)
    in_the_middle = lines // 4 <= progress < lines and command.process.poll() is None
    status = command.process.wait(PATIENCE)
    account = command.account() if status in DONE else {}
    faults = find_faults(setting, account, lines)
    nodes.start_again(node)
    faults += [f"{each}, once the node is back" for each in find_faults(setting, account, lines)]
    if not in_the_middle:
        faults.append(f"the node went when {progress} of {lines} documents were accounted for, not in the middle")
    return Loss(node, progress, lines - progress, faults, time.monotonic() - began)


def _begun(setting: Setting, earlier_runs: set[str], command: Command, enough: int) -> int:
    """Wait until enough documents are accounted for, or the command is over; returns how many are."""
    wait_for(lambda: command.process.poll() is not None or _accounted(setting, earlier_runs) >= enough, PATIENCE)
    return _accounted(setting, earlier_runs)


def _accounted(setting: Setting, earlier_runs: set[str]) -> int:
    """Count the documents of the run that is new which are accounted for."""
    return sum(int(str(summary(setting.engine, run)["read"])) for run in setting.runs() - earlier_runs)
