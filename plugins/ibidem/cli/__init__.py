"""Command-line application: the table of commands, one module each, and the dispatch to the given one.

Only the module of the command that was typed is imported, so that `ibidem --help` and a mistyped option answer at once.
An error is one message on standard error and an exit code:

| exit code | means |
|---|---|
| 0 | done |
| 1 | failed |
| 2 | wrong use |
| 3 | done, with some documents refused |
| 130 | interrupted (Ctrl-C) |
| 143 | asked to end (SIGTERM); 0 if that is the usual end: `ibidem worker`, `ibidem serve` |
| 141 | the reader of the output went away (a closed pipe) |
"""

import errno
import gc
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from importlib import import_module
from typing import ParamSpec, TypeVar

import orjson
import typer

from ibidem_ingest import distribution
from ibidem_ingest.distribution import registered
from ibidem_ingest.errors import IbidemError, Refused, UsageError

START = time.monotonic()  # when the command began, for the time that it says it took

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")

FAILED, WRONG_USE, SOME_REFUSED, INTERRUPTED, PIPE_CLOSED, TERMINATED = 1, 2, 3, 130, 141, 143


class Sigterm(KeyboardInterrupt):
    """SIGTERM was received: the process cleans up, as after Ctrl-C."""


@contextmanager
def sigterm_as_exception() -> Iterator[None]:
    """Raise `Sigterm` at the first SIGTERM; later ones do not interrupt the clean-up."""

    def end(*_: object) -> None:
        signal.signal(signal.SIGTERM, lambda *_: None)
        raise Sigterm

    if threading.current_thread() is not threading.main_thread():
        yield  # another program's process, whose signals are not ours
        return
    handler = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, handler)


def exit_code(error: IbidemError | KeyboardInterrupt) -> int:
    """Return the exit code for an error, or for what stopped a command.

    >>> exit_code(UsageError("no level 'nearly'"))
    2
    """
    stop = error if isinstance(error, KeyboardInterrupt) else error.__cause__
    if isinstance(stop, KeyboardInterrupt):
        return TERMINATED if isinstance(stop, Sigterm) else INTERRUPTED
    if isinstance(error, UsageError):
        return WRONG_USE
    return SOME_REFUSED if isinstance(error, Refused) else FAILED


def say(message: str) -> None:
    sys.stderr.write(f"ibidem: {_PARAMETER.sub(_option, message)}\n")


# By the number of a system error.
FILE_REMEDIES = {
    errno.ENOENT: "correct the name, or create the folder",
    errno.ENOTDIR: "correct the name: a part of it is a file, not a folder",
    errno.EISDIR: "give the name of a file, not of a folder",
    errno.EACCES: "change its permissions, or give another name",
    errno.EROFS: "give a name on a disk that can be written",
    errno.ENOSPC: "free space on the disk",
}


def exit_on_error(command: Callable[Arguments, Answer]) -> Callable[Arguments, Answer]:
    """Wrap a command so that every expected error becomes a message and an exit code; bugs keep their traceback."""

    @wraps(command)
    def wrapper(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Answer:
        try:
            answer = command(*args, **kwargs)
            sys.stdout.flush()
        except IbidemError as error:
            if kwargs.get("as_json"):
                typer.echo(orjson.dumps({"error": str(error), "exit_code": exit_code(error)}).decode())
            say(str(error))
            raise SystemExit(exit_code(error)) from error
        except KeyboardInterrupt as stop:
            say("interrupted")
            raise SystemExit(exit_code(stop)) from None
        except BrokenPipeError:
            # The interpreter's last flush must not fail.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise SystemExit(PIPE_CLOSED) from None
        except OSError as error:
            name = f"{error.filename}: " if error.filename else ""
            remedy = f"; {FILE_REMEDIES[error.errno]}" if error.errno in FILE_REMEDIES else ""
            say(f"{name}{error.strerror or error}{remedy}")
            raise SystemExit(FAILED) from error
        return answer

    return wrapper


# Every command in the order of the help, with its one line there; its module carries the same name.
COMMANDS = {
    "demo": "Search the licence texts installed on this machine, with their duplicates indented.",
    "ingest": "Ingest files into the index, through the queue.",
    "status": "Show the progress or summary of a run, or failed documents, with --dead.",
    "delete": "Delete documents, with --identical their equal copies; take deletions back.",
    "overrides": "List, add or remove manual decisions on pairs of documents.",
    "worker": "Run a worker for the queue.",
    "search": "Show search results with their duplicates indented or collapsed.",
    "inspect": "Show one document's duplicates in the whole index.",
    "compare": "Compare two documents or two files: every signal, and the text they share.",
    "groups": "Show the groups of the whole index: sizes, leads, kinds of duplicates.",
    "doctor": "Show every setting with its origin, and which services answer.",
    "backfill": "Sign the documents of an existing index, in place or into a new index.",
    "strip": "Remove ibidem's fields from the documents of an index.",
    "regroup": "Settle stored groups again: join leads that are duplicates of each other.",
    "idf": "Build, choose or show tables of word frequencies.",
}

# Commands that stand below the others in the help: they change what an index holds, as a whole.
MAINTENANCE = frozenset({"backfill", "strip", "regroup", "idf"})

# Objects after which the garbage collector looks for cycles; reading a file makes many, nearly all without any.
COLLECTED_AFTER = 50_000


def version(value: bool) -> None:
    if value:
        typer.echo(f"ibidem {distribution.installed_version()} (distribution {distribution.NAME})")
        raise typer.Exit


def root(
    _version: bool = typer.Option(False, "--version", callback=version, is_eager=True, help="Print the version."),
) -> None:
    """Find duplicate documents while indexing, and indent or collapse them while searching."""


def side_commands() -> dict[str, tuple[str, str]]:
    """Return the commands of side packages: their line in the help, and their module."""
    return {name: row for table in registered("ibidem.commands") for name, row in table.items()}


def load(module: str) -> Callable[..., object] | typer.Typer:
    """Load a command: the function `run` of its module, or the `app` of a family such as `idf`."""
    command = import_module(module)
    family: typer.Typer | None = getattr(command, "app", None)
    return family if family is not None else exit_on_error(command.run)


def build(typed: str) -> typer.Typer:
    """Build the application: the typed command completely, the others as help lines."""
    app = typer.Typer(
        name="ibidem",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        add_completion=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(root)
    commands = {name: (line, f"ibidem.cli.{name}") for name, line in COMMANDS.items()}
    if typed not in commands:
        commands |= side_commands()
    for name, (line, module) in commands.items():
        command = load(module) if name == typed else lambda: None  # of the others the help needs the name alone
        panel = "Maintenance" if name in MAINTENANCE else "Commands"
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=name, help=line, no_args_is_help=True, rich_help_panel=panel)
        else:
            app.command(name, short_help=line, rich_help_panel=panel)(command)
    return app


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its exit code."""
    with sigterm_as_exception():
        exit_on_error(start)(list(sys.argv[1:] if arguments is None else arguments))


def start(typed: list[str]) -> None:
    """Build the application with the given command, and run it."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # no matrices here, and its threads would busy-wait
    first = next((word for word in typed if not word.startswith("-")), "")
    app = build(first)
    gc.freeze()  # imported objects are never garbage; scanning them takes a twentieth of an ingest
    gc.set_threshold(COLLECTED_AFTER)
    app(typed, prog_name="ibidem")


_PARAMETER = re.compile(r"\bdedupe(?:_(?P<name>[a-z]+(?:_[a-z]+)*)\b(?P<with_value>=?)|=)")


def _option(match: re.Match[str]) -> str:
    if match["name"] is None:
        return "--dedupe "
    return f"--{match['name'].replace('_', '-')}{' ' * bool(match['with_value'])}"
