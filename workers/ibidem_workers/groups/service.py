"""Settling what is new in an index: for some time, by one process at a time, which holds a lease, until all is done.

Two that settle at the same time do no harm, only work twice. So two may take the lease in the same moment: who took it
last holds it, and the other leaves off when it is about to hold it on.
"""

import time
from dataclasses import dataclass, field
from math import inf
from uuid import uuid4

from ibidem_engines.engine import Engine
from ibidem_workers.groups.checkpoint import Checkpoint, by_part, parsed
from ibidem_workers.groups.follow import Follower, Seen, said_of_pairs, store_of
from ibidem_workers.process_id import has_exited, this_process

KEY = "groups/lease"

SECONDS = 30.0
"""For so long a lease holds that is not renewed."""


@dataclass(slots=True)
class Lease:
    """The lease, as one process sees it.

    Args:
        engine: The index.
        name: What this holder is called.
        lost: Whether another one took it after this one did.
    """

    engine: Engine
    name: str = field(default_factory=lambda: uuid4().hex)
    lost: bool = False
    _renewed: float = 0.0

    def taken(self) -> bool:
        """Return whether another one holds it, and lives as far as can be told."""
        entry = self.engine.get_record("runs", KEY) or {}
        until, process = entry.get("until", 0.0), str(entry.get("process", ""))
        if entry.get("name", self.name) == self.name or not isinstance(until, int | float):
            return False
        return time.time() < until and not has_exited(process)

    def take(self) -> bool:
        """Take it, unless another one holds it."""
        if self.taken():
            return False
        self._note(time.time() + SECONDS)
        return True

    def renew(self) -> None:
        """Hold it on, unless another one took it meanwhile."""
        self.lost = self.lost or self.taken()
        if not self.lost and time.monotonic() - self._renewed > SECONDS / 4:
            self._note(time.time() + SECONDS)

    def give_back(self) -> None:
        """Let go of it, unless another one has it."""
        if not self.taken():
            self._note(0.0)

    def _note(self, until: float) -> None:
        self._renewed = time.monotonic()
        self.engine.put_records("runs", {KEY: {"name": self.name, "process": this_process(), "until": until}})


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
