"""`ibidem regroup`: settles the stored groups of the index again."""

import time
from typing import Annotated

import typer
from rich.text import Text

from ibidem.cli.console import bar, print_json, results
from ibidem.cli.options import Json, engine_context
from ibidem.grouped_search.explanations import format_count
from ibidem_engines.engine import Engine
from ibidem_workers.groups.follow import regroup, store_of


def run(
    everything: Annotated[
        bool, typer.Option("--all", help="Begin anew, with each document in a group of its own.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Settle stored groups: join leads that are duplicates, and compare every document with its lead once more."""
    with engine_context() as engine:
        found = regrouped(engine, everything=everything)
    if as_json:
        print_json(found)
        return
    told = f"{format_count(found['documents'], 'document')} in {format_count(found['groups'], 'group')}; "
    results().print(Text(f"{told}{found['joined']:,} joined another, in {found['took_s']:.1f} s"))


def regrouped(engine: Engine, *, everything: bool) -> dict[str, int | float]:
    """Settle groups with a bar, and return what `--json` prints."""
    began, done = time.perf_counter(), 0

    def seen(documents: int) -> None:
        nonlocal done
        done += documents
        advance(done, None)

    with bar("Grouping") as advance:
        before = store_of(engine).counts()
        regroup(engine, everything=everything, seen=seen)
    after = store_of(engine).counts()
    joined = after.documents - after.groups if everything else max(0, before.groups - after.groups)
    took = round(time.perf_counter() - began, 3)
    return {"documents": after.documents, "groups": after.groups, "joined": joined, "took_s": took}
