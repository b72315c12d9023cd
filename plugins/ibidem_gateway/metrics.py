"""Prometheus metrics: requests, duration of each stage of a search, groups, unsigned documents, errors."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from time import perf_counter
from typing import Any, Literal

from prometheus_client import CollectorRegistry, Counter, Histogram

from ibidem.grouped_search.api import SearchResult, search_window
from ibidem_dedupe.request import DedupeRequest
from ibidem_engines.engine import Engine
from ibidem_engines.query import Query
from ibidem_engines.stored_groups import Order

Stage = Literal["window", "grouping", "fetch", "facets", "differences", "rendering"]

# Seconds of each stage of the request that is being answered.
STAGES: ContextVar[dict[str, float]] = ContextVar("stages")

SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0)


class Metrics:
    """Counters of one gateway; they contain no document content and no user."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter("ibidem_requests", "Requests answered.", ["route", "status"], registry=self.registry)
        self.seconds = Histogram(
            "ibidem_request_seconds", "Seconds until an answer.", ["route"], registry=self.registry, buckets=SECONDS
        )
        self.stages = Histogram(
            "ibidem_stage_seconds",
            "Seconds of a grouped search, by stage.",
            ["stage"],
            registry=self.registry,
            buckets=SECONDS,
        )
        self.errors = Counter("ibidem_errors", "Requests that went wrong, by type.", ["type"], registry=self.registry)
        self.documents = Counter("ibidem_window_documents", "Documents in windows.", registry=self.registry)
        self.groups = Counter("ibidem_window_groups", "Groups found in windows.", registry=self.registry)
        self.unsigned = Counter(
            "ibidem_window_unsigned", "Documents in windows without signatures.", registry=self.registry
        )

    def took(self, stage: Stage, seconds: float) -> None:
        """Record the time of a stage of a grouped search."""
        self.stages.labels(stage).observe(seconds)
        if (stages := STAGES.get(None)) is not None:
            stages[stage] = stages.get(stage, 0.0) + seconds

    @contextmanager
    def measure(self, stage: Stage) -> Iterator[None]:
        """Measure the time of a stage."""
        began = perf_counter()
        try:
            yield
        finally:
            self.took(stage, perf_counter() - began)

    def count_search(self, account: Mapping[str, Any]) -> None:
        """Count the documents and groups of a grouped search."""
        self.documents.inc(account["documents"]["in_window"])
        self.groups.inc(account["groups"]["in_window"] or 0)  # stored groups are not always counted
        self.unsigned.inc(account["unsigned"])


def timed_search(  # noqa: PLR0913, PLR0917 - those of `search`, and where to count
    engine: Engine,
    query: Query,
    request: DedupeRequest,
    page: int,
    size: int,
    metrics: Metrics,
    tables: Collection[str] = (),
    order: Order = "relevance",
    *,
    facets: bool = False,
) -> SearchResult:
    """Search as `ibidem.search` does, and update the metrics."""
    began = perf_counter()
    result = search_window(engine, query, request, page, size, tables=tables, order=order, facets=facets)
    took = perf_counter() - began
    for stage in ("window", "fetch"):
        metrics.took(stage, result.seconds.get(stage, 0.0))
    metrics.took("grouping", took - sum(result.seconds.values()))
    metrics.count_search(result.response["dedupe"])
    return result
