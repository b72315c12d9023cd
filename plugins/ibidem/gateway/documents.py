"""`/ibidem/…`: searches as people type them, one document's duplicates, two documents side by side, the whole index."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import Lock
from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Path, Response

from ibidem.comparison import compare
from ibidem.doctor import report
from ibidem.gateway.given import CallersEngine, WithCaller, WithGiven
from ibidem.gateway.parameters import LevelParameters, NoParameters, PairParameters, SearchParameters
from ibidem.gateway.refusals import JSON, Answered
from ibidem.gateway.watched import watched_search
from ibidem.inspection import inspect as inspect_document
from ibidem.stored import stored_document, titles
from ibidem.whole_index import index_groups
from ibidem_engines.engine import Engine
from ibidem_engines.opening import open_for_caller
from ibidem_engines.query import parse_query
from ibidem_ingest.idf.tables import Tables

router = APIRouter(prefix="/ibidem", tags=["documents"])

Id = Annotated[str, Path(description="A document's id.", min_length=1)]

_whole_index = Lock()
"""Grouping a whole index takes a processor for seconds: one at a time."""


@router.get("/search")
def search(engine: CallersEngine, given: WithGiven, asked: SearchParameters) -> Response:
    """Search as `ibidem search --json` does, on every engine: all words must occur, duplicates are indented."""
    query = parse_query(asked.q, asked.filter)
    found = watched_search(engine, query, asked.request("indent"), asked.page, asked.size, given.metrics)
    return answer(found.response)


@router.get("/inspect/{id:path}")
def inspect(id: Id, engine: CallersEngine, asked: LevelParameters) -> Response:  # noqa: A002 - the name in the path
    """Show a document's duplicates in the whole index, as `ibidem inspect --json` does."""
    return answer(inspect_document(engine, id, asked.policy()).as_json())


@router.get("/compare")
def compare_pair(engine: CallersEngine, given: WithGiven, asked: PairParameters) -> Response:
    """Compare two documents, as `ibidem compare --json` does."""
    left, right = stored_document(engine, asked.a), stored_document(engine, asked.b)
    return answer(compare(left, right, Tables(given.settings.tables)).as_json())


@router.get("/groups")
def groups(engine: CallersEngine, asked: LevelParameters) -> Response:
    """Group the whole index, as `ibidem groups --json` does; one caller at a time, since it takes seconds."""
    with alone():
        found = index_groups(engine, asked.policy())
    return answer(found.as_json(titles(engine, [name for name, _ in found.largest])))


@router.get("/doctor")
def doctor(caller: WithCaller, given: WithGiven, _: NoParameters) -> Response:
    """Tell every setting and what answers, as `ibidem doctor --json` does, to those whom the engine lets in."""
    settings = given.settings

    def opened() -> Engine:
        return open_for_caller(settings.address, settings.index, caller.headers, float(settings.gateway_timeout))

    check_let_in(opened())
    return answer(report(settings, opened))


def check_let_in(engine: Engine) -> None:
    """Refuse a caller whom the engine does not know, and everybody when it cannot be asked.

    Args:
        engine: The engine, as the caller may read it.

    Raises:
        EngineError: The engine's own words to a stranger, or that it does not answer.
    """
    try:
        engine.info()
    finally:
        engine.close()


def answer(value: Mapping[str, Any], status: int = 200) -> Response:
    """Write a value as JSON.

    Args:
        value: What is answered.
        status: HTTP status.
    """
    return Response(orjson.dumps(value), status, media_type=JSON)


@contextmanager
def alone() -> Iterator[None]:
    """Let nobody else in.

    Raises:
        Answered: Somebody is in already.
    """
    if not _whole_index.acquire(blocking=False):
        raise Answered(
            429, "rejected_execution_exception", "the index is being grouped for another caller", "come again later"
        )
    try:
        yield
    finally:
        _whole_index.release()
