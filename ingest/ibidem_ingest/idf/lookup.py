"""From the hash of a term to its rank, for whole batches at once: open addressing in one array of 64-bit slots.

A slot holds the 40 low bits of the term's `wh1` and, in 24 bits, its rank plus one; 0 is an empty slot. The highest
bits of the hash say where to begin; a taken slot is passed over to the next. At most a quarter of the slots is taken.
"""

from math import ceil, log2
from typing import Final

import numpy as np

from ibidem_ingest.wordhash import Hashes, Places

ABSENT: Final = (1 << 24) - 1
"""The rank of a term that is not in the table: behind all others."""

MOST_TERMS: Final = ABSENT - 1
_RANK = np.uint64((1 << 24) - 1)
_SHIFT = np.uint64(24)
_SPARE = 64
_LOAD = 0.25
_LEAST_BITS = 10


def slots_of(hashes: Hashes) -> Hashes:
    """Lay out the slots for terms in the order of their ranks.

    Args:
        hashes: `wh1` of each term, rank 0 first. Of two equal ones, which are rare, the first is found for both.

    Returns:
        A power of two of slots, and some spare ones, so that a search never runs over the end.

    >>> int(np.count_nonzero(slots_of(np.array([1 << 63, 5, 9], np.uint64))))
    3
    """
    bits = max(_LEAST_BITS, ceil(log2(max(1, hashes.size) / _LOAD)))
    slots = np.zeros((1 << bits) + _SPARE, np.uint64)
    entries = hashes << _SHIFT | np.arange(1, hashes.size + 1, dtype=np.uint64)
    place = (hashes >> np.uint64(64 - bits)).astype(np.int64)
    waiting = np.arange(hashes.size)
    while waiting.size:
        free = waiting[slots[place[waiting]] == 0]
        taken, first = np.unique(place[free], return_index=True)
        slots[taken] = entries[free[first]]
        waiting = np.setdiff1d(waiting, free[first], assume_unique=True)
        place[waiting] += 1
    return slots


def ranks(slots: Hashes, hashes: Hashes) -> Places:
    """Return the rank of each term, `ABSENT` for those that are not in the table.

    >>> slots = slots_of(np.array([1 << 63, 5, 9], np.uint64))
    >>> ranks(slots, np.array([9, 7, 1 << 63], np.uint64)).tolist() == [2, ABSENT, 0]
    True
    """
    bits = (slots.size - _SPARE).bit_length() - 1
    place = (hashes >> np.uint64(64 - bits)).view(np.int64)
    wanted = hashes << _SHIFT
    found = slots.take(place)
    open_ = np.flatnonzero(((found ^ wanted) > _RANK) & (found != 0))
    found[(found ^ wanted) > _RANK] = 0
    while open_.size:
        place[open_] += 1
        entry = slots.take(place[open_])
        hit = (entry ^ wanted[open_]) <= _RANK
        found[open_[hit]] = entry[hit]
        open_ = open_[~hit & (entry != 0)]
    result: Places = (found & _RANK).view(np.int64)
    result -= 1
    result &= ABSENT
    return result


def rank(slots: Hashes, hash_: int) -> int:
    """Return what `ranks` returns for one term."""
    place = hash_ >> (64 - (slots.size - _SPARE).bit_length() + 1)
    wanted = hash_ << 24 & (1 << 64) - 1
    while entry := int(slots[place]):
        if entry ^ wanted <= ABSENT:
            return (entry & ABSENT) - 1
        place += 1
    return ABSENT
