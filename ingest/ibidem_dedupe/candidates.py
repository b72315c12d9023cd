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

from ibidem_dedupe.column_rules import EVERY, Bools, Rows, eligible, is_noisy
from ibidem_dedupe.policy import Characters, Policy, Terms, min_shared_terms
from ibidem_ingest.kernel.loops import compiled
from ibidem_ingest.signatures import noise
from ibidem_ingest.signatures.minhash import BAND_ROWS
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
        positions = np.flatnonzero(mask)
        return replace(self, key=self.key[positions], row=self.row[positions])


def content_index(columns: PackedColumns, _: Policy, has_words: Bools) -> Iterator[KeyIndex]:
    """Return the rows that share a hash of the whole text."""
    # Both halves of a hash folded into one: a collision only costs a comparison.
    yield shared_keys(columns.content[:, :1] ^ columns.content[:, 1:], has_words)


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


def band_index(slots: NDArray[np.uint16], has_slots: NDArray[np.bool_], height: int = BAND_ROWS) -> Iterator[KeyIndex]:
    """Return the rows that share a band of slots, in portions."""
    count = SLOTS // height
    rows = np.flatnonzero(has_slots)
    at_once = max(1, ENTRIES // max(1, len(slots)))
    for first in range(0, count, at_once):
        last = min(count, first + at_once)
        keys = compiled().band_keys(slots, rows, (first, last), height)
        yield drop_singletons(keys.ravel(), np.repeat(rows, last - first))


def run_index(columns: PackedColumns, policy: Policy, has_words: Bools) -> Iterator[KeyIndex]:
    """Return the rows that share a band of character runs, if one of the texts has many unknown words; in portions."""
    rule = policy.characters or Characters()
    noisy = is_noisy(columns.noise, rule.misread, rule.misread_dense)
    rows = np.flatnonzero((columns.noise[:, noise.SLOTS] > 0) & has_words & noisy.any())
    at_once = max(1, ENTRIES // max(1, len(rows)))
    for first in range(0, noise.SLOTS, at_once):
        last = min(noise.SLOTS, first + at_once)
        keys = compiled().run_keys(columns.noise, rows, (first, last), noise.APART).ravel()
        yield marked_keys(keys, np.repeat(rows, last - first), noisy)


def marked_keys(keys: Hashes, rows: Rows, row_marks: NDArray[np.bool_]) -> KeyIndex:
    """Return the keys that several rows have, at least one of them marked."""
    return KeyIndex(*compiled().shared_keys(keys, rows, row_marks[rows]))


def slot_index(slots: NDArray[np.uint16], has_slots: NDArray[np.bool_]) -> Iterator[KeyIndex]:
    """Return the rows that share a single slot, in portions: a chapter shares few with its book."""
    if not has_slots.any():
        return
    at_once = max(1, ENTRIES // len(slots))
    for first in range(0, slots.shape[1], at_once):
        slice_ = slots[:, first : first + at_once].astype(np.uint64)
        number = np.arange(first, first + slice_.shape[1], dtype=np.uint64) << np.uint64(16)
        yield shared_keys(slice_ | number, has_slots)


def shared_keys(keys: Hashes, has_keys: NDArray[np.bool_]) -> KeyIndex:
    rows = np.flatnonzero(has_keys)
    return drop_singletons(keys[rows].ravel(), np.repeat(rows, keys.shape[1]))


def drop_singletons(keys: NDArray[np.integer[Any]], rows: Rows) -> KeyIndex:
    """Group entries by key and drop keys with a single row."""
    if (rows[1:] < rows[:-1]).any():
        order = np.argsort(rows, kind="stable")
        keys, rows = keys[order], rows[order]
    return KeyIndex(*compiled().shared_keys(keys, rows, None))


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
        sizes = columns.term_count[rows].astype(np.int64) - min_shared + 1
        term, row = compiled().prefixes(columns.terms, rows, sizes, NO_TERM)
        keys = term << BUCKETS | length_buckets(columns.length, rule.lengths)[row]
        parts = max(1, len(keys) // ENTRIES)
        for part in range(parts):
            entries = np.flatnonzero(term % parts == part) if parts > 1 else EVERY
            neighbours = np.stack((keys[entries], keys[entries] + 1), axis=1).ravel()
            yield drop_singletons(neighbours, np.repeat(row[entries], 2))


def length_buckets(lengths: Rows, ratio: float) -> Rows:
    """Assign lengths to buckets: two within the ratio of each other are in the same or in adjacent buckets.

    >>> length_buckets(np.array([95, 100, 106]), 0.95).tolist()
    [88, 89, 90]
    """
    width = ROUNDING - log(max(ROUNDING, ratio))
    return np.floor(np.log(np.maximum(1, lengths)) / width).astype(np.int64)


def join_indexes(parts: Iterable[KeyIndex]) -> KeyIndex:
    """Join the entries of several kinds into one index, with distinct key numbers."""
    keys, rows, offset = [], [], 0
    for part in parts:
        keys.append(part.key + np.int32(offset))
        rows.append(part.row)
        offset += part.keys
    return KeyIndex(np.concatenate(keys), np.concatenate(rows))
