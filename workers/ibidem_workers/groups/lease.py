"""Who settles the groups of an index just now, noted next to it: others leave it alone for that long.

Two that settle at the same time do no harm, only work twice. So two may take the lease in the same moment: who took it
last holds it, and the other leaves off when it is about to hold it on.
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
