"""A document as it is read from a list: the query's words marked in its text, and the results before and after it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ibidem.comparison.html import PagedText
from ibidem.comparison.result_list import duplicates_inside
from ibidem.gateway.dependencies import GatewayContext
from ibidem.gateway.page.state import PageState
from ibidem.grouped_search.api import search_window
from ibidem.grouped_search.explanations import groups
from ibidem_engines.engine import HIGHLIGHT, Engine
from ibidem_engines.highlighting import marked
from ibidem_engines.query import Phrase

OPEN, CLOSE = HIGHLIGHT
_MARKS = re.compile(f"([{OPEN}{CLOSE}])")


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a document's text.

    Args:
        text: What it says.
        page: Number of the page that begins before it, from 1; 0 when none does.
        match: Number of the match that it belongs to, from 1; 0 when it is no word of the query.
        first: Whether it begins its match: one that goes over a page break has several pieces.
    """

    text: str
    page: int = 0
    match: int = 0
    first: bool = False


def pieces(text: str, phrases: Sequence[Phrase] = ()) -> Iterator[Piece]:
    """Cut a text at its page breaks and at the words of a query.

    Args:
        text: The whole text.
        phrases: What was searched for.

    >>> [(each.text, each.match) for each in pieces("The duty on grain.", [Phrase("duty")])]
    [('The ', 0), ('duty', 1), (' on grain.', 0)]
    """
    shown = marked(text, phrases) if phrases else text
    number, within = 0, False
    for span in PagedText.of(shown).stretches(0, len(shown)):
        page, first = span.page, False
        if page:
            yield Piece("", page)
        for part in _MARKS.split(span.text):
            if part in (OPEN, CLOSE):
                within = first = part == OPEN
                number += within
            elif part:
                yield Piece(part, match=number if within else 0, first=first)
                first = False


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The results before and after a document in a list.

    Args:
        previous: Address of the one before it; empty when it is the first.
        following: Address of the one after it; empty when it is the last.
    """

    previous: str
    following: str


def neighbours(engine: Engine, given: GatewayContext, state: PageState, name: str) -> Neighbours:
    """Find what is before and after a document in the list that it was opened from.

    A collapsed duplicate has the place of its lead; one that the list does not show has no neighbours.

    Args:
        engine: The index, with the caller's rights.
        given: What every request may use.
        state: The list.
        name: The document's id.
    """
    order, more = results(engine, given, state)
    at = next((at for at, names in enumerate(order) if name in names), None)
    if at is None:
        return Neighbours("", "")
    if at == 0 and state.page > 1:
        earlier = replace(state, page=state.page - 1)
        before = link(earlier, results(engine, given, earlier)[0][-1:])
    else:
        before = link(state, order[at - 1 : at] if at else ())
    if at == len(order) - 1 and more:
        later = replace(state, page=state.page + 1)
        after = link(later, results(engine, given, later)[0][:1])
    else:
        after = link(state, order[at + 1 : at + 2])
    return Neighbours(before, after)


def link(state: PageState, passages: Sequence[Sequence[str]]) -> str:
    """Return the address of a result, empty for none."""
    return state.part("document", id=passages[0][0]) if passages else ""


def results(engine: Engine, given: GatewayContext, state: PageState) -> tuple[Sequence[Sequence[str]], bool]:
    """Return the ids of results in order, each with those collapsed into it, and whether there is a next page."""
    request = replace(state.request(), explain=False)
    tables = given.current_tables()
    result = search_window(engine, state.query(), request, state.page, state.size, tables=tables, order=state.sort)
    order: list[list[str]] = []
    for lead, duplicates in groups(result.response["hits"]["hits"]):
        order.append([lead["_id"], *(hit["_id"] for hit in duplicates_inside(lead))])
        order += ([hit["_id"]] for hit in duplicates)
    return order, has_more(result.response, state)


def has_more(response: Any, state: PageState) -> bool:
    """Return whether a further page has anything to show."""
    account = response["dedupe"]
    if account["mode"] == "off":
        return bool(state.page * state.size < account["documents"]["matched"])
    seen = state.page * state.size < account["groups"]["in_window"]
    return bool(seen or (not account["groups"]["exact"] and state.sort == "relevance" and not account.get("limited")))
