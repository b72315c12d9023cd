"""Supervisor of the processes of `ibidem serve`: restarts crashed processes, and stops all of them together."""

import logging
import os
import signal
import threading
import time
from collections.abc import Callable, Sequence

from ibidem_ingest.errors import IbidemError

LOG = logging.getLogger(__name__)

ENDS = (signal.SIGINT, signal.SIGTERM)
WATCHED = {*ENDS, signal.SIGCHLD}

# Before a process that ended by itself is started again: at first, and at most after it ended time and again.
FIRST_PAUSE_S, MAX_PAUSE_S = 1.0, 30.0

SECONDS_TO_END = 15.0  # for which processes may finish what they do, before they are killed

Work = Callable[[], None]  # what a process does; it ends at SIGTERM


class Supervised:
    """A process that is restarted when it exits, with a growing delay if it exits early."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._pause = FIRST_PAUSE_S
        self._began = 0.0
        self.due = 0.0
        self.number = 0

    def start(self, reading: int, writing: int) -> None:
        """Start the process."""
        self._began = time.monotonic()
        self.number = fork(self._work, reading, writing)

    def note_end(self) -> None:
        """Record the exit, and schedule the restart."""
        now = time.monotonic()
        if now - self._began > MAX_PAUSE_S:
            self._pause = FIRST_PAUSE_S
        self.number, self.due = 0, now + self._pause
        self._pause = min(2 * self._pause, MAX_PAUSE_S)


def run_processes(works: Sequence[Work]) -> None:
    """Run processes until SIGTERM.

    Each ends when this one does, however it ended: it holds the reading end of a pipe that nothing is written to.
    """
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, WATCHED)
    reading, writing = os.pipe()
    processes = [Supervised(work) for work in works]
    try:
        while await_signal(processes) not in ENDS:
            reap(processes)
            for each in processes:
                if not each.number and time.monotonic() >= each.due:
                    each.start(reading, writing)
        end(processes)
    finally:
        os.close(reading)
        os.close(writing)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def await_signal(processes: Sequence[Supervised]) -> int:
    """Wait until a restart is due or a signal arrives; returns the signal's number, or 0."""
    due = [each.due for each in processes if not each.number]
    if not due:
        return signal.sigwait(WATCHED)
    caught = signal.sigtimedwait(WATCHED, max(0.0, min(due) - time.monotonic()))
    return 0 if caught is None else caught.si_signo


def end(processes: Sequence[Supervised]) -> None:
    """Stop all processes after their current requests; slow ones are killed."""
    tell(processes, signal.SIGTERM)
    deadline = time.monotonic() + SECONDS_TO_END
    while reap(processes):
        remaining = deadline - time.monotonic()
        if remaining <= 0:
            tell(processes, signal.SIGKILL)
            remaining = SECONDS_TO_END
        signal.sigtimedwait({signal.SIGCHLD}, remaining)


def tell(processes: Sequence[Supervised], number: int) -> None:
    """Send a signal to each running process."""
    for each in processes:
        if each.number:
            os.kill(each.number, number)


def reap(processes: Sequence[Supervised]) -> bool:
    """Record which processes have exited; returns whether any is running."""
    for each in processes:
        if each.number and os.waitpid(each.number, os.WNOHANG)[0]:
            each.note_end()
    return any(each.number for each in processes)


def fork(work: Work, reading: int, writing: int) -> int:
    """Start a process, and return its id."""
    process = os.fork()
    if process:
        return process
    code = 1
    try:
        os.setpgrp()  # Ctrl-C is for the first process, which stops the others
        os.close(writing)
        threading.Thread(target=watch_pipe, args=(reading,), daemon=True).start()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, WATCHED)
        work()
        code = 0
    except IbidemError as error:
        LOG.error("a process of the gateway has ended: %s", error)  # noqa: TRY400 - an error of ours says all by itself
    except Exception:
        LOG.exception("a process of the gateway has ended")
    finally:
        os._exit(code)


def watch_pipe(reading: int) -> None:
    """End this process when the other end of a pipe is closed, since its supervisor is gone."""
    os.read(reading, 1)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(SECONDS_TO_END)
    os._exit(1)
