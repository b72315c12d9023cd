"""The compiled loops (`kernel.c`) as methods that take and return arrays of numpy.

They are loaded when this module is. `IN_USE` is None if no library fits; then each document is signed, and each pair
decided on, by itself in plain Python, which is the definition of what the loops compute and takes about a hundred times
as long.
"""

from typing import Final

from ibidem_ingest.kernel.pair_loops import PairLoops
from ibidem_ingest.kernel.signing_loops import SigningLoops


class Loops(SigningLoops, PairLoops):
    """All functions of a library."""


def load() -> Loops | None:
    """Load the compiled loops; None if no library fits."""
    try:
        return Loops()
    except (OSError, AttributeError):
        return None


IN_USE: Final = load()


def compiled() -> Loops:
    """Return the loops, which are required for batches and columns."""
    if IN_USE is None:
        raise RuntimeError("batches are signed, and columns compared, by compiled loops only")
    return IN_USE
