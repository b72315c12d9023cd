"""`ibidem idf`: build, choose and show idf tables."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from ibidem.cli import console
from ibidem.cli.console import Json, bar, engine_context, messages, sanitize, table
from ibidem.grouped_search.api import format_count
from ibidem.index.documents import stored_documents
from ibidem.index.idf_build import REMEDY, ForeignShare, build_table, table_facts
from ibidem_core.settings import Settings, load
from ibidem_engines.ledger import SIGN_AGAIN
from ibidem_ingest.document import Document
from ibidem_ingest.errors import Refusal, UsageError
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.idf.table import Table
from ibidem_ingest.language import add_languages
from ibidem_ingest.readers import read
from ibidem_ingest.readers.formats import DETECT, Choice


def warn_once(shares: Iterable[ForeignShare]) -> None:
    """Warn of documents whose declared language differs from the detected language."""
    for each in shares:
        messages().print(Text(sanitize(f"{each}: {REMEDY}")))


app = typer.Typer(help="Build, choose or show tables of word frequencies.")

RAREST_TERMS = 10  # a table's rarest allowed terms that are shown


@app.command()
def build(
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PATH…", help="Files with documents; default: the documents of the index.", show_default=False
        ),
    ] = None,
    language: Annotated[str, typer.Option(metavar="CODE", help="Only documents in this language count.")] = "en",
    as_json: Json = False,
) -> None:
    """Count a table from documents, at least 1,000; nothing changes until it is used."""
    settings = load()
    origin = f"counted from {', '.join(Path(path).name for path in paths)}" if paths else f"index {settings.index}"
    with bar("Counting") as advance:
        built = build_table(documents(paths, settings), language, origin, lambda count: advance(count, None))
    Tables(settings.tables, settings.index).keep(built.table)
    warn_once(built.foreign)
    console.show(built.as_json(), [Text(line(built.table))], as_json=as_json)
    if as_json:
        return
    for other, times in built.others.items():
        messages().print(Text(f"{format_count(times, 'document')} in {sanitize(repr(other))} left out"))
    messages().print(Text(f"Sign with it: ibidem idf use {built.table.name}"))


@app.command()
def use(name: Annotated[str, typer.Argument(metavar="NAME", help="A table's name.")], as_json: Json = False) -> None:
    """Sign with a table from now on; what the index holds keeps its signatures until it is signed again."""
    tables = Tables(load().tables)
    found = find_table(name, tables)
    tables.use(found)
    console.show(table_facts(found), [Text(line(found))], as_json=as_json)
    if not as_json:
        messages().print(Text(f"The documents of the index keep their signatures; {SIGN_AGAIN}"))


@app.command()
def show(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A table; default: all.")] = "", as_json: Json = False
) -> None:
    """Show the tables of the folder, or one of them."""
    settings = load()
    tables = Tables(settings.tables, settings.index)
    if name:
        found = find_table(name, tables)
        first = min(found.first_allowed, found.size)
        rarest = [found.term(rank) for rank in range(first, min(first + RAREST_TERMS, found.size))]
        counted = f"{format_count(first, 'term')} too rare to count; the rarest that count: "
        lines = [Text(line(found)), Text(f"{counted}{sanitize(', '.join(rarest))}")]
        console.show(table_facts(found) | {"too_rare": first, "rarest": rarest}, lines, as_json=as_json)
        return
    current = set(tables.current().values())
    facts = [table_facts(each) | {"current": each.name in current} for each in tables.all()]
    columns = ("name", "language", "terms", "documents", "origin")
    rows = [
        [f"{each[name]:,}" if name in ("terms", "documents") else each[name] for name in columns]
        + ["current" * bool(each["current"])]
        for each in facts
    ]
    nothing = Text(f"No tables in {tables.folder}; one is built when the first document is signed.")
    shown = table((*columns, ""), rows) if rows else nothing
    console.show({"tables": facts}, [shown], as_json=as_json)


def documents(paths: list[str] | None, settings: Settings) -> Iterator[Document | Refusal]:
    if paths:
        yield from add_languages(read(paths, Choice(language=DETECT), settings.max_text))
        return
    with engine_context(settings) as engine:
        yield from stored_documents(engine)


def find_table(name: str, tables: Tables) -> Table:
    found = Table.open(Path(name)) if Path(name).is_file() else tables.named(name)
    if found is None:
        raise UsageError(f"no idf table {name!r} in {tables.folder}", "list the names with: ibidem idf show")
    return found


def line(found: Table) -> str:
    return f"{found.name}  {found.language}  {found.size:,} terms of {found.documents:,} documents: {found.origin}"
