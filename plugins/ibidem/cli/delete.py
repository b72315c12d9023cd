"""`ibidem delete`: delete documents with tombstones; on request with all their identical copies."""

from collections.abc import Sequence
from typing import Annotated

import typer
from rich.text import Text

from ibidem.cli.console import Json, Yes, engine_context, messages, print_json, results, sanitize
from ibidem.cli.status import name_few
from ibidem.grouped_search.explanations import format_count
from ibidem.index.documents import Takedown, delete, find_copies
from ibidem.index.former_indexes import still_held
from ibidem_core.settings import load
from ibidem_engines.engine import Engine, StoredDocument, WriteStatus
from ibidem_ingest.errors import UsageError

SHOWN = 100


def run(
    ids: Annotated[list[str], typer.Argument(metavar="ID…", help="Document ids.", show_default=False)],
    identical: Annotated[bool, typer.Option("--identical", help="Also delete their identical copies.")] = False,
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Delete documents; an older version of them does not come back for as long as IBIDEM_TOMBSTONE_DAYS says."""
    settings = load()
    with engine_context(settings) as engine:
        takedown = find_copies(engine, ids) if identical else Takedown(list(dict.fromkeys(ids)))
        document_ids = takedown.ids
        if takedown.others:
            names = ", ".join(map(sanitize, takedown.others[:SHOWN]))
            messages().print(Text(f"with the same content hash but another text, so they are kept: {names}"))
        if not yes:
            confirm(engine, document_ids)
        outcomes = delete(engine, document_ids, tombstone_days=settings.tombstone_days)
        deleted = [outcome.id for outcome in outcomes if outcome.status is WriteStatus.DELETED]
        former = dict(still_held(engine, settings, document_ids))
    if as_json:
        print_json({"deleted": len(deleted), "ids": deleted, "former_indexes": former})
    else:
        results().print(f"{format_count(len(deleted), 'document')} deleted")
    for index, held in former.items():
        names = name_few(held)
        messages().print(
            Text(
                f"still in index {index!r}, which was copied into this one: {names}; "
                "delete that index, or these documents in it"
            )
        )
    if missing := sorted(outcome.id for outcome in outcomes if outcome.status is WriteStatus.MISSING):
        messages().print(Text(f"not found: {', '.join(map(sanitize, missing))}"))


def confirm(engine: Engine, ids: Sequence[str]) -> None:
    """List the documents to delete, and ask for confirmation."""
    console = messages()
    documents = engine.fetch([(engine.index, id_) for id_ in ids[:SHOWN]])
    for entry in documents:
        console.print(Text(f"  {line(entry)}"))
    if len(ids) > SHOWN:
        console.print(f"  … {len(ids) - SHOWN:,} more")
    try:
        answer = typer.confirm(f"Delete {format_count(len(ids), 'document')} from {engine.index}?", err=True)
    except typer.Abort as error:
        raise UsageError(
            "deletion needs confirmation, but standard input gave no answer", "confirm with --yes"
        ) from error
    if not answer:
        raise typer.Exit


def line(entry: StoredDocument) -> str:
    """Format a document as one line."""
    document = entry.document
    return " · ".join(sanitize(part) for part in (document.id, document.date, document.source, document.title) if part)
