"""FastAPI application of the gateway: routers, middleware, error handlers, and the server that runs it."""

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
from starlette.exceptions import HTTPException
from starlette.routing import Route

from ibidem.gateway import document_routes, ops_routes, search_routes
from ibidem.gateway.callers import Engines
from ibidem.gateway.dependencies import CallersEngine, GatewayContext, WithContext
from ibidem.gateway.document_routes import answer
from ibidem.gateway.error_handlers import refuse
from ibidem.gateway.errors import HttpError, accepts_html
from ibidem.gateway.index_access import all_open
from ibidem.gateway.metrics import Metrics
from ibidem.gateway.middleware import LimitsMiddleware
from ibidem.gateway.openapi import documented
from ibidem.gateway.page import rendering, review, routes, saved
from ibidem.gateway.page.routes import home
from ibidem.gateway.page.state import shown
from ibidem.gateway.passthrough import Passthrough
from ibidem.gateway.search_routes import pass_as_it_came
from ibidem.gateway.server import Connections, answer_in
from ibidem.gateway.signing.requests import Signing
from ibidem.gateway.upstream import Upstream
from ibidem_engines.address import parse_address
from ibidem_ingest.errors import IbidemError, UsageError
from ibidem_workers import logs
from ibidem_workers.settings import Settings

root_router = APIRouter(tags=["search"])


@root_router.get("/")
@root_router.head("/", include_in_schema=False)
async def root(request: Request, given: WithContext, engine: CallersEngine) -> Response:
    """Show the page to a browser; to a client tell what the engine says of itself, over SQLite what the gateway is."""
    if accepts_html(request):
        return await run_in_threadpool(home, engine, given, shown(request.query_params))
    if given.upstream is None:
        product = {"number": version("ibidem"), "distribution": "ibidem"}
        return answer({"name": "ibidem", "version": product, "tagline": "an SQLite index: see /openapi.json"})
    return await pass_as_it_came(request, given.upstream, b"")


PRODUCT = {"elasticsearch": {"x-elastic-product": "Elasticsearch"}}
"""Headers that an engine's own clients insist on, with every answer."""

ROUTERS = (
    ops_routes.health_router,
    ops_routes.metrics_router,
    routes.router,
    review.router,
    saved.router,
    rendering.docs_router,
    document_routes.document_router,
    document_routes.override_router,
    document_routes.alert_router,
    root_router,
    search_routes.router,
)
"""What answers, in the order in which paths are compared."""


def make_gateway(settings: Settings, hosts: Iterable[str] = ()) -> FastAPI:
    """Make the application; nothing is connected yet.

    Args:
        settings: The settings in force.
        hosts: Further names by which the gateway may be called.
    """
    upstream, metrics = upstream_of(settings), Metrics()
    signing = Signing(settings, upstream, metrics) if settings.gateway_sign and upstream is not None else None
    given = GatewayContext(settings, Engines(settings), upstream, metrics, signing=signing)

    @asynccontextmanager
    async def open_and_closed(_: FastAPI) -> AsyncIterator[None]:
        yield
        given.engines.close()
        if signing is not None:
            signing.close()
        if given.upstream is not None:
            await given.upstream.close()

    app = FastAPI(title="ibidem", version=version("ibidem"), lifespan=open_and_closed, docs_url=None, redoc_url=None)
    app.state.given = given
    for router in ROUTERS:
        app.include_router(router)
    if settings.gateway_paths == "all":
        if all_open(settings):
            app.include_router(search_routes.everywhere)
        app.router.routes.append(Route("/{path:path}", Passthrough(given), include_in_schema=False))
    for kind in (HttpError, IbidemError, HTTPException, RequestValidationError):
        app.add_exception_handler(kind, refuse)
    documented(app)
    names = (*settings.gateway_hosts, *hosts)
    app.add_middleware(
        LimitsMiddleware,
        settings=settings,
        metrics=given.metrics,
        hosts=names,
        product=PRODUCT.get(given.kind, {}),
        shown=refuse,
    )
    return app


def upstream_of(settings: Settings) -> Upstream | None:
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
    """Answer until the process is told to end; requests that are being answered are finished first.

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

    def answer_here() -> None:
        server = server_of(settings, () if host in EVERYWHERE else (name,))
        spare_the_collector()
        with contextlib.suppress(KeyboardInterrupt):
            server.run([listening])

    ready(f"http://{'127.0.0.1' if host in EVERYWHERE else name}:{port}/")
    with listening:
        if processes == 1:
            answer_here()
        else:
            answer_in(processes, answer_here)


def server_of(settings: Settings, hosts: Iterable[str] = ()) -> uvicorn.Server:
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
