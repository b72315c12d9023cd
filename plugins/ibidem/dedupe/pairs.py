"""Classify candidate pairs as duplicates, in slices that bound the memory."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from ibidem.dedupe.candidates import MOST, KeyIndex, Numbers, build_key_index, join_indexes
from ibidem.dedupe.long_texts import LongTextMatcher
from ibidem.dedupe.overrides import Pair, PairConstraints
from ibidem.dedupe.pair_rules import CODE, UNDECIDED, Codes, Rows, verify
from ibidem_ingest.pairs.decision import Policy
from ibidem_ingest.signatures.packed_columns import PackedColumns

BUDGET = 200_000
"""Pairs of entries that are spread out at once: bounds the memory."""


@dataclass(frozen=True, eq=False, slots=True)
class DuplicatePairs:
    """Pairs that are duplicates.

    Args:
        row: (m,) the later row; ascending.
        earlier: (m,) the earlier one; ascending for a row.
        code: (m,) the evidence.
    """

    row: Rows
    earlier: Rows
    code: Codes


@dataclass(frozen=True, eq=False, slots=True)
class PairClassifier:
    """Who decides on pairs of rows.

    Args:
        columns: The packed values.
        policy: The decision for a pair.
        said: What readers said, which comes before all evidence.
        related: Who decides on pairs of long texts; None where these are no duplicates.
        suspected: Who shares what the packed values do not hold; None for nobody.
    """

    columns: PackedColumns
    policy: Policy
    said: PairConstraints
    related: LongTextMatcher | None = None
    suspected: KeyIndex | None = None

    @property
    def size(self) -> int:
        """The number of rows."""
        return len(self.columns)

    def shared_keys(self) -> KeyIndex:
        """Find who could be whose duplicate: who shares a key, or was declared the same by a reader."""
        entries = build_key_index(self.columns, self.policy)
        if self.suspected is not None:
            entries = concat_keys(self.suspected, entries)
        return (
            concat_keys(pair_keys(encode_pairs(self.said.same, self.size), self.size), entries)
            if self.said.same
            else entries
        )

    def verified(self, candidates: Iterator[Rows]) -> DuplicatePairs:
        """Decide on candidates and keep the duplicates.

        Args:
            candidates: Distinct pairs as `row * size + earlier`, in slices.
        """
        decided = [self.decided(pairs) for pairs in candidates]
        pairs = np.concatenate([np.empty(0, np.int64), *(pairs for pairs, _ in decided)])
        code = np.concatenate([np.empty(0, np.uint8), *(code for _, code in decided)])
        row, earlier = np.divmod(pairs, max(1, self.size))
        if self.related is not None:
            open_pairs = np.flatnonzero(code == UNDECIDED)
            self.related.want(np.unique(np.concatenate((row[open_pairs], earlier[open_pairs]))).tolist())
        return DuplicatePairs(row, earlier, code)

    def decided(self, pairs: Rows) -> tuple[Rows, Codes]:
        """Keep the duplicates among candidates, written as `row * size + earlier`."""
        code = verify(self.columns, pairs // self.size, pairs % self.size, self.policy)
        if self.related is None:
            code[code == UNDECIDED] = 0
        code[np.isin(code, (0, UNDECIDED)) & np.isin(pairs, encode_pairs(self.said.same, self.size))] = CODE["override"]
        code[np.isin(pairs, encode_pairs(self.said.different, self.size))] = 0
        positions = np.flatnonzero(code)
        return pairs[positions], code[positions]

    def settled(self, row: int, earlier: int, code: int) -> int:
        """Return the code of a pair's evidence once its long signatures have told, where only they can; 0 for none."""
        if code != UNDECIDED or self.related is None:
            return code
        return self.related.code(row, earlier)


def duplicates(
    columns: PackedColumns, policy: Policy, related: LongTextMatcher | None = None, suspected: KeyIndex | None = None
) -> DuplicatePairs:
    """Find all pairs of duplicates, whatever groups they would fall into.

    Args:
        columns: The packed values.
        policy: The decision for a pair.
        related: Who decides on pairs of long texts.
        suspected: Who shares what the packed values do not hold.
    """
    classifier = PairClassifier(columns, policy, PairConstraints(), related, suspected)
    entries = classifier.shared_keys()
    verified = classifier.verified(expand_pairs(entries, CandidateRanges.within(entries), classifier.size))
    for at in np.flatnonzero(verified.code == UNDECIDED).tolist():
        verified.code[at] = classifier.settled(int(verified.row[at]), int(verified.earlier[at]), UNDECIDED)
    positions = np.flatnonzero(verified.code)
    return DuplicatePairs(verified.row[positions], verified.earlier[positions], verified.code[positions])


def encode_pairs(said: frozenset[Pair], size: int) -> Rows:
    """Write pairs of rows as `later * size + earlier`."""
    return np.array([max(pair) * size + min(pair) for pair in sorted(said)], np.int64)


def concat_keys(own: KeyIndex, entries: KeyIndex) -> KeyIndex:
    """Put keys of which one is enough before those of others."""
    return replace(join_indexes([own, entries]), faint=min(MOST, entries.faint + own.keys), least=entries.least)


def pair_keys(pairs: Rows, size: int) -> KeyIndex:
    """Make a key for each pair, so that it becomes a candidate.

    Args:
        pairs: Pairs as `later * size + earlier`.
        size: Number of rows.
    """
    rows = np.stack((pairs % max(1, size), pairs // max(1, size)), axis=1).ravel().astype(np.int32)
    return KeyIndex(np.arange(len(rows), dtype=np.int32) // 2, rows)


def first_entries(entries: KeyIndex) -> Rows:
    """Return for each entry the place of its key's first entry."""
    place = np.arange(len(entries.key))
    place[1:][entries.key[1:] == entries.key[:-1]] = 0
    return np.maximum.accumulate(place)


def count_earlier(entries: KeyIndex) -> Rows:
    """Return for each entry how many rows before its own hold its key."""
    return np.arange(len(entries.key)) - first_entries(entries)


@dataclass(frozen=True, eq=False, slots=True)
class CandidateRanges:
    """With which rows to pair each of some entries.

    Args:
        rows: Rows, those of a key side by side.
        first: (e,) where an entry's partners begin among them.
        times: (e,) how many they are.
    """

    rows: Numbers
    first: Rows
    times: Rows

    @classmethod
    def within(cls, entries: KeyIndex, times: Rows | None = None) -> "CandidateRanges":
        """Pair each entry with the first rows that hold its key: all before its own when no number is given."""
        first = first_entries(entries)
        return cls(entries.row, first, np.arange(len(first)) - first if times is None else times)


def expand_pairs(entries: KeyIndex, postings: CandidateRanges, size: int) -> Iterator[Rows]:
    """Spread out the pairs of rows that share enough keys.

    Args:
        entries: Who holds which key.
        postings: With whom to pair each entry.
        size: Number of rows.

    Yields:
        Slices of distinct pairs as `row * size + earlier`, ascending; all pairs of a row are in one slice.
    """
    order = np.argsort(entries.row)
    order = order[postings.times[order] > 0]
    rows, times, first = entries.row[order].astype(np.int64), postings.times[order], postings.first[order]
    marked = rows * size << 1 | (entries.key[order] >= entries.faint)
    for start, end in slices(rows, times):
        repeats = times[start:end]
        ends = np.cumsum(repeats)
        step = np.arange(int(ends[-1])) - np.repeat(ends - repeats - first[start:end], repeats)
        earlier = postings.rows[step].astype(np.int64)
        yield filter_by_shared_keys(np.repeat(marked[start:end], repeats) + (earlier << 1), entries.least)


def filter_by_shared_keys(marked: Rows, least: int) -> Rows:
    """Keep the pairs that share enough keys, each once.

    Args:
        marked: A pair for each key that it shares, doubled, and one more where the key is faint; put in order here.
        least: How many faint keys a pair has to share that shares no other.
    """
    marked.sort()
    pairs = marked >> 1
    starts = np.flatnonzero(np.concatenate((np.ones(min(1, len(pairs)), bool), pairs[1:] != pairs[:-1])))
    times = np.diff(np.append(starts, len(pairs)))
    filtered: Rows = pairs[starts[((marked[starts] & 1) == 0) | (times >= least)]]
    return filtered


def slices(rows: Rows, times: Rows) -> Iterator[tuple[int, int]]:
    """Cut entries between two rows so that the pairs of a slice are within five budgets, or it holds one row.

    Args:
        rows: (e,) rows, ascending.
        times: (e,) pairs of each entry.
    """
    total = np.cumsum(times)
    start = 0
    while start < len(rows):
        done = int(total[start - 1]) if start else 0
        end = int(np.searchsorted(total, done + 5 * BUDGET, side="right"))
        if end < len(rows):
            end = int(np.searchsorted(rows, rows[end]))
        if end <= start:
            end = int(np.searchsorted(rows, rows[start], side="right"))
        yield start, end
        start = end
