"""Routes for operators: `/metrics` for Prometheus, `/healthz` and `/readyz`."""

import os

from fastapi import APIRouter, Response
from fastapi.responses import PlainTextResponse
from prometheus_client import CollectorRegistry, Gauge
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from ibidem_core.errors import EngineError, Permanent, Unavailable
from ibidem_engines.connect import open_for_caller
from ibidem_engines.engine import Engine
from ibidem_gateway.dependencies import CallersEngine, WithContext
from ibidem_gateway.errors import HttpError, turned_away

router = APIRouter(tags=["operation"])


@router.get("/metrics", response_class=PlainTextResponse)
def metrics(context: WithContext, engine: CallersEngine) -> Response:
    """Return the Prometheus metrics; the number of dead letters only to callers who may read them."""
    text = generate_latest(shared_registry(context.metrics.registry)) + dead_letters(engine)
    return Response(text, headers={"content-type": CONTENT_TYPE_LATEST})


def shared_registry(registry: CollectorRegistry) -> CollectorRegistry:
    """Return the metrics of all processes of this gateway, or of this process if it is the only one."""
    if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
        return registry
    together = CollectorRegistry()
    MultiProcessCollector(together)  # type: ignore[no-untyped-call] # the library has no type here
    return together


def dead_letters(engine: Engine) -> bytes:
    """Count the documents that could not be ingested; None if they cannot be read."""
    registry = CollectorRegistry()
    try:
        count = engine.count("dead")
    except EngineError:
        return b""
    Gauge("ibidem_dead_letters", "Documents that could not be ingested.", registry=registry).set(count)
    return generate_latest(registry)


PATIENCE_S = 5.0


@router.get("/healthz")
async def healthz() -> dict[str, str]:
    """Report that the gateway responds, whatever the state of the engine."""
    return {"status": "ok"}


@router.get("/readyz")
def readyz(context: WithContext) -> dict[str, str]:
    """Report whether the engine responds, too; a response that requires credentials counts."""
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
