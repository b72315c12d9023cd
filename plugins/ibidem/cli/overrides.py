"""`ibidem overrides`: a reader's word on pairs of documents, which beats all evidence."""

import getpass
from datetime import UTC, datetime
from typing import Annotated, Literal

import typer
from rich.table import Table

from ibidem.cli.console import print_json, results
from ibidem.cli.marked import harmless
from ibidem.cli.opened import opened_engine
from ibidem.cli.options import Json
from ibidem.dedupe.overrides import VERDICTS, Override
from ibidem.recorded import recorded
from ibidem.takedown import stored_hits
from ibidem_engines.engine import Engine
from ibidem_ingest.errors import UsageError
from ibidem_ingest.signatures.packed import unpack

app = typer.Typer(help="List, add or remove a reader's word on pairs of documents.")

A = Annotated[str, typer.Argument(metavar="A", help="A document's id.", show_default=False)]
B = Annotated[str, typer.Argument(metavar="B", help="Another's.", show_default=False)]


@app.command("list")
def list_(as_json: Json = False) -> None:
    """List what readers said of pairs."""
    with opened_engine() as engine:
        found = recorded(engine)
    if as_json:
        print_json({"overrides": [one.as_record() for one in found]})
    elif not found:
        results().print("No overrides.")
    else:
        results().print(table(found))


@app.command()
def add(
    a: A,
    b: B,
    verdict: Annotated[str, typer.Option("--as", metavar="VERDICT", help=f"{' or '.join(VERDICTS)}.")] = "not",
    reason: Annotated[str, typer.Option(help="Why.")] = "",
    author: Annotated[str, typer.Option(help="Who says so; the user of this machine by default.")] = "",
    as_json: Json = False,
) -> None:
    """Say that two documents are not duplicates, or that they are the same."""
    with opened_engine() as engine:
        hashes = contents(engine, a, b)
        word = Override(
            a=(engine.index, a),
            b=(engine.index, b),
            verdict=read_verdict(verdict),
            author=author or getpass.getuser(),
            reason=reason,
            date=datetime.now(UTC).date().isoformat(),
            content_a=hashes[0],
            content_b=hashes[1],
        )
        engine.note("overrides", {word.key: word.as_record()})
    answer([word], "noted", as_json=as_json)


@app.command()
def remove(a: A, b: B, as_json: Json = False) -> None:
    """Take back what was said of two documents."""
    with opened_engine() as engine:
        found = [word for word in recorded(engine) if {word.a, word.b} == {(engine.index, a), (engine.index, b)}]
        if not found:
            raise UsageError(f"nothing was said of {a!r} and {b!r}", "see: ibidem overrides list")
        engine.strike("overrides", [word.key for word in found])
    answer(found, "removed", as_json=as_json)


def answer(found: list[Override], what: str, *, as_json: bool) -> None:
    """Print what was noted or removed."""
    if as_json:
        print_json({"overrides": [one.as_record() for one in found]})
    else:
        results().print(table(found))
        results().print(what)


def read_verdict(typed: str) -> Literal["not", "same"]:
    """Read a verdict."""
    for known in VERDICTS:
        if typed == known:
            return known
    raise UsageError(f"--as {typed!r} is not understood", f"right are: {', '.join(VERDICTS)}")


def contents(engine: Engine, a: str, b: str) -> tuple[str, str]:
    """Return the content hashes of two documents, so that the word is known as stale when a text changes."""
    packed = {hit.id: unpack(hit.packed) for hit in stored_hits(engine, [a, b]) if hit.packed is not None}
    first, second = packed.get(a), packed.get(b)
    if first is None or second is None:
        missing = [id_ for id_ in (a, b) if packed.get(id_) is None]
        raise UsageError(
            f"no signed document {', '.join(map(repr, missing))} in index {engine.index!r}", "name two ids"
        )
    return first.content.hex(), second.content.hex()


def table(found: list[Override]) -> Table:
    """Return the words as a table."""
    shown = Table(box=None, pad_edge=False, padding=(0, 2))
    for column in ("a", "b", "verdict", "author", "date", "reason"):
        shown.add_column(column, overflow="fold")
    for one in found:
        shown.add_row(*map(harmless, (one.a[1], one.b[1], one.verdict, one.author, one.date, one.reason)))
    return shown
