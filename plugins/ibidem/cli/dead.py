"""`ibidem dead`: documents that could not be ingested, with the reason."""

from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from ibidem.cli.app import SOME_REFUSED
from ibidem.cli.console import Json, bar, engine_context, messages, print_json, results, sanitize
from ibidem.cli.ingest import update_bar
from ibidem.cli.status import show_summary
from ibidem.grouped_search.explanations import format_count
from ibidem_core import logs
from ibidem_core.settings import load
from ibidem_ingest.errors import UsageError
from ibidem_workers.dead_letters import DeadLetter, drop, letters
from ibidem_workers.ingest import retry
from ibidem_workers.runs import summary

app = typer.Typer(help="List, show, retry or drop failed documents: those that could not be ingested.")

Ids = Annotated[list[str] | None, typer.Argument(metavar="[ID]…", help="Document ids.", show_default=False)]
All = Annotated[bool, typer.Option("--all", help="All failed documents.")]


@app.command("list")
def list_(as_json: Json = False) -> None:
    """List the documents that could not be ingested, with the reason."""
    with engine_context() as engine:
        dead_letters = letters(engine)
    if as_json:
        print_json({"dead": [letter.as_json() for letter in dead_letters]})
    elif not dead_letters:
        results().print("No failed documents.")
    else:
        results().print(table(dead_letters))


@app.command()
def show(id_: Annotated[str, typer.Argument(metavar="ID", help="The document's id.")], as_json: Json = False) -> None:
    """Show one document that could not be ingested, as it came; of several files that gave it this id, each."""
    with engine_context() as engine:
        for letter in letters(engine, [id_]):
            if as_json:
                print_json(letter.as_json() | {"record": letter.record})
            else:
                show_letter(letter)


def show_letter(letter: DeadLetter) -> None:
    """Show one document with one line per field."""
    console = results()
    for name, value in letter.as_json().items():
        console.print(Text.assemble((f"{name:>6}  ", "about"), sanitize(str(value))))
    for name, value in letter.record.items():
        console.print(Text.assemble((f"{name}: ", "about"), sanitize(str(value)[:1_000])))


@app.command("retry")
def retry_(ids: Ids = None, everything: All = False, as_json: Json = False) -> None:
    """Send documents through the queue again; exits with 3 if some were refused again."""
    settings = load()
    logs.set_up(settings)
    with engine_context(settings) as engine:
        dead_letters = choose(letters(engine, ids or ()), ids, everything=everything)
    with bar("Indexing") as advance:
        ids_again = [letter.refusal.id for letter in dead_letters]
        name = retry(ids_again, settings, report=lambda progress: update_bar(progress, advance))
    with engine_context(settings) as engine:
        run_summary = summary(engine, name)
    if as_json:
        print_json(run_summary)
    else:
        show_summary(run_summary, results())
    if run_summary["refused"]:
        raise typer.Exit(SOME_REFUSED)


@app.command("drop")
def drop_(ids: Ids = None, everything: All = False, as_json: Json = False) -> None:
    """Forget documents that could not be ingested."""
    with engine_context() as engine:
        dead_letters = choose(letters(engine, ids or ()), ids, everything=everything)
        count = drop(engine, [letter.refusal.id for letter in dead_letters])
    if as_json:
        print_json({"dropped": count})
    else:
        messages().print(f"{format_count(count, 'failed document')} dropped")


def choose(dead_letters: list[DeadLetter], ids: list[str] | None, *, everything: bool) -> list[DeadLetter]:
    """Return the failed documents with the given ids, or all of them if `everything` is set."""
    if bool(ids) == everything:
        raise UsageError("no failed document is named", "name their ids, or give --all")
    return dead_letters


def table(dead_letters: list[DeadLetter]) -> Table:
    """Return the failed documents as a table."""
    table = Table(box=None, pad_edge=False, padding=(0, 2))
    for column in ("id", "tries", "when", "why"):
        table.add_column(column, overflow="fold")
    for letter in dead_letters:
        row = letter.as_json()
        table.add_row(sanitize(str(row["id"])), str(row["tries"]), str(row["when"]), sanitize(str(row["why"])))
    return table
