"""`/metrics` as Prometheus reads it."""

from fastapi import APIRouter, Response
from fastapi.responses import PlainTextResponse
from prometheus_client import CollectorRegistry, Gauge
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from ibidem.gateway.given import CallersEngine, WithGiven
from ibidem_engines.engine import Engine
from ibidem_engines.errors import EngineError

router = APIRouter(tags=["operation"])


@router.get("/metrics", response_class=PlainTextResponse)
def metrics(given: WithGiven, engine: CallersEngine) -> Response:
    """Tell what was counted, for Prometheus; the dead letters only to those who may read them."""
    text = generate_latest(given.metrics.registry) + dead_letters(engine)
    return Response(text, headers={"content-type": CONTENT_TYPE_LATEST})


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
