"""A cluster of several processes on this machine, of which one may be lost while the others go on."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Literal

from servers import elasticsearch, opensearch
from servers.indices import ask
from servers.process import Launch, Process, free_ports

# Three, so that the two that stay are most of them and may choose a leader, whichever one is lost.
NAMES = ("one", "two", "three")

PATIENCE_S = 300.0

EngineName = Literal["opensearch", "elasticsearch"]
NODE = {"opensearch": opensearch.node, "elasticsearch": elasticsearch.node}
# What each calls the nodes that choose the first leader.
FIRST = {"opensearch": "cluster.initial_cluster_manager_nodes", "elasticsearch": "cluster.initial_master_nodes"}


def wait_for_health(address: str, condition: str) -> None:
    """Wait until a node finds its cluster in some health; a machine that is busy makes that take long."""
    path = f"/_cluster/health?{condition}&timeout={PATIENCE_S:.0f}s"
    health = ask(address, "GET", path, seconds=PATIENCE_S + 60)
    if health["timed_out"]:
        raise TimeoutError(f"the cluster did not come to {condition}: {health}")


class Nodes(ExitStack):
    """A cluster that answers as soon as the block is entered, and ends with it."""

    names: Sequence[str] = NAMES
    first: Sequence[str] = NAMES  # the nodes that choose the first leader

    def __init__(self, engine: EngineName = "opensearch") -> None:
        super().__init__()
        self.engine = engine
        ports = free_ports(2 * len(self.names))
        self._ports, self._transports = (
            dict(zip(self.names, numbers, strict=True)) for numbers in (ports[::2], ports[1::2])
        )
        self.nodes: dict[str, Process] = {}
        for name in self.names:
            self.nodes[name] = Process(f"{engine}-{name}", partial(self._prepare, name))
            self.callback(self.nodes[name].stop)
        for each in self.nodes.values():
            each.wait()

    @property
    def address(self) -> str:
        """All nodes, as `IBIDEM_ENGINE` names them."""
        return f"{self.engine}+http://" + ",".join(f"127.0.0.1:{port}" for port in self._ports.values())

    def address_of(self, name: str) -> str:
        """One node, as `IBIDEM_ENGINE` names it."""
        return f"{self.engine}+http://127.0.0.1:{self._ports[name]}"

    def holder(self, index: str) -> str:
        """Name the node that holds an index's primary shard."""
        shards = ask(self.address, "GET", f"/_cat/shards/{index}?format=json&h=prirep,node")
        return next(str(each["node"]) for each in shards if each["prirep"] == "p")

    def settle(self) -> None:
        """Wait until every shard has its copy."""
        wait_for_health(self.address, "wait_for_status=green")

    def lose_primary(self, index: str) -> str:
        """Kill the node that holds an index's primary shard; returns its name."""
        name = self.holder(index)
        self.nodes[name].kill()
        return name

    def start_again(self, name: str) -> None:
        """Start a node that was lost; returns when it has joined the others and every shard has its copy."""
        self.nodes[name].start_again()
        self.settle()

    def _prepare(self, name: str, folder: Path) -> Launch:
        return self._prepare_node(name, folder)

    def _prepare_node(
        self, name: str, folder: Path, *settings: str, published: Mapping[str, int] | None = None, **version: str
    ) -> Launch:
        """Say how a node is started, with more settings, which the others may reach at another port than its own."""
        published = published or self._transports
        seeds = ",".join(f"127.0.0.1:{port}" for port in published.values())
        return NODE[self.engine](
            folder,
            self._ports[name],
            self._transports[name],
            f"node.name={name}",
            f"transport.publish_port={published[name]}",
            f"discovery.seed_hosts={seeds}",
            f"{FIRST[self.engine]}={','.join(self.first)}",
            *settings,
            **version,
        )
