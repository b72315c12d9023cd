"""Candidates by the plain definition: rows that share a value, in Python alone.

For machines without the compiled loops, where `candidates` finds none, and for the tests that compare the two.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence

from ibidem_dedupe import evidence
from ibidem_dedupe.candidates import MAX_ROWS
from ibidem_dedupe.overrides import PairConstraints
from ibidem_dedupe.policy import Policy
from ibidem_ingest.signatures import noise
from ibidem_ingest.signatures.packed import LONG, Packed
from ibidem_ingest.signatures.packed_columns import PackedColumns

Values = Iterable[Hashable]


def _bands(packed: Packed, policy: Policy) -> Values:
    height = policy.band_rows
    return ((at, packed.slots[at : at + height]) for at in range(0, len(packed.slots) - height + 1, height))


def _runs(packed: Packed, _: Policy) -> Values:
    if not any(packed.noise):
        return ()
    places = (0, *noise.APART)
    return ((at, *(packed.noise[(at + place) % noise.SLOTS] for place in places)) for at in range(noise.SLOTS))


def _slots(packed: Packed, _: Policy) -> Values:
    return enumerate(packed.slots)


# The values of a document, by kind of evidence: a pair that the kind joins shares one of them.
VALUES: Mapping[str, Callable[[Packed, Policy], Values]] = {
    "content": lambda packed, _: [packed.content],
    "minhash": _bands,
    "termvector": lambda packed, _: packed.terms,
    "fingerprint": lambda packed, _: [packed.fingerprint] * any(packed.fingerprint),
    "profile": lambda packed, _: [packed.profile] * any(packed.profile),
    "characters": _runs,
    "shingles": _slots,
    "pages": lambda packed, _: [LONG] * bool(packed.flags & LONG),
}


class SharedValues:
    """Inverted index from value to rows, filled row by row."""

    def __init__(
        self, columns: PackedColumns, policy: Policy, constraints: PairConstraints, most: int = MAX_ROWS
    ) -> None:
        self._most = most  # rows of a value that later ones are paired with
        self._columns, self._policy = columns, policy.candidates
        self._kinds = [kind.name for kind in evidence.TABLE.counted(self._policy) if kind.keys is not None]
        self._same: defaultdict[int, set[int]] = defaultdict(set)
        for a, b in constraints.same:
            self._same[max(a, b)].add(min(a, b))
        self._rows: defaultdict[Hashable, list[int]] = defaultdict(list)
        self._added: set[int] = set()

    def earlier(self, row: int) -> Sequence[int]:
        """Return the added rows that share a value with a row, or that a manual decision joins to it, ascending."""
        sharing = (self._rows[value] for value in self._values(row) if value in self._rows)
        return sorted(set().union(*sharing) | (self._same[row] & self._added))

    def add(self, row: int) -> None:
        """Add a row, which later rows may share values with."""
        self._added.add(row)
        for value in set(self._values(row)):
            if len(self._rows[value]) < self._most:
                self._rows[value].append(row)

    def _values(self, row: int) -> Iterator[Hashable]:
        packed = self._columns.unpack_row(row) if self._columns.length[row] else None
        if packed is not None:
            for name in self._kinds:
                # Of a kind that is not listed all rows are compared.
                values = VALUES[name](packed, self._policy) if name in VALUES else [None]
                yield from ((name, value) for value in values)
