"""Starter of workers: loads their modules once, and forks each worker.

It has one thread, so that no fork takes a lock along. A supervisor writes a line to its standard input for each worker
that it wants: `NUMBER FILE`, with the file for its errors or nothing for the starter's own. It reads what happens as
lines of standard output: `pid NUMBER PID`, `ready NUMBER`, `ended NUMBER CODE`. At the end of the input, at SIGTERM or
when the supervisor is gone, all workers are asked to end, and killed after a grace period.
"""

import os
import select
import signal
import time
from contextlib import suppress
from dataclasses import dataclass, field

from ibidem_workers.brokers.lease import is_alive

# Seconds that a worker has for the batch in hand when it is asked to end; then it is killed, and another takes it.
GRACE = 30.0

# Seconds between two looks whether the supervisor is there: another child of it may keep the input open.
LOOKS_EVERY = 1.0

INPUT, OUTPUT, ERRORS = 0, 1, 2


def fork_workers(supervisor: str) -> int | None:
    """Fork workers on request; returns in each worker, and in the starter when it ends."""
    starter = _Starter(supervisor)
    try:
        return starter.run()
    finally:
        starter.close()


def report(event: str, number: int, *values: int) -> None:
    """Report an event of a worker; a short line is written to a pipe atomically."""
    os.write(OUTPUT, f"{' '.join(map(str, (event, number, *values)))}\n".encode())


@dataclass(eq=False, slots=True)
class _Starter:
    """The starter's loop."""

    supervisor: str  # the process that asks
    _numbers: dict[int, int] = field(default_factory=dict)
    _is_ending: bool = False
    _wake: tuple[int, int] = field(default_factory=lambda: os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC))

    def run(self) -> int | None:
        """Fork workers until asked to end; returns the number of a worker in its own process."""
        signal.set_wakeup_fd(self._wake[1])
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGTERM, self._end)
        lines = b""
        while not self._is_ending:
            readable, _, _ = select.select([INPUT, self._wake[0]], [], [], LOOKS_EVERY)
            self._reap()
            if INPUT in readable:
                read = os.read(INPUT, 65_536)
                self._is_ending = not read
                *wanted, lines = (lines + read).split(b"\n")
                for line in wanted:
                    number, _, path = line.decode().partition(" ")
                    if self._fork(int(number), path):
                        return int(number)
            elif not readable and not is_alive(self.supervisor):
                self._is_ending = True
        self._end_workers()
        return None

    def close(self) -> None:
        """Restore the signal handlers."""
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGCHLD, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        for handle in self._wake:
            os.close(handle)

    def _end(self, *_: object) -> None:
        self._is_ending = True

    def _fork(self, number: int, path: str) -> bool:
        """Fork a worker; returns whether this process is the worker."""
        # A worker that is asked to end before it has reset the starter's handler would ignore it.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
        child = os.fork()
        if not child:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
        if child:
            self._numbers[child] = number
            self._report("pid", number, child)
            return False
        os.dup2(os.open(os.devnull, os.O_RDONLY), INPUT)
        if path:
            os.dup2(os.open(path, os.O_WRONLY | os.O_APPEND), ERRORS)
        return True

    def _reap(self) -> None:
        """Report the workers that have exited."""
        with suppress(BlockingIOError):
            os.read(self._wake[0], 4_096)
        for child in list(self._numbers):
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                self._report("ended", self._numbers.pop(child), os.waitstatus_to_exitcode(status))

    def _report(self, event: str, number: int, value: int) -> None:
        try:
            report(event, number, value)
        except BrokenPipeError:
            self._is_ending = True

    def _end_workers(self) -> None:
        """Ask all workers to end, and kill the rest after a grace period."""
        self._signal(signal.SIGTERM)
        deadline = time.monotonic() + GRACE
        while self._numbers and (left := deadline - time.monotonic()) > 0:
            select.select([self._wake[0]], [], [], left)
            self._reap()
        self._signal(signal.SIGKILL)
        while self._numbers:
            select.select([self._wake[0]], [], [], LOOKS_EVERY)
            self._reap()

    def _signal(self, number: int) -> None:
        for child in self._numbers:
            os.kill(child, number)
