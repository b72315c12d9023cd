"""Several processes that answer at one address: each takes the next connection that comes."""

import os
import signal
import threading
import time
from collections.abc import Callable

ENDS = (signal.SIGINT, signal.SIGTERM)
PAUSE_S = 1.0
"""Before a process takes the place of one that ended by itself."""


def answer_in(count: int, work: Callable[[], None]) -> None:
    """Do the same in several processes until this one is told to end; one that ends by itself is replaced.

    Each ends when this one does, however it ended: it holds the reading end of a pipe that nothing is written to.

    Args:
        count: How many processes.
        work: What each does; it ends at SIGTERM.
    """
    watched = {*ENDS, signal.SIGCHLD}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, watched)
    reading, writing = os.pipe()
    try:
        running = {start(work, reading, writing) for _ in range(count)}
        ending = False
        while running:
            if signal.sigwait(watched) == signal.SIGCHLD:
                ended = reap(running)
                running -= ended
                if ended and not ending:
                    time.sleep(PAUSE_S)
                    running |= {start(work, reading, writing) for _ in ended}
            else:
                ending = True
                for process in running:
                    os.kill(process, signal.SIGTERM)
    finally:
        os.close(reading)
        os.close(writing)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def start(work: Callable[[], None], reading: int, writing: int) -> int:
    """Start a process, and return its number."""
    process = os.fork()
    if process:
        return process
    code = 1
    try:
        os.setpgrp()  # Ctrl-C is for the first process, which tells the others
        os.close(writing)
        threading.Thread(target=end_with, args=(reading,), daemon=True).start()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {*ENDS, signal.SIGCHLD})
        work()
        code = 0
    finally:
        os._exit(code)


def end_with(reading: int) -> None:
    """End this process when nobody holds the other end of a pipe any more."""
    os.read(reading, 1)
    os.kill(os.getpid(), signal.SIGTERM)


def reap(running: set[int]) -> set[int]:
    """Return those that have ended."""
    return {process for process in running if os.waitpid(process, os.WNOHANG)[0]}
