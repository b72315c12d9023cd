"""Relations of long texts: decided pair by pair on their long signatures, only where nothing shorter decides."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from ibidem.dedupe.longs import Longs
from ibidem.dedupe.overrides import Name
from ibidem.dedupe.verification import CODE
from ibidem_ingest.decision import Evidence, Policy, both_long, decide
from ibidem_ingest.signatures.packed import Packed


@dataclass(frozen=True, eq=False, slots=True)
class Related:
    """Who decides on pairs of long texts.

    Args:
        names: Index and id of each row.
        packed: Gives a row's packed value.
        policy: The decision for a pair.
        longs: Gives long signatures.
        evidence: What was decided so far.
    """

    names: Sequence[Name]
    packed: Callable[[int], Packed | None]
    policy: Policy
    longs: Longs
    decided: dict[tuple[int, int], Evidence | None] = field(default_factory=dict)

    def want(self, rows: Iterable[int]) -> None:
        """Read the long signatures of rows that will be decided on."""
        self.longs.want(self.names[row] for row in rows)

    def evidence(self, row: int, other: int) -> Evidence | None:
        """Return what the first row is to the second, whatever evidence tells it."""
        pair = row, other
        if pair not in self.decided:
            self.decided[pair] = self._decide(row, other)
        return self.decided[pair]

    def code(self, row: int, other: int) -> int:
        """Return the code of their evidence; 0 when there is none."""
        evidence = self.evidence(row, other)
        return CODE[evidence.signature] if evidence else 0

    def _decide(self, row: int, other: int) -> Evidence | None:
        a, b = self.packed(row), self.packed(other)
        if a is None or b is None:
            return None
        if self.policy.level != "partial" or not both_long(a, b):
            return decide(a, b, self.policy)
        own, its = self.longs.of(self.names[row]), self.longs.of(self.names[other])
        return decide(a, b, self.policy, (own, its) if own and its else None)
