"""A cluster of two nodes with the plugin installed as a folder, as its own installer would leave it."""

import shutil
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from servers import elasticsearch, opensearch
from servers.missing import Missing
from servers.nodes import FIRST, EngineName
from servers.process import Launch, Process, free_ports

NODE = {"opensearch": opensearch.node, "elasticsearch": elasticsearch.node}
VERSION = {"opensearch": opensearch.VERSION, "elasticsearch": elasticsearch.VERSION}
NAMES = ("one", "two")
BUILT = Path(__file__).parents[2] / "plugins" / "java"


def built(engine: EngineName, version: str = "") -> Path:
    """Return the folder that `make plugin` left, or for another version of the engine `make plugins`."""
    version = version or VERSION[engine]
    folder = BUILT / engine / "target" / f"ibidem-{engine}-{version}"
    if folder.is_dir():
        return folder
    fits = version if engine == "elasticsearch" else version.rpartition(".")[0] + ".*"
    for other in BUILT.glob(f"target/{engine}-{fits}/plugins/java/{engine}/target/ibidem-{engine}-{fits}"):
        if other.is_dir():
            return other
    raise Missing(f"{folder} is not there: make plugin")


class Cluster(ExitStack):
    """Two nodes; the first one coordinates what is asked of `address`."""

    def __init__(
        self, engine: EngineName, with_plugin: tuple[str, ...] = NAMES, settings: tuple[str, ...] = ()
    ) -> None:
        super().__init__()
        self._engine, self._with_plugin, self._settings = engine, with_plugin, settings
        ports = free_ports(2 * len(NAMES))
        self._ports, self._transports = (
            dict(zip(NAMES, numbers, strict=True)) for numbers in (ports[::2], ports[1::2])
        )
        self.nodes = {name: Process(f"{engine}-{name}", partial(self._prepare, name)) for name in NAMES}
        for each in self.nodes.values():
            self.callback(each.stop)
        for each in self.nodes.values():
            each.wait()

    @property
    def address(self) -> str:
        """The first node, as `IBIDEM_ENGINE` names it."""
        return self.address_of(NAMES[0])

    def address_of(self, name: str) -> str:
        """One node, as `IBIDEM_ENGINE` names it."""
        return f"{self._engine}+http://127.0.0.1:{self._ports[name]}"

    def _prepare(self, name: str, folder: Path) -> Launch:
        seeds = ",".join(f"127.0.0.1:{port}" for port in self._transports.values())
        launch = NODE[self._engine](
            folder,
            self._ports[name],
            self._transports[name],
            f"node.name={name}",
            f"discovery.seed_hosts={seeds}",
            f"{FIRST[self._engine]}={NAMES[0]}",
            *self._settings,
        )
        if name in self._with_plugin:
            shutil.copytree(built(self._engine), folder / "home" / "plugins" / "ibidem")
        return launch
