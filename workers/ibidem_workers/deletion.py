"""Deleting documents, with tombstones that keep older versions from coming back."""

import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from ibidem_engines.engine import Engine, Outcome


def delete(engine: Engine, ids: Sequence[str], version: int | None = None, tombstone_days: int = 30) -> list[Outcome]:
    """Delete documents; what was submitted before is not written any more.

    Args:
        engine: Where they are.
        ids: Their ids.
        version: The tombstones' version: a document of this version or an older one stays away. By default the time
            in microseconds, as the submitter numbers documents without a version.
        tombstone_days: Older tombstones are taken away.
    """
    outcomes = engine.delete(ids, time.time_ns() // 1_000 if version is None else version)
    engine.refresh()
    clear_tombstones(engine, datetime.now(UTC) - timedelta(days=tombstone_days))
    return outcomes


def clear_tombstones(engine: Engine, before: datetime) -> int:
    """Take away the tombstones of deletions before a time; returns how many."""
    stones = ((key, str(stone.get("at", ""))) for key, stone in engine.noted("tombstones"))
    return engine.strike("tombstones", [key for key, at in stones if at and datetime.fromisoformat(at) < before])
