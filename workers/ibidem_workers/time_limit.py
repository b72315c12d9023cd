"""A limit in time for what no one can interrupt: when it has passed, the process ends."""

import faulthandler
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """End this process, with what it was doing on standard error, when the block takes longer.

    The watch is a thread of the interpreter's own, which also acts while a library holds all others up.

    Args:
        seconds: What the block may take.
    """
    faulthandler.dump_traceback_later(seconds, exit=True, file=sys.__stderr__ or sys.stderr)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()
