"""Routes of the page: result list, document, inspect, compare, overrides, export, static files."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse
from pydantic import Field
from starlette.datastructures import QueryParams

from ibidem.comparison.compare import compare
from ibidem.comparison.html_page import shared_page
from ibidem.comparison.result_list import FORMATS, rows
from ibidem.gateway.dependencies import CallersEngine, GatewayContext, WithCaller, WithContext
from ibidem.gateway.document_routes import check_overrides
from ibidem.gateway.errors import HttpError
from ibidem.gateway.metrics import timed_search
from ibidem.gateway.openapi import Id, NoParameters, Pair, StrictQuery
from ibidem.gateway.page.documents import read_copies, timeline
from ibidem.gateway.page.entries import page_groups, split_marks, web_address
from ibidem.gateway.page.reading import choices, has_more, neighbours, pieces, stored_choices
from ibidem.gateway.page.rendering import STATIC, html, static
from ibidem.gateway.page.state import LABELS, ListQuery, PageState, field, read_form, read_query
from ibidem.gateway.upstream import Caller
from ibidem.grouped_search.api import search_window
from ibidem.grouped_search.backend import Portion
from ibidem.grouped_search.explanations import account_line, note_lines
from ibidem.index.documents import add_override, read_document, read_verdict, readable_overrides, remove_override
from ibidem.index.inspection import inspect as find_copies
from ibidem_core.errors import NoIndex
from ibidem_dedupe.parameters import DEEPEST, PRESETS
from ibidem_dedupe.policy import LEVELS, Policy
from ibidem_engines.engine import Engine
from ibidem_engines.highlighting import mark as highlight
from ibidem_engines.highlighting import searched_phrases
from ibidem_engines.stored_overrides import load_overrides
from ibidem_ingest.idf.store import Tables

router = APIRouter(prefix="/ibidem/page", tags=["page"], include_in_schema=False)

PLACE = re.compile("g[0-9]{1,6}")
"""A place in the list."""

CACHE_CONTROL = "public, max-age=31536000, immutable"


class One(StrictQuery):
    """A document, and the level at which its duplicates are shown."""

    id: Id

    level: str = Field(default="", description=f"{', '.join(LEVELS)}.")
    preset: str = Field(default="", description=f"{', '.join(PRESETS)}.")
    similarity: str = Field(default="", max_length=10, description="Least share of common text, in percent.")
    days: str = Field(default="", max_length=10, description="Most days between two duplicates.")

    def state(self) -> PageState:
        """Return what of a list's state decides on a pair."""
        return PageState(level=self.level, similarity=self.similarity, preset=self.preset, days=self.days)


class Two(Pair):
    """Two documents, and the policy by which they are compared."""

    preset: str = Field(default="", description=f"{', '.join(PRESETS)}.")
    similarity: str = Field(default="", max_length=10, description="Least share of common text, in percent.")
    days: str = Field(default="", max_length=10, description="Most days between two duplicates.")

    def policy(self) -> Policy:
        """Return the decision for a pair."""
        return PageState(similarity=self.similarity, preset=self.preset, days=self.days).policy("partial")


OneParameters = Annotated[One, Query()]
TwoParameters = Annotated[Two, Query()]


def home(engine: Engine, context: GatewayContext, parameters: ListQuery) -> Response:
    """Show the list.

    Args:
        engine: The index, with the caller's rights.
        context: Settings, caches and metrics that every request may use.
        parameters: The address.
    """
    state = parameters.state()
    if not state.q.strip():
        return html("page_home.html", state=state, labels=LABELS, documents=count_documents(engine))
    query, request = state.query(), state.request()
    metrics, tables = context.metrics, context.current_tables()
    result = timed_search(engine, query, request, state.page, state.size, metrics, tables, state.sort, facets=True)
    facets = choices(engine, result.facets, state)
    if result.response["dedupe"].get("grouping") == "stored":
        facets = stored_choices(engine, state)
    return html(
        "page_list.html",
        state=state,
        labels=LABELS,
        groups=page_groups(result.response, 1 + (state.page - 1) * state.size),
        account=account_line(result.response, 1 + (state.page - 1) * state.size),
        notes=note_lines(result.response["dedupe"]),
        better=result.response["dedupe"].get("did_you_mean") or "",
        late=result.response["dedupe"].get("late") or [],
        choices=facets,
        filters=bool(state.filters() or facets.sources or facets.languages or facets.years),
        more=has_more(result.response, state),
        overrides=context.settings.gateway_overrides,
    )


def count_documents(engine: Engine) -> int | None:
    """Return how many documents there are; None where there is no index yet."""
    try:
        info = engine.info()
    except NoIndex:
        return None
    return info.documents if info.exists else None


PORTION = 100
"""Duplicates of a group that are loaded at once."""


class ShownGroup(ListQuery):
    """The address of further duplicates of one of a list's groups."""

    group: str = Field(min_length=1, max_length=100, description="The group's name.")
    after: int = Field(default=0, ge=0, le=DEEPEST, description="How many duplicates come before them.")


@router.get("/group")
def group(engine: CallersEngine, context: WithContext, parameters: Annotated[ShownGroup, Query()]) -> Response:
    """Show further duplicates of a group, some at a time."""
    state = parameters.state()
    result = search_window(
        engine,
        state.query(),
        replace(state.request(), mode="indent"),
        state.page,
        state.size,
        tables=context.current_tables(),
        order=state.sort,
        portion=Portion(parameters.group, parameters.after, PORTION),
    )
    groups = page_groups(result.response, 1)
    if not groups:
        raise HttpError(
            404, "resource_not_found_exception", f"no group {parameters.group!r} on this page", "search again"
        )
    return html(
        "page_group.html",
        state=state,
        group=groups[0],
        after=parameters.after,
        overrides=context.settings.gateway_overrides,
    )


@router.get("/export.{ending}")
def export(
    ending: str, engine: CallersEngine, context: WithContext, parameters: Annotated[ListQuery, Query()]
) -> Response:
    """Give the examined documents of a list as a table, duplicates behind their leads."""
    if ending not in FORMATS:
        raise HttpError(
            404, "resource_not_found_exception", f"no export as {ending!r}", f"allowed: {', '.join(FORMATS)}"
        )
    state = replace(parameters.state(), dedupe="indent", page=1)
    request = replace(state.request(), max_per_group=None)
    tables = context.current_tables()
    result = search_window(
        engine, state.query(), request, size=request.window, tables=tables, order=state.sort, all_copies=True
    )
    media, write = FORMATS[ending]
    name = {"content-disposition": f'attachment; filename="ibidem.{ending}"', "cache-control": "private, no-store"}
    return Response(write(rows(result.response)), media_type=media, headers=name)


class ShownDocument(ListQuery):
    """A document, and the list that it was opened from."""

    id: Id


@router.get("/document")
def document(engine: CallersEngine, context: WithContext, parameters: Annotated[ShownDocument, Query()]) -> Response:
    """Show a document whole, the query's words marked, with the results before and after it."""
    hit, state = read_document(engine, parameters.id), parameters.state()
    query = state.query() if state.q.strip() else None
    passages = list(pieces(hit.text, searched_phrases(query, "text")))
    return html(
        "page_document.html",
        document=hit,
        title=split_marks(highlight(hit.title or hit.id, searched_phrases(query, "title"))),
        url=web_address(hit.url),
        pieces=passages,
        matches=max((each.match for each in passages), default=0),
        state=state,
        neighbours=neighbours(engine, context, state, parameters.id) if query else None,
        id_query=urlencode({"id": hit.id}),
    )


@router.get("/inspect")
def inspect(engine: CallersEngine, context: WithContext, parameters: OneParameters) -> Response:
    """Show a document's duplicates in the whole index, and when and where they appeared."""
    inspection = find_copies(engine, parameters.id, parameters.state().policy())
    document = read_document(engine, parameters.id)
    copies = read_copies(engine, inspection)
    return html(
        "page_inspect.html",
        document=document,
        inspection=inspection,
        copies=copies,
        timeline=timeline(document, [each.document for each in copies]),
        labels=LABELS,
        state=parameters.state(),
        level=parameters.level or "near",
        overrides=context.settings.gateway_overrides,
        id_query=urlencode({"id": document.id}),
    )


@router.get("/compare")
def compare_pair(engine: CallersEngine, context: WithContext, parameters: TwoParameters) -> Response:
    """Show two documents side by side."""
    left, right = read_document(engine, parameters.a), read_document(engine, parameters.b)
    comparison = compare(left, right, Tables(context.settings.tables), parameters.policy())
    words = [
        word
        for word in readable_overrides(engine, load_overrides(engine))
        if {word.a[1], word.b[1]} == {parameters.a, parameters.b}
    ]
    return html(
        "page_compare.html",
        page=shared_page(comparison),
        a=left,
        b=right,
        words=words,
        overrides=context.settings.gateway_overrides,
    )


@router.get("/overrides")
def overrides(engine: CallersEngine, context: WithContext, _: NoParameters) -> Response:
    """List manual decisions."""
    words = readable_overrides(engine, load_overrides(engine))
    return html("page_overrides.html", words=words, overrides=context.settings.gateway_overrides)


@router.post("/overrides", dependencies=[Depends(check_overrides)])
async def say(request: Request, engine: CallersEngine, caller: WithCaller) -> Response:
    """Take a manual decision from a form; where it was sent from was checked before."""
    form = await read_form(request)
    a, b = (field(form, name) for name in ("a", "b"))
    await run_in_threadpool(save_override, form, engine, caller)
    return RedirectResponse(list_address(form) or f"/ibidem/page/compare?{urlencode({'a': a, 'b': b})}", 303)


def list_address(form: Mapping[str, str]) -> str:
    """Return the address of the list that a form was sent from; empty where it was no list.

    Args:
        form: Its fields; `list` is the query string of the list, which is read and written again.
    """
    if "list" not in form:
        return ""
    state = read_query(QueryParams(form["list"])).state()
    if form.get("skip", "").isdecimal():
        return state.part("review", skip=form["skip"][:6])
    place = form.get("place", "")
    return state.address(page=state.page) + (f"#{place}" if PLACE.fullmatch(place) else "")


def save_override(form: Mapping[str, str], engine: Engine, caller: Caller) -> None:
    """Save the manual decision of a form on two documents, or remove one.

    Args:
        form: Its fields.
        engine: The index, with the caller's rights.
        caller: User who says so.
    """
    a, b, verdict = (field(form, name) for name in ("a", "b", "verdict"))
    if verdict == "none":
        remove_override(engine, a, b, readable_overrides)
        return
    author = caller.name or form.get("author", "")[:200]
    add_override(engine, (a, b), read_verdict(verdict), author=author, reason=form.get("reason", "")[:2_000])


@router.get("/static/{version}/{name}")
async def file(version: str, name: str) -> Response:
    """Serve a static file of the pages."""
    del version  # it only makes the address new when the file is
    if name not in STATIC:
        raise HttpError(404, "resource_not_found_exception", f"no file {name!r}", "the pages name those that there are")
    return Response(static(name), media_type=STATIC[name], headers={"cache-control": CACHE_CONTROL})
