"""A cluster of three nodes with the plugin whose links, disks and processes fail, with HTTP proxies before it."""

import os
import random
import shutil
import signal
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Literal

from faults.kill import descendants
from nodes.links import Links
from plugin.cluster import built
from servers.fake_server import Answer, Between, Request, between
from servers.indices import ask
from servers.missing import Missing
from servers.nodes import NAMES, EngineName, Nodes, wait_for_health
from servers.process import Launch

Storm = Literal["429", "503", "lost"]

# Seconds after which the nodes, and the clients, take each other for gone: faults last longer than every timeout.
TIMEOUT_S = 4

IMPATIENT = (
    *(
        f"cluster.fault_detection.{check}.{name}={value}"
        for check in ("follower_check", "leader_check")
        for name, value in (("interval", "1s"), ("timeout", f"{TIMEOUT_S // 2}s"), ("retry_count", "2"))
    ),
    f"cluster.publish.timeout={TIMEOUT_S}s",
    f"cluster.follower_lag.timeout={TIMEOUT_S}s",
)
BUSY = {"error": {"type": "rejected_execution_exception", "reason": "the queue is full"}, "status": 429}
# Answers of a busy engine, of a load balancer without one, and none to a request that the engine has carried out.
ANSWERS: dict[Storm, Answer] = {
    "429": Answer(429, BUSY),
    "503": Answer(503, b"<html><body>503 Service Unavailable</body></html>"),
    "lost": Answer(0, passed=True),
}


class FrailNodes(Nodes):
    """Three nodes with the plugin, each with a disk of its own, linked by proxies."""

    def __init__(self, engine: EngineName, rng: random.Random) -> None:
        self.links: Links | None = None
        self.disks: dict[str, Disk] = {}
        self.storm: Storm | None = None
        self._hit = False
        self._rng = rng
        super().__init__(engine)
        assert self.links is not None
        self.callback(self.links.end)
        self.fronts = [self._front(port) for port in self._ports.values()]

    @property
    def front(self) -> str:
        """All nodes behind the proxies that storms go through, as `IBIDEM_ENGINE` names them."""
        hosts = ",".join(f"127.0.0.1:{each.port}" for each in self.fronts)
        return f"{self.engine}+http://{hosts}/?timeout={TIMEOUT_S}"

    @property
    def is_felt(self) -> bool:
        """Whether a link, a disk or a storm has stopped or delayed anything since the last trouble was taken away."""
        return self._hit or bool(self.links and self.links.felt) or any(disk.is_felt for disk in self.disks.values())

    def leader(self) -> str:
        """Name the node that the others have elected."""
        (node,) = ask(self.address, "GET", "/_cat/master?format=json&h=node")
        return str(node["node"])

    def signal(self, name: str, number: signal.Signals) -> None:
        """Send a signal to the processes of a node."""
        for pid in self._pids(name):
            os.kill(pid, number)

    def kill(self, name: str) -> None:
        self.nodes[name].kill()

    def heal(self) -> None:
        """Take all trouble away; returns when every shard has its copy."""
        self.storm, self._hit = None, False
        if self.links:
            self.links.mend()
        for name, process in self.nodes.items():
            self.disks[name].end()
            if process.keeper.poll() is None:
                self.signal(name, signal.SIGCONT)
            else:
                process.start_again()
        for name in NAMES:
            wait_for_health(self.address_of(name), f"wait_for_nodes={len(NAMES)}")
        # A shard that failed five times, as on a full disk, is not tried again by itself.
        ask(self.address, "POST", "/_cluster/reroute?retry_failed=true")
        self.settle()

    def _pids(self, name: str) -> list[int]:
        return descendants(self.nodes[name].keeper.pid)

    def _front(self, port: int) -> Between:
        return self.enter_context(between(f"http://127.0.0.1:{port}", self._plan))

    def _plan(self, _: Request) -> Answer | None:
        """Answer half of all requests by the storm, if there is one."""
        storm = self.storm
        if not storm or self._rng.random() >= 0.5:
            return None
        self._hit = True
        return ANSWERS[storm]

    def _prepare(self, name: str, folder: Path) -> Launch:
        if self.links is None:
            self.links = Links(self._transports, self._processes)
        disk = self.disks[name] = Disk(folder)
        launch = disk.attach(self._prepare_node(name, folder, *IMPATIENT, published=self.links.ports))
        shutil.copytree(built(self.engine), folder / "home" / "plugins" / "ibidem")
        return launch

    def _processes(self) -> dict[str, list[int]]:
        return {name: self._pids(name) for name in getattr(self, "nodes", {})}


Kind = Literal["slow", "full"]
SOURCE = Path(__file__).with_name("disk.c")


def build_library(folder: Path) -> Path:
    """Compile the library that is preloaded."""
    library = folder / "disk.so"
    command = ["cc", "-shared", "-fPIC", "-O1", "-o", library, SOURCE, "-ldl"]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    if process.returncode:
        raise Missing(f"{SOURCE.name} could not be compiled: {process.stderr.strip()[-500:]}")
    return library


class Disk:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def attach(self, launch: Launch) -> Launch:
        """Let a command write to this disk."""
        library = build_library(self._folder)
        variables = {"LD_PRELOAD": str(library), "IBIDEM_DISK": str(self._folder / "disk")}
        return replace(launch, environment={**launch.environment, **variables})

    def begin(self, kind: Kind) -> None:
        """Let the trouble come."""
        (self._folder / "disk.felt").unlink(missing_ok=True)
        (self._folder / f"disk.{kind}").touch()

    @property
    def is_felt(self) -> bool:
        """Whether a write was refused or a write or its end on the disk delayed since the trouble came."""
        return (self._folder / "disk.felt").exists()

    def end(self) -> None:
        """Let all trouble pass."""
        for path in self._folder.glob("disk.[fs][eul]*"):
            path.unlink()
