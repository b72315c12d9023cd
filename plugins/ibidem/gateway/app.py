"""FastAPI application of the gateway: routers, middleware, error handlers, and the server that runs it.

Routes for operation are here: `/metrics` for Prometheus, `/healthz` and `/readyz`.
"""

import contextlib
import gc
import os
import socket
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from importlib.metadata import version

import uvicorn
from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.exceptions import RequestValidationError
from fastapi.responses import PlainTextResponse
from prometheus_client import CollectorRegistry, Gauge
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector
from starlette.exceptions import HTTPException
from starlette.routing import Route

from ibidem.gateway import document_routes, search_routes
from ibidem.gateway.dependencies import CallersEngine, GatewayContext, WithContext
from ibidem.gateway.document_routes import answer
from ibidem.gateway.error_handlers import refuse
from ibidem.gateway.errors import HttpError, accepts_html, turned_away
from ibidem.gateway.index_access import has_all_indexes
from ibidem.gateway.metrics import Metrics
from ibidem.gateway.middleware import LimitsMiddleware
from ibidem.gateway.openapi import add_error_schema
from ibidem.gateway.page import rendering, routes, saved
from ibidem.gateway.page.routes import home
from ibidem.gateway.page.state import read_query
from ibidem.gateway.passthrough import Passthrough
from ibidem.gateway.search_routes import pass_as_it_came
from ibidem.gateway.server import Connections, run_processes
from ibidem.gateway.upstream import Engines, Upstream
from ibidem_core import logs
from ibidem_core.address import parse_address
from ibidem_core.errors import EngineError, Permanent, Unavailable
from ibidem_core.settings import Settings
from ibidem_engines.connect import open_for_caller
from ibidem_engines.engine import Engine
from ibidem_ingest.errors import IbidemError, UsageError

metrics_router = APIRouter(tags=["operation"])


@metrics_router.get("/metrics", response_class=PlainTextResponse)
def metrics(context: WithContext, engine: CallersEngine) -> Response:
    """Tell what was counted, for Prometheus; the dead letters only to those who may read them."""
    text = generate_latest(shared_registry(context.metrics.registry)) + dead_letters(engine)
    return Response(text, headers={"content-type": CONTENT_TYPE_LATEST})


def shared_registry(registry: CollectorRegistry) -> CollectorRegistry:
    """Return what all processes of this gateway counted, or this one where it is alone."""
    if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
        return registry
    together = CollectorRegistry()
    MultiProcessCollector(together)  # type: ignore[no-untyped-call] # the library has no type here
    return together


def dead_letters(engine: Engine) -> bytes:
    """Count the documents that could not be ingested; nothing where they cannot be read.

    Args:
        engine: The index, as the caller may read it.
    """
    registry = CollectorRegistry()
    try:
        count = engine.count("dead")
    except EngineError:
        return b""
    Gauge("ibidem_dead_letters", "Documents that could not be ingested.", registry=registry).set(count)
    return generate_latest(registry)


health_router = APIRouter(tags=["operation"])

PATIENCE_S = 5.0


@health_router.get("/healthz")
async def healthz() -> dict[str, str]:
    """Tell that the gateway answers, whatever the engine does."""
    return {"status": "ok"}


@health_router.get("/readyz")
def readyz(context: WithContext) -> dict[str, str]:
    """Tell that the engine answers too; one that asks for an account answers."""
    engine = open_for_caller(context.settings.address, context.settings.index, (), PATIENCE_S)
    try:
        engine.info()
    except Permanent as error:
        if not turned_away(error):
            raise
    except Unavailable as error:
        raise HttpError(503, "unavailable_exception", "the engine does not answer", "try again later") from error
    finally:
        engine.close()
    return {"status": "ok", "engine": context.kind}


root_router = APIRouter(tags=["search"])


@root_router.get("/")
@root_router.head("/", include_in_schema=False)
async def root(request: Request, context: WithContext, engine: CallersEngine) -> Response:
    """Show the page to a browser; to a client tell what the engine says of itself, over SQLite what the gateway is."""
    if accepts_html(request):
        return await run_in_threadpool(home, engine, context, read_query(request.query_params))
    if context.upstream is None:
        product = {"number": version("ibidem"), "distribution": "ibidem"}
        return answer({"name": "ibidem", "version": product, "tagline": "an SQLite index: see /openapi.json"})
    return await pass_as_it_came(request, context.upstream, b"")


PRODUCT = {"elasticsearch": {"x-elastic-product": "Elasticsearch"}}
"""Headers that an engine's own clients insist on, with every answer."""

ROUTERS = (
    health_router,
    metrics_router,
    routes.router,
    saved.review_router,
    saved.router,
    rendering.docs_router,
    document_routes.document_router,
    document_routes.override_router,
    document_routes.alert_router,
    root_router,
    search_routes.router,
)
"""Routers, in the order in which paths are compared."""


def make_gateway(settings: Settings, hosts: Iterable[str] = ()) -> FastAPI:
    """Make the application; nothing is connected yet.

    Args:
        settings: The settings in force.
        hosts: Further names by which the gateway may be called.
    """
    context = GatewayContext(settings, Engines(settings), make_upstream(settings), Metrics())

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        """Close connections at the end."""
        yield
        context.engines.close()
        if context.upstream is not None:
            await context.upstream.close()

    app = FastAPI(title="ibidem", version=version("ibidem"), lifespan=lifespan, docs_url=None, redoc_url=None)
    app.state.context = context
    for router in ROUTERS:
        app.include_router(router)
    if settings.gateway_paths == "all":
        if has_all_indexes(settings):
            app.include_router(search_routes.everywhere)
        app.router.routes.append(Route("/{path:path}", Passthrough(context), include_in_schema=False))
    for kind in (HttpError, IbidemError, HTTPException, RequestValidationError):
        app.add_exception_handler(kind, refuse)
    add_error_schema(app)
    names = (*settings.gateway_hosts, *hosts)
    app.add_middleware(
        LimitsMiddleware,
        settings=settings,
        metrics=context.metrics,
        hosts=names,
        product=PRODUCT.get(context.kind, {}),
        render_error=refuse,
    )
    return app


def make_upstream(settings: Settings) -> Upstream | None:
    """Return the cluster that the settings name; None for a file."""
    if settings.engine.startswith("sqlite:"):
        return None
    return Upstream(parse_address(settings.address), settings.gateway_clients)


EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104 - compared, never bound by itself
SECONDS_TO_END = 10
BACKLOG = 2_048
RARELY = (50_000, 20, 50)


def serve(
    settings: Settings, host: str, port: int, ready: Callable[[str], None] = lambda _: None, processes: int = 1
) -> None:
    """Answer requests until SIGTERM; running requests are finished first.

    Each answer is a line of the log: method, path, status and time; what people search for is in none.

    Args:
        settings: The settings in force.
        host: Address to listen on.
        port: Port to listen on.
        ready: Called with the address of the page once callers are let in.
        processes: How many answer; each has limits of its own.

    Raises:
        UsageError: The address cannot be listened on.
    """
    logs.set_up(settings, "info")
    listening = listen(host, port)
    name = f"[{host}]" if ":" in host else host

    def serve_here() -> None:
        """Serve in this process."""
        server = make_server(settings, () if host in EVERYWHERE else (name,))
        spare_the_collector()
        with contextlib.suppress(KeyboardInterrupt):
            server.run([listening])

    ready(f"http://{'127.0.0.1' if host in EVERYWHERE else name}:{port}/")
    with listening:
        if processes == 1:
            serve_here()
        else:
            run_processes(processes, serve_here)


def make_server(settings: Settings, hosts: Iterable[str] = ()) -> uvicorn.Server:
    """Make the server of a gateway; it listens nowhere yet.

    Args:
        settings: The settings in force.
        hosts: Further names by which the gateway may be called.
    """
    config = uvicorn.Config(
        make_gateway(settings, hosts),
        http=Connections(settings).make,  # type: ignore[arg-type] # it is called as a class would be
        log_config=None,  # it goes the way of all that is logged
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=SECONDS_TO_END,
    )
    return uvicorn.Server(config)


def spare_the_collector() -> None:
    """Let Python look for garbage seldom: the window of each search is thousands of objects, none in a circle.

    With the thresholds that it starts with it would look at all of them every few searches, for a sixth of the time.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*RARELY)


def listen(host: str, port: int) -> socket.socket:
    """Listen at an address.

    Raises:
        UsageError: It is another's, or none of this machine.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=BACKLOG)
    except OSError as error:
        raise UsageError(
            f"{host}:{port} cannot be listened on ({os.strerror(error.errno) if error.errno else error})",
            "choose others: --host, --port",
        ) from error
