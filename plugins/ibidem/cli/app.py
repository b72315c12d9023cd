"""Command-line application: the table of commands, and the dispatch to the one that was typed.

Only the module of the command that was typed is imported, so that `ibidem --help` and a mistyped option answer at once.
"""

import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module, metadata

import typer

from ibidem.cli.errors import exit_on_error, sigterm_as_exception

COMMANDS = {
    "demo": "Search the licence texts installed on this machine, with their duplicates indented.",
    "ingest": "Take files into the index, through the queue.",
    "status": "Show the progress or summary of a run, also one started with --no-wait.",
    "delete": "Delete documents; with --identical their identical copies too.",
    "overrides": "List, add or remove manual decisions on pairs of documents.",
    "worker": "Run a worker for the queue.",
    "search": "Show a result list with its duplicates indented or collapsed.",
    "inspect": "Show one document's duplicates in the whole index.",
    "compare": "Compare two documents or two files: every signal, and the text they share.",
    "alerts": "Save searches that report only what duplicates nothing reported before.",
    "groups": "Group the whole index: sizes, leads, kinds of duplicates.",
    "backfill": "Sign what an index already holds, in its place or into a new index.",
    "strip": "Remove from an index what ibidem added to its documents.",
    "regroup": "Settle stored groups again: join leads that are duplicates of each other.",
    "idf": "Build, choose, show or compare tables of word frequencies.",
    "evaluate": "Measure the duplicates that are found against labels.",
    "tune": "Choose similarity and preset on your own labels, with cross-validation.",
    "serve": "Serve searches over HTTP in the engine's own format, and a page for browsers.",
    "dead": "List, show, retry or drop failed documents.",
    "doctor": "Show every setting with its origin, and what answers and what does not.",
}
"""Every command in the order of the help, with its one line there; its module carries the same name."""

COMPLETION = "_IBIDEM_COMPLETE"


def version(wanted: bool) -> None:
    """Print the version and stop, when it was asked for."""
    if wanted:
        typer.echo(f"ibidem {metadata.version('ibidem')}")
        raise typer.Exit


def root(
    _version: bool = typer.Option(False, "--version", callback=version, is_eager=True, help="Print the version."),
) -> None:
    """Find duplicate documents while indexing and indent or collapse them while searching."""


def nothing() -> None:
    """Stand in the help for a command that was not typed."""


def load(name: str) -> Callable[..., object] | typer.Typer:
    """Return a command: the function `run` of its module, or the `app` of a family such as `dead`."""
    module = import_module(f"ibidem.cli.{name}")
    family: typer.Typer | None = getattr(module, "app", None)
    return family if family is not None else exit_on_error(module.run)


def build(wanted: Sequence[str]) -> typer.Typer:
    """Build the application with the wanted commands in full and the others as lines of the help.

    Args:
        wanted: Names of the commands that may run.
    """
    app = typer.Typer(
        name="ibidem",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(root)
    for name, line in COMMANDS.items():
        command = load(name) if name in wanted else nothing
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=name, help=line, no_args_is_help=True)
        else:
            app.command(name, short_help=line)(command)
    return app


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and leave with its exit code.

    Args:
        arguments: What was typed after `ibidem`; the process's own when None.
    """
    with sigterm_as_exception():
        exit_on_error(start)(list(sys.argv[1:] if arguments is None else arguments))


def start(typed: list[str]) -> None:
    """Build the application with the command that was typed, and run it."""
    first = next((word for word in typed if not word.startswith("-")), "")
    app = build(list(COMMANDS) if COMPLETION in os.environ else [first])
    app(typed, prog_name="ibidem")
