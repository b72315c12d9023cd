"""Routes of `/ibidem/…`: search, inspect, compare, groups, overrides, and the feed of alerts."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import Lock
from typing import Annotated, Any
from urllib.parse import urlencode
from xml.etree.ElementTree import Element, SubElement, tostring

import orjson
from fastapi import APIRouter, Depends, Path, Request, Response
from pydantic import Field

from ibidem.comparison.compare import compare
from ibidem.comparison.html import printable
from ibidem.index.alerts import MAX_NAME, AlertReport, find_alert, find_new, list_reports
from ibidem.index.doctor import report
from ibidem.index.documents import (
    add_override,
    read_decision,
    read_document,
    read_verdict,
    readable_overrides,
    remove_override,
    titles,
)
from ibidem.index.groups import index_groups
from ibidem.index.inspection import inspect as inspect_document
from ibidem_dedupe.overrides import VERDICTS
from ibidem_engines.connect import open_for_caller
from ibidem_engines.engine import Engine
from ibidem_engines.query import parse_query
from ibidem_engines.stored_overrides import load_overrides
from ibidem_gateway.dependencies import CallersEngine, WithCaller, WithContext, gateway_context
from ibidem_gateway.errors import JSON, HttpError
from ibidem_gateway.metrics import timed_search
from ibidem_gateway.openapi import (
    ComparedParameters,
    Id,
    LevelParameters,
    NoParameters,
    PairParameters,
    SearchParameters,
    StrictQuery,
)
from ibidem_gateway.upstream import ENGINE_TIMEOUT_S
from ibidem_ingest.document import Document
from ibidem_ingest.idf.store import Tables

document_router = APIRouter(prefix="/ibidem", tags=["documents"])

PathId = Annotated[str, Path(description="A document's id.", min_length=1)]

_whole_index = Lock()  # grouping a whole index takes a processor for seconds: one at a time


@document_router.get("/search")
def search(engine: CallersEngine, context: WithContext, native: SearchParameters) -> Response:
    """Search as `ibidem search --json` does, on every engine: all words must occur, duplicates are indented."""
    query = parse_query(native.q, native.filter)
    request, tables = native.request("indent", engine), context.current_tables()
    result = timed_search(engine, query, request, native.page, native.size, context.metrics, tables)
    return answer(result.response)


@document_router.get("/inspect/{id:path}")
def inspect(id: PathId, engine: CallersEngine, parameters: LevelParameters) -> Response:  # noqa: A002 - the name in the path
    """Show a document's duplicates in the whole index, as `ibidem inspect --json` does."""
    return answer(inspect_document(engine, id, parameters.policy(engine)).as_json())


@document_router.get("/compare")
def compare_pair(engine: CallersEngine, context: WithContext, parameters: ComparedParameters) -> Response:
    """Compare two documents, as `ibidem compare --json` does."""
    left, right = read_document(engine, parameters.a), read_document(engine, parameters.b)
    decision = read_decision(engine, parameters.a, parameters.b)
    policy = parameters.policy(engine, "partial")
    return answer(compare(left, right, Tables(context.settings.tables), policy, decision).as_json())


@document_router.get("/groups")
def groups(engine: CallersEngine, parameters: LevelParameters) -> Response:
    """Group the whole index, as `ibidem groups --json` does; one caller at a time, since it takes seconds."""
    with lock_index():
        report = index_groups(engine, parameters.policy(engine))
    return answer(report.as_json(titles(engine, [name for name, _ in report.largest])))


@document_router.get("/doctor")
def doctor(caller: WithCaller, context: WithContext, _: NoParameters) -> Response:
    """Return every setting and check, as `ibidem doctor --json` does, if the engine accepts the caller."""
    settings = context.settings

    def open_index() -> Engine:
        """Open the index with the caller's rights."""
        return open_for_caller(settings.address, settings.index, caller.headers, ENGINE_TIMEOUT_S)

    check_access(open_index())
    return answer(report(settings, open_index))


def check_access(engine: Engine) -> None:
    """Refuse callers unknown to the engine, and all callers if it does not respond."""
    try:
        engine.info()
    finally:
        engine.close()


def answer(value: Mapping[str, Any], status: int = 200) -> Response:
    """Serialize a value as JSON."""
    return Response(orjson.dumps(value), status, media_type=JSON)


@contextmanager
def lock_index() -> Iterator[None]:
    """Hold the lock that allows one whole-index task at a time."""
    if not _whole_index.acquire(blocking=False):
        raise HttpError(
            429, "rejected_execution_exception", "the index is being grouped for another caller", "try again later"
        )
    try:
        yield
    finally:
        _whole_index.release()


MAX_WORDS = 2_000


async def check_overrides(request: Request) -> None:
    """Refuse to change overrides unless the settings allow it."""
    if not gateway_context(request).settings.gateway_overrides:
        raise HttpError(
            403,
            "security_exception",
            "manual decisions are not allowed over HTTP",
            "IBIDEM_GATEWAY_OVERRIDES=true allows it; ibidem overrides does it on the command line",
        )


override_router = APIRouter(prefix="/ibidem/overrides", tags=["overrides"])
Allowed = [Depends(check_overrides)]


class Word(StrictQuery):
    """A manual decision on two documents."""

    a: Id
    b: Id
    verdict: str = Field(description=f"{' or '.join(VERDICTS)}.")
    reason: str = Field(default="", max_length=MAX_WORDS)
    author: str = Field(
        default="", max_length=200, description="Author; for a caller with credentials, the user's name."
    )


@override_router.get("")
def overrides(engine: CallersEngine, _: NoParameters) -> Response:
    """List the manual decisions on pairs of documents that the caller may read."""
    return answer({"overrides": [word.as_record() for word in readable_overrides(engine, load_overrides(engine))]})


@override_router.post("", dependencies=Allowed, status_code=201)
def say(word: Word, engine: CallersEngine, caller: WithCaller) -> Response:
    """Record that two documents are not duplicates, or that they are the same."""
    author = caller.name or word.author
    override = add_override(engine, (word.a, word.b), read_verdict(word.verdict), author=author, reason=word.reason)
    return answer({"overrides": [override.as_record()]}, 201)


@override_router.delete("", dependencies=Allowed)
def unsay(engine: CallersEngine, pair: PairParameters) -> Response:
    """Remove the manual decision on two documents."""
    return answer(
        {"overrides": [word.as_record() for word in remove_override(engine, pair.a, pair.b, readable_overrides)]}
    )


alert_router = APIRouter(prefix="/ibidem/alerts", tags=["alerts"])

ATOM = "http://www.w3.org/2005/Atom"
SHOWN = 50

Name = Annotated[str, Path(description="An alert's name.", min_length=1, max_length=MAX_NAME)]


@alert_router.get("/{name}.atom", response_class=Response, responses={200: {"content": {"application/atom+xml": {}}}})
def feed(name: Name, request: Request, engine: CallersEngine, _: NoParameters) -> Response:
    """Return the latest documents that an alert reported, as a feed; `ibidem alerts run` looks for new ones."""
    alert = find_alert(engine, name)
    latest = list_reports(engine, name)[-SHOWN:][::-1]
    base = str(request.base_url).rstrip("/")
    root = Element("feed", xmlns=ATOM)
    tell(root, "id", f"{base}/ibidem/alerts/{name}.atom")
    tell(root, "title", f"{alert.name}: {alert.query}")
    tell(root, "updated", latest[0].when if latest else "1970-01-01T00:00:00+00:00")
    for each, document in readable_ones(engine, latest):
        root.append(entry(base, each, document))
    return Response(tostring(root, encoding="utf-8", xml_declaration=True), media_type="application/atom+xml")


@alert_router.get("/{name}.json")
def news(name: Name, engine: CallersEngine, _: NoParameters) -> Response:
    """Return what is new for an alert since it was last run or marked as seen, without recording it."""
    alert = find_alert(engine, name)
    documents = [
        {"id": each.id, "title": each.title, "date": each.date, "source": each.source}
        for each in find_new(engine, alert)
    ]
    return answer({**alert.as_record(), "count": len(documents), "new": documents})


def readable_ones(engine: Engine, latest: list[AlertReport]) -> list[tuple[AlertReport, Document]]:
    """Return the reports whose documents exist and are readable, each with its document."""
    documents = {(s.index, s.document.id): s.document for s in engine.fetch([(each.index, each.id) for each in latest])}
    return [(each, documents[each.index, each.id]) for each in latest if (each.index, each.id) in documents]


def entry(base: str, each: AlertReport, document: Document) -> Element:
    """Describe one document."""
    element = Element("entry")
    address = f"{base}/ibidem/page/document?{urlencode({'id': document.id})}"
    tell(element, "id", address)
    tell(element, "title", document.title or document.id)
    tell(element, "updated", each.when)
    SubElement(element, "link", rel="alternate", type="text/html", href=address)
    if facts := " · ".join(part for part in (document.date, document.source) if part):
        tell(element, "summary", facts)
    return element


def tell(parent: Element, name: str, text: str) -> None:
    """Add an element with a text, without characters that XML cannot contain."""
    SubElement(parent, name).text = "".join(each for each in printable(text) if each.isprintable())
