"""Cursor of a response: all pages see one ranking, and a cursor of another query is refused."""

from collections.abc import Sequence
from dataclasses import dataclass

import orjson

from ibidem.dedupe.request import DedupeRequest
from ibidem.grouped_search.backend import PageRequest
from ibidem_engines.collapse import Place
from ibidem_engines.cursor import decode_cursor, encode_cursor, query_digest
from ibidem_engines.query import Query
from ibidem_ingest.errors import UsageError

SCHEME = "c1"
LEAST = 2
"""Parts without which it is none: the scheme and the engine's own cursor."""

PLAIN = 4
"""Parts of one that does not say where the next page begins."""


def write(engine_cursor: str, query: Query, request: DedupeRequest, begins: "NextPage | None" = None) -> str:
    """Write a cursor.

    Args:
        engine_cursor: What the engine gave with its ranking; may be empty.
        query: What was asked.
        request: How it was grouped.
        begins: Where the next page begins, for an engine that does not count that far.

    Returns:
        A string that may be in a URL.
    """
    further = [str(begins.page), orjson.dumps(begins.after).decode()] if begins else []
    return encode_cursor([SCHEME, engine_cursor, query_digest(query), request.digest(), *further])


def read(query: Query, request: DedupeRequest) -> str:
    """Return the engine's cursor out of a request's; empty when the request has none.

    Raises:
        UsageError: It is damaged, or it belongs to another query or to other figures of grouping.
    """
    if not request.cursor:
        return ""
    scheme, engine_cursor, *digests = read_parts(request.cursor)
    if scheme != SCHEME or digests[:2] != [query_digest(query), request.digest()]:
        raise UsageError(
            "dedupe_cursor belongs to another query, level, window or preset", "leave it out to start a new list"
        )
    return engine_cursor


@dataclass(frozen=True, slots=True)
class NextPage:
    """Where a page begins.

    Args:
        page: Which page.
        after: What the engine gave to go on from.
    """

    page: int
    after: Sequence[object]


def next_page(request: DedupeRequest) -> NextPage | None:
    """Tell where a cursor's next page begins; None where it does not say."""
    parts = read_parts(request.cursor) if request.cursor else []
    if len(parts) <= PLAIN:
        return None
    page, after = parts[PLAIN:]
    return NextPage(int(page), orjson.loads(after))


def place_of(page_request: PageRequest) -> Place:
    """Tell where a page of a collapsed ranking begins."""
    begins = next_page(page_request.request)
    after = begins.after if begins is not None and begins.page == page_request.page else None
    return Place((page_request.page - 1) * page_request.size, after)


def read_parts(cursor: str) -> list[str]:
    """Read what a cursor holds."""
    try:
        parts = decode_cursor(cursor)
    except ValueError as error:
        raise _damaged() from error
    if len(parts) < LEAST:
        raise _damaged()
    return [str(part) for part in parts]


def _damaged() -> UsageError:
    return UsageError("dedupe_cursor is damaged", "use `dedupe.cursor` of an answer unchanged, or leave it out")
