"""The application: settings in, everything that answers out."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from importlib.metadata import version

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from ibidem.gateway import health
from ibidem.gateway.bounds import Bounds
from ibidem.gateway.engines import Engines
from ibidem.gateway.given import Given
from ibidem.gateway.refusals import Answered, answered, as_response
from ibidem_ingest.errors import IbidemError
from ibidem_workers.settings import Settings

PRODUCT = {"elasticsearch": {"x-elastic-product": "Elasticsearch"}}
"""Headers that an engine's own clients insist on, with every answer."""

ROUTERS = (health.router,)
"""What answers, in the order in which paths are compared."""


def make_gateway(settings: Settings, hosts: Iterable[str] = ()) -> FastAPI:
    """Make the application; nothing is connected yet.

    Args:
        settings: The settings in force.
        hosts: Further names by which the gateway may be called.
    """
    given = Given(settings, Engines(settings))

    @asynccontextmanager
    async def open_and_closed(_: FastAPI) -> AsyncIterator[None]:
        yield
        given.engines.close()

    app = FastAPI(title="ibidem", version=version("ibidem"), lifespan=open_and_closed, docs_url=None, redoc_url=None)
    app.state.given = given
    for router in ROUTERS:
        app.include_router(router)
    for kind in (Answered, IbidemError, HTTPException, RequestValidationError):
        app.add_exception_handler(kind, refuse)
    names = (*settings.gateway_hosts, *hosts)
    app.add_middleware(Bounds, settings=settings, hosts=names, product=PRODUCT.get(given.kind, {}), shown=as_response)
    return app


def refuse(request: Request, error: Exception) -> Response:
    """Answer a request that went wrong."""
    return as_response(request, named(request, error))


def named(request: Request, error: Exception) -> Answered:
    """Say what went wrong, whoever noticed it."""
    if isinstance(error, Answered):
        return error
    if isinstance(error, IbidemError):
        return answered(error)
    if isinstance(error, RequestValidationError):
        wrong = error.errors()[0]
        return Answered(400, "illegal_argument_exception", f"{'.'.join(map(str, wrong['loc']))}: {wrong['msg']}")
    status = error.status_code if isinstance(error, HTTPException) else 500
    return Answered(status, "exception", f"{request.method} {request.url.path} is not answered here", f"see {DOCS}")


DOCS = "/openapi.json"
