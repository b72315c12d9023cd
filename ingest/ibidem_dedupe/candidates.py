"""Candidate generation (blocking): rows that share a key become candidate pairs, so never all pairs are compared.

A pair that the decision joins shares its content hash, its fingerprint, its profile or a band of its min-hash. Or it
shares terms: two sets that share 40 of 60 share three of any 23 of each taken in the same order, so three of the terms
that are rarest here (the prefix filter of Chaudhuri, Ganti and Kaushik 2006, asking for three instead of one).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ibidem_dedupe.column_rules import EVERY, Bools, Rows, eligible
from ibidem_dedupe.policy import Policy, Terms, min_shared_terms
from ibidem_ingest.kernel import loops
from ibidem_ingest.signatures import noise
from ibidem_ingest.signatures.minhash import BAND_ROWS
from ibidem_ingest.signatures.noise_columns import is_noisy
from ibidem_ingest.signatures.packed import LONG, WEAK
from ibidem_ingest.signatures.packed_columns import NO_TERM, PackedColumns
from ibidem_ingest.signatures.schema import SLOTS

Hashes = NDArray[np.uint64]
Numbers = NDArray[np.int32]

MAX_ROWS = np.iinfo(np.int32).max

TERMS = 3  # number of the rarest terms that two rows have to share: more find little, fewer let too many pairs pass

ENTRIES = 1_000_000  # keys that are sorted at once, or twice as many: bounds the memory

ROUNDING = 1e-4  # buckets of lengths are so much wider than they need to be, in logarithms

BUCKETS = 24  # bits of a bucket's number

SLICE = 4_096  # feature sets that are looked through at once

# Odd, and its bits look random: its product spreads keys over buckets (Knuth, TAOCP 3, 6.4).
SPREAD = np.uint64(0x9E3779B97F4A7C15)

MAX_BUCKETS = 22  # bits of a bucket's number at most: bounds the memory

TABLE = 1 << 20  # codes of terms below which terms are counted in a table by their code; idf tables have about so many


@dataclass(frozen=True, eq=False, slots=True)
class KeyIndex:
    """Inverted index from key to rows, without keys of a single row."""

    key: Numbers  # (e,) number of the key, ascending
    row: Numbers  # (e,) rows, ascending within a key
    first_weak: int = MAX_ROWS  # the first number of a key that says little alone: a term
    min_shared: int = 1  # how many such keys two rows have to share; of the others one is enough

    @property
    def keys(self) -> int:
        """Number of keys."""
        return int(self.key[-1]) + 1 if len(self.key) else 0

    def keep(self, mask: NDArray[np.bool_]) -> "KeyIndex":
        """Return some of the entries."""
        positions = np.flatnonzero(mask)
        return replace(self, key=self.key[positions], row=self.row[positions])


def content_index(columns: PackedColumns, _: Policy, has_words: Bools) -> Iterator[KeyIndex]:
    """Return the rows that share a hash of the whole text."""
    yield shared_keys(fold_hash(columns.content), has_words)


def fingerprint_index(columns: PackedColumns, _: Policy, has_words: Bools) -> Iterator[KeyIndex]:
    """Return the rows that share a fingerprint that is not weak."""
    strong = has_words & (columns.fingerprint != 0) & ((columns.flags & WEAK) == 0)
    yield shared_keys(columns.fingerprint[:, None], strong)


def profile_index(columns: PackedColumns, _: Policy, has_words: Bools) -> Iterator[KeyIndex]:
    """Return the rows that share a text profile."""
    yield shared_keys(columns.profile[:, None], has_words & (columns.profile != 0))


def min_hash_index(columns: PackedColumns, policy: Policy, has_words: Bools) -> Iterator[KeyIndex]:
    """Return the rows that share a band of the min-hash sketch."""
    yield from band_index(columns.slots, has_words & (columns.slot_count > 0), policy.band_rows)


def contained_index(columns: PackedColumns, _: Policy, has_words: Bools) -> Iterator[KeyIndex]:
    """Return pairs of rows that share several single slots of the min-hash sketch."""
    yield from slot_index(columns.slots, has_words & (columns.slot_count > 0))


def related_index(columns: PackedColumns, _: Policy, has_words: Bools) -> Iterator[KeyIndex]:
    """Return the long texts that share a single slot of the min-hash sketch."""
    yield from slot_index(columns.slots, has_words & (columns.slot_count > 0) & ((columns.flags & LONG) > 0))


def fold_hash(content: Hashes) -> Hashes:
    """Fold the two halves of a content hash into one; a collision only costs a comparison."""
    keys: Hashes = content[:, :1] ^ content[:, 1:]
    return keys


def band_index(slots: NDArray[np.uint16], has_slots: NDArray[np.bool_], height: int = BAND_ROWS) -> Iterator[KeyIndex]:
    """Return the rows that share a band of slots, in portions."""
    count = SLOTS // height
    rows = np.flatnonzero(has_slots)
    at_once = max(1, ENTRIES // max(1, len(slots)))
    for first in range(0, count, at_once):
        last = min(count, first + at_once)
        if loops.IN_USE:
            keys = loops.IN_USE.band_keys(slots, rows, (first, last), height)
        else:
            keys = bands(slots[rows, height * first : height * last], height)
        yield drop_singletons(keys.ravel(), np.repeat(rows, last - first), len(has_slots))


def run_index(columns: PackedColumns, _: Policy, has_words: Bools) -> Iterator[KeyIndex]:
    """Return the rows that share a band of character runs, if one of the texts has many unknown words; in portions."""
    noisy = is_noisy(columns.noise)
    rows = np.flatnonzero((columns.noise[:, noise.SLOTS] > 0) & has_words & noisy.any())
    at_once = max(1, ENTRIES // max(1, len(rows)))
    for first in range(0, noise.SLOTS, at_once):
        last = min(noise.SLOTS, first + at_once)
        keys = run_keys(columns.noise, rows, (first, last)).ravel()
        yield marked_keys(keys, np.repeat(rows, last - first), noisy)


def run_keys(blocks: NDArray[np.uint8], rows: Rows, slots: tuple[int, int]) -> Hashes:
    """Return the band keys of the character runs: three slots, and the number of the first slot."""
    if loops.IN_USE:
        return loops.IN_USE.run_keys(blocks, rows, slots, noise.APART)
    number = np.arange(*slots)
    row_blocks = blocks[rows]
    first, second, third = (
        row_blocks[:, (number + offset) % noise.SLOTS].astype(np.uint64) for offset in (0, *noise.APART)
    )
    keys: Hashes = first | second << np.uint64(8) | third << np.uint64(16) | number.astype(np.uint64) << np.uint64(24)
    return keys


def marked_keys(keys: Hashes, rows: Rows, row_marks: NDArray[np.bool_]) -> KeyIndex:
    """Return the keys that several rows have, at least one of them marked."""
    marks = row_marks[rows]
    if loops.IN_USE:
        return KeyIndex(*loops.IN_USE.shared_keys(keys, rows, marks))
    bucket = hash_buckets(keys)
    marked_buckets = np.zeros(bucket.max(initial=0) + 1, bool)
    marked_buckets[bucket[marks]] = True
    mask = marked_buckets[bucket]
    return keep_marked(drop_singletons(keys[mask], rows[mask], len(row_marks)), row_marks)


def keep_marked(index: KeyIndex, row_marks: NDArray[np.bool_]) -> KeyIndex:
    """Return the keys of marked rows."""
    marked_numbers = np.zeros(index.keys, bool)
    marked_numbers[index.key[row_marks[index.row]]] = True
    counts = marked_numbers[index.key]
    number = np.cumsum(marked_numbers) - 1
    return replace(index, key=number[index.key[counts]].astype(np.int32), row=index.row[counts])


def slot_index(slots: NDArray[np.uint16], has_slots: NDArray[np.bool_]) -> Iterator[KeyIndex]:
    """Return the rows that share a single slot, in portions: a chapter shares few with its book."""
    if not has_slots.any():
        return
    at_once = max(1, ENTRIES // len(slots))
    for first in range(0, slots.shape[1], at_once):
        slice_ = slots[:, first : first + at_once].astype(np.uint64)
        number = np.arange(first, first + slice_.shape[1], dtype=np.uint64) << np.uint64(16)
        yield shared_keys(slice_ | number, has_slots)


def bands(slots: NDArray[np.uint16], height: int = BAND_ROWS) -> Hashes:
    """Return the keys of bands: two or three slots and the band's number."""
    wide_slots = slots.astype(np.uint64)
    keys: Hashes = np.arange(slots.shape[1] // height, dtype=np.uint64) << np.uint64(48) | wide_slots[:, 0::height]
    for row in range(1, height):
        keys |= wide_slots[:, row::height] << np.uint64(16 * row)
    return keys


def shared_keys(keys: Hashes, has_keys: NDArray[np.bool_]) -> KeyIndex:
    """Return the keys that several rows have."""
    rows = np.flatnonzero(has_keys)
    return drop_singletons(keys[rows].ravel(), np.repeat(rows, keys.shape[1]), len(has_keys))


def hash_buckets(keys: NDArray[np.integer[Any]]) -> Rows:
    """Hash keys into about four times as many buckets, so that few different keys share one."""
    bits = min(MAX_BUCKETS, keys.size.bit_length() + 2)
    return (keys.astype(np.uint64) * SPREAD >> np.uint64(64 - bits)).astype(np.int64)


def drop_singletons(keys: NDArray[np.integer[Any]], rows: Rows, size: int) -> KeyIndex:
    """Group entries by key and drop keys with a single row.

    Most keys are such singletons: those alone in a bucket are dropped first, and only the others are sorted.
    """
    if loops.IN_USE:
        if (rows[1:] < rows[:-1]).any():
            order = np.argsort(rows, kind="stable")
            keys, rows = keys[order], rows[order]
        return KeyIndex(*loops.IN_USE.shared_keys(keys, rows, None))
    bucket = hash_buckets(keys)
    repeats = np.flatnonzero(np.bincount(bucket)[bucket] > 1)
    keys, rows = keys[repeats], rows[repeats]
    order = np.argsort(keys)
    sorted_keys = keys[order]
    starts = np.ones(len(keys), bool)
    starts[1:] = sorted_keys[1:] != sorted_keys[:-1]
    singletons = starts.copy()
    singletons[:-1] &= starts[1:]
    positions = np.flatnonzero(~singletons)
    number, row = np.divmod(np.sort(np.cumsum(starts)[positions] * size + rows[order[positions]]), max(1, size))
    return KeyIndex(number.astype(np.int32), row.astype(np.int32))


def rarest_term_index(columns: PackedColumns, policy: Policy, has_words: Bools) -> Iterator[KeyIndex]:
    """Return the rows that share terms that are rare among these rows, at similar lengths; each idf table separately.

    A set of s terms that shares at least m with another shares k of its s - m + k first terms in any order that is the
    same for all; the order by the number of holders here makes the fewest candidates.
    """
    rule = policy.terms or Terms()
    eligible_rows = eligible(columns, rule) & has_words
    for table in np.unique(columns.idf[eligible_rows]):
        rows = np.flatnonzero(eligible_rows & (columns.idf == table))
        min_shared = min_shared_terms(rule.share, int(columns.term_count[rows].min())) - TERMS + 1
        term, row = rarest_terms(columns, rows, min_shared)
        keys = term << BUCKETS | length_buckets(columns.length, rule.lengths)[row]
        parts = max(1, len(keys) // ENTRIES)
        for part in range(parts):
            entries = np.flatnonzero(term % parts == part) if parts > 1 else EVERY
            neighbours = np.stack((keys[entries], keys[entries] + 1), axis=1).ravel()
            yield drop_singletons(neighbours, np.repeat(row[entries], 2), len(columns))


def rarest_terms(columns: PackedColumns, rows: Rows, min_shared: int) -> tuple[Rows, Rows]:
    """Return the rarest terms of some rows, among those that another set also has."""
    if loops.IN_USE:
        sizes = columns.term_count[rows].astype(np.int64) - min_shared + 1
        return loops.IN_USE.prefixes(columns.terms, rows, sizes, NO_TERM)
    counts = TermCounts.count(columns.terms[rows])
    slices = [counts.prefixes(columns, rows[start : start + SLICE], min_shared) for start in range(0, len(rows), SLICE)]
    return np.concatenate([terms for terms, _ in slices]), np.concatenate([holders for _, holders in slices])


def length_buckets(lengths: Rows, ratio: float) -> Rows:
    """Assign lengths to buckets: two within the ratio of each other are in the same or in adjacent buckets.

    >>> length_buckets(np.array([95, 100, 106]), 0.95).tolist()
    [88, 89, 90]
    """
    width = ROUNDING - log(max(ROUNDING, ratio))
    return np.floor(np.log(np.maximum(1, lengths)) / width).astype(np.int64)


@dataclass(frozen=True, eq=False, slots=True)
class TermCounts:
    """The number of sets that contain each term."""

    codes: NDArray[np.int32]  # (t,) codes of terms, ascending; none if the code of a term is its number
    counts: Rows  # (t,) in how many sets each occurs

    @classmethod
    def count(cls, terms: NDArray[np.int32]) -> "TermCounts":
        """Count the terms of sets; padding gets the highest count, so that it is sorted last."""
        highest = int(terms[terms != NO_TERM].max(initial=0))
        if highest < TABLE:
            counts = np.bincount(np.minimum(terms, highest + 1).ravel(), minlength=highest + 2)
            counts[-1] = len(terms) + 1
            return cls(np.empty(0, np.int32), counts)
        codes, counts = np.unique(terms, return_counts=True)
        return cls(codes, np.where(codes == NO_TERM, len(terms) + 1, counts))

    def numbers(self, terms: NDArray[np.int32]) -> Rows:
        """Return the index of each term; looked up in ascending order, for the processor's cache."""
        if not len(self.codes):
            return np.minimum(terms, len(self.counts) - 1).astype(np.int64)
        order = np.argsort(terms, axis=None)
        number = np.empty(terms.size, np.int64)
        number[order] = np.searchsorted(self.codes, terms.ravel()[order])
        return number.reshape(terms.shape)

    def prefixes(self, columns: PackedColumns, rows: Rows, min_shared: int) -> tuple[Rows, Rows]:
        """Return the rarest terms of some rows, among those that another set also has."""
        number = self.numbers(columns.terms[rows])
        rarest = np.sort(self.counts[number] << 32 | number, axis=1)
        size = columns.term_count[rows].astype(np.int64) - min_shared + 1
        prefix = (np.arange(rarest.shape[1]) < size[:, None]) & (rarest >> 32 > 1)
        return rarest[prefix] & 0xFFFFFFFF, np.repeat(rows, np.count_nonzero(prefix, axis=1))


def join_indexes(parts: Iterable[KeyIndex]) -> KeyIndex:
    """Join the entries of several kinds into one index, with distinct key numbers."""
    keys, rows, offset = [], [], 0
    for part in parts:
        keys.append(part.key + np.int32(offset))
        rows.append(part.row)
        offset += part.keys
    return KeyIndex(np.concatenate(keys), np.concatenate(rows))
