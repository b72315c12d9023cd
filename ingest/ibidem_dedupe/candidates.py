"""Candidate generation (blocking): rows that share a key become candidate pairs, so never all pairs are compared.

A pair that the decision joins shares its content hash, its fingerprint, its profile or a band of its min-hash. Or it
shares terms: two sets that share 40 of 60 share three of any 23 of each taken in the same order, so three of the terms
that are rarest here (the prefix filter of Chaudhuri, Ganti and Kaushik 2006, asking for three instead of one).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ibidem_dedupe.column_rules import ALL_ROWS, Bools, Rows, eligible, is_noisy
from ibidem_dedupe.policy import Characters, Policy, Terms, min_shared_terms
from ibidem_ingest.kernel.loops import SALT, call
from ibidem_ingest.signatures import noise
from ibidem_ingest.signatures.packed import LONG, NO_TERM, WEAK, PackedColumns
from ibidem_ingest.signatures.schema import FULL_SET, SLOTS

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


Portion = tuple[Hashes, Rows]  # (e,) keys, and the row of each, ascending


def content_keys(columns: PackedColumns, _: Policy, has_words: Bools) -> Iterator[Portion]:
    """Return the hash of the whole text."""
    # Both halves of a hash folded into one: a collision only costs a comparison.
    yield keys_of(columns.content[:, :1] ^ columns.content[:, 1:], has_words)


def fingerprint_keys(columns: PackedColumns, _: Policy, has_words: Bools) -> Iterator[Portion]:
    """Return the fingerprints that are not weak."""
    yield keys_of(columns.fingerprint[:, None], has_words & (columns.fingerprint != 0) & ((columns.flags & WEAK) == 0))


def profile_keys(columns: PackedColumns, _: Policy, has_words: Bools) -> Iterator[Portion]:
    """Return the text profiles."""
    yield keys_of(columns.profile[:, None], has_words & (columns.profile != 0))


def band_keys(columns: PackedColumns, policy: Policy, has_words: Bools) -> Iterator[Portion]:
    """Return bands of the min-hash sketch, in portions."""
    bands = np.arange(0, SLOTS - policy.band_rows + 1, policy.band_rows)
    return slot_groups(columns.slots, SLOTS, has_words & (columns.slot_count > 0), bands, range(policy.band_rows))


def run_keys(columns: PackedColumns, _: Policy, has_words: Bools) -> Iterator[Portion]:
    """Return bands of character runs, in portions."""
    has_runs = has_words & (columns.noise[:, noise.SLOTS] > 0)
    return slot_groups(columns.noise, noise.SLOTS, has_runs, np.arange(noise.SLOTS), (0, *noise.SLOT_OFFSETS))


def slot_groups(
    slots: NDArray[np.integer[Any]], size: int, has_slots: Bools, places: Rows, offsets: Sequence[int] = (0,)
) -> Iterator[Portion]:
    """Return groups of a row's slots, in portions: each of a place and of the slots so far behind it, round about."""
    rows = np.flatnonzero(has_slots)
    for first, last in portions(len(slots), places.size):
        here = places[first:last]
        keys = np.empty(rows.size * here.size, np.uint64)
        row = (slots.itemsize, slots.shape[1], size)
        groups = (here, here.size, np.array(offsets, np.int64), len(offsets))
        call("ibidem_slot_keys", slots, *row, rows, rows.size, *groups, keys)
        yield keys, np.repeat(rows, here.size)


def have_unknown_words(columns: PackedColumns, policy: Policy) -> Bools:
    """Return which texts have many unknown words: character runs are compared with theirs alone."""
    rule = policy.characters or Characters()
    return is_noisy(columns.noise, rule.misread, rule.misread_dense)


def slot_keys(columns: PackedColumns, _: Policy, has_words: Bools) -> Iterator[Portion]:
    """Return single slots of the min-hash sketch, in portions: a chapter shares few with its book."""
    return slot_groups(columns.slots, SLOTS, has_words & (columns.slot_count > 0), np.arange(SLOTS))


def related_keys(columns: PackedColumns, policy: Policy, has_words: Bools) -> Iterator[Portion]:
    """Return single slots of long texts."""
    yield from slot_keys(columns, policy, has_words & ((columns.flags & LONG) > 0))


def portions(rows: int, count: int) -> Iterator[tuple[int, int]]:
    """Split keys of each row, so that so many are sorted at once."""
    at_once = max(1, ENTRIES // max(1, rows))
    return ((first, min(count, first + at_once)) for first in range(0, count, at_once))


def keys_of(keys: Hashes, has_keys: Bools) -> Portion:
    rows = np.flatnonzero(has_keys)
    return keys[rows].ravel(), np.repeat(rows, keys.shape[1])


def drop_singletons(keys: NDArray[np.integer[Any]], rows: Rows, row_marks: Bools | None = None) -> KeyIndex:
    """Group entries by key and drop keys with a single row, or without a marked one."""
    if (rows[1:] < rows[:-1]).any():
        order = np.argsort(rows, kind="stable")
        keys, rows = keys[order], rows[order]
    if rows.size and max(int(rows[-1]), rows.size) > MAX_ROWS:
        raise ValueError("rows have to be below 2^31, and entries to be as many at most")
    number, row = np.empty((2, rows.size), np.int32)
    columns = (keys.astype(np.uint64, copy=False), rows, 0 if row_marks is None else row_marks[rows], rows.size)
    count = call("ibidem_shared_keys", *columns, SALT, number, row)
    return KeyIndex(number[:count], row[:count])


def rarest_terms(columns: PackedColumns, policy: Policy, has_words: Bools) -> Iterator[Portion]:
    """Return the terms that are rare among these rows, with buckets of lengths; each idf table separately.

    A set of s terms that shares at least m with another shares k of its s - m + k first terms in any order that is the
    same for all; the order by the number of holders here makes the fewest candidates.
    """
    rule = policy.terms or Terms()
    eligible_rows = eligible(columns, rule) & has_words
    for table in np.unique(columns.idf[eligible_rows]):
        rows = np.flatnonzero(eligible_rows & (columns.idf == table))
        min_shared = min_shared_terms(rule.share, int(columns.term_count[rows].min())) - TERMS + 1
        sizes = columns.term_count[rows].astype(np.int64) - min_shared + 1
        term, row = np.empty((2, rows.size * FULL_SET), np.int64)
        prefixes = (columns.terms, FULL_SET, rows, rows.size, sizes, NO_TERM)
        count = call("ibidem_prefixes", *prefixes, term, row)
        term, row = term[:count], row[:count]
        keys = term << BUCKETS | length_buckets(columns.length, rule.lengths)[row]
        parts = max(1, len(keys) // ENTRIES)
        for part in range(parts):
            entries = np.flatnonzero(term % parts == part) if parts > 1 else ALL_ROWS
            neighbours = np.stack((keys[entries], keys[entries] + 1), axis=1).ravel()
            yield neighbours, np.repeat(row[entries], 2)


def length_buckets(lengths: Rows, ratio: float) -> Rows:
    """Assign lengths to buckets: two within the ratio of each other are in the same or in adjacent buckets.

    >>> length_buckets(np.array([95, 100, 106]), 0.95).tolist()
    [88, 89, 90]
    """
    width = ROUNDING - log(max(ROUNDING, ratio))
    return np.floor(np.log(np.maximum(1, lengths)) / width).astype(np.int64)


def join_indexes(parts: Iterable[KeyIndex]) -> KeyIndex:
    """Join several indexes into one with distinct key numbers; those whose keys are enough alone come first."""
    keys, rows = [np.empty(0, np.int32)], [np.empty(0, np.int32)]
    offset, first_weak, min_shared = 0, MAX_ROWS, 1
    for part in parts:
        keys.append(part.key + np.int32(offset))
        rows.append(part.row)
        first_weak, min_shared = min(first_weak, offset + part.first_weak), max(min_shared, part.min_shared)
        offset += part.keys
    return KeyIndex(np.concatenate(keys), np.concatenate(rows), first_weak, min_shared)
