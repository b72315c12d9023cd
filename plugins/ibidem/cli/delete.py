"""`ibidem delete`: delete documents with tombstones, on request with all their copies; take deletions back."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer
from rich.text import Text

from ibidem.cli import FAILED
from ibidem.cli.console import Json, Yes, engine_context, messages, option, sanitize, show
from ibidem.cli.status import name_few
from ibidem.grouped_search.api import format_count
from ibidem.index import deletion
from ibidem.index.deletion import Takedown, find_copies, format_until
from ibidem_core.settings import Settings, load
from ibidem_engines.engine import Engine, WriteStatus
from ibidem_ingest.errors import UsageError

KINDS = {"attachments": "its attachments", "dead": "failed documents", "deleted": "documents deleted before"}


def run(
    ids: Annotated[list[str] | None, typer.Argument(metavar="ID…", help="Document ids.", show_default=False)] = None,
    identical: Annotated[
        bool, option("--identical", "Also delete copies of equal text, title, sender, recipients and date.")
    ] = False,
    same_words: Annotated[
        bool, option("--same-words", "Also delete copies of the same words that differ in signs or these fields.")
    ] = False,
    everything: Annotated[
        bool, option("--everything", "Also delete what else holds the text; nothing can be taken back.")
    ] = False,
    undo: Annotated[bool, option("--undo", "Take deletions back; without ids, list those that can be.")] = False,
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Delete documents; for IBIDEM_TOMBSTONE_DAYS no older version of them comes back, and --undo takes it back."""
    settings = load()
    ids = list(dict.fromkeys(ids or ()))
    if undo and (identical or same_words or everything):
        raise UsageError("--undo takes ids alone", "leave out --identical, --same-words and --everything")
    if not ids and not undo:
        raise UsageError("no document is named", "name its id; ibidem delete --undo lists what can be taken back")
    with engine_context(settings) as engine:
        if undo:
            take_back(engine, ids, settings, as_json=as_json)
            return
        copies = find_copies(engine, ids, same_words=same_words) if identical or same_words else Takedown(ids, {})
        left = deletion.find_leftovers(engine, copies.ids)
        document_ids = [*copies.ids, *left.attachments] if everything else copies.ids
        known = show_documents(engine, document_ids, copies)
        if held := left.as_json():
            what = "also deleted, for good" if everything else "the text is also held by what --everything deletes"
            messages().print(Text(f"{what}: {'; '.join(f'{KINDS[kind]}: {name_few(held[kind])}' for kind in held)}"))
        if not yes and (known or held):
            confirm(f"Delete {format_count(len(known), 'document')} from {engine.index}?")
        outcomes = deletion.delete(engine, document_ids, tombstone_days=settings.tombstone_days, keep=not everything)
        if everything:
            left.remove(engine)
        former = dict(deletion.still_held(engine, settings, document_ids))
    deleted = [outcome.id for outcome in outcomes if outcome.status is WriteStatus.DELETED]
    until = format_until(datetime.now(UTC) + timedelta(days=settings.tombstone_days))
    report = {
        "deleted": len(deleted),
        "ids": deleted,
        "differences": copies.differences,
        "kept": copies.others,
        "undo_until": until if deleted and not everything else "",
        "held": held,
        "former_indexes": former,
    }
    until_text = f"Until {report['undo_until']} this takes it back: ibidem delete --undo ID…"
    lines = [f"{format_count(len(deleted), 'document')} deleted", *([until_text] if report["undo_until"] else [])]
    show(report, lines, as_json=as_json)
    for index, names in former.items():
        still = f"still in index {index!r}, which was copied into this one: {name_few(names)}"
        messages().print(Text(f"{still}; delete that index, or these documents in it"))
    missing = [outcome.id for outcome in outcomes if outcome.status is WriteStatus.MISSING]
    if missing:
        messages().print(Text(f"not found: {', '.join(map(sanitize, missing))}"))
    if missing and not (everything and held):
        raise typer.Exit(FAILED)


def take_back(engine: Engine, ids: list[str], settings: Settings, *, as_json: bool) -> None:
    """Take deletions back; without ids, list those that can be."""
    if ids:
        deletion.undo(engine, ids, settings)
        restored = {"restored": len(ids), "ids": ids}
        show(restored, [f"{format_count(len(ids), 'document')} restored"], as_json=as_json)
        return
    kept = deletion.kept_documents(engine, settings.tombstone_days)
    names = (" · ".join(sanitize(part) for part in (each["id"], each["title"]) if part) for each in kept)
    lines = [f"{name}\n  can be taken back until {each['until']}" for name, each in zip(names, kept, strict=True)]
    show({"kept": kept}, lines or ["No deletion can be taken back."], as_json=as_json)


def show_documents(engine: Engine, ids: Sequence[str], copies: Takedown) -> list[str]:
    """Print each document to delete with its difference, then the copies that stay; returns the ids that exist."""
    console = messages()
    known: list[str] = []
    for document in deletion.read_documents(engine, ids):
        known.append(document.id)
        found = copies.differences.get(document.id)
        facts = (document.id, document.date, document.source, document.title)
        line = " · ".join(sanitize(part) for part in facts if part)
        console.print(Text(f"  {line}" + ("" if found is None else f" ({sanitize(found) or 'equal'})")))
    if copies.others:
        console.print("These differ, and are kept; --same-words takes those with the same words:")
    for id_ in copies.others:
        console.print(Text(f"  {sanitize(id_)} ({sanitize(copies.differences[id_])})"))
    return known


def confirm(question: str, remedy: str = "confirm with --yes") -> None:
    """Ask for confirmation; the command ends without it."""
    try:
        answer = typer.confirm(question, err=True)
    except typer.Abort as error:
        raise UsageError("deletion needs confirmation, but standard input gave no answer", remedy) from error
    if not answer:
        raise typer.Exit
