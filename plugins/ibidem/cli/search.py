"""`ibidem search`: a grouped result list."""

from dataclasses import dataclass
from typing import Annotated

import typer

from ibidem.cli.console import print_json, results
from ibidem.cli.options import Json, Level, Preset, Similarity, WindowDays, engine_context, parameter, presets_for
from ibidem.cli.result_list import show
from ibidem.dedupe.parameters import PARAMETERS
from ibidem.dedupe.request import DedupeRequest, parse_request
from ibidem.grouped_search.api import search
from ibidem_engines.query import QUERY_HELP, Query, parse_query
from ibidem_ingest.idf.store import Tables
from ibidem_workers.settings import load


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """What was typed behind `ibidem search`.

    Args:
        query: What to search for.
        dedupe: How to group and show it.
        page: Which page, from 1.
        size: Groups on a page.
    """

    query: Query
    dedupe: DedupeRequest
    page: int
    size: int


def run(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="QUERY",
            help=f"{QUERY_HELP} Behind -- a word may begin with a minus.",
            show_default=False,
        ),
    ],
    dedupe: Annotated[str | None, parameter("dedupe", "--dedupe", "MODE")] = None,
    level: Level = None,
    similarity: Similarity = None,
    keep: Annotated[str | None, parameter("dedupe_keep", "--keep", "WHICH")] = None,
    scope: Annotated[str | None, parameter("dedupe_scope", "--scope", "SCOPE")] = None,
    by: Annotated[str | None, parameter("dedupe_by", "--by", "WAY")] = None,
    window: Annotated[str | None, parameter("dedupe_window", "--window", "N")] = None,
    window_days: WindowDays = None,
    max_per_group: Annotated[str | None, parameter("dedupe_max_per_group", "--max-per-group", "N")] = None,
    preset: Preset = None,
    cursor: Annotated[str | None, parameter("dedupe_cursor", "--cursor", "CURSOR")] = None,
    size: Annotated[int, typer.Option(help="Groups on a page.", min=1, max=1_000)] = 10,
    page: Annotated[int, typer.Option(help="Which page.", min=1)] = 1,
    filters: Annotated[
        list[str] | None,
        typer.Option(
            "--filter", metavar="FIELD=VALUE", help="source, language, date, id or meta.NAME; may be repeated."
        ),
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help=f"{PARAMETERS['dedupe_explain'].about}, in the JSON too.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Show what matches a query, with its duplicates indented under the document they repeat."""
    given = {
        "dedupe": dedupe,
        "dedupe_level": level,
        "dedupe_similarity": similarity,
        "dedupe_keep": keep,
        "dedupe_scope": scope,
        "dedupe_by": by,
        "dedupe_window": window,
        "dedupe_window_days": window_days,
        "dedupe_max_per_group": max_per_group,
        "dedupe_preset": preset,
        "dedupe_cursor": cursor,
        "dedupe_explain": explain or not as_json,
    }
    grouped = parse_request(given, mode="indent", presets=presets_for(preset))
    request = SearchRequest(
        parse_query(" ".join(words), filters or ()), grouped if as_json else grouped.for_people(), page, size
    )
    settings = load()
    tables = Tables(settings.tables).current().values()
    with engine_context(settings) as engine:
        response = search(engine, request.query, request.dedupe, request.page, request.size, tables=tables)
    if as_json:
        print_json(response)
    else:
        show(response, results(), first=(page - 1) * size + 1)
