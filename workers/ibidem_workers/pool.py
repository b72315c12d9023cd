"""Supervisor of worker processes: starts them, restarts those killed by a document, and stops them.

Each worker is a Celery worker of its own with Celery's `solo` pool, and not a child of its `prefork` pool. In a
prefork pool the parent takes the messages and survives: when a document kills a child, the parent hands the message
back to the broker (`celery.worker.request.Request.on_failure`), and a message handed back counts no try, so it comes
for ever. Here the process that takes a message is the one that works on it: its death ends its lease, the message
comes again with one try more, and after `IBIDEM_TRIES` tries its documents are tried one by one.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import IO, Self, cast

from ibidem_core.errors import EngineError
from ibidem_core.settings import Settings
from ibidem_workers.brokers.lease import this_process
from ibidem_workers.starter import GRACE

ENDS = 5.0  # seconds after the grace period of the workers in which their starter has ended

STOPPED = 3  # exit code of a worker whose engine takes nothing more; another worker would end in the same way

TAIL = 2_000  # characters that are shown of the end of a dead worker's error output


class WorkerFailure(EngineError):
    """The workers could not start, or the engine refuses writes; documents sent so far remain in the queue."""


@dataclass(eq=False, slots=True)
class _Worker:
    """One worker process."""

    errors: IO[bytes] | None  # file of its error output; None if that is shown at once
    pid: int = 0  # its process id; 0 until the starter has said it
    ready: bool = False  # whether it takes messages
    code: int | None = None  # its exit code; None while it runs


@dataclass(slots=True)
class Pool:
    """Worker processes for one queue, as a context manager that stops them."""

    settings: Settings  # given to each of them as environment
    # Whether to keep their standard error for the message when one dies, instead of showing it at once.
    quiet: bool = False
    # The command of their starter; the name of this process is added.
    command: Sequence[str] = (sys.executable, "-m", "ibidem_workers.worker")
    ready_at: float | None = None  # when the first of them took messages, by `time.monotonic`; None before
    _workers: dict[int, _Worker] = field(default_factory=dict)
    _starter: "subprocess.Popen[bytes] | None" = None
    _errors: IO[bytes] | None = None
    _lines: bytes = b""
    _asked: int = 0

    def __enter__(self) -> Self:
        """Start the configured number of workers."""
        try:
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Ask all workers to end; their starter stops them when its input ends."""
        if self._starter is not None:
            with suppress(BrokenPipeError):
                self._input().close()
            try:
                self._starter.wait(GRACE + ENDS)
            except subprocess.TimeoutExpired:
                self._starter.kill()
                self._starter.wait()
            self._output().close()
            self._starter = None
        for file in (self._errors, *(worker.errors for worker in self._workers.values())):
            if file is not None:
                file.close()
        self._workers.clear()

    @property
    def pids(self) -> list[int]:
        """Process ids of the workers that were started."""
        return [worker.pid for worker in self._workers.values() if worker.pid]

    @property
    def is_ready(self) -> bool:
        """Whether a worker is ready to take messages."""
        return any(worker.ready for worker in self._workers.values())

    def check(self) -> None:
        """Check that the workers are alive; a worker that died after it was ready is restarted.

        This ends: each death counts as a try of a message, and a message has only so many tries.
        """
        self._listen()
        if self.is_ready and self.ready_at is None:
            self.ready_at = time.monotonic()
        if self._starter is not None and (code := self._starter.poll()) is not None:
            if not self.is_ready:
                raise _failure(code, self._errors)
            self.__exit__()  # its workers exit by themselves
            self._start()
        for number, worker in list(self._workers.items()):
            if worker.code is not None:
                if not worker.ready or worker.code == STOPPED:
                    raise _failure(worker.code, worker.errors)
                del self._workers[number]
                if worker.errors is not None:
                    worker.errors.close()
                self._ask()

    def _start(self) -> None:
        """Start the starter process, and request the workers from it."""
        self._errors = tempfile.TemporaryFile() if self.quiet else None  # noqa: SIM115 - closed at the exit
        self._starter = subprocess.Popen(  # noqa: S603 - this package itself
            [*self.command, this_process()],
            env=_environment(self.settings),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            start_new_session=True,  # this process handles Ctrl-C; a worker ends its batch first
        )
        self._lines = b""
        os.set_blocking(self._output().fileno(), False)
        for _ in range(self.settings.workers):
            self._ask()

    def _ask(self) -> None:
        """Request one more worker."""
        errors = tempfile.NamedTemporaryFile(prefix="ibidem-") if self.quiet else None  # noqa: SIM115 - as above
        self._workers[self._asked] = _Worker(errors)
        with suppress(BrokenPipeError):  # the next check sees why it ended
            self._input().write(f"{self._asked} {errors.name if errors else ''}\n".encode())
            self._input().flush()
        self._asked += 1

    def _listen(self) -> None:
        """Read the events of the workers."""
        *lines, self._lines = (self._lines + (self._output().read() or b"")).split(b"\n")
        for event, number, *values in map(bytes.split, lines):
            if worker := self._workers.get(int(number)):
                if event == b"pid":
                    worker.pid = int(values[0])
                elif event == b"ended":
                    worker.code = int(values[0])
                else:
                    worker.ready = True

    def _input(self) -> IO[bytes]:
        return cast("IO[bytes]", self._starter and self._starter.stdin)

    def _output(self) -> IO[bytes]:
        return cast("IO[bytes]", self._starter and self._starter.stdout)


def _failure(code: int, errors: IO[bytes] | None) -> WorkerFailure:
    message = _last_words(errors)
    return WorkerFailure(
        f"a worker ended with code {code}" + (f": {message}" if message else ""),
        "documents already sent are still in the queue; fix this, then run the same command again",
    )


def _last_words(errors: IO[bytes] | None) -> str:
    """Return the end of an error output."""
    if errors is None:
        return ""
    size = errors.seek(0, os.SEEK_END)
    errors.seek(max(0, size - TAIL))
    return errors.read().decode(errors="replace").strip()


def _environment(settings: Settings) -> dict[str, str]:
    variables = {name: value for name, value in os.environ.items() if not name.upper().startswith("IBIDEM_")}
    return variables | settings.as_environment()
