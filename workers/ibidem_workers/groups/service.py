"""Settling what is new in an index: for some time, by one process at a time, until nothing is left."""

import time
from math import inf

from ibidem_engines.engine import Engine
from ibidem_workers.groups.checkpoint import Checkpoint, by_part, parsed
from ibidem_workers.groups.follow import Follower, Seen, said_of_pairs, store_of
from ibidem_workers.groups.lease import Lease

PAUSE = 0.2
"""Seconds between two looks while another process settles."""


def settle(engine: Engine, seconds: float, seen: Seen = lambda _: None) -> None:
    """Settle what is new in an index, unless another process does.

    Args:
        engine: The index.
        seconds: For how long at most.
        seen: Called with the number of documents that were looked at.
    """
    lease, until = Lease(engine), time.monotonic() + seconds

    def going_on(documents: int) -> None:
        lease.renew()
        seen(documents)

    if lease.taken() or settled(engine):  # whoever settles is not held up by refreshes for those that wait
        return
    if lease.take():
        try:
            Follower(engine, going_on, stop=lambda: lease.lost or time.monotonic() > until).catch_up()
        finally:
            lease.give_back()


def settle_all(engine: Engine, seen: Seen = lambda _: None) -> None:
    """Settle all that was there at the beginning, or wait until another process did; others may go on writing."""
    goal = store_of(engine).newest()
    while True:
        settle(engine, inf, seen)
        checkpoint = Checkpoint.read(engine)
        if all(checkpoint.after(part) >= number for part, number in goal.items()):
            return
        time.sleep(PAUSE)


def settled(engine: Engine) -> bool:
    """Return whether all that was written is settled, and every manual decision followed."""
    checkpoint = Checkpoint.read(engine)
    written = by_part(store_of(engine).newest(parsed(checkpoint.seen)))
    return written == checkpoint.seen and said_of_pairs(engine) == checkpoint.overrides
