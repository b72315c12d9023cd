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
        run_summary = summary(engine, run)
    if as_json:
        print_json(run_summary)
    else:
        console = results()
        console.print(Text(f"Run {run_summary['run']}"))
        show_summary(run_summary, console)
    if run_summary["refused"]:
        raise typer.Exit(SOME_REFUSED)
