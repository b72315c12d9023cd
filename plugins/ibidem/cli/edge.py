"""The edge of the command line: what went wrong becomes one message on standard error and an exit code.

| exit code | means |
|---|---|
| 0 | done |
| 1 | failed |
| 2 | wrong use |
| 3 | done, with some documents refused |
| 130 | interrupted (Ctrl-C) |
| 141 | the reader of the output went away (a closed pipe) |
"""

import os
import sys
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from ibidem_ingest.errors import IbidemError, Refused, UsageError

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")

FAILED, WRONG_USE, SOME_REFUSED, INTERRUPTED, PIPE_CLOSED = 1, 2, 3, 130, 141


def exit_code(error: IbidemError) -> int:
    """Return the exit code for an error.

    >>> exit_code(UsageError("no level 'nearly'"))
    2
    """
    if isinstance(error.__cause__, KeyboardInterrupt):
        return INTERRUPTED
    if isinstance(error, UsageError):
        return WRONG_USE
    return SOME_REFUSED if isinstance(error, Refused) else FAILED


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


def at_the_edge(command: Callable[Arguments, Answer]) -> Callable[Arguments, Answer]:
    """Wrap a command so that every foreseen error becomes a message and an exit code; a bug keeps its traceback."""

    @wraps(command)
    def guarded(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Answer:
        try:
            answer = command(*args, **kwargs)
            sys.stdout.flush()
        except IbidemError as error:
            say(str(error))
            raise SystemExit(exit_code(error)) from error
        except KeyboardInterrupt:
            say("interrupted")
            raise SystemExit(INTERRUPTED) from None
        except BrokenPipeError:
            silence_output()
            raise SystemExit(PIPE_CLOSED) from None
        except OSError as error:
            say(file_error(error))
            raise SystemExit(FAILED) from error
        return answer

    return guarded
