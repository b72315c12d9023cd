"""`ibidem status`: progress and result of a run."""

from typing import Annotated

import typer
from rich.text import Text

from ibidem.cli.console import print_json, results
from ibidem.cli.errors import SOME_REFUSED
from ibidem.cli.options import Json, engine_context
from ibidem.cli.summary import show_summary
from ibidem_workers.runs import summary


def run(
    run: Annotated[str, typer.Argument(metavar="[RUN]", help="A run's name; the last one by default.")] = "",
    as_json: Json = False,
) -> None:
    """Show the progress or summary of a run, also of one started with --no-wait; leaves with 3 on refusals."""
    with engine_context() as engine:
        found = summary(engine, run)
    if as_json:
        print_json(found)
    else:
        console = results()
        console.print(Text(f"Run {found['run']}"))
        show_summary(found, console)
    if found["refused"]:
        raise typer.Exit(SOME_REFUSED)
