"""FastAPI application of the gateway (routers, middleware, error handlers), and the processes that serve it."""

import asyncio
import contextlib
import gc
import logging
import multiprocessing.process
import os
import resource
import signal
import socket
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import uvicorn
from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.exceptions import RequestValidationError
from rich.text import Text
from starlette.exceptions import HTTPException
from uvicorn.supervisors import Multiprocess

from ibidem.cli.console import messages
from ibidem_core import logs
from ibidem_core.address import parse_address
from ibidem_core.settings import Settings, load
from ibidem_gateway import document_routes, proxy
from ibidem_gateway.dependencies import CallersEngine, GatewayContext, WithContext, add_error_schema
from ibidem_gateway.document_routes import answer
from ibidem_gateway.middleware import GatewayMiddleware, refuse
from ibidem_gateway.page import documents, routes, state
from ibidem_gateway.page.routes import home
from ibidem_gateway.page.state import read_query
from ibidem_gateway.proxy import everything, forward
from ibidem_gateway.upstream import Engines, HttpError, Metrics, Upstream, accepts_html
from ibidem_ingest.distribution import installed_version
from ibidem_ingest.errors import IbidemError, UsageError

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
    state.docs_router,
    document_routes.document_router,
    document_routes.override_router,
    root_router,
    proxy.router,
)


def make_gateway(settings: Settings) -> FastAPI:
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
    product = PRODUCT.get(context.kind, {})
    app.add_middleware(GatewayMiddleware, metrics=context.metrics, hosts=settings.gateway_hosts, product=product)
    return app


def make_upstream(settings: Settings) -> Upstream | None:
    """Return the configured cluster; None for SQLite."""
    if settings.engine.startswith("sqlite:"):
        return None
    return Upstream(parse_address(settings.address))


LOG = logging.getLogger(__name__)

LOOPBACK = ("127.0.0.1", "::1", "localhost")
UNSPECIFIED_HOSTS = ("0.0.0.0", "::")  # noqa: S104 - compared, never bound by itself
BACKLOG = 2_048  # connections that wait to be accepted
SECONDS_TO_END = 10  # for requests that are running when the server is told to end
MAX_CONNECTIONS = 2_000  # of a process; further requests get status 503
GC_THRESHOLDS = (50_000, 20, 50)  # a search creates thousands of objects without cycles


def serve(host: str, port: int, processes: int) -> None:
    """Serve requests until SIGTERM; running requests are finished first.

    Each response is a line of the log: method, path, status and time, without the query.
    """
    settings = load()
    logs.set_up(settings, "info")
    name = f"[{host}]" if ":" in host else host
    with listen(host, port) as listening:
        if host not in UNSPECIFIED_HOSTS:
            os.environ["IBIDEM_GATEWAY_HOSTS"] = ",".join(dict.fromkeys([*settings.gateway_hosts, name]))
        if host not in LOOPBACK and asyncio.run(is_open(settings)):
            LOG.warning("the engine has no users: whoever reaches %s:%s can read and change the index", name, port)
        url = f"http://{'127.0.0.1' if host in UNSPECIFIED_HOSTS else name}:{port}/"
        messages().print(Text(f"Index {settings.index!r} at {url} (Ctrl-C ends it)"))
        config = uvicorn.Config(
            "ibidem_gateway.app:make_app",
            factory=True,
            workers=processes,
            log_config=None,  # uvicorn's logs go through our logging
            access_log=False,
            server_header=False,
            proxy_headers=False,
            limit_concurrency=MAX_CONNECTIONS,
            timeout_graceful_shutdown=SECONDS_TO_END,
        )
        if processes > 1:
            Multiprocess(config, sockets=[listening]).run()
        else:
            with contextlib.suppress(KeyboardInterrupt):
                uvicorn.Server(config).run([listening])


def make_app() -> FastAPI:
    settings = load()
    logs.set_up(settings, "info")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard not in {soft, resource.RLIM_INFINITY}:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GC_THRESHOLDS)
    if (parent := multiprocessing.parent_process()) is not None:
        threading.Thread(target=end_after, args=(parent,), daemon=True).start()
    return make_gateway(settings)


def end_after(parent: multiprocessing.process.BaseProcess) -> None:
    """End this process when its parent has ended, however it ended."""
    parent.join()
    os.kill(os.getpid(), signal.SIGTERM)


async def is_open(settings: Settings) -> bool:
    """Return whether the engine has no users: it answers without credentials."""
    upstream = make_upstream(settings)
    if upstream is None:
        return True
    try:
        return (await upstream.send("GET", "/", [])).status == 200
    except HttpError:
        return False
    finally:
        await upstream.close()


def listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=BACKLOG)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno and error.errno > 0 else error
        raise UsageError(f"cannot listen on {host}:{port}: {reason}", "choose another with --host or --port") from error
