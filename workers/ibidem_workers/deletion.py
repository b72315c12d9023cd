"""Deleting documents, with tombstones that keep older versions from coming back."""

import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from ibidem_engines.engine import Engine, Fate, Outcome
from ibidem_ingest.errors import UsageError


def delete(engine: Engine, ids: Sequence[str], version: int | None = None, tombstone_days: int = 30) -> list[Outcome]:
    """Delete documents; what was submitted before is not written any more.

    Args:
        engine: Where they are.
        ids: Their ids.
        version: The tombstones' version: a document of this version or an older one stays away, and a newer one that
            stands there stays. By default the time in microseconds, as the submitter numbers documents without a
            version; where a newer version stands there, the one after that.
        tombstone_days: Older tombstones are taken away.

    Raises:
        UsageError: A newer version than the one named stands there; what else was named is deleted.
    """
    beats = version is None
    outcomes = engine.delete(ids, time.time_ns() // 1_000 if version is None else version, beats=beats)
    engine.refresh()
    clear_tombstones(engine, datetime.now(UTC) - timedelta(days=tombstone_days))
    if stale := [outcome for outcome in outcomes if outcome.fate is Fate.STALE]:
        first = stale[0]
        raise UsageError(
            f"{len(stale)} of {len(outcomes)} documents are not deleted: {first.id!r}: {first.why}",
            "leave the version out, which deletes whatever stands there, or name a newer one",
        )
    return outcomes


def clear_tombstones(engine: Engine, before: datetime) -> int:
    """Take away the tombstones of deletions before a time; returns how many."""
    stones = ((key, str(stone.get("at", ""))) for key, stone in engine.noted("tombstones"))
    return engine.strike("tombstones", [key for key, at in stones if at and datetime.fromisoformat(at) < before])
