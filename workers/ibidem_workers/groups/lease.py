"""Lease on settling an index, held by one process at a time.

Two that settle at the same time do no harm: one of them finds that the other has written the checkpoint, and its work
was in vain. So two may take the lease in the same moment: the last one holds it, and the other one stops when it renews
the lease.
"""

import time
from dataclasses import dataclass, field
from uuid import uuid4

from ibidem_engines.engine import Engine
from ibidem_workers.processes import has_exited, this_process

MOMENT = 0.05  # seconds after which every process that saw the lease free in the same moment has taken it too

KEY = "groups/lease"

SECONDS = 30.0  # seconds after which a lease lapses that is not renewed


@dataclass(slots=True)
class SettlingLease:
    """Lease on settling an index, for one process."""

    engine: Engine  # the index
    name: str = field(default_factory=lambda: uuid4().hex)  # name of this holder
    is_lost: bool = False  # whether another one took it after this one did
    _renewal: float = 0.0

    def is_taken(self) -> bool:
        """Return whether another process holds the lease and is presumed alive."""
        record = self.engine.get_record("runs", KEY)
        entry = record if isinstance(record, dict) else {}
        expiry, process = entry.get("until", 0.0), str(entry.get("process", ""))
        if entry.get("name", self.name) == self.name or not isinstance(expiry, int | float):
            return False
        # No holder renews it for longer: a later end was written before the clock was set back.
        return 0 < expiry - time.time() < 2 * SECONDS and not has_exited(process)

    def take(self) -> bool:
        """Take the lease, unless another process holds it or takes it at the same time."""
        if self.is_taken():
            return False
        self._note(time.time() + SECONDS)
        time.sleep(MOMENT)  # otherwise every process that saw it free would settle a portion before it sees the holder
        self.is_lost = self.is_taken()
        return not self.is_lost

    def renew(self) -> bool:
        """Renew the lease, unless another process has taken it; returns whether it was renewed."""
        self.is_lost = self.is_lost or self.is_taken()
        if not self.is_lost and time.monotonic() - self._renewal > SECONDS / 4:
            self._note(time.time() + SECONDS)
        return not self.is_lost

    def give_back(self) -> None:
        """Release the lease, unless another process holds it."""
        if not self.is_taken():
            self._note(0.0)

    def _note(self, expiry: float) -> None:
        self._renewal = time.monotonic()
        self.engine.put_records("runs", {KEY: {"name": self.name, "process": this_process(), "until": expiry}})
