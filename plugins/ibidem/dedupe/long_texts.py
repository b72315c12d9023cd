"""Long signatures of a window: an LRU cache that reads them in batches, and the matcher of pairs of long texts."""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ibidem.dedupe.overrides import DocumentRef
from ibidem.dedupe.pair_rules import CODE
from ibidem_ingest.pairs.decision import Evidence, Policy, both_long, decide
from ibidem_ingest.signatures.long_text import LongSignatures
from ibidem_ingest.signatures.packed import Packed

MOST_BYTES = 256 << 20
"""What is kept at once: the long signatures of some three thousand books."""

AT_ONCE = 1_000

Read = Callable[[Sequence[DocumentRef]], Mapping[DocumentRef, bytes]]


class LongSignatureCache:
    """Long signatures by index and id.

    Args:
        read: Reads those of named documents; those that were asked for longest ago make room. None: whoever asks finds
            in `missing` what to read, and gives it to `take`.
        most: Bytes that are kept; what `take` is given beyond them counts as short.
    """

    def __init__(self, read: Read | None = None, most: int = MOST_BYTES) -> None:
        self.missing: set[DocumentRef] = set()
        self._read = read
        self._most = most
        self._kept: OrderedDict[DocumentRef, tuple[LongSignatures | None, int]] = OrderedDict()
        self._bytes = 0

    def want(self, names: Iterable[DocumentRef]) -> None:
        """Read those of documents that will be asked for, in few requests."""
        unknown = [name for name in dict.fromkeys(names) if name not in self._kept]
        if self._read is None:
            self.missing.update(unknown)
            return
        for at in range(0, len(unknown), AT_ONCE):
            some = unknown[at : at + AT_ONCE]
            self._keep(some, self._read(some))
            if self._bytes >= self._most:
                return

    def take(self, values: Mapping[DocumentRef, bytes]) -> None:
        """Take what was missing; documents without long signatures are left out of the values."""
        room = self._most - self._bytes
        for name in sorted(self.missing):
            value = values.get(name, b"")
            room -= len(value)
            self._put(name, value if room >= 0 else b"")
        self.missing.clear()

    def of(self, name: DocumentRef) -> LongSignatures | None:
        """Return those of one document; None when it has none, when they are damaged, or missing so far."""
        self.want([name])
        if name not in self._kept:
            return None
        self._kept.move_to_end(name)
        return self._kept[name][0]

    def _keep(self, names: Sequence[DocumentRef], values: Mapping[DocumentRef, bytes]) -> None:
        for name in names:
            self._put(name, values.get(name, b""))
            while self._bytes > self._most and len(self._kept) > 1:
                _, (_, size) = self._kept.popitem(last=False)
                self._bytes -= size

    def _put(self, name: DocumentRef, value: bytes) -> None:
        self._kept[name] = (LongSignatures.decode(value), len(value))
        self._bytes += len(value)


def no_long_signatures(_: Sequence[DocumentRef]) -> Mapping[DocumentRef, bytes]:
    """Read nothing: where relations of long texts are not asked for."""
    return {}


@dataclass(frozen=True, eq=False, slots=True)
class LongTextMatcher:
    """Who decides on pairs of long texts.

    Args:
        names: Index and id of each row.
        packed: Gives a row's packed value.
        policy: The decision for a pair.
        long_signatures: Gives long signatures.
        evidence: What was decided so far.
    """

    names: Sequence[DocumentRef]
    packed: Callable[[int], Packed | None]
    policy: Policy
    long_signatures: LongSignatureCache
    decided: dict[tuple[int, int], Evidence | None] = field(default_factory=dict)

    def want(self, rows: Iterable[int]) -> None:
        """Read the long signatures of rows that will be decided on."""
        self.long_signatures.want(self.names[row] for row in rows)

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
        own, its = self.long_signatures.of(self.names[row]), self.long_signatures.of(self.names[other])
        return decide(a, b, self.policy, (own, its) if own and its else None)
