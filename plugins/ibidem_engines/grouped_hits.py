"""Hits that were grouped where they are searched, by a plugin inside the engine."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ibidem_engines.engine import Engine, StoredDocument
from ibidem_engines.query import Query


@dataclass(frozen=True, slots=True)
class PluginNode:
    """What one node has.

    Args:
        name: The node's name.
        engine: Version of the engine.
        plugin: Version of the plugin; empty where it has none.
    """

    name: str
    engine: str
    plugin: str


@dataclass(frozen=True, slots=True, eq=False)
class GroupedHits:
    """A page that the plugin grouped.

    Args:
        hits: As the server gives them, each with its `_dedupe`.
        stored: The documents that are still there, by index and id.
        account: What the page is based on, counted.
        total: Number of documents that match.
        best: The highest score.
        cursor: As in `Ranking`.
    """

    hits: Sequence[dict[str, Any]]
    stored: Mapping[tuple[str, str], StoredDocument]
    account: dict[str, Any]
    total: int
    best: float | None
    cursor: str


class WithPlugin(Engine, Protocol):
    """An engine that a plugin may be installed in."""

    def search_grouped(
        self, query: Query, options: Mapping[str, object], first: int, size: int, cursor: str = ""
    ) -> GroupedHits | None:
        """Let the plugin search and group; None where not every node has it.

        Args:
            query: For what; not in the engine's own language.
            options: How to group, as the plugin reads it.
            first: How many groups come before the page's.
            size: Groups on the page.
            cursor: As in `search`.
        """

    def plugin_nodes(self) -> list[PluginNode]:
        """List the nodes, each with the plugin that it has; none where the caller may not know them."""
