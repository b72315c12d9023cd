"""Record that only one process writes, repeatedly, to store its progress.

A request whose answer does not come is sent again, and the engine may still carry out the first one later: a node that
nobody heard had it in hand. By then newer writes have been made, and none of them may be undone.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ibidem_core.errors import Unavailable
from ibidem_engines.engine import Engine
from ibidem_engines.stored_groups import Ledger, RecordState

ATTEMPTS = 20  # earlier requests of this process that may be carried out one after the other before each new one


@dataclass(slots=True)
class OwnRecord:
    """A record whose writes replace only its own last write, never a newer record of another process."""

    engine: Engine  # the index that it is next to
    ledger: Ledger
    key: str
    _state: RecordState | None = field(default=None, init=False)

    def write(self, entry: Mapping[str, object]) -> None:
        """Write the record unconditionally."""
        for _ in range(ATTEMPTS):
            state = self.engine.replace_record(self.ledger, self.key, entry, self._state)
            if state is not None:
                self._state = state
                return
            _, self._state = self.engine.read_record(self.ledger, self.key)  # an earlier request may have been late
        raise Unavailable(
            f"the record {self.key!r} of the ledger {self.ledger!r} is constantly changed by others",
            "try again once the other process has ended",
        )
