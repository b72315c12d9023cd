"""Plugin inside an engine: the nodes that have it, and a page that it grouped."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ibidem_engines.cursor import ReadView
from ibidem_engines.engine import Engine, StoredDocument


@dataclass(frozen=True, slots=True)
class PluginNode:
    """A node of a cluster, with the versions of engine and plugin.

    Args:
        name: The node's name.
        engine: Version of the engine.
        plugin: Version of the plugin; empty if it has none.
    """

    name: str
    engine: str
    plugin: str


@dataclass(frozen=True, slots=True, eq=False)
class GroupedHits:
    """A page grouped by the plugin.

    Args:
        hits: As the server gives them, each with its `_dedupe`.
        documents: The documents that are still there, by index and id.
        account: Counts of what the page is based on.
        total: Number of documents that match.
        best: The highest score.
        view: As in `Ranking`.
    """

    hits: Sequence[dict[str, Any]]
    documents: Mapping[tuple[str, str], StoredDocument]
    account: dict[str, Any]
    total: int
    best: float | None
    view: ReadView


class PluginEngine(Engine, Protocol):
    """An engine that may have a plugin."""

    def plugin_nodes(self) -> list[PluginNode]:
        """List the nodes, each with its plugin; none if the caller may not see them."""
