"""Rolling upgrade of two nodes with the plugin: one after the other is exchanged, and all goes on at each stage."""

import json
import random
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path

from faults.environment import Setting, wait_for
from faults.round import find_faults
from faults.table import small_table
from ibidem_engines.connect import open_engine
from nodes.history import History, people
from plugin.cluster import NODE, built
from plugin.conftest import QUERY
from servers.command_line import DONE
from servers.indices import ask
from servers.nodes import FIRST, EngineName, wait_for_health
from servers.process import Launch, Process, free_ports

NAMES = ("one", "two")
DOCUMENTS = 80
ACTS = 3
PATIENCE_S = 600.0
BODY = json.dumps(QUERY | {"query": {"match_all": {}}, "ext": {"ibidem": {"dedupe": "indent", "window": 100}}})


class RollingCluster(ExitStack):
    """Two nodes whose version is changed one after the other."""

    def __init__(self, engine: EngineName, version: str) -> None:
        super().__init__()
        self.engine, self.versions = engine, dict.fromkeys(NAMES, version)
        ports = free_ports(2 * len(NAMES))
        self._ports, self._transports = dict(zip(NAMES, ports, strict=False)), dict(zip(NAMES, ports[2:], strict=True))
        self._nodes: dict[str, Process] = {}
        for name in NAMES:
            self._nodes[name] = Process(f"{engine}-{name}", partial(self._prepare, name))
            self.callback(self._nodes[name].stop)
        for each in self._nodes.values():
            each.wait()

    def address(self, *names: str) -> str:
        """Some nodes, as `IBIDEM_ENGINE` names them; all where none is named."""
        return f"{self.engine}+http://" + ",".join(f"127.0.0.1:{self._ports[name]}" for name in names or NAMES)

    def upgrade(self, name: str, version: str) -> None:
        """Stop one node, and start it with another version on what it had written."""
        (other,) = set(NAMES) - {name}
        self.settle(name)
        ask(self.address(other), "POST", f"/_cluster/voting_config_exclusions?node_names={name}")
        process = self._nodes[name]
        process.kill()
        self.versions[name] = version
        process.launch = self._prepare(name, process.folder)
        process.start_again()
        ask(self.address(other), "DELETE", "/_cluster/voting_config_exclusions?wait_for_removal=false")
        self.settle(other)

    def settle(self, name: str) -> None:
        """Wait until every shard has its copy."""
        wait_for_health(self.address(name), "wait_for_nodes=2&wait_for_status=green")

    def _prepare(self, name: str, folder: Path) -> Launch:
        version = self.versions[name]
        seeds = ",".join(f"127.0.0.1:{port}" for port in self._transports.values())
        home = folder / version
        launch = NODE[self.engine](
            home,
            self._ports[name],
            self._transports[name],
            f"node.name={name}",
            f"path.data={folder / 'data'}",
            f"discovery.seed_hosts={seeds}",
            f"{FIRST[self.engine]}={NAMES[0]}",
            version=version,
        )
        shutil.copytree(built(self.engine, version), home / "home" / "plugins" / "ibidem")
        return launch


def stages(cluster: RollingCluster, version: str) -> Iterator[str]:
    """Exchange one node after the other; yields the versions of each stage."""
    yield _versions(cluster)
    for name in reversed(NAMES):
        cluster.upgrade(name, version)
        yield _versions(cluster)


def _versions(cluster: RollingCluster) -> str:
    return " and ".join(cluster.versions[name] for name in NAMES)


def roll(engine: EngineName, old: str, new: str, folder: Path, rng: random.Random) -> Iterator[tuple[str, list[str]]]:
    """Upgrade a cluster; yields for each stage the versions side by side, and what was wrong."""
    small_table(folder)
    with RollingCluster(engine, old) as cluster, Setting(folder, "", cluster.address(), rng, {}) as setting:
        history = setting.shelf = History(rng)
        for stage in stages(cluster, new):
            yield stage, work(cluster, setting, history, rng)


def work(cluster: RollingCluster, setting: Setting, history: History, rng: random.Random) -> list[str]:
    """Ingest, delete, decide, settle and search in one stage; returns what was wrong."""
    path = setting.folder / "submitted.jsonl"
    with closing(open_engine(setting.settings.engine, setting.settings.index)) as engine:
        lines = history.write(path, DOCUMENTS)
        crowd = people(history, engine, rng, ACTS)
        command = setting.ingest(path)
        crowd.start()
        wait_for(lambda: command.process.poll() is not None, PATIENCE_S)
        crowd.finish()
    account = command.account() if command.process.returncode in DONE else {}
    faults = [*crowd.faults, *find_faults(setting, account, lines, PATIENCE_S)]
    answers = {name: ask(cluster.address(name), "POST", f"/{setting.settings.index}/_search", BODY) for name in NAMES}
    totals = {answer["hits"]["total"]["value"] for answer in answers.values()}
    if totals != {len(history.standing)}:
        faults.append(f"the plugin finds {totals} of {len(history.standing)} documents")
    if not all("_dedupe" in hit for answer in answers.values() for hit in answer["hits"]["hits"]):
        faults.append("a node answers without the plugin")
    return faults
