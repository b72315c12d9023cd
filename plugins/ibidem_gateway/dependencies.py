"""FastAPI dependencies: context, upstream, caller, and an engine opened with the caller's credentials."""

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Annotated

from fastapi import Depends, Request

from ibidem.grouped_search.dsl.index_cache import IndexMetadataCache
from ibidem_core.settings import Settings
from ibidem_engines.engine import Engine
from ibidem_gateway.errors import HttpError
from ibidem_gateway.metrics import Metrics
from ibidem_gateway.upstream import Caller, Engines, Upstream
from ibidem_ingest.idf.store import Tables

CALLERS = 1_000  # callers whose index metadata is cached
INDEXES = 1_000  # indexes of each


class CallerCache:
    """Index metadata for each caller, within the caller's rights."""

    def __init__(self) -> None:
        self._caches: OrderedDict[Caller, IndexMetadataCache] = OrderedDict()

    def get(self, caller: Caller) -> IndexMetadataCache:
        """Return the cached metadata of a caller."""
        cache = self._caches.pop(caller, None)
        if cache is None or len(cache.layouts) > INDEXES:
            cache = IndexMetadataCache()
        self._caches[caller] = cache
        if len(self._caches) > CALLERS:
            self._caches.popitem(last=False)
        return cache


@dataclass(frozen=True, slots=True)
class GatewayContext:
    """Settings, caches and metrics that every request may use."""

    settings: Settings
    engines: Engines
    upstream: Upstream | None  # the cluster; None over SQLite
    metrics: Metrics
    caches: CallerCache = field(default_factory=CallerCache)

    @property
    def kind(self) -> str:
        """Kind of the engine: `sqlite`, `opensearch` or `elasticsearch`."""
        return self.settings.engine.partition(":")[0].partition("+")[0]

    def current_tables(self) -> tuple[str, ...]:
        """Return the names of the current idf tables."""
        return tuple(Tables(self.settings.tables).current().values())


def gateway_context(request: Request) -> GatewayContext:
    context: GatewayContext = request.app.state.context
    return context


async def route_context(request: Request) -> GatewayContext:
    """Return the context of a request; async, since the framework would run a sync function in a thread."""
    return gateway_context(request)


async def cluster(request: Request) -> Upstream:
    """Return the cluster behind the gateway."""
    upstream = gateway_context(request).upstream
    if upstream is None:
        raise HttpError(
            501,
            "not_implemented_exception",
            "an SQLite index has no query language of OpenSearch or Elasticsearch",
            "search it by /ibidem/search?q=WORDS, or name a cluster in IBIDEM_ENGINE",
        )
    return upstream


async def caller(request: Request) -> Caller:
    return Caller.read(request.headers)


def callers_engine(request: Request) -> Engine:
    """Return the configured index with the caller's read and write rights."""
    all_ = gateway_context(request)
    return all_.engines.get(Caller.read(request.headers))


WithContext = Annotated[GatewayContext, Depends(route_context)]  # a parameter of a route: what every request may use

# A parameter of a route: the cluster behind the gateway; refused over SQLite.
WithCluster = Annotated[Upstream, Depends(cluster)]

WithCaller = Annotated[Caller, Depends(caller)]  # a parameter of a route: who calls

# A parameter of a route: the index of the settings, with the caller's own rights.
CallersEngine = Annotated[Engine, Depends(callers_engine)]
