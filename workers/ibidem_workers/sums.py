"""The sum of many batches' accounts: numbers and refusals; the duplicates are counted and not kept."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from ibidem_ingest.errors import Refusal
from ibidem_workers.account import Account

LEVELS = ("identical", "near")


@dataclass(slots=True)
class Sums:
    """What became of some documents.

    Args:
        indexed: Documents that were written.
        unchanged: Documents that were there as they are.
        stale: Documents of which a newer version was there, or a newer deletion.
        unsigned: Documents without words.
        refusals: Why each refused document was refused.
        duplicates: How many of the indexed ones found a duplicate there, by level.
        at: When the last of them was accounted for, in seconds since 1970.
    """

    indexed: int = 0
    unchanged: int = 0
    stale: int = 0
    unsigned: int = 0
    refusals: list[Refusal] = field(default_factory=list)
    duplicates: Counter[str] = field(default_factory=Counter)
    at: float = 0.0

    @property
    def documents(self) -> int:
        """How many documents are accounted for."""
        return self.indexed + self.unchanged + self.stale + len(self.refusals)

    def add(self, account: Account) -> None:
        """Take an account in."""
        self.indexed += account.indexed
        self.unchanged += account.unchanged
        self.stale += account.stale
        self.unsigned += account.unsigned
        self.refusals += account.refusals
        self.duplicates.update(duplicate.level for duplicate in account.duplicates)
        self.at = max(self.at, account.at)

    def merge(self, other: "Sums") -> None:
        """Take other sums in."""
        self.indexed += other.indexed
        self.unchanged += other.unchanged
        self.stale += other.stale
        self.unsigned += other.unsigned
        self.refusals += other.refusals
        self.duplicates.update(other.duplicates)
        self.at = max(self.at, other.at)

    def by_level(self) -> Mapping[str, int]:
        """Return the duplicates as a summary prints them.

        >>> Sums(duplicates=Counter(near=2)).by_level()
        {'identical': 0, 'near': 2}
        """
        return {level: self.duplicates[level] for level in LEVELS}
