"""Routes of the page: result list, document, inspect, compare, manual decisions, static files."""

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Annotated
from urllib.parse import parse_qs, urlencode

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse
from pydantic import Field
from starlette.datastructures import QueryParams

from ibidem.comparison.compare import compare
from ibidem.comparison.word_diff import word_diff
from ibidem.grouped_search.api import account_line, format_count, note_lines, search_window
from ibidem.grouped_search.pages import Portion
from ibidem.index.documents import add_override, find_overrides, read_document, remove_override
from ibidem.index.documents import inspect as find_copies
from ibidem_dedupe.parameters import MAX_WINDOW
from ibidem_engines.engine import Engine
from ibidem_engines.query import mark as highlight
from ibidem_engines.query import searched_phrases
from ibidem_gateway.dependencies import CallersEngine, GatewayContext, Id, Pair, WithCaller, WithContext
from ibidem_gateway.document_routes import check_overrides
from ibidem_gateway.page.comparison import ComparedPair
from ibidem_gateway.page.documents import last_decision, read_copies, shown_sections, timeline
from ibidem_gateway.page.entries import count_choices, has_more, page_groups, split_marks, text_pieces, web_address
from ibidem_gateway.page.state import LABELS, PAIR_LEVELS, STATIC, ListQuery, field, html, read_query, static
from ibidem_gateway.upstream import Caller, HttpError
from ibidem_ingest.mail.head import FAMILY, MIH, is_mail, with_hash
from ibidem_mail import report

router = APIRouter(prefix="/ibidem/page", tags=["page"], include_in_schema=False)

CACHE_CONTROL = "public, max-age=31536000, immutable"


class ShownDocument(ListQuery):
    """A document, and the list that it was opened from."""

    id: Id


class ShownPair(ListQuery):
    """Two documents, and the list that they were compared from."""

    a: Id
    b: Id


def home(engine: Engine, context: GatewayContext, parameters: ListQuery) -> Response:
    state = parameters.state()
    if not state.q.strip():
        info = engine.info()
        return html("page_home.html", state=state, labels=LABELS, documents=info.documents if info.exists else None)
    query, request = state.query(), state.request()
    metrics, tables, first = context.metrics, context.current_tables(), 1 + (state.page - 1) * state.size
    search = partial(search_window, engine, query, request, state.page, state.size)
    result = metrics.time_search(partial(search, tables=tables, order=state.sort, facets=True))
    with metrics.measure("facets"):
        facets = count_choices(engine, result, state)
    with metrics.measure("differences"):
        groups = page_groups(result.response, first)
    with metrics.measure("rendering"):
        return html(
            "page_list.html",
            state=state,
            labels=LABELS,
            groups=groups,
            is_stored=result.response["dedupe"].get("by", "window") != "window",
            account=account_line(result.response, first),
            notes=note_lines(result.response["dedupe"]),
            better=result.response["dedupe"].get("did_you_mean") or "",
            choices=facets,
            filters=bool(facets.sources or facets.languages or facets.years),
            more=has_more(result.response, state),
            overrides=context.settings.gateway_overrides,
            decision=last_decision(engine, parameters),
        )


PLACE = re.compile("g[0-9]{1,6}")  # a place in the list
PORTION = 100  # duplicates of a group that are loaded at once


class ShownGroup(ListQuery):
    """The URL parameters of further duplicates of a group."""

    group: str = Field(min_length=1, max_length=100, description="The group's name.")
    after: int = Field(default=0, ge=0, le=MAX_WINDOW, description="Number of duplicates to skip.")


@router.get("/group")
def group(engine: CallersEngine, context: WithContext, parameters: Annotated[ShownGroup, Query()]) -> Response:
    """Show further duplicates of a group, page by page."""
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
        raise HttpError(404, f"no group {parameters.group!r} on this page", "search again")
    return html(
        "page_group.html",
        state=state,
        group=groups[0],
        after=parameters.after,
        overrides=context.settings.gateway_overrides,
    )


@router.get("/document")
def document(engine: CallersEngine, parameters: Annotated[ShownDocument, Query()]) -> Response:
    """Show a whole document with the query's words highlighted."""
    hit, state = read_document(engine, parameters.id), parameters.state()
    query = state.query() if state.q.strip() else None
    duplicates = find_copies(engine, parameters.id, state.policy()).duplicates
    thread = report.read_thread(engine, parameters.id) if is_mail(hit.meta) or FAMILY in hit.meta else None
    ancestors = thread.ancestors(parameters.id) if thread else []
    sections = shown_sections(hit, ancestors, searched_phrases(query, "text"))
    return html(
        "page_document.html",
        document=hit,
        title=split_marks(highlight(hit.title or hit.id, searched_phrases(query, "title"))),
        url=web_address(hit.url),
        sections=sections,
        matches=max((piece.match for each in sections for part in each.fragments for piece in part.pieces), default=0),
        thread=thread,
        mih=with_hash(hit.meta).get(MIH),
        state=state,
        duplicates=format_count(len(duplicates), "duplicate") if duplicates else "",
    )


@router.get("/inspect")
def inspect(engine: CallersEngine, parameters: Annotated[ShownDocument, Query()]) -> Response:
    """Show a document's duplicates in the whole index, with a timeline of their dates and sources."""
    state = parameters.state()
    inspection = find_copies(engine, parameters.id, state.policy())
    document = read_document(engine, parameters.id)
    copies = read_copies(engine, inspection)
    return html(
        "page_inspect.html",
        document=document,
        inspection=inspection,
        copies=copies,
        mih=inspection.signatures.get(MIH),
        timeline=timeline(document, [each.document for each in copies]),
        levels=PAIR_LEVELS,
        membership=report.describe(report.read(engine, parameters.id)),
        count=format_count(len(inspection.duplicates), "duplicate"),
        state=state,
    )


@router.get("/compare")
def compare_pair(engine: CallersEngine, context: WithContext, parameters: Annotated[ShownPair, Query()]) -> Response:
    """Show two documents side by side."""
    left, right = read_document(engine, parameters.a), read_document(engine, parameters.b)
    state = parameters.state()
    policy, distinct = state.at("").policy("partial"), context.settings.distinct
    comparison = compare(left, right, context.tables(), policy, distinct=distinct)
    page = ComparedPair.build(comparison)
    return html(
        "page_compare.html",
        page=page,
        count=format_count(page.redline.differences, "difference"),
        moved=format_count(page.redline.moved, "passage"),
        a=left,
        b=right,
        decisions=find_overrides(engine, (parameters.a, parameters.b)),
        state=state,
        overrides=context.settings.gateway_overrides,
        decision=last_decision(engine, parameters),
    )


@router.get("/differs")
def differs(engine: CallersEngine, parameters: Annotated[Pair, Query()]) -> Response:
    """Show the words that differ, with some context, on one line, for a group that the user opens."""
    left, right = read_document(engine, parameters.a), read_document(engine, parameters.b)
    return html("page_differs.html", differs=text_pieces(word_diff(left.text, right.text)))


@router.post("/overrides", dependencies=[Depends(check_overrides)])
async def decide(request: Request, engine: CallersEngine, caller: WithCaller) -> Response:
    """Record a manual decision from a form, whose origin was checked before."""
    form = {name: values[-1] for name, values in parse_qs((await request.body()).decode("utf-8", "replace")).items()}
    return RedirectResponse(await run_in_threadpool(save_override, form, engine, caller), 303)


def save_override(form: Mapping[str, str], engine: Engine, caller: Caller) -> str:
    """Record or remove the manual decision that a form contains; returns the URL of the page that sent it."""
    a, b, verdict = (field(form, name) for name in ("a", "b", "verdict"))
    if verdict == "none":
        remove_override(engine, a, b, readable=True)
    else:
        author = caller.name or form.get("author", "")[:200]
        add_override(engine, (a, b), verdict, author=author, reason=form.get("reason", "")[:2_000])
    state = read_query(QueryParams(form.get("list", ""))).state()
    message = [("said", verdict), ("about", a), ("about", b)]
    page = form.get("page", "compare" if "list" not in form else "list")
    if page == "overrides":
        return f"/ibidem/page/overrides?{urlencode(message)}"
    if page == "compare":
        return f"{state.part('compare', a=a, b=b)}&{urlencode(message)}"
    separator, place = "&" if state.suffix(page=state.page) else "?", form.get("place", "")
    anchor = f"#{place}" if PLACE.fullmatch(place) else ""
    return f"{state.address(page=state.page)}{separator}{urlencode(message)}{anchor}"


@router.get("/static/{version}/{name}")
async def file(version: str, name: str) -> Response:
    """Serve a static file of the pages."""
    del version  # the version only changes the URL when the file changes
    if name not in STATIC:
        raise HttpError(404, f"no file {name!r}", "the pages link to those that exist")
    return Response(static(name), media_type=STATIC[name], headers={"cache-control": CACHE_CONTROL})
