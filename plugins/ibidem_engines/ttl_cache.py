"""TTL cache of cluster metadata, so that it is not requested for every search."""

from time import monotonic
from typing import Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")

# Seconds for which it is believed that an index is what it was: another may take its place behind an alias.
INDEX_S = 60.0

ALIAS_S = 5.0  # seconds for which it is believed which indexes are behind an alias


class TtlCache(Generic[Key, Value]):
    """Values by key, each with an expiry time."""

    def __init__(self) -> None:
        self._entries: dict[Key, tuple[float, Value]] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: Key) -> Value | None:
        """Return a value; None if it is missing or expired."""
        expiry, value = self._entries.get(key, (0.0, None))
        return value if monotonic() < expiry else None

    def put(self, key: Key, value: Value, seconds: float = INDEX_S) -> Value:
        """Store a value, and return it."""
        self._entries[key] = monotonic() + seconds, value
        return value

    def clear(self) -> None:
        """Remove all values."""
        self._entries.clear()
