"""The application: settings in, everything that answers out."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from importlib.metadata import version

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from ibidem.gateway import documents, exposition, feed, health, overrides, root, searching
from ibidem.gateway.bounds import Bounds
from ibidem.gateway.documentation import documented
from ibidem.gateway.engines import Engines
from ibidem.gateway.given import Given
from ibidem.gateway.metrics import Metrics
from ibidem.gateway.page import docs, routes
from ibidem.gateway.refusals import Answered
from ibidem.gateway.refusing import refuse
from ibidem.gateway.upstream import Upstream
from ibidem_engines.address import parse_address
from ibidem_ingest.errors import IbidemError
from ibidem_workers.settings import Settings

PRODUCT = {"elasticsearch": {"x-elastic-product": "Elasticsearch"}}
"""Headers that an engine's own clients insist on, with every answer."""

ROUTERS = (
    health.router,
    exposition.router,
    routes.router,
    docs.router,
    documents.router,
    overrides.router,
    feed.router,
    root.router,
    searching.router,
)
"""What answers, in the order in which paths are compared."""


def make_gateway(settings: Settings, hosts: Iterable[str] = ()) -> FastAPI:
    """Make the application; nothing is connected yet.

    Args:
        settings: The settings in force.
        hosts: Further names by which the gateway may be called.
    """
    given = Given(settings, Engines(settings), upstream_of(settings), Metrics())

    @asynccontextmanager
    async def open_and_closed(_: FastAPI) -> AsyncIterator[None]:
        yield
        given.engines.close()
        if given.upstream is not None:
            await given.upstream.close()

    app = FastAPI(title="ibidem", version=version("ibidem"), lifespan=open_and_closed, docs_url=None, redoc_url=None)
    app.state.given = given
    for router in ROUTERS:
        app.include_router(router)
    for kind in (Answered, IbidemError, HTTPException, RequestValidationError):
        app.add_exception_handler(kind, refuse)
    documented(app)
    names = (*settings.gateway_hosts, *hosts)
    app.add_middleware(
        Bounds,
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
