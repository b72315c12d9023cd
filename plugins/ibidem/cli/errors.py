"""Error handling of the command line: one message on standard error and an exit code.

| exit code | means |
|---|---|
| 0 | done |
| 1 | failed |
| 2 | wrong use |
| 3 | done, with some documents refused |
| 130 | interrupted (Ctrl-C) |
| 143 | asked to end (SIGTERM); 0 where that is the usual end: `ibidem worker`, `ibidem serve` |
| 141 | the reader of the output went away (a closed pipe) |
"""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import ParamSpec, TypeVar

from ibidem_ingest.errors import IbidemError, Refused, UsageError

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")

FAILED, WRONG_USE, SOME_REFUSED, INTERRUPTED, PIPE_CLOSED, TERMINATED = 1, 2, 3, 130, 141, 143


class Terminated(KeyboardInterrupt):
    """The process was asked to end by SIGTERM: it puts its things in order, as after Ctrl-C."""


@contextmanager
def sigterm_as_exception() -> Iterator[None]:
    """Let SIGTERM raise `Terminated`, once: a second one does not disturb the putting in order."""

    def end(*_: object) -> None:
        signal.signal(signal.SIGTERM, lambda *_: None)
        raise Terminated

    if threading.current_thread() is not threading.main_thread():
        yield  # the process is another program's, and so are its signals
        return
    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def exit_code(error: IbidemError) -> int:
    """Return the exit code for an error.

    >>> exit_code(UsageError("no level 'nearly'"))
    2
    """
    if isinstance(error.__cause__, KeyboardInterrupt):
        return interrupted(error.__cause__)
    if isinstance(error, UsageError):
        return WRONG_USE
    return SOME_REFUSED if isinstance(error, Refused) else FAILED


def interrupted(by: KeyboardInterrupt) -> int:
    """Return the exit code of a command that was stopped."""
    return TERMINATED if isinstance(by, Terminated) else INTERRUPTED


def say(message: str) -> None:
    """Write one message to standard error."""
    sys.stderr.write(f"ibidem: {message}\n")


def file_error(error: OSError) -> str:
    """Name the file and what is the matter with it."""
    name = f"{error.filename}: " if error.filename else ""
    return f"{name}{error.strerror or error}"


def silence_output() -> None:
    """Point standard output at nothing, so that the interpreter's last flush cannot fail."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def exit_on_error(command: Callable[Arguments, Answer]) -> Callable[Arguments, Answer]:
    """Wrap a command so that every foreseen error becomes a message and an exit code; a bug keeps its traceback."""

    @wraps(command)
    def guarded(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Answer:
        try:
            answer = command(*args, **kwargs)
            sys.stdout.flush()
        except IbidemError as error:
            say(str(error))
            raise SystemExit(exit_code(error)) from error
        except KeyboardInterrupt as stop:
            say("interrupted")
            raise SystemExit(interrupted(stop)) from None
        except BrokenPipeError:
            silence_output()
            raise SystemExit(PIPE_CLOSED) from None
        except OSError as error:
            say(file_error(error))
            raise SystemExit(FAILED) from error
        return answer

    return guarded
