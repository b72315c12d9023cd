"""Signals that ask a command to end, as an event to wait for."""

import os
import select
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType


@contextmanager
def catch_end_signals() -> Iterator[Callable[[float], bool]]:
    """Catch Ctrl-C and SIGTERM so that the current work is finished; returns a function that waits for one of them.

    By a pipe: a handler that took a lock, such as that of a `threading.Event`, would wait for ever where the very
    thread that it interrupts holds it.
    """
    reading, writing = os.pipe()
    os.set_blocking(writing, False)

    def ask(_number: int, _frame: FrameType | None) -> None:
        """Record a request to end."""
        with suppress(BlockingIOError):  # the pipe already holds thousands of requests
            os.write(writing, b".")

    def wait_for_signal(seconds: float) -> bool:
        """Wait, and return whether a request to end was received."""
        return bool(select.select([reading], [], [], seconds)[0])

    handlers = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield wait_for_signal
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        os.close(reading)
        os.close(writing)
