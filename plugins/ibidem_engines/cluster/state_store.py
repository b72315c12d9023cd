"""Conditional writes of records: each depends on the stored state that was read before."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from ibidem_core.errors import Unavailable
from ibidem_engines.ledger import ATTEMPTS
from ibidem_engines.stored_groups import Ledger, RecordState


class StateStore(Protocol):
    """Stores records whose writes depend on the states that were read."""

    def read_states(self, ledger: Ledger, keys: Sequence[str]) -> tuple[dict[str, Any], dict[str, RecordState]]:
        """Read records by key, with their states."""

    def put_onto(
        self, ledger: Ledger, entries: Mapping[str, Mapping[str, object]], states: Mapping[str, RecordState]
    ) -> list[str]:
        """Store records; returns the keys of records that were written by others meanwhile."""


def put_in_place(store: StateStore, label: str, ledger: Ledger, entries: Mapping[str, Mapping[str, object]]) -> None:
    """Replace the stored records, so that a delayed request cannot undo a later one."""
    keys = list(entries)
    for _ in range(ATTEMPTS):
        _, states = store.read_states(ledger, keys)
        keys = store.put_onto(ledger, {key: entries[key] for key in keys}, states)
        if not keys:
            return
    raise contention_error(label, ledger, keys[0])


def contention_error(label: str, ledger: Ledger, key: str) -> Unavailable:
    """Return the error of a record that others keep changing."""
    return Unavailable(
        f"{label}: the record {key!r} of the ledger {ledger!r} is constantly changed by others",
        "try again once the other process has ended",
    )
