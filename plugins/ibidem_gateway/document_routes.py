"""Routes of `/ibidem/…`: search, inspect, duplicates, compare, groups, doctor and manual decisions."""

import os
from collections.abc import Mapping
from contextlib import closing, suppress
from functools import partial
from threading import Lock
from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Depends, Path, Request, Response
from fastapi.responses import PlainTextResponse
from prometheus_client import CollectorRegistry, Gauge
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector
from pydantic import Field

from ibidem.comparison.compare import compare
from ibidem.grouped_search.api import search_window
from ibidem.grouped_search.texts import check_date
from ibidem.index import documents
from ibidem.index.doctor import report
from ibidem.index.documents import inspect as inspect_document
from ibidem.index.groups import index_groups
from ibidem_core.errors import EngineError, Permanent, Unavailable
from ibidem_dedupe.overrides import VERDICTS
from ibidem_engines.cluster.client import Failure
from ibidem_engines.connect import open_for_caller
from ibidem_engines.query import parse_query
from ibidem_gateway.dependencies import (
    CallersEngine,
    ComparedParameters,
    Id,
    LevelParameters,
    NoParameters,
    PairParameters,
    SearchParameters,
    StrictQuery,
    WithCaller,
    WithContext,
    gateway_context,
)
from ibidem_gateway.upstream import ENGINE_TIMEOUT_S, JSON, HttpError
from ibidem_ingest.document import Document

document_router = APIRouter(prefix="/ibidem", tags=["documents"])

PathId = Annotated[str, Path(description="A document's id.", min_length=1)]

WHOLE_INDEX = Lock()  # grouping a whole index takes a processor for seconds: one at a time


@document_router.get("/search")
def search(engine: CallersEngine, context: WithContext, native: SearchParameters) -> Response:
    """Search as `ibidem search --json` does, on every engine: all words must occur, duplicates are indented."""
    query = parse_query(native.q, native.filter)
    request, tables = native.request("indent", engine), context.current_tables()
    own_search = partial(search_window, engine, query, request, native.page, native.size, tables=tables)
    return answer(context.metrics.time_search(own_search).response)


@document_router.get("/inspect/{id:path}")
def inspect(id: PathId, engine: CallersEngine, parameters: LevelParameters) -> Response:  # noqa: A002 - the name in the path
    """Show a document's duplicates in the whole index, as `ibidem inspect --json` does."""
    return answer(inspect_document(engine, id, parameters.policy(engine)).as_json())


class OutsideText(StrictQuery):
    """A text that is not in the index."""

    text: str = Field(min_length=1, description="The text; a form feed is between two pages.")
    title: str = ""
    date: str = Field(default="", description="ISO 8601.")
    language: str = Field(default="", description="ISO 639 code; without it the language is detected.")


@document_router.post("/duplicates")
def duplicates(outside: OutsideText, engine: CallersEngine, context: WithContext, level: LevelParameters) -> Response:
    """Find the documents that a text repeats which is not in the index, as `ibidem inspect --file` does."""
    date, policy = check_date(outside.date, "the text"), level.policy(engine, "partial")
    document = Document("text", outside.text, outside.title, date, language=outside.language)
    return answer(
        documents.inspect_outside(engine, document, context.tables(), policy, context.settings.distinct).as_json()
    )


@document_router.get("/compare")
def compare_pair(engine: CallersEngine, context: WithContext, parameters: ComparedParameters) -> Response:
    """Compare two documents, as `ibidem compare --json` does."""
    left, right = documents.read_document(engine, parameters.a), documents.read_document(engine, parameters.b)
    decision = documents.read_decision(engine, parameters.a, parameters.b)
    policy = parameters.policy(engine, "partial")
    distinct = context.settings.distinct
    return answer(compare(left, right, context.tables(), policy, decision, distinct).as_json())


@document_router.get("/groups")
def groups(engine: CallersEngine, parameters: LevelParameters) -> Response:
    """Show the groups of the whole index, as `ibidem groups --json` does; one caller at a time."""
    if not WHOLE_INDEX.acquire(blocking=False):
        raise HttpError(429, "the index is being grouped for another caller", "try again later")
    try:
        report = index_groups(engine, parameters.policy(engine))
    finally:
        WHOLE_INDEX.release()
    return answer(report.as_json(partial(documents.titles, engine)))


@document_router.get("/doctor")
def doctor(caller: WithCaller, context: WithContext, _: NoParameters) -> Response:
    """Return every setting and check, as `ibidem doctor --json` does, if the engine accepts the caller."""
    settings = context.settings
    open_index = partial(open_for_caller, settings.address, settings.index, caller.headers, ENGINE_TIMEOUT_S)
    with closing(open_index()) as engine:
        engine.info()  # refuses callers unknown to the engine, and all callers if it does not respond
    return answer(report(settings, open_index))


def answer(value: Mapping[str, Any], status: int = 200) -> Response:
    """Serialize a value as JSON."""
    return Response(orjson.dumps(value), status, media_type=JSON)


MAX_REASON = 2_000  # characters of a decision's reason


async def check_overrides(request: Request) -> None:
    """Refuse to change overrides unless the settings allow it."""
    if not gateway_context(request).settings.gateway_overrides:
        remedy = "IBIDEM_GATEWAY_OVERRIDES=true allows it; ibidem overrides does it on the command line"
        raise HttpError(403, "manual decisions are not allowed over HTTP", remedy)


override_router = APIRouter(prefix="/ibidem/overrides", tags=["overrides"])
Allowed = [Depends(check_overrides)]


class NewOverride(StrictQuery):
    """A manual decision on two documents."""

    a: Id
    b: Id
    verdict: str = Field(description=f"{' or '.join(VERDICTS)}.")
    reason: str = Field(default="", max_length=MAX_REASON)
    author: str = Field(
        default="", max_length=200, description="Author; for a caller with credentials, the user's name."
    )


@override_router.get("")
def overrides(engine: CallersEngine, _: NoParameters) -> Response:
    """List the manual decisions on pairs of documents that the caller may read."""
    return answer({"overrides": [each.as_record() for each in documents.find_overrides(engine)]})


@override_router.post("", dependencies=Allowed, status_code=201)
def add(new: NewOverride, engine: CallersEngine, caller: WithCaller) -> Response:
    """Record that two documents are not duplicates, or that they are the same."""
    author = caller.name or new.author
    override = documents.add_override(engine, (new.a, new.b), new.verdict, author=author, reason=new.reason)
    return answer(documents.report_overrides(engine, [override]), 201)


@override_router.delete("", dependencies=Allowed)
def remove(engine: CallersEngine, pair: PairParameters) -> Response:
    """Remove the manual decision on two documents."""
    return answer(documents.report_overrides(engine, documents.remove_override(engine, pair.a, pair.b, readable=True)))


router = APIRouter(tags=["operation"])


@router.get("/metrics", response_class=PlainTextResponse)
def metrics(context: WithContext, engine: CallersEngine) -> Response:
    """Return the Prometheus metrics; the number of dead letters only to callers who may read them."""
    registry, of_engine = context.metrics.registry, CollectorRegistry()
    if "PROMETHEUS_MULTIPROC_DIR" in os.environ:  # of all processes of this gateway
        registry = CollectorRegistry()
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call] # the library has no type here
    with suppress(EngineError):
        count = engine.count("dead")
        Gauge("ibidem_dead_letters", "Documents that could not be ingested.", registry=of_engine).set(count)
    text = generate_latest(registry) + generate_latest(of_engine)
    return Response(text, headers={"content-type": CONTENT_TYPE_LATEST})


PATIENCE_S = 5.0


@router.get("/healthz")
async def healthz() -> dict[str, str]:
    """Report that the gateway responds, whatever the state of the engine."""
    return {"status": "ok"}


@router.get("/readyz")
def readyz(context: WithContext) -> dict[str, str]:
    """Report whether the engine responds, too; a response that requires credentials counts."""
    try:
        with closing(open_for_caller(context.settings.address, context.settings.index, (), PATIENCE_S)) as engine:
            engine.info()
    except Permanent as error:
        if not isinstance(error.__cause__, Failure) or error.__cause__.status not in (401, 403):
            raise
    except Unavailable as error:
        raise HttpError(503, "the engine does not answer", "try again later") from error
    return {"status": "ok", "engine": context.kind}
