"""`ibidem tags`: tag documents, groups and threads in one step, and show where copies were tagged differently."""

import getpass
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from ibidem.cli.console import (
    Indented,
    Json,
    Level,
    Preset,
    Similarity,
    WindowDays,
    bar,
    engine_context,
    figures,
    messages,
    presets_for,
    print_json,
    results,
    sanitize,
)
from ibidem.comparison.result_list import FORMATS
from ibidem.grouped_search.explanations import format_count
from ibidem.index import tag_report
from ibidem.index.tag_report import report_tags
from ibidem.index.tags import (
    COLUMNS,
    Row,
    TagTarget,
    change_tag,
    find_duplicates,
    find_named,
    find_thread,
    ledger_rows,
)
from ibidem_dedupe.request import pair_policy
from ibidem_dedupe.tags import USUAL, Action, TagEntry
from ibidem_engines.engine import Engine
from ibidem_engines.stored_tags import load_tags
from ibidem_ingest.errors import UsageError

app = typer.Typer(help="Tag documents, groups and threads, and show where copies were tagged differently.")

Tag = Annotated[
    str, typer.Argument(metavar="TAG", help=f"{', '.join(USUAL)}, or a word of your own.", show_default=False)
]
Ids = Annotated[list[str], typer.Argument(metavar="ID", help="Document ids.", show_default=False)]
InGroup = Annotated[bool, typer.Option("--group", help="Also tag all their duplicates in the whole index.")]
InThread = Annotated[bool, typer.Option("--thread", help="Also tag all mails of their threads.")]
Reason = Annotated[str, typer.Option(help="Why.")]
Author = Annotated[str, typer.Option(help="Author; the user of this machine by default.")]
Export = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Write a row for each document to a .csv or .jsonl file.")
]

INDENT = 4
LISTED = 20  # open groups that are listed on a terminal


@app.command()
def add(
    tag: Tag,
    ids: Ids,
    group: InGroup = False,
    thread: InThread = False,
    reason: Reason = "",
    author: Author = "",
    level: Level = None,
    similarity: Similarity = None,
    preset: Preset = None,
    window_days: WindowDays = None,
    as_json: Json = False,
) -> None:
    """Tag documents: one entry of the ledger for each step."""
    parameters = figures(level, similarity, preset, window_days)
    change(tag, ids, "add", parameters, in_group=group, in_thread=thread, about=(author, reason), as_json=as_json)


@app.command()
def remove(
    tag: Tag,
    ids: Ids,
    group: InGroup = False,
    thread: InThread = False,
    reason: Reason = "",
    author: Author = "",
    level: Level = None,
    similarity: Similarity = None,
    preset: Preset = None,
    window_days: WindowDays = None,
    as_json: Json = False,
) -> None:
    """Take a tag back from documents: another entry; those that gave it stay in the ledger."""
    parameters = figures(level, similarity, preset, window_days)
    change(tag, ids, "remove", parameters, in_group=group, in_thread=thread, about=(author, reason), as_json=as_json)


def change(
    tag: str,
    ids: Sequence[str],
    action: Action,
    parameters: Mapping[str, str | None],
    *,
    in_group: bool,
    in_thread: bool,
    about: tuple[str, str],
    as_json: bool,
) -> None:
    """Add entries for documents, or for the group or thread of each, and print them."""
    author, reason = about[0] or getpass.getuser(), about[1]
    with engine_context() as engine:
        targets = list(find_targets(engine, ids, parameters, in_group=in_group, in_thread=in_thread))
        entries = [change_tag(engine, each, tag, action=action, author=author, reason=reason) for each in targets]
    if as_json:
        print_json({"entries": [entry.as_record() for entry in entries]})
        return
    for entry in entries:
        results().print(Text(describe(entry)))


def find_targets(
    engine: Engine, ids: Sequence[str], parameters: Mapping[str, str | None], *, in_group: bool, in_thread: bool
) -> Iterator[TagTarget]:
    """Yield the documents to tag in each step; all documents are found before any is tagged."""
    if in_group and in_thread:
        raise UsageError("--group cannot be combined with --thread", "tag one after the other")
    if not in_group and any(value is not None for value in parameters.values()):
        raise UsageError("figures need --group", "leave them out, or add --group")
    if in_group:
        policy = pair_policy(parameters, presets=presets_for(parameters["dedupe_preset"]))
        yield from [find_duplicates(engine, id_, policy) for id_ in ids]
    elif in_thread:
        yield from [find_thread(engine, id_) for id_ in ids]
    else:
        yield find_named(engine, ids)


def describe(entry: TagEntry) -> str:
    """Describe what an entry changed."""
    done = "tagged" if entry.action == "add" else "no longer tagged"
    where = f", the {entry.kind} of {sanitize(entry.lead[1])}" if entry.lead is not None else ""
    return f"{format_count(len(entry.documents), 'document')} {done} {sanitize(entry.tag)}{where}"


@app.command("list")
def list_(export: Export = None, as_json: Json = False) -> None:
    """List all entries, also on documents that are gone."""
    check_export(export)
    with engine_context() as engine:
        tags = load_tags(engine)
        if export is not None:
            write(export, ledger_rows(engine, tags), COLUMNS)
    if as_json:
        print_json({"entries": [entry.as_record() for entry in tags.entries]})
    elif not tags.entries:
        results().print("No tags.")
    else:
        results().print(table(tags.entries))


def table(entries: Sequence[TagEntry]) -> Table:
    """Return entries as a table."""
    table = Table(box=None, pad_edge=False, padding=(0, 2))
    for column in ("date", "author", "action", "tag", "documents", "of", "reason"):
        table.add_column(column, overflow="fold")
    for entry in entries:
        lead = f"{entry.kind} {entry.lead[1]}" if entry.lead is not None else entry.documents[0].id
        cells = (
            entry.date[:19],
            entry.author,
            entry.action,
            entry.tag,
            f"{len(entry.documents):,}",
            lead,
            entry.reason,
        )
        table.add_row(*map(sanitize, cells))
    return table


@app.command()
def report(
    export: Export = None,
    threads: Annotated[bool, typer.Option("--threads", help="Compare the mails of each thread.")] = False,
    stored: Annotated[bool, typer.Option("--stored", help="Read the stored groups.")] = False,
    level: Level = None,
    similarity: Similarity = None,
    preset: Preset = None,
    window_days: WindowDays = None,
    as_json: Json = False,
) -> None:
    """Show the groups in which documents were tagged differently, and those in which some are not tagged yet."""
    check_export(export)
    parameters = figures(level, similarity, preset, window_days)
    if threads + stored + any(value is not None for value in parameters.values()) > 1:
        raise UsageError("--threads, --stored and figures cannot be combined", "ask for one of them")
    policy = pair_policy(parameters, presets=presets_for(preset))
    with engine_context() as engine, bar("Reading") as advance:
        found = report_tags(
            engine,
            load_tags(engine),
            policy,
            by="threads" if threads else "stored" if stored else "groups",
            progress=lambda count: advance(count, None),
        )
    if export is not None:
        write(export, found.rows(), tag_report.COLUMNS)
    answer = found.as_json()
    if as_json:
        print_json(answer)
        return
    for part in lines(answer):
        results().print(part)


def lines(answer: Mapping[str, Any]) -> Iterator[RenderableType]:
    """Yield the counts, every inconsistent group with its documents, and the first open ones."""
    counts = answer["counts"]
    yield Text(
        f"{format_count(counts['groups'], 'group')} with tags: {counts['inconsistent']:,} inconsistent, "
        f"{counts['open']:,} open, {counts['complete']:,} complete"
    )
    yield Text(
        f"{format_count(counts['documents'], 'document')} in them: {counts['tagged']:,} tagged, "
        f"{counts['untagged']:,} not yet tagged, {counts['changed']:,} changed since; "
        f"{counts['outside']:,} tagged in no group, {counts['gone']:,} gone",
        "account",
    )
    for group in answer["inconsistent"]:
        named = f"{', '.join(group['differing'])} differ among {'copies' if group['copies'] else 'documents'}"
        yield Text(f"\n{sanitize(group['lead'])}: {sanitize(named)}", "title")
        for each in group["documents"]:
            yield Indented(Text(sanitize(document_line(each))), INDENT)
    if answer["open"]:
        yield Text("\nOpen groups, by their first document: not yet tagged, of", "title")
    for group in answer["open"][:LISTED]:
        left = sum(each["state"] != "tagged" for each in group["documents"])
        yield Indented(Text(sanitize(group["lead"])), 2 * INDENT + 4, f"{left:>5,}, {len(group['documents']):,}")
    if len(answer["open"]) > LISTED:
        yield Text(f"and {len(answer['open']) - LISTED:,} more; --export writes all", "account")


def document_line(document: Mapping[str, Any]) -> str:
    """Describe a document of a group: its id, its tags, and who set them."""
    said = ", ".join(document["tags"]) or {"changed": "its text has changed since", "untagged": "not yet tagged"}.get(
        document["state"], ""
    )
    by = f" ({document['author']}, {document['date'][:10]})" if document["tags"] else ""
    return f"{document['id']}: {said}{by}"


def check_export(path: Path | None) -> None:
    """Refuse a file name without a known suffix, before anything is read."""
    if path is not None and path.suffix[1:] not in FORMATS:
        endings = " or ".join(f".{ending}" for ending in FORMATS)
        raise UsageError(f"--export {path}: the file name has no known suffix", f"end it in {endings}")


def write(path: Path, rows: Iterable[Row], columns: Sequence[str]) -> None:
    """Write rows to a file, in the format of its suffix."""
    path.write_bytes(FORMATS[path.suffix[1:]][1](rows, columns))
    messages().print(Text(f"Written to {path}."))
