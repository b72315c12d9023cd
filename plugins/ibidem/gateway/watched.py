"""A grouped search, counted and timed by its stages."""

from collections.abc import Collection, Sequence
from time import perf_counter
from typing import cast

from ibidem.dedupe.request import DedupeRequest
from ibidem.gateway.metrics import Metrics
from ibidem.grouped_search import Examined, Order, examined
from ibidem_engines.engine import Engine, Ranking, Stored
from ibidem_engines.query import Query


class Watched:
    """An engine whose window and fetch are timed; all else is its own.

    Args:
        engine: The engine.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.window_s = 0.0
        self.fetch_s = 0.0

    def __getattr__(self, name: str) -> object:
        return getattr(self._engine, name)

    def window(self, query: Query, size: int, cursor: str = "", without: Collection[str] = ()) -> Ranking:
        """See `Engine.window`."""
        began = perf_counter()
        try:
            return self._engine.window(query, size, cursor, without)
        finally:
            self.window_s += perf_counter() - began

    def fetch(self, ids: Sequence[tuple[str, str]], query: Query | None = None) -> list[Stored]:
        """See `Engine.fetch`."""
        began = perf_counter()
        try:
            return self._engine.fetch(ids, query)
        finally:
            self.fetch_s += perf_counter() - began


def watched_search(  # noqa: PLR0913, PLR0917 - those of `search`, and where to count
    engine: Engine,
    query: Query,
    request: DedupeRequest,
    page: int,
    size: int,
    metrics: Metrics,
    tables: Collection[str] = (),
    order: Order = "relevance",
) -> Examined:
    """Search as `ibidem.search` does, and count it.

    Args:
        engine: Where to search.
        query: For what.
        request: How to group and show.
        page: Which page, from 1.
        size: Groups on a page.
        metrics: Where to count.
        tables: Names of the current idf tables.
        order: How the hits of the window are ordered.
    """
    watched = Watched(engine)
    began = perf_counter()
    found = examined(cast("Engine", watched), query, request, page, size, tables=tables, order=order)
    took = perf_counter() - began
    metrics.took("window", watched.window_s)
    metrics.took("fetch", watched.fetch_s)
    metrics.took("grouping", took - watched.window_s - watched.fetch_s)
    metrics.grouped(found.response["dedupe"])
    return found
