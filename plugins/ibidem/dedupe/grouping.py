"""Leader grouping: down the ranking, a hit joins the first lead that it duplicates, or else becomes a lead.

Only leads are ever compared with what follows. The ranking is taken in blocks: a block is settled within itself, its
leads take their duplicates from all that follows, and what they took is never looked at again; so ten thousand copies
of one text cost ten thousand comparisons and not fifty million. The result is that of the plain loop over all pairs (a
test says so), and prefix-stable: hits that follow change nothing above them.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from ibidem.dedupe.keys import Holders, holders
from ibidem.dedupe.verification import CODE, Codes, Rows, verify
from ibidem_ingest.decision import Policy
from ibidem_ingest.signatures.packed_columns import PackedColumns

BUDGET = 200_000
"""Pairs of entries that are spread out at once: bounds the memory."""


@dataclass(frozen=True, slots=True)
class Said:
    """What readers said of pairs of rows; it beats all evidence (presentation.md, "Overrides").

    Args:
        same: Pairs declared the same.
        different: Pairs declared no duplicates.
    """

    same: frozenset[tuple[int, int]] = frozenset()
    different: frozenset[tuple[int, int]] = frozenset()


@dataclass(frozen=True, eq=False, slots=True)
class Grouping:
    """Which group each row belongs to.

    Args:
        lead: (n,) row of the group's first occurrence; its own for a lead.
        evidence: (n,) code of what joined it to the first occurrence, an index into `SIGNATURES`; 0 for a lead.
    """

    lead: Rows
    evidence: Codes

    @property
    def leads(self) -> Rows:
        """The first occurrences, in rank order."""
        return np.flatnonzero(self.lead == np.arange(len(self.lead)))

    def members(self, leads: Iterable[int]) -> dict[int, list[int]]:
        """Return the rows of some groups in rank order, by their first occurrence, which is the first of them."""
        wanted = np.fromiter(leads, np.int64)
        rows = np.flatnonzero(np.isin(self.lead, wanted))
        found: dict[int, list[int]] = {int(lead): [] for lead in wanted}
        for row, lead in zip(rows.tolist(), self.lead[rows].tolist(), strict=True):
            found[lead].append(row)
        return found


@dataclass(frozen=True, eq=False, slots=True)
class Found:
    """Pairs that are duplicates.

    Args:
        row: (m,) the later row; ascending.
        earlier: (m,) the earlier one; ascending for a row.
        code: (m,) the evidence.
    """

    row: Rows
    earlier: Rows
    code: Codes


def group(columns: PackedColumns, policy: Policy, said: Said | None = None) -> Grouping:
    """Group hits.

    Args:
        columns: Packed values in rank order; a row that is not signed, or has no words, stays alone.
        policy: The decision for a pair.
        said: What readers said of pairs.
    """
    work = Work(columns, policy, said or Said(), len(columns))
    while len(work.entries.row):
        work.settle()
    return Grouping(work.lead, work.evidence)


@dataclass(eq=False, slots=True)
class Work:
    """A grouping under way.

    Args:
        columns: The packed values.
        policy: The decision.
        said: What readers said.
        size: Number of rows.
    """

    columns: PackedColumns
    policy: Policy
    said: Said
    size: int
    entries: Holders = field(init=False)
    lead: Rows = field(init=False)
    evidence: Codes = field(init=False)

    def __post_init__(self) -> None:
        """Start with every row as a lead that may still join another."""
        self.lead = np.arange(self.size)
        self.evidence = np.zeros(self.size, np.uint8)
        self.entries = declared(holders(self.columns, self.policy), self.said)

    def settle(self) -> None:
        """Settle the next block of rows, and let its leads take their duplicates from the rows after it."""
        entries = self.entries
        before = earlier_holders(entries)
        last = block_end(entries, before, self.size)
        within = entries.row < last
        block = Holders(entries.key[within], entries.row[within])
        self.join_within(self.verified(spread(block, earlier_holders(block), self.size)))
        if last < self.size:
            self.take(last)
        rest = (np.arange(self.size) >= last) & (self.lead == np.arange(self.size))
        self.entries = again_shared(entries.among(rest))

    def join_within(self, found: Found) -> None:
        """Go down a block: a row joins the first lead that it duplicates."""
        lead, evidence = self.lead, self.evidence
        for row, earlier, code in zip(found.row.tolist(), found.earlier.tolist(), found.code.tolist(), strict=True):
            if lead[row] == row and lead[earlier] == earlier:
                lead[row], evidence[row] = earlier, code

    def take(self, last: int) -> None:
        """Let the leads of a block take their duplicates from the rows that follow."""
        rows = np.arange(self.size)
        undecided = self.entries.among(self.lead == rows)
        number = np.cumsum(undecided.row < last)
        first = first_holders(undecided)
        leads_before = np.where(undecided.row < last, 0, number - number[first] + (undecided.row[first] < last))
        found = self.verified(spread(undecided, leads_before, self.size))
        row, at = np.unique(found.row, return_index=True)
        self.lead[row] = found.earlier[at]
        self.evidence[row] = found.code[at]

    def verified(self, candidates: Iterator[Rows]) -> Found:
        """Decide on candidates and keep the duplicates.

        Args:
            candidates: Pairs as `row * size + earlier`, in slices.
        """
        codes = [self.decided(pairs) for pairs in candidates]
        pairs = np.concatenate([np.empty(0, np.int64), *(pairs for pairs, _ in codes)])
        code = np.concatenate([np.empty(0, np.uint8), *(code for _, code in codes)])
        pairs, at = np.unique(pairs, return_index=True)
        size = max(1, self.size)
        return Found(pairs // size, pairs % size, code[at])

    def decided(self, pairs: Rows) -> tuple[Rows, Codes]:
        """Decide on pairs; what readers said comes before all evidence."""
        code = verify(self.columns, pairs // self.size, pairs % self.size, self.policy)
        code[(code == 0) & np.isin(pairs, coded(self.said.same, self.size))] = CODE["override"]
        code[np.isin(pairs, coded(self.said.different, self.size))] = 0
        kept = np.flatnonzero(code)
        return pairs[kept], code[kept]


def coded(said: frozenset[tuple[int, int]], size: int) -> Rows:
    """Write pairs of rows as `later * size + earlier`."""
    return np.array([max(pair) * size + min(pair) for pair in said], np.int64)


def declared(entries: Holders, said: Said) -> Holders:
    """Add a key for each pair that a reader declared the same, so that it becomes a candidate."""
    if not said.same:
        return entries
    above = int(entries.key[-1]) + 1 if len(entries.key) else 0
    rows = np.array([row for pair in sorted(said.same) for row in sorted(pair)], np.int64)
    keys = above + np.arange(len(rows)) // 2
    return Holders(np.concatenate((entries.key, keys)), np.concatenate((entries.row, rows)))


def first_holders(entries: Holders) -> Rows:
    """Return for each entry the place of its key's first entry."""
    place = np.arange(len(entries.key))
    place[1:][entries.key[1:] == entries.key[:-1]] = 0
    return np.maximum.accumulate(place)


def earlier_holders(entries: Holders) -> Rows:
    """Return for each entry how many rows before its own hold its key."""
    return np.arange(len(entries.key)) - first_holders(entries)


def block_end(entries: Holders, before: Rows, size: int) -> int:
    """Return where the next block ends: the most rows whose pairs within the block fit the budget, at least one."""
    pairs = np.cumsum(np.bincount(entries.row, weights=before, minlength=size))
    fits = int(np.searchsorted(pairs, BUDGET, side="right"))
    return max(fits, int(entries.row.min()) + 1)


def again_shared(entries: Holders) -> Holders:
    """Drop the keys that only one row still holds."""
    new = np.ones(len(entries.key) + 1, bool)
    new[1:-1] = entries.key[1:] != entries.key[:-1]
    kept = np.flatnonzero(~(new[1:] & new[:-1]))
    return Holders(entries.key[kept], entries.row[kept])


def spread(entries: Holders, before: Rows, size: int) -> Iterator[Rows]:
    """Pair each entry's row with the first rows that hold its key.

    Args:
        entries: Who holds which key.
        before: (e,) with how many of the key's first holders to pair it.
        size: Number of rows.

    Yields:
        Slices of distinct pairs as `row * size + earlier`, ascending.
    """
    first = first_holders(entries)
    for start, end in slices(before):
        times = before[start:end]
        ends = np.cumsum(times)
        step = np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(ends - times, times)
        earlier = entries.row[np.repeat(first[start:end], times) + step]
        yield distinct(np.repeat(entries.row[start:end], times) * size + earlier)


def distinct(pairs: Rows) -> Rows:
    """Sort and drop what is there twice; `numpy.unique` goes through a slower hash table."""
    pairs.sort()
    new = np.ones(len(pairs), bool)
    new[1:] = pairs[1:] != pairs[:-1]
    return pairs[new]


def slices(before: Rows) -> Iterator[tuple[int, int]]:
    """Cut entries so that the pairs of a slice are within five budgets, or it holds one entry."""
    total = np.cumsum(before)
    start = 0
    while start < len(before):
        done = int(total[start - 1]) if start else 0
        end = max(start + 1, int(np.searchsorted(total, done + 5 * BUDGET, side="right")))
        yield start, end
        start = end
