"""FastAPI dependencies: context, upstream, caller, and an engine opened with the caller's credentials."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Annotated, Any

from fastapi import Depends, FastAPI, Query, Request
from pydantic import BaseModel, ConfigDict, Field, create_model

from ibidem.grouped_search.dsl.search import IndexMetadataCache
from ibidem_core.settings import Settings
from ibidem_dedupe import parameters
from ibidem_dedupe.policy import Level, Policy
from ibidem_engines.engine import Engine
from ibidem_engines.ledger import lookup_presets
from ibidem_engines.query import QUERY_HELP
from ibidem_gateway.upstream import STATUSES, Caller, Engines, HttpError, Metrics, Upstream
from ibidem_ingest.document import MAX_ID_BYTES
from ibidem_ingest.idf.store import Tables

CALLERS = 1_000  # callers whose index metadata is cached


@dataclass(frozen=True, slots=True)
class GatewayContext:
    """Settings, caches and metrics that every request may use."""

    settings: Settings
    engines: Engines
    upstream: Upstream | None  # the cluster; None over SQLite
    metrics: Metrics
    # What is known of indexes, for each caller within the caller's rights.
    metadata: Callable[[Caller], IndexMetadataCache] = field(
        default_factory=lambda: lru_cache(CALLERS)(lambda _: IndexMetadataCache())
    )

    @property
    def kind(self) -> str:
        """Kind of the engine: `sqlite`, `opensearch` or `elasticsearch`."""
        return self.settings.engine.partition(":")[0].partition("+")[0]

    def current_tables(self, index: str = "") -> tuple[str, ...]:
        """Return the names of the current idf tables."""
        return tuple(Tables(self.settings.tables, index or self.settings.index).current().values())

    def tables(self) -> Tables:
        """Return the idf tables of the index."""
        return Tables(self.settings.tables, self.settings.index)


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
        remedy = "search it by /ibidem/search?q=WORDS, or name a cluster in IBIDEM_ENGINE"
        raise HttpError(501, "an SQLite index has no query language of OpenSearch or Elasticsearch", remedy)
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


TEXT, CAUSES = {"type": "string"}, {"type": "array", "items": {"type": "object"}}
CAUSE = {"type": TEXT, "reason": TEXT, "root_cause": CAUSES}
PARTS = {
    "error": {"type": "object", "required": ["type", "reason", "root_cause"], "properties": CAUSE},
    "status": {"type": "integer"},
}
# An error as OpenSearch and Elasticsearch write theirs.
ERROR: dict[str, Any] = {"type": "object", "required": ["error", "status"], "properties": PARTS}


def add_error_schema(app: FastAPI) -> None:
    """Add the errors that every route may return to the OpenAPI document, in one common schema."""
    described = app.openapi

    def openapi() -> dict[str, Any]:
        """Describe the routes, with the error schema and its statuses."""
        document = described()
        document.setdefault("components", {}).setdefault("schemas", {})["Error"] = ERROR
        content = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
        errors = {str(status): {"description": about, "content": content} for status, (*_, about) in STATUSES.items()}
        for operations in document["paths"].values():
            for operation in operations.values():
                operation["responses"].pop("422", None)  # the framework's own
                for status, error in errors.items():
                    operation["responses"].setdefault(status, error)
        return document

    app.openapi = openapi  # type: ignore[method-assign] # the framework's own way to change the document


MAX_QUERY = 10_000


class StrictQuery(BaseModel):
    """A query string without unknown parameters."""

    model_config = ConfigDict(extra="forbid")


Id = Annotated[str, Field(description="A document's id.", min_length=1, max_length=MAX_ID_BYTES)]


def to_field(parameter: parameters.Parameter) -> Any:
    """Return a dedupe parameter as an optional text field, since the parameter table validates it."""
    description = f"{parameter.about}: {parameter.values} (default: {parameter.default})"
    return str | None, Field(default=None, description=description, max_length=20_000)


Deduped: type[StrictQuery] = create_model(
    "Deduped", __base__=StrictQuery, **{name: to_field(each) for name, each in parameters.PARAMETERS.items()}
)


class SearchQuery(Deduped):  # type: ignore[misc, valid-type] # made from the table above
    """The parameters of a grouped search."""

    q: str = Field(description=QUERY_HELP, max_length=MAX_QUERY)
    filter: list[str] = Field(
        default=[],
        description="FIELD=VALUE: source, language, date, id, meta.NAME, thread, inclusive, work or current.",
    )
    page: int = Field(default=1, ge=1, le=parameters.MAX_WINDOW, description="Which page.")
    size: int = Field(default=10, ge=1, le=1_000, description="Groups on a page.")

    def request(self, mode: parameters.Mode, engine: Engine) -> parameters.DedupeRequest:
        """Return the dedupe request, which may use presets of the index."""
        presets = lookup_presets(engine, self.dedupe_preset)
        return parameters.parse_request(
            {name: getattr(self, name) for name in parameters.PARAMETERS}, mode=mode, presets=presets
        )


class LevelQuery(StrictQuery):
    """The parameters of the decision on a pair."""

    dedupe_level: str | None = to_field(parameters.PAIR_LEVEL)[1]
    dedupe_similarity: str | None = to_field(parameters.PARAMETERS["dedupe_similarity"])[1]
    dedupe_preset: str | None = to_field(parameters.PARAMETERS["dedupe_preset"])[1]
    dedupe_window_days: str | None = to_field(parameters.PARAMETERS["dedupe_window_days"])[1]

    def policy(self, engine: Engine, level: Level = "near") -> Policy:
        """Return the policy for the decision on a pair."""
        given = {name: getattr(self, name) for name in LevelQuery.model_fields}
        return parameters.pair_policy(given, level, lookup_presets(engine, self.dedupe_preset))


class Pair(StrictQuery):
    """Two documents."""

    a: Id
    b: Id


class ComparedPair(Pair, LevelQuery):
    """Two documents, and the parameters of the decision on them."""


SearchParameters = Annotated[SearchQuery, Query()]
LevelParameters = Annotated[LevelQuery, Query()]
PairParameters = Annotated[Pair, Query()]
ComparedParameters = Annotated[ComparedPair, Query()]
NoParameters = Annotated[StrictQuery, Query()]
