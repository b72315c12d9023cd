"""Reading a list: a document with the query's words marked, and the previous and next results.

Facets are sources, languages and years of the results that were grouped, with counts.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ibidem.comparison.html import PagedText
from ibidem.comparison.result_list import inner_duplicates
from ibidem.grouped_search.api import search_window
from ibidem.grouped_search.explanations import groups
from ibidem.grouped_search.stored import is_as_stored
from ibidem.index.documents import titles
from ibidem_core.errors import EngineError
from ibidem_dedupe.request import DedupeRequest
from ibidem_engines.engine import HIGHLIGHT, Engine
from ibidem_engines.group_checkpoint import GroupCheckpoint
from ibidem_engines.highlighting import mark
from ibidem_engines.query import Phrase
from ibidem_gateway.dependencies import GatewayContext
from ibidem_gateway.page.state import PageState
from ibidem_ingest.errors import UsageError


def list_request(engine: Engine, state: PageState) -> DedupeRequest:
    """Return the dedupe request of a list: by stored groups, if they are settled and no other option is set."""
    request = state.request()
    if state.by or request.mode == "off" or not has_stored_groups(engine, request):
        return request
    return replace(request, by="stored")


def has_stored_groups(engine: Engine, request: DedupeRequest) -> bool:
    """Return whether the groups of an index are settled under a request's policy, as far as the caller may read."""
    try:
        return request.passages is None and is_as_stored(
            request, GroupCheckpoint.read(engine.group_set(use_cache=True))
        )
    except (EngineError, UsageError):
        return False


OPEN, CLOSE = HIGHLIGHT
_MARKS = re.compile(f"([{OPEN}{CLOSE}])")


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a document's text."""

    text: str  # what it says
    page: int = 0  # number of the page that begins before it, from 1; 0 when none does
    match: int = 0  # number of the match that it belongs to, from 1; 0 when it is no word of the query
    first: bool = False  # whether it begins its match: one that goes over a page break has several pieces


def pieces(text: str, phrases: Sequence[Phrase] = ()) -> Iterator[Piece]:
    """Split a text at its page breaks and at the words of a query.

    >>> [(each.text, each.match) for each in pieces("The duty on grain.", [Phrase("duty")])]
    [('The ', 0), ('duty', 1), (' on grain.', 0)]
    """
    marked_text = mark(text, phrases) if phrases else text
    number, in_mark = 0, False
    for span in PagedText.read(marked_text).stretches(0, len(marked_text)):
        page, first = span.page, False
        if page:
            yield Piece("", page)
        for part in _MARKS.split(span.text):
            if part in (OPEN, CLOSE):
                in_mark = first = part == OPEN
                number += in_mark
            elif part:
                yield Piece(part, match=number if in_mark else 0, first=first)
                first = False


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The previous and next results of a document in a list."""

    previous: str  # address of the one before it; empty when it is the first
    following: str  # address of the one after it; empty when it is the last


def neighbours(engine: Engine, context: GatewayContext, state: PageState, name: str) -> Neighbours:
    """Return the previous and next result of a document in the list that it was opened from.

    A collapsed duplicate has the place of its lead; one that the list does not show has no neighbours.
    """
    order, has_next = results(engine, context, state)
    position = next((at for at, names in enumerate(order) if name in names), None)
    if position is None:
        return Neighbours("", "")
    if position == 0 and state.page > 1:
        earlier = replace(state, page=state.page - 1)
        previous_link = link(earlier, results(engine, context, earlier)[0][-1:])
    else:
        previous_link = link(state, order[position - 1 : position] if position else ())
    if position == len(order) - 1 and has_next:
        later = replace(state, page=state.page + 1)
        next_link = link(later, results(engine, context, later)[0][:1])
    else:
        next_link = link(state, order[position + 1 : position + 2])
    return Neighbours(previous_link, next_link)


def link(state: PageState, passages: Sequence[Sequence[str]]) -> str:
    """Return the address of a result; empty if there is none."""
    return state.part("document", id=passages[0][0]) if passages else ""


def results(engine: Engine, context: GatewayContext, state: PageState) -> tuple[Sequence[Sequence[str]], bool]:
    """Return the ids of the results in order, each with its collapsed documents, and whether there is a next page."""
    request = replace(list_request(engine, state), explain=False)
    tables = context.current_tables()
    result = search_window(engine, state.query(), request, state.page, state.size, tables=tables, order=state.sort)
    order: list[list[str]] = []
    for lead, duplicates in groups(result.response["hits"]["hits"]):
        order.append([lead["_id"], *(hit["_id"] for hit in inner_duplicates(lead))])
        order += ([hit["_id"]] for hit in duplicates)
    return order, has_more(result.response, state)


LATE = 10  # members of groups on earlier pages that are named


def late_members(engine: Engine, late_documents: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """Return the members of groups on earlier pages; only the first ones have titles."""
    names = [(each["index"], each["id"]) for each in late_documents[:LATE]]
    titles_by_name = titles(engine, names)
    return [{**each, "title": titles_by_name.get((each["index"], each["id"]), "")} for each in late_documents]


def has_more(response: Any, state: PageState) -> bool:
    """Return whether the next page has any results."""
    account = response["dedupe"]
    if account["mode"] == "off":
        return bool(state.page * state.size < account["documents"]["matched"])
    pages_follow = state.page * state.size < account["groups"]["in_window"]
    return bool(
        pages_follow or (not account["groups"]["exact"] and state.sort == "relevance" and not account.get("limited"))
    )
