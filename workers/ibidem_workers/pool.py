"""Supervisor of worker processes: starts them, restarts one that a document killed, and stops them.

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
from dataclasses import dataclass, field
from typing import IO, Self

from ibidem_core.errors import EngineError
from ibidem_core.settings import Settings
from ibidem_workers.brokers.lease import this_process

READY = "ready"
"""Line on standard output by which a worker says that it takes messages."""

STOPPED = 3
"""Exit code of a worker whose engine takes nothing more; another worker would end in the same way."""

GRACE = 30.0
"""Seconds that a worker has for the batch in hand when it is asked to end; then it is killed, and another takes it."""

TAIL = 2_000
"""Characters that are shown of the end of a dead worker's error output."""


class WorkerFailure(EngineError):
    """The workers could not start, or the engine takes nothing more; documents sent so far are still in the queue."""


@dataclass(slots=True)
class _Worker:
    """One worker process and its output."""

    process: subprocess.Popen[bytes]
    errors: IO[bytes] | None
    ready: bool = False

    def listen(self) -> None:
        """Read whether it says that it takes messages."""
        if not self.ready and self.process.stdout is not None:
            output = self.process.stdout.read()
            self.ready = bool(output) and READY.encode() in output

    def last_words(self) -> str:
        """Return the end of its error output."""
        if self.errors is None:
            return ""
        size = self.errors.seek(0, os.SEEK_END)
        self.errors.seek(max(0, size - TAIL))
        return self.errors.read().decode(errors="replace").strip()


@dataclass(slots=True)
class Pool:
    """Worker processes for one queue, as a context: they end with it.

    Args:
        settings: Given to each of them as environment.
        quiet: Whether to keep their standard error for the message when one dies, instead of showing it at once.
        command: The command to start; the name of this process is added.
        ready_at: When the first of them took messages, by `time.monotonic`; None before.
    """

    settings: Settings
    quiet: bool = False
    command: Sequence[str] = (sys.executable, "-m", "ibidem_workers.worker")
    ready_at: float | None = None
    _workers: list[_Worker] = field(default_factory=list)

    def __enter__(self) -> Self:
        """Start as many workers as the settings say."""
        try:
            for _ in range(self.settings.workers):
                self._workers.append(self._start())
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Ask all workers to end, and kill the rest after a grace period."""
        for worker in self._workers:
            worker.process.terminate()
        deadline = time.monotonic() + GRACE
        for worker in self._workers:
            try:
                worker.process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                worker.process.kill()
                worker.process.wait()
            self._close(worker)
        self._workers.clear()

    @property
    def pids(self) -> list[int]:
        """The process ids of the workers."""
        return [worker.process.pid for worker in self._workers]

    @property
    def is_ready(self) -> bool:
        """Whether one of them takes messages."""
        return any(worker.ready for worker in self._workers)

    def check(self) -> None:
        """Check that the workers live; one that died after it was ready is started again.

        This ends: each death counts as a try of a message, and a message has only so many tries.

        Raises:
            WorkerFailure: One could not start, or its engine takes nothing more.
        """
        for at, worker in enumerate(self._workers):
            worker.listen()
            if worker.ready and self.ready_at is None:
                self.ready_at = time.monotonic()
            if worker.process.poll() is not None:
                self._workers[at] = self._replace(worker)

    def _replace(self, worker: _Worker) -> _Worker:
        code, message = worker.process.returncode, worker.last_words()
        if code == STOPPED or not worker.ready:
            raise WorkerFailure(
                f"a worker ended with code {code}" + (f": {message}" if message else ""),
                "what was sent is still in the queue; mend this, then give the same command again",
            )
        replacement = self._start()
        self._close(worker)
        return replacement

    def _start(self) -> _Worker:
        errors = tempfile.TemporaryFile() if self.quiet else None  # noqa: SIM115 - closed with the worker
        process = subprocess.Popen(  # noqa: S603 - this package itself
            [*self.command, this_process()],
            env=_environment(self.settings),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            start_new_session=True,  # this process handles Ctrl-C; a worker ends its batch first
        )
        if process.stdout is not None:
            os.set_blocking(process.stdout.fileno(), False)
        return _Worker(process, errors)

    @staticmethod
    def _close(worker: _Worker) -> None:
        if worker.errors is not None:
            worker.errors.close()
        if worker.process.stdout is not None:
            worker.process.stdout.close()


def _environment(settings: Settings) -> dict[str, str]:
    variables = {name: value for name, value in os.environ.items() if not name.upper().startswith("IBIDEM_")}
    return variables | settings.as_environment()
