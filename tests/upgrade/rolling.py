"""Rolling upgrade of two nodes with the plugin: one after the other is exchanged, and all goes on at each stage."""

import random
import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from faults.environment import Setting, wait_for
from faults.round import find_faults
from faults.table import small_table
from ibidem_engines.connect import open_engine
from nodes.history import History, people
from plugin.cluster import built
from plugin.conftest import QUERY
from servers.command_line import DONE
from servers.indices import ask
from servers.nodes import EngineName, Nodes, wait_for_health
from servers.process import Launch

DOCUMENTS = 80
ACTS = 3
PATIENCE_S = 600.0
BODY = QUERY | {"query": {"match_all": {}}, "ext": {"ibidem": {"dedupe": "indent", "window": 100}}}


class RollingCluster(Nodes):
    """Two nodes whose version is changed one after the other."""

    names = ("one", "two")
    first = ("one",)

    def __init__(self, engine: EngineName, version: str) -> None:
        self.versions = dict.fromkeys(self.names, version)
        super().__init__(engine)

    def upgrade(self, name: str, version: str) -> None:
        """Stop one node, and start it with another version on what it had written."""
        (other,) = set(self.names) - {name}
        self.settle_at(name)
        ask(self.address_of(other), "POST", f"/_cluster/voting_config_exclusions?node_names={name}")
        process = self.nodes[name]
        process.kill()
        self.versions[name] = version
        process.launch = self._prepare(name, process.folder)
        process.start_again()
        ask(self.address_of(other), "DELETE", "/_cluster/voting_config_exclusions?wait_for_removal=false")
        self.settle_at(other)

    def settle_at(self, name: str) -> None:
        """Wait until a node finds both in the cluster, and a copy of every shard."""
        wait_for_health(self.address_of(name), "wait_for_nodes=2&wait_for_status=green")

    def _prepare(self, name: str, folder: Path) -> Launch:
        version = self.versions[name]
        home = folder / version
        launch = self._prepare_node(name, home, f"path.data={folder / 'data'}", version=version)
        shutil.copytree(built(self.engine, version), home / "home" / "plugins" / "ibidem")
        return launch


def stages(cluster: RollingCluster, version: str) -> Iterator[str]:
    """Exchange one node after the other; yields the versions of each stage."""
    yield _versions(cluster)
    for name in reversed(cluster.names):
        cluster.upgrade(name, version)
        yield _versions(cluster)


def _versions(cluster: RollingCluster) -> str:
    return " and ".join(cluster.versions[name] for name in cluster.names)


def roll(engine: EngineName, old: str, new: str, folder: Path, rng: random.Random) -> Iterator[tuple[str, list[str]]]:
    """Upgrade a cluster; yields for each stage the versions side by side, and what was wrong."""
    small_table(folder)
    with RollingCluster(engine, old) as cluster, Setting(folder, "", cluster.address, rng, {}) as setting:
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
    path_of = f"/{setting.settings.index}/_search"
    answers = {name: ask(cluster.address_of(name), "POST", path_of, BODY) for name in cluster.names}
    totals = {answer["hits"]["total"]["value"] for answer in answers.values()}
    if totals != {len(history.standing)}:
        faults.append(f"the plugin finds {totals} of {len(history.standing)} documents")
    if not all("_dedupe" in hit for answer in answers.values() for hit in answer["hits"]["hits"]):
        faults.append("a node answers without the plugin")
    return faults
