"""`ibidem search`: a grouped result list, leads with their duplicates indented below, each with its reason."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, cast, get_args

import typer
from rich.console import Console, RenderableType
from rich.text import Text

from ibidem.cli import console
from ibidem.comparison.word_diff import word_diff
from ibidem.grouped_search import api
from ibidem.grouped_search.api import Entry, Response, ResponseHit, format_count, search_window
from ibidem_core.settings import load
from ibidem_dedupe.parameters import PARAMETERS, parse_request
from ibidem_engines.connect import check_distinct
from ibidem_engines.query import QUERY_HELP, Query, parse_filter, parse_query
from ibidem_engines.stored_groups import Order
from ibidem_ingest.errors import UsageError, short_repr
from ibidem_ingest.idf.store import Tables

LATE_SHOWN = 10
MAX_INDENT = 10  # steps to which an answer to an answer is indented


def show(response: Response, terminal: Console, first: int = 1) -> None:
    styled, account = terminal.color_system is not None and not terminal.no_color, response["dedupe"]
    for part in [*late_lines(account), *entries(response["hits"]["hits"], first, styled=styled)]:
        terminal.print(part)
    better = account.get("did_you_mean")
    for line in (*api.note_lines(account), *([f"did you mean: {better}"] if better else ())):
        terminal.print(Text(console.sanitize(line), "level"))
    terminal.print(Text(api.account_line(response, first), "account"))


def entries(hits: Sequence[ResponseHit], first: int, *, styled: bool) -> Iterator[RenderableType]:
    for group in api.read_groups(hits, first):
        yield from lead_lines(group.lead, group.number, styled=styled)
        for entry in group.duplicates:
            yield from duplicate(entry)
        if hidden := group.hidden:
            before, behind = ("more ", ", shown with --max-per-group") if group.duplicates else ("", "")
            yield console.Indented(Text(f"+ {format_count(hidden, before + group.noun)}{behind}", "level"), 4)
        yield Text()


def lead_lines(entry: Entry, number: int, *, styled: bool) -> Iterator[RenderableType]:
    title = console.highlight(entry.title, styled=styled)
    title.stylize("title")
    width = max(2, len(str(number)))
    yield console.Indented(title, width + 2, f"{number:>{width}}")
    yield console.Indented(Text(facts_line(entry), "about"), width + 2)
    if entry.passage:
        yield console.Indented(console.highlight(entry.passage, styled=styled), width + 2)


def duplicate(entry: Entry) -> Iterator[RenderableType]:
    width = 4 + 2 * min(max(entry.depth, 1), MAX_INDENT)
    yield console.Indented(console.one_line(Text(console.sanitize(entry.title))), width, f"{' ' * (width - 2)}└")
    yield console.Indented(Text(facts_line(entry), "about"), width)
    yield console.Indented(Text.assemble((entry.level, "level"), console.sanitize(entry.evidence_with_lead)), width)
    if entry.texts and (pieces := word_diff(*entry.texts)):
        line = Text.assemble(("differs: ", "about"), console.format_difference(pieces))
        yield console.Indented(console.one_line(line), width)


def facts_line(entry: Entry) -> str:
    return " · ".join(console.sanitize(part) for part in (*entry.facts, entry.id))


def late_lines(stats: Mapping[str, Any]) -> Iterator[RenderableType]:
    """Yield the lines about documents that belong to groups of earlier pages."""
    if not (rows := stats.get("late")):
        return
    yield Text(f"{format_count(len(rows), 'more member')} of groups on earlier pages:", "level")
    lines = [f"{console.sanitize(row['id'])} (page {row['page']})" for row in rows[:LATE_SHOWN]]
    lines += [f"… {len(rows) - LATE_SHOWN:,} more"] * (len(rows) > LATE_SHOWN)
    yield from (console.Indented(Text(line, "about"), 4) for line in lines)
    yield Text()


def advanced(name: str, flag: str, metavar: str) -> Any:
    """Return the option for a dedupe parameter, in the panel of those that few need."""
    return console.parameter(name, flag, metavar, panel="Advanced options")


def run(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="QUERY",
            help=f"{QUERY_HELP} Without a word, all documents are listed. After -- a word may begin with a minus.",
            show_default=False,
        ),
    ] = None,
    dedupe: Annotated[str | None, console.parameter("dedupe", "--dedupe", "MODE")] = None,
    level: Annotated[str | None, console.parameter("dedupe_level", "--level", "LEVEL")] = None,
    sort: Annotated[str, typer.Option(metavar="|".join(get_args(Order)), help="Order of the results.")] = "relevance",
    filters: Annotated[
        list[str] | None,
        console.option(
            "--filter",
            "source, language, date, id, meta.NAME, thread, inclusive, work or current; may be repeated.",
            "FIELD=VALUE",
        ),
    ] = None,
    size: Annotated[int, typer.Option(help="Groups on a page.", min=1, max=1_000)] = 10,
    page: Annotated[int, typer.Option(help="Which page.", min=1)] = 1,
    explain: Annotated[
        bool, console.option("--explain", f"{PARAMETERS['dedupe_explain'].about}, in the JSON too.")
    ] = False,
    as_json: console.Json = False,
    similarity: Annotated[str | None, advanced("dedupe_similarity", "--similarity", "PERCENT")] = None,
    preset: Annotated[str | None, advanced("dedupe_preset", "--preset", "NAME")] = None,
    window_days: Annotated[str | None, advanced("dedupe_window_days", "--window-days", "DAYS")] = None,
    max_per_group: Annotated[str | None, advanced("dedupe_max_per_group", "--max-per-group", "N")] = None,
    keep: Annotated[str | None, advanced("dedupe_keep", "--keep", "WHICH")] = None,
    by: Annotated[str | None, advanced("dedupe_by", "--by", "WAY")] = None,
    window: Annotated[str | None, advanced("dedupe_window", "--window", "N")] = None,
    scope: Annotated[str | None, advanced("dedupe_scope", "--scope", "SCOPE")] = None,
    document: Annotated[str | None, advanced("dedupe_document", "--document", "FIELD")] = None,
    cursor: Annotated[str | None, advanced("dedupe_cursor", "--cursor", "CURSOR")] = None,
) -> None:
    """Show what matches a query, with its duplicates indented under the document they repeat.

    Without a query all documents are listed, grouped as they are stored.
    """
    if sort not in get_args(Order):
        raise UsageError(f"--sort {short_repr(sort)} is not valid", f"allowed: {', '.join(get_args(Order))}")
    typed = " ".join(words or ())
    limits_window = any((window, scope, similarity, preset, window_days, level, document))
    parameters = {
        "dedupe_level": level,
        "dedupe_similarity": similarity,
        "dedupe_preset": preset,
        "dedupe_window_days": window_days,
        "dedupe": dedupe,
        "dedupe_keep": keep,
        "dedupe_scope": scope,
        "dedupe_by": by or (None if typed.strip() or limits_window else "stored"),
        "dedupe_window": window,
        "dedupe_max_per_group": max_per_group,
        "dedupe_document": document,
        "dedupe_cursor": cursor,
    }
    request = parse_request(
        {**parameters, "dedupe_explain": explain or not as_json}, mode="indent", presets=console.presets_for(preset)
    )
    everything = Query("", filters=tuple(map(parse_filter, filters or ())))
    query = parse_query(typed, filters or ()) if typed.strip() else everything
    settings = load()
    tables = Tables(settings.tables, settings.index).current().values()
    request = request if as_json else request.for_people()
    with console.engine_context(settings) as engine:
        check_distinct(engine, settings.distinct)
        response = search_window(engine, query, request, page, size, tables=tables, order=cast("Order", sort)).response
    if as_json:
        console.print_json(response)
    else:
        show(response, console.results(), first=(page - 1) * size + 1)
