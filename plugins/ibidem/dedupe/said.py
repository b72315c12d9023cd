"""What readers said of pairs of rows of one window."""

from dataclasses import dataclass

Pair = tuple[int, int]
"""Two rows."""


@dataclass(frozen=True, slots=True)
class Said:
    """What readers said of pairs of rows; it beats all evidence (presentation.md, "Overrides").

    Args:
        same: Pairs declared the same.
        different: Pairs declared no duplicates.
    """

    same: frozenset[Pair] = frozenset()
    different: frozenset[Pair] = frozenset()
