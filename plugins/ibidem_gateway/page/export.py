"""Rows of a list for export as a table: every document with its group; up to 100,000 stored groups."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ibidem.comparison.result_list import Row, rows
from ibidem.grouped_search.api import search_window
from ibidem.grouped_search.explanations import format_count
from ibidem_dedupe.request import DedupeRequest
from ibidem_engines.engine import Engine
from ibidem_gateway.dependencies import GatewayContext
from ibidem_gateway.page.reading import has_more, list_request
from ibidem_gateway.page.state import PageState

PORTION = 100  # stored groups that are in memory at a time

MAX_GROUPS = 100_000  # stored groups that are exported, so that no request is without end


def exported_rows(engine: Engine, context: GatewayContext, state: PageState) -> Iterator[Row]:
    """Yield the rows of a list from its first page; with stored groups in batches, up to `MAX_GROUPS`."""
    state = replace(state, dedupe="indent", page=1)
    request = replace(list_request(engine, state), max_per_group=None)
    query, tables = state.query(), context.current_tables()
    pages, size = (MAX_GROUPS // PORTION, PORTION) if request.by == "stored" else (1, request.window)
    for page in range(1, 1 + pages):
        result = search_window(engine, query, request, page, size, tables=tables, order=state.sort, all_copies=True)
        yield from rows(result.response)
        if not has_more(result.response, replace(state, page=page, size=size)):
            return
        request = replace(request, cursor=result.response["dedupe"]["cursor"])


def export_scope(response: Any, request: DedupeRequest) -> str:
    """Return which results an export of a list contains."""
    account = response["dedupe"]
    matched = account["documents"]["matched"]
    results = format_count(matched, "result")
    if request.by == "stored":
        return (
            f"the first {MAX_GROUPS:,} groups of {results}"
            if account["groups"]["matching"] > MAX_GROUPS
            else f"all {results}"
        )
    return f"all {results}" if matched <= request.window else f"the first {request.window:,} groups of {results}"
