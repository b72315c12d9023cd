"""`sh1`: hashes of five tokens in a row; part of the index format, so the constants never change.

The hash of a shingle is the sum of the five `wh1` hashes, each times its multiplier, mixed once more, modulo 2^64:

    s = h1 · M1 + … + h5 · M5;  s = s ⊕ (s >> 32);  then the last two steps of `wh1`

A document of one to four tokens is one shingle; what is missing counts as zero. One without tokens has none.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ibidem_ingest.wordhash import Hashes, Places, finish, finish_int

SHINGLE = 5
MULTIPLIERS = (
    0x6649C8876CE98251,
    0xC2D84E846D2B8989,
    0xE249EB2067D24289,
    0x13CBB7051F7C1479,
    0xFFD9AA55A462FC6B,
)

_MASK = (1 << 64) - 1


def shingles(hashes: Sequence[int]) -> list[int]:
    """Return the shingle hashes of one document, in text order, repeated ones included.

    >>> from ibidem_ingest.wordhash import wh1
    >>> [f"{each:016x}" for each in shingles([wh1(token) for token in "the court so held".split()])]
    ['c00aa337bd4d74b6']
    """
    count = len(hashes) - SHINGLE + 1
    return [_shingle(hashes[start : start + SHINGLE]) for start in range(max(count, min(1, len(hashes))))]


def _shingle(hashes: Sequence[int]) -> int:
    mixed = sum(each * multiplier for each, multiplier in zip(hashes, MULTIPLIERS, strict=False)) & _MASK
    return finish_int(mixed ^ mixed >> 32)


@dataclass(frozen=True, eq=False, slots=True)
class Shingles:
    """The shingles of several documents.

    Args:
        hashes: Shingle hashes in text order, document by document, uint64.
        offsets: Where each document's shingles begin, and the end; documents + 1.
    """

    hashes: Hashes
    offsets: Places

    @classmethod
    def of(cls, hashes: Hashes, offsets: Places) -> "Shingles":
        """Hash the shingles of documents.

        Args:
            hashes: `wh1` of all tokens.
            offsets: Token offset of each document and of the end.
        """
        hashes, offsets = _filled(hashes, offsets)
        if not hashes.size:
            return cls(hashes, offsets)
        inside = np.ones(hashes.size, bool)
        for back in range(1, SHINGLE):
            inside[offsets[1:] - back] = False
        counts = np.maximum(np.diff(offsets) - (SHINGLE - 1), 0)
        return cls(_hash_all(hashes)[inside], np.concatenate(([0], counts.cumsum())))

    def distinct(self) -> Places:
        """Count the distinct shingles of each document."""
        ordered = self.hashes.copy()
        counts = []
        for start, end in pairwise(self.offsets.tolist()):
            part = ordered[start:end]
            part.sort()
            counts.append(np.count_nonzero(part[1:] != part[:-1]) + (start < end))
        return np.array(counts, np.int64)


def _filled(hashes: Hashes, offsets: Places) -> tuple[Hashes, Places]:
    """Fill documents of one to four tokens up to five with zeros."""
    lengths = np.diff(offsets)
    missing = np.where((lengths > 0) & (lengths < SHINGLE), SHINGLE - lengths, 0)
    if not missing.any():
        return hashes, offsets
    filled = np.insert(hashes, np.repeat(offsets[1:], missing), np.uint64(0))
    return filled, offsets + np.concatenate(([0], missing.cumsum()))


def _hash_all(hashes: Hashes) -> Hashes:
    """Hash the five tokens that begin at every place, across documents too; zeros stand behind the end."""
    size = hashes.size
    mixed = hashes * np.uint64(MULTIPLIERS[0])
    for place, multiplier in enumerate(MULTIPLIERS[1:], 1):
        mixed[: size - place] += hashes[place:] * np.uint64(multiplier)
    mixed ^= mixed >> np.uint64(32)
    return finish(mixed)
