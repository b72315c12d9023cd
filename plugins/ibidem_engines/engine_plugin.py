"""Plugin inside an engine: the nodes that have it, and a page that it grouped."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ibidem_engines.cursor import ReadView
from ibidem_engines.engine import Engine, StoredDocument


@dataclass(frozen=True, slots=True)
class PluginNode:
    """A node of a cluster, with the versions of engine and plugin."""

    name: str  # the node's name
    engine: str  # version of the engine
    plugin: str  # version of the plugin; empty if it has none


@dataclass(frozen=True, slots=True, eq=False)
class GroupedHits:
    """A page grouped by the plugin."""

    hits: Sequence[dict[str, Any]]  # as the server gives them, each with its `_dedupe`
    documents: Mapping[tuple[str, str], StoredDocument]  # the documents that are still there, by index and id
    account: dict[str, Any]  # counts of what the page is based on
    total: int  # number of documents that match
    best: float | None  # the highest score
    view: ReadView  # as in `Ranking`


class PluginEngine(Engine, Protocol):
    """An engine that may have a plugin."""

    def plugin_nodes(self) -> list[PluginNode]:
        """List the nodes, each with its plugin; none if the caller may not see them."""
