"""Who settles the groups of an index just now, noted next to it: others leave it alone for that long.

Two that settle at the same time do no harm, only work twice. So a race between two that take the lease is let be.
"""

import time
from dataclasses import dataclass, field
from uuid import uuid4

from ibidem_engines.engine import Engine
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
    """

    engine: Engine
    name: str = field(default_factory=lambda: uuid4().hex)
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
        """Hold it on."""
        if time.monotonic() - self._renewed > SECONDS / 4:
            self._note(time.time() + SECONDS)

    def give_back(self) -> None:
        """Let go of it."""
        self._note(0.0)

    def _note(self, until: float) -> None:
        self._renewed = time.monotonic()
        self.engine.put_records("runs", {KEY: {"name": self.name, "process": this_process(), "until": until}})
