"""A cluster of two nodes with the plugin installed as a folder, as its own installer would leave it."""

import shutil
from pathlib import Path

from servers import elasticsearch, opensearch
from servers.missing import Missing
from servers.nodes import EngineName, Nodes
from servers.process import Launch

VERSION = {"opensearch": opensearch.VERSION, "elasticsearch": elasticsearch.VERSION}
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


class Cluster(Nodes):
    """Two nodes; the first one coordinates what is asked of `address`."""

    names = ("one", "two")
    first = ("one",)

    def __init__(
        self, engine: EngineName, with_plugin: tuple[str, ...] = names, settings: tuple[str, ...] = ()
    ) -> None:
        self._with_plugin, self._settings = with_plugin, settings
        super().__init__(engine)

    @property
    def address(self) -> str:
        """The first node, as `IBIDEM_ENGINE` names it."""
        return self.address_of("one")

    def _prepare(self, name: str, folder: Path) -> Launch:
        launch = self._prepare_node(name, folder, *self._settings)
        if name in self._with_plugin:
            shutil.copytree(built(self.engine), folder / "home" / "plugins" / "ibidem")
        return launch
