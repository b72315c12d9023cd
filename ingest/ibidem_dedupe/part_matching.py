"""Match the parts of two long texts: pages or chunks by sketch and profile, then by aligned unique words.

Two parts match when 4 of their 34 slots are equal or their profiles are, or when three unique words that the alignment
of the whole texts keeps are in both. Pairs are found through equal slots, never by comparing all with all; a slot
value that more than 50 parts of a text carry (a form, a banner) is passed over.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ibidem_ingest.signatures import pages
from ibidem_ingest.signatures.long_text import LongSignatures
from ibidem_ingest.signatures.unique_words import Alignment

MAX_PARTS_PER_VALUE = 50  # parts of a text with a value, from which on it is passed over
MIN_ANCHORS = 3

Places = NDArray[np.int64]
Keys = NDArray[np.int32] | Places
Shares = NDArray[np.float64]


@dataclass(frozen=True, eq=False, slots=True)
class Matches:
    """Matching parts of two texts."""

    a: Places  # (m,) parts of the one, ascending
    b: Places  # (m,) parts of the other
    similar: Shares  # (m,) share of equal slots; 1 for equal profiles
    anchors: Places  # (m,) aligned unique words that are in both

    def __len__(self) -> int:
        """Return the number of pairs."""
        return int(self.a.size)


# The matches of two texts that share no part.
NOTHING = Matches(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0), np.zeros(0, np.int64))


def match_parts(a: LongSignatures, b: LongSignatures, alignment: Alignment | None) -> Matches:
    """Find the matching parts of two texts."""
    width = max(1, len(b))
    shared = equal_slots(a, b, width)
    profiles = equal_profiles(a, b, width)
    if alignment is None and shared.size < pages.MATCHING and not profiles.size:  # as for most pairs without evidence
        return NOTHING
    profiles = np.unique(profiles)
    slots, equal = count_pairs(shared)
    words, anchors = count_pairs(anchor_parts(a, b, alignment, width))
    keys = np.unique(np.concatenate((slots[equal >= pages.MATCHING], profiles, words[anchors >= MIN_ANCHORS])))
    similar = look_up_values(keys, slots, equal) / pages.SLOTS
    similar[np.isin(keys, profiles)] = 1.0
    return Matches(keys // width, keys % width, similar, look_up_values(keys, words, anchors))


def equal_slots(a: LongSignatures, b: LongSignatures, width: int) -> Places:
    """Return a pair of parts for each slot that is equal in both."""
    return join_sorted(*a.slot_keys, *b.slot_keys, width)


def equal_profiles(a: LongSignatures, b: LongSignatures, width: int) -> Places:
    """Return the pairs of parts with equal profiles."""
    return join_sorted(*a.profile_keys, *b.profile_keys, width)


def join_sorted(left: Keys, a: Keys, right: Keys, b: Keys, width: int) -> Places:
    """Return the pairs of rows that share a key, as `row of a * width + row of b`, once for each key."""
    start = right.searchsorted(left)
    if not right.size or not (right.take(start, mode="clip") == left).any():
        return np.zeros(0, np.int64)
    end = right.searchsorted(left, "right")
    times = np.where(end - start <= MAX_PARTS_PER_VALUE, end - start, 0)
    step = np.arange(times.sum()) - np.repeat(times.cumsum() - times - start, times)
    pairs: Places = np.repeat(a.astype(np.int64), times) * width + b[step]
    return pairs


def anchor_parts(a: LongSignatures, b: LongSignatures, alignment: Alignment | None, width: int) -> Places:
    """Return a pair of parts for each aligned word."""
    if alignment is None or not alignment.counts:
        return np.zeros(0, np.int64)
    pairs: Places = a.part_of_word[alignment.a] * width + b.part_of_word[alignment.b]
    return pairs


def count_pairs(pairs: Places) -> tuple[Places, Places]:
    """Return distinct pairs in ascending order, with their counts."""
    keys, times = np.unique(pairs, return_counts=True)
    return keys, times


def look_up_values(keys: Places, entries: Places, values: Places) -> Places:
    """Return the value of each key, 0 for an unknown key."""
    if not entries.size:
        return np.zeros(keys.size, np.int64)
    position = np.minimum(np.searchsorted(entries, keys), entries.size - 1)
    return np.where(entries[position] == keys, values[position], 0)
