"""`ibidem alerts`: saved searches that report only documents that are not duplicates of reported ones."""

from typing import Annotated

import typer
from rich.text import Text

from ibidem.cli.console import (
    Json,
    Level,
    Preset,
    Similarity,
    WindowDays,
    engine_context,
    parameter,
    print_json,
    results,
    sanitize,
)
from ibidem.grouped_search.explanations import format_count
from ibidem.index.alerts import Alert, alerts, find_alert, remove, run, save
from ibidem_ingest.document import Document

app = typer.Typer(help="Saved searches that report only documents that are not duplicates of reported ones.")

Name = Annotated[str, typer.Argument(metavar="NAME", help="The alert's name.", show_default=False)]


@app.command()
def add(
    name: Name,
    words: Annotated[list[str], typer.Argument(metavar="QUERY", help="As in ibidem search.", show_default=False)],
    level: Level = None,
    similarity: Similarity = None,
    preset: Preset = None,
    window: Annotated[str | None, parameter("dedupe_window", "--window", "N")] = None,
    window_days: WindowDays = None,
    filters: Annotated[
        list[str] | None, typer.Option("--filter", metavar="FIELD=VALUE", help="As in ibidem search.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Save a search; the first run reports all that matches, each text once."""
    parameters = {
        "dedupe_level": level,
        "dedupe_similarity": similarity,
        "dedupe_preset": preset,
        "dedupe_window": window,
        "dedupe_window_days": window_days,
    }
    dedupe = tuple((key, value) for key, value in parameters.items() if value is not None)
    alert = Alert(name, " ".join(words), tuple(filters or ()), dedupe)
    with engine_context() as engine:
        save(engine, alert)
    show([alert], as_json=as_json)


@app.command("list")
def list_(as_json: Json = False) -> None:
    """List the saved searches."""
    with engine_context() as engine:
        rows = alerts(engine)
    show(rows, as_json=as_json)


@app.command("run")
def run_(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Default: all alerts.")] = "",
    as_json: Json = False,
) -> None:
    """Report what is new since the last run, and remember it."""
    with engine_context() as engine:
        searches = [find_alert(engine, name)] if name else alerts(engine)
        hits_by_alert = {alert.name: run(engine, alert) for alert in searches}
    if as_json:
        print_json({"new": {alert: [to_row(each) for each in documents] for alert, documents in hits_by_alert.items()}})
        return
    for alert, documents in hits_by_alert.items():
        results().print(Text.assemble((sanitize(alert), "title"), f": {format_count(len(documents), 'new document')}"))
        for each in documents:
            results().print(Text(f"  {line(each)}"))


@app.command("remove")
def remove_(name: Name, as_json: Json = False) -> None:
    """Remove a saved search and the list of its reported documents."""
    with engine_context() as engine:
        alert = find_alert(engine, name)
        remove(engine, name)
    show([alert], as_json=as_json)


def show(searches: list[Alert], *, as_json: bool) -> None:
    """Print alerts."""
    if as_json:
        print_json({"alerts": [each.as_record() for each in searches]})
        return
    if not searches:
        results().print("No alerts.")
    for each in searches:
        query = " ".join([each.query, *each.filters, *(f"{key}={value}" for key, value in each.dedupe)])
        results().print(Text.assemble((sanitize(each.name), "title"), f"  {sanitize(query)}"))


def to_row(document: Document) -> dict[str, str]:
    """Return the row that is shown for a new document."""
    return {"id": document.id, "title": document.title, "date": document.date, "source": document.source}


def line(document: Document) -> str:
    """Format a document as one line."""
    return " · ".join(sanitize(part) for part in (document.title or document.id, *byline(document)) if part)


def byline(document: Document) -> tuple[str, ...]:
    """Return date, source and id."""
    return document.date, document.source, document.id
