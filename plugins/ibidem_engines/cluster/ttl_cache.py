"""Cache of what was read of a cluster, believed for some seconds; each entry has its own time to live."""

from time import monotonic
from typing import Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")

INDEX_S = 60.0
"""Seconds for which it is believed that an index is what it was: another may take its place behind an alias."""


class TtlCache(Generic[Key, Value]):
    """Values by key, each until its time is over."""

    def __init__(self) -> None:
        self._entries: dict[Key, tuple[float, Value]] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: Key) -> Value | None:
        """Return a value, or None where there is none, or none any more."""
        until, value = self._entries.get(key, (0.0, None))
        return value if monotonic() < until else None

    def put(self, key: Key, value: Value, seconds: float = INDEX_S) -> Value:
        """Keep a value, and return it."""
        self._entries[key] = monotonic() + seconds, value
        return value

    def clear(self) -> None:
        """Forget everything."""
        self._entries.clear()
