"""`ibidem ingest`: files and folders into the index, through the queue."""

import time
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Annotated, Any, cast

import typer
from rich.text import Text

from ibidem.cli import SOME_REFUSED, START
from ibidem.cli.console import Json, bar, engine_context, messages, option, sanitize, show
from ibidem.cli.delete import confirm
from ibidem.cli.status import describe, name_few, update_bar
from ibidem.grouped_search.api import format_count
from ibidem.index.deletion import add_seen, check_folders, delete, find_gone
from ibidem_core import logs
from ibidem_core.settings import Settings, load
from ibidem_ingest.errors import UsageError
from ibidem_ingest.readers.formats import DETECT, SUFFIXES, Choice, Format, IdFrom, Tally
from ibidem_ingest.readers.inputs import named_pipes, read
from ibidem_workers.ingest import ingest_documents, summary

FormatName = Annotated[
    str,
    option(
        "--format",
        f"{', '.join(Format)}: format of files without a known suffix; .log=text: for one; *=text: for all.",
        "[SUFFIX=]FORMAT",
    ),
]


def run(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="PATH…",
            help="JSON Lines, text, Markdown, HTML, mail, tables (also .gz, .xz, .zst, .bz2), PDF, Word, EPUB, "
            "folders, and - for standard input.",
            show_default=False,
        ),
    ],
    wait: Annotated[bool, typer.Option(help="Wait until every document has an outcome.")] = True,
    format_: FormatName = "",
    encoding: Annotated[
        str, option("--encoding", "Encoding of texts that are not UTF-8: latin-1, cp1252.", "NAME")
    ] = "",
    strict: Annotated[
        bool, option("--strict", "Refuse texts with invalid bytes instead of replacing the bytes.")
    ] = False,
    id_prefix: Annotated[str, option("--id-prefix", "Prefix for every id.", "PREFIX")] = "",
    id_from: Annotated[
        str,
        option("--id-from", "Id of a file's document: its path, its name, or a hash of its text.", "path|name|hash"),
    ] = "path",
    language: Annotated[
        str, option("--language", "Language of documents without one: en, de; or detect.", "CODE")
    ] = DETECT,
    text_column: Annotated[str, option("--text-column", "The column of tables that holds the texts.", "NAME")] = "text",
    text_format: Annotated[
        str, option("--text-format", "Format of the texts within JSON Lines and tables; else plain.", "html|markdown")
    ] = "",
    follow_links: Annotated[bool, option("--follow-links", "Follow links in folders, wherever they lead.")] = False,
    sync: Annotated[bool, option("--sync", "List the documents of these folders whose files are gone.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="With --sync: delete these documents.")] = False,
    sync_all: Annotated[
        bool,
        option(
            "--sync-all", "With --sync --yes: delete also where a whole folder, or over a fifth of the index, is gone."
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Take files into the index; exits with 3 if a document was refused, or none was found."""
    names = cast("IdFrom", id_from)
    choice = Choice(format_, follow_links, id_prefix, names, language, text_column, encoding, strict, text_format)
    if yes > sync or sync_all > yes:
        raise UsageError("--yes needs --sync, and --sync-all needs both", "give them too")
    if sync:
        check_folders(paths)
    settings = load()
    logs.set_up(settings)
    for each in named_pipes(paths):
        messages().print(Text(f"{sanitize(each)} is a named pipe: waiting for the program that writes to it"))
    tally, seen = Tally(), set[int]()
    with bar("Indexing", rated=True) as advance:
        report = partial(update_bar, advance)
        source = read(paths, choice, settings.max_text, tally, settings.read_seconds, processes=settings.workers)
        source = map(partial(add_seen, seen), source) if sync else source
        name = ingest_documents(source, settings, wait=wait, report=report, tally=tally, paths=paths)
    with engine_context(settings) as engine:
        result: dict[str, Any] = summary(engine, name)
    if sync:
        result |= synchronize(paths, settings, seen, is_deletion=yes, is_sure=sync_all)
    result["took_s"] = round(time.monotonic() - START, 3)
    gone = [gone_files(result)] if sync else []
    show(result, [*describe(result), *gone], as_json=as_json)
    if is_empty := not result["read"] and not result["pending"]:
        endings = ", ".join(SUFFIXES)
        nothing = f"no document in {', '.join(paths)}; in folders, files are read that end in one of: {endings}"
        messages().print(Text(sanitize(nothing)))
    if not wait:
        messages().print(Text("No worker was started; start some with: ibidem worker. Grouping follows."))
    if result["refused"] or is_empty:
        raise typer.Exit(SOME_REFUSED)


def synchronize(
    paths: Sequence[str], settings: Settings, seen: Collection[int], *, is_deletion: bool, is_sure: bool
) -> dict[str, object]:
    """Find documents whose files in a folder are gone, and delete them if requested; in doubt, ask."""
    with engine_context(settings) as engine:
        found = find_gone(engine, paths, seen)
        files, gone = found.documents, list(found.documents)
        if gone and is_deletion and not is_sure and found.doubt:
            messages().print(Text(f"The files of {format_count(len(gone), 'document')} are gone: {name_files(files)}"))
            confirm(f"{sanitize(found.doubt)}; delete them all the same?", "confirm with --sync-all")
        if gone and is_deletion:
            delete(engine, gone, tombstone_days=settings.tombstone_days)
    return {"gone": gone, "files": files, "deleted": len(gone) if is_deletion else 0}


def gone_files(result: Mapping[str, Any]) -> Text:
    """Describe the documents whose files are gone, and how to delete these documents."""
    if not result["gone"]:
        return Text("\nThe files of all documents still exist.")
    count, names = format_count(len(result["gone"]), "document"), name_files(result["files"])
    if result["deleted"]:
        return Text(f"\n{count} deleted, whose files are gone: {names}; to take it back: ibidem delete --undo")
    return Text(f"\nThe files of {count} are gone: {names}; to delete the documents, add --yes")


def name_files(files: Mapping[str, str]) -> str:
    """Return the first few of many files, each with the document's id where the path does not end with it."""
    return name_few([file if file.endswith(id_) else f"{file} ({id_})" for id_, file in files.items()])
