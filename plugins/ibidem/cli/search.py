"""`ibidem search`: a grouped result list."""

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from ibidem.cli.console import print_json, results
from ibidem.cli.options import (
    Json,
    Level,
    Preset,
    Similarity,
    WindowDays,
    engine_context,
    figures,
    parameter,
    presets_for,
)
from ibidem.cli.result_list import show
from ibidem.dedupe.parameters import PARAMETERS
from ibidem.dedupe.request import DedupeRequest, parse_request
from ibidem.grouped_search.api import search
from ibidem_engines.query import QUERY_HELP, Query, parse_query
from ibidem_ingest.idf.store import Tables
from ibidem_workers.settings import load

Words = Annotated[
    list[str],
    typer.Argument(metavar="QUERY", help=f"{QUERY_HELP} Behind -- a word may begin with a minus.", show_default=False),
]
Mode = Annotated[str | None, parameter("dedupe", "--dedupe", "MODE")]
Keep = Annotated[str | None, parameter("dedupe_keep", "--keep", "WHICH")]
Scope = Annotated[str | None, parameter("dedupe_scope", "--scope", "SCOPE")]
By = Annotated[str | None, parameter("dedupe_by", "--by", "WAY")]
Window = Annotated[str | None, parameter("dedupe_window", "--window", "N")]
MaxPerGroup = Annotated[str | None, parameter("dedupe_max_per_group", "--max-per-group", "N")]
Cursor = Annotated[str | None, parameter("dedupe_cursor", "--cursor", "CURSOR")]
Size = Annotated[int, typer.Option(help="Groups on a page.", min=1, max=1_000)]
Page = Annotated[int, typer.Option(help="Which page.", min=1)]
Filters = Annotated[
    list[str] | None,
    typer.Option("--filter", metavar="FIELD=VALUE", help="source, language, date, id or meta.NAME; may be repeated."),
]
Explain = Annotated[bool, typer.Option("--explain", help=f"{PARAMETERS['dedupe_explain'].about}, in the JSON too.")]


def run(
    words: Words,
    dedupe: Mode = None,
    level: Level = None,
    similarity: Similarity = None,
    keep: Keep = None,
    scope: Scope = None,
    by: By = None,
    window: Window = None,
    window_days: WindowDays = None,
    max_per_group: MaxPerGroup = None,
    preset: Preset = None,
    cursor: Cursor = None,
    size: Size = 10,
    page: Page = 1,
    filters: Filters = None,
    explain: Explain = False,
    as_json: Json = False,
) -> None:
    """Show what matches a query, with its duplicates indented under the document they repeat."""
    given = figures(level, similarity, preset, window_days) | {
        "dedupe": dedupe,
        "dedupe_keep": keep,
        "dedupe_scope": scope,
        "dedupe_by": by,
        "dedupe_window": window,
        "dedupe_max_per_group": max_per_group,
        "dedupe_cursor": cursor,
    }
    request = parse_request(
        {**given, "dedupe_explain": explain or not as_json}, mode="indent", presets=presets_for(preset)
    )
    query = parse_query(" ".join(words), filters or ())
    response = response_of(query, request if as_json else request.for_people(), page, size)
    if as_json:
        print_json(response)
    else:
        show(response, results(), first=(page - 1) * size + 1)


def response_of(query: Query, request: DedupeRequest, page: int, size: int) -> Mapping[str, Any]:
    """Search in the index that the settings name."""
    settings = load()
    tables = Tables(settings.tables).current().values()
    with engine_context(settings) as engine:
        return search(engine, query, request, page, size, tables=tables)
