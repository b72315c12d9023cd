"""FastAPI application of the gateway: routers, middleware, error handlers."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from ibidem_core.address import parse_address
from ibidem_core.settings import Settings
from ibidem_gateway import document_routes, proxy
from ibidem_gateway.dependencies import CallersEngine, GatewayContext, WithContext, add_error_schema
from ibidem_gateway.document_routes import answer
from ibidem_gateway.errors import HttpError, accepts_html
from ibidem_gateway.middleware import GatewayMiddleware, refuse
from ibidem_gateway.page import documents, rendering, routes
from ibidem_gateway.page.routes import home
from ibidem_gateway.page.state import read_query
from ibidem_gateway.proxy import everything, forward
from ibidem_gateway.upstream import Engines, Metrics, Upstream
from ibidem_ingest.distribution import installed_version
from ibidem_ingest.errors import IbidemError

root_router = APIRouter(tags=["search"])


@root_router.get("/")
@root_router.head("/", include_in_schema=False)
async def root(request: Request, context: WithContext, engine: CallersEngine) -> Response:
    """Show the page to a browser; a client gets the engine's response, or the gateway's over SQLite."""
    if accepts_html(request):
        return await run_in_threadpool(home, engine, context, read_query(request.query_params))
    if context.upstream is None:
        product = {"number": installed_version(), "distribution": "ibidem"}
        return answer({"name": "ibidem", "version": product, "tagline": "an SQLite index: see /openapi.json"})
    return await forward(request, context.upstream)


# Headers that an engine's own clients insist on, with every answer.
PRODUCT = {"elasticsearch": {"x-elastic-product": "Elasticsearch"}}

ROUTERS = (  # in the order in which paths are compared
    document_routes.router,
    routes.router,
    documents.router,
    rendering.docs_router,
    document_routes.document_router,
    document_routes.override_router,
    root_router,
    proxy.router,
)


def make_gateway(settings: Settings, hosts: Iterable[str] = ()) -> FastAPI:
    """Create the application without connecting to anything."""
    context = GatewayContext(settings, Engines(settings), make_upstream(settings), Metrics())

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        """Close connections at the end."""
        yield
        context.engines.close()
        if context.upstream is not None:
            await context.upstream.close()

    app = FastAPI(title="ibidem", version=installed_version(), lifespan=lifespan, docs_url=None, redoc_url=None)
    app.state.context = context
    for router in ROUTERS if context.upstream is None else (*ROUTERS, everything):
        app.include_router(router)
    for kind in (HttpError, IbidemError, HTTPException, RequestValidationError):
        app.add_exception_handler(kind, refuse)
    add_error_schema(app)
    names, product = (*settings.gateway_hosts, *hosts), PRODUCT.get(context.kind, {})
    app.add_middleware(GatewayMiddleware, metrics=context.metrics, hosts=names, product=product)
    return app


def make_upstream(settings: Settings) -> Upstream | None:
    """Return the configured cluster; None for SQLite."""
    if settings.engine.startswith("sqlite:"):
        return None
    return Upstream(parse_address(settings.address))
