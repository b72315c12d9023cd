"""Which pairs of rows are duplicates: candidates out of shared keys, decided on in slices that bound the memory."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ibidem.dedupe.keys import Holders, holders
from ibidem.dedupe.verification import CODE, Codes, Rows, verify
from ibidem_ingest.decision import Policy
from ibidem_ingest.signatures.packed_columns import PackedColumns

BUDGET = 200_000
"""Pairs of entries that are spread out at once: bounds the memory."""


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
class Judge:
    """Who decides on pairs of rows.

    Args:
        columns: The packed values.
        policy: The decision for a pair.
        said: What readers said, which comes before all evidence.
    """

    columns: PackedColumns
    policy: Policy
    said: Said

    @property
    def size(self) -> int:
        """The number of rows."""
        return len(self.columns)

    def shared_keys(self) -> Holders:
        """Find who could be whose duplicate: who shares a key, or was declared the same by a reader."""
        return declared(holders(self.columns, self.policy), self.said)

    def verified(self, entries: Holders, before: Rows) -> Found:
        """Decide on the pairs of each entry's row with the first rows that hold its key.

        Args:
            entries: Who holds which key.
            before: (e,) with how many of the key's first holders to pair it.
        """
        decided = [self.decided(candidates) for candidates in spread(entries, before, self.size)]
        pairs = np.concatenate([np.empty(0, np.int64), *(pairs for pairs, _ in decided)])
        code = np.concatenate([np.empty(0, np.uint8), *(code for _, code in decided)])
        pairs, at = np.unique(pairs, return_index=True)
        size = max(1, self.size)
        return Found(pairs // size, pairs % size, code[at])

    def decided(self, pairs: Rows) -> tuple[Rows, Codes]:
        """Keep the duplicates among candidates, written as `row * size + earlier`."""
        code = verify(self.columns, pairs // self.size, pairs % self.size, self.policy)
        code[(code == 0) & np.isin(pairs, coded(self.said.same, self.size))] = CODE["override"]
        code[np.isin(pairs, coded(self.said.different, self.size))] = 0
        kept = np.flatnonzero(code)
        return pairs[kept], code[kept]


def duplicates(columns: PackedColumns, policy: Policy) -> Found:
    """Find all pairs of duplicates, whatever groups they would fall into.

    Args:
        columns: The packed values.
        policy: The decision for a pair.
    """
    judge = Judge(columns, policy, Said())
    entries = judge.shared_keys()
    return judge.verified(entries, earlier_holders(entries))


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
