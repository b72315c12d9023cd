"""`ibidem overrides`: mark pairs of documents as duplicates or not; an override takes precedence over signatures."""

import getpass
from collections.abc import Sequence
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from ibidem.cli.console import Json, engine_context, messages, option, sanitize, show, table
from ibidem.index.documents import add_override, common_duplicates, remove_override, report_overrides
from ibidem_dedupe.overrides import VERDICTS, Override
from ibidem_engines.engine import Engine
from ibidem_engines.ledger import load_overrides

app = typer.Typer(help="List, add or remove manual decisions on pairs of documents.")

MAX_NAMED = 5  # documents that both of a pair repeat
A = Annotated[str, typer.Argument(metavar="A", help="A document's id.", show_default=False)]
B = Annotated[str, typer.Argument(metavar="B", help="Another's.", show_default=False)]


@app.command("list")
def list_(as_json: Json = False) -> None:
    """List the manual decisions on pairs."""
    with engine_context() as engine:
        overrides = load_overrides(engine)
    report = {"overrides": [override.as_record() for override in overrides]}
    show(report, [overrides_table(overrides) if overrides else "No manual decisions."], as_json=as_json)


@app.command()
def add(
    a: A,
    b: B,
    verdict: Annotated[str, option("--as", f"{' or '.join(VERDICTS)}.", "VERDICT")] = "not",
    reason: Annotated[str, typer.Option(help="Why.")] = "",
    author: Annotated[str, typer.Option(help="Author; the user of this machine by default.")] = "",
    as_json: Json = False,
) -> None:
    """Mark two documents as not duplicates, or as the same."""
    with engine_context() as engine:
        word = add_override(engine, (a, b), verdict, author=author or getpass.getuser(), reason=reason)
        common = common_duplicates(engine, a, b) if word.verdict == "not" else []
        answer(engine, [word], "noted", as_json=as_json)
    if common:
        messages().print(Text(still_joined(word, common)))


def still_joined(word: Override, common: Sequence[str]) -> str:
    """Say what else parts two documents that both repeat others, whose group they may both join."""
    others, a, b = [sanitize(each) for each in common[:MAX_NAMED]], sanitize(word.a[1]), sanitize(word.b[1])
    named = ", ".join(others) + (f" and {len(common) - MAX_NAMED:,} more" if len(common) > MAX_NAMED else "")
    commands = "; ".join(f"ibidem overrides add {other} {b} --as not" for other in others)
    stay = f"where one of these leads, {a} and {b} stay in its group"
    return f"Both also repeat {named}: {stay}. To part them there, too: {commands}"


@app.command()
def remove(a: A, b: B, as_json: Json = False) -> None:
    """Remove the manual decision on two documents."""
    with engine_context() as engine:
        answer(engine, remove_override(engine, a, b), "removed", as_json=as_json)


def answer(engine: Engine, overrides: list[Override], message: str, *, as_json: bool) -> None:
    report = report_overrides(engine, overrides)
    said = f"{message} {report.get('remedy', '')}".strip()
    show(report, [overrides_table(overrides), said], as_json=as_json)


def overrides_table(overrides: Sequence[Override]) -> Table:
    rows = [(each.a[1], each.b[1], each.verdict, each.author, each.date, each.reason) for each in overrides]
    return table(("a", "b", "verdict", "author", "date", "reason"), rows)
