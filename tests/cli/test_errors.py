"""What goes wrong becomes one message on standard error and an exit code."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from ibidem.cli.errors import Terminated, exit_on_error, sigterm_as_exception
from ibidem_engines.errors import Permanent, Unavailable
from ibidem_ingest.errors import IbidemError, Refusal, Refused, UsageError


def stopped(by: KeyboardInterrupt) -> IbidemError:
    error = Unavailable("run 7 was stopped")
    error.__cause__ = by
    return error


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (
            UsageError("no level 'nearly'", "allowed: identical, near"),
            2,
            "no level 'nearly'; allowed: identical, near",
        ),
        (Permanent("the disk is full", "make room"), 1, "the disk is full; make room"),
        (Unavailable("it does not answer"), 1, "it does not answer"),
        (Refused(Refusal("a.jsonl:3", "x", "date", "'soon' is none")), 3, "a.jsonl:3: document 'x', field 'date'"),
        (FileNotFoundError(2, "No such file or directory", "gone.csv"), 1, "gone.csv: No such file or directory"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (stopped(KeyboardInterrupt()), 130, "run 7 was stopped"),
        (Terminated(), 143, "interrupted"),
        (stopped(Terminated()), 143, "run 7 was stopped"),
    ],
)
def test_a_foreseen_error_is_one_message_and_an_exit_code(error: BaseException, code: int, said: str, capsys) -> None:
    @exit_on_error
    def fails() -> None:
        raise error

    with pytest.raises(SystemExit) as left:
        fails()
    assert left.value.code == code
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"ibidem: {said}")
    assert printed.err.count("\n") == 1


def test_sigterm_ends_what_runs_once_and_leaves_the_putting_in_order_alone() -> None:
    @contextmanager
    def puts_in_order() -> Iterator[None]:
        try:
            yield
        finally:
            signal.raise_signal(signal.SIGTERM)
            ended.append("put in order")

    ended: list[str] = []
    with pytest.raises(Terminated), sigterm_as_exception(), puts_in_order():
        signal.raise_signal(signal.SIGTERM)
    assert ended


def test_a_bug_keeps_its_traceback() -> None:
    @exit_on_error
    def buggy() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        buggy()


def test_a_closed_pipe_is_no_message() -> None:
    """`ibidem … | head -1` ends quietly."""
    code = "from ibidem.cli.errors import exit_on_error\n@exit_on_error\ndef run():\n    print('x\\n' * 100_000)\nrun()"
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as closed:
        done = subprocess.run([sys.executable, "-c", code], stdout=closed, stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr) == (141, b"")
