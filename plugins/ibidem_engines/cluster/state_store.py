"""Records that people replace: each write depends on the state of the record that is there."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from ibidem_core.errors import Unavailable
from ibidem_engines.engine import Ledger, RecordState
from ibidem_engines.own_record import ATTEMPTS

CHANGEABLE: frozenset[Ledger] = frozenset(("overrides", "presets", "alerts"))
"""Ledgers in which people replace records of a key: each write depends on the record that is there."""


class StateStore(Protocol):
    """Records that are written onto the states that were read."""

    def read_states(self, ledger: Ledger, keys: Sequence[str]) -> tuple[dict[str, Any], dict[str, RecordState]]:
        """Read records by key, and their states."""

    def put_onto(
        self, ledger: Ledger, entries: Mapping[str, Mapping[str, object]], states: Mapping[str, RecordState]
    ) -> list[str]:
        """Store records; returns the keys of those that others have written since."""


def put_in_place(store: StateStore, label: str, ledger: Ledger, entries: Mapping[str, Mapping[str, object]]) -> None:
    """Store records in place of those that are there: a request that is carried out late undoes no later one.

    Args:
        store: The records.
        label: Address of the cluster without secrets, to be named.
        ledger: Their ledger.
        entries: The records by key.

    Raises:
        Unavailable: Others write one of them all the time.
    """
    keys = list(entries)
    for _ in range(ATTEMPTS):
        _, states = store.read_states(ledger, keys)
        keys = store.put_onto(ledger, {key: entries[key] for key in keys}, states)
        if not keys:
            return
    raise contention_error(label, ledger, keys[0])


def contention_error(label: str, ledger: Ledger, key: str) -> Unavailable:
    """Create the error of a record that others write all the time.

    Args:
        label: Address of the cluster without secrets.
        ledger: The ledger.
        key: Its key.
    """
    return Unavailable(
        f"{label}: the record {key!r} of the ledger {ledger!r} is written by others all the time",
        "try again once the other process has ended",
    )
