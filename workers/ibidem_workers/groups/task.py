"""Settling groups as a task: for some time, by one process at a time, until nothing is new."""

import time
from collections.abc import Callable

from ibidem_engines.engine import Engine
from ibidem_workers.groups.checkpoint import Checkpoint, by_part, parsed
from ibidem_workers.groups.follow import Follower, store_of
from ibidem_workers.groups.lease import Lease

SECONDS = 60.0
"""For so long a task settles; what is left is another's. A broker takes back a message that is held for very long."""


def settle(engine: Engine, ended: Callable[[], bool] = lambda: False, seconds: float = SECONDS) -> bool:
    """Settle what is new in an index, unless another process does.

    Args:
        engine: The index.
        ended: Tells whether this process was asked to end.
        seconds: For how long at most.

    Returns:
        Whether nothing is left for another task.
    """
    lease = Lease(engine)
    until = time.monotonic() + seconds
    follower = Follower(engine, lambda _: lease.renew(), stop=lambda: ended() or time.monotonic() > until)
    while lease.take():
        try:
            follower.catch_up()
        finally:
            lease.give_back()
        if follower.stop():
            return False
        if settled(engine):  # looked at once more after giving back: what others asked for meanwhile was not lost
            return True
    return True


def settled(engine: Engine) -> bool:
    """Tell whether all that was written is settled."""
    seen = Checkpoint.read(engine).seen
    return by_part(store_of(engine).newest(parsed(seen))) == seen
