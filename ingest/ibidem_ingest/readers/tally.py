"""What is counted while reading, so that a summary says it once instead of a message for each document."""

from collections import Counter
from dataclasses import dataclass, field


@dataclass(slots=True)
class Tally:
    """Counts that grow while documents are read.

    Args:
        moved: Top-level fields that went into `meta`, by name: in how many documents.
        passed_over: Files in folders that no reader takes, by suffix (`no suffix` where there is none), and links: how
            many.
    """

    moved: Counter[str] = field(default_factory=Counter)
    passed_over: Counter[str] = field(default_factory=Counter)
