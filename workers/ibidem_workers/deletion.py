"""Deleting documents, with tombstones that keep older versions from coming back."""

import time
from collections.abc import Sequence

from ibidem_engines.engine import Engine, Outcome


def delete(engine: Engine, ids: Sequence[str], version: int | None = None) -> list[Outcome]:
    """Delete documents; what was submitted before is not written any more.

    Args:
        engine: Where they are.
        ids: Their ids.
        version: The tombstones' version: a document of this version or an older one stays away. By default the time
            in microseconds, as the submitter numbers documents without a version.
    """
    outcomes = engine.delete(ids, time.time_ns() // 1_000 if version is None else version)
    engine.refresh()
    return outcomes
