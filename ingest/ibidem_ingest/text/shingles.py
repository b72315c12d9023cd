"""`sh1`: hashes of five tokens in a row; part of the index format, so the constants never change.

The hash of a shingle is a sum of the five `wh1` hashes, each times its own odd number, mixed once more, modulo 2^64:

    s = ((h1 · A + h2) · B + (h3 · A + h4)) · C + h5;  s = s ⊕ (s >> 32);  then the last step of `wh1`

A document of one to four tokens is one shingle; what is missing counts as zero. One without tokens has none.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ibidem_ingest.text.word_hash import Hashes, Places, finish, finish_int

SHINGLE = 5
A = 0x6649C8876CE98251
B = 0xC2D84E846D2B8989
C = 0xE249EB2067D24289

_MASK = (1 << 64) - 1


def shingles(hashes: Sequence[int]) -> list[int]:
    """Return the shingle hashes of one document, in text order, repeated ones included.

    >>> from ibidem_ingest.text.word_hash import wh1
    >>> [f"{each:016x}" for each in shingles([wh1(token) for token in "the court so held".split()])]
    ['59fb9f19733677bf']
    """
    count = len(hashes) - SHINGLE + 1
    return [_shingle(hashes[start : start + SHINGLE]) for start in range(max(count, min(1, len(hashes))))]


def _shingle(hashes: Sequence[int]) -> int:
    h1, h2, h3, h4, h5 = *hashes, *[0] * (SHINGLE - len(hashes))
    mixed = ((h1 * A + h2) * B + (h3 * A + h4)) * C + h5 & _MASK
    return finish_int(mixed ^ mixed >> 32)


@dataclass(frozen=True, eq=False, slots=True)
class Shingles:
    """The shingles of several documents, as many to each as it has tokens.

    Args:
        hashes: Shingle hashes in text order, document by document, uint64. A document's last shingle stands once more
            in the places of its last four tokens, where no other begins: no set and no minimum knows the difference.
        offsets: Where each document's shingles begin, and the end: its tokens' offsets.
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
        mixed = _hash_all(hashes)
        lengths = np.diff(offsets)
        short = np.flatnonzero((lengths > 0) & (lengths < SHINGLE))
        ends = offsets[1:][lengths >= SHINGLE]
        for back in range(1, SHINGLE):
            mixed[ends - back] = mixed[ends - SHINGLE]
        if short.size:
            mixed[_places(offsets, lengths, short)] = np.repeat(_short(hashes, offsets, lengths, short), lengths[short])
        return cls(mixed, offsets)

    def distinct(self) -> Places:
        """Count the distinct shingles of each document."""
        ordered = self.hashes.copy()
        counts = []
        for start, end in pairwise(self.offsets.tolist()):
            part = ordered[start:end]
            part.sort()
            counts.append(np.count_nonzero(part[1:] != part[:-1]) + (start < end))
        return np.array(counts, np.int64)


def _hash_all(hashes: Hashes) -> Hashes:
    """Hash the five tokens that begin at every place, across documents too; zeros follow the end."""
    size = hashes.size
    pairs = hashes * np.uint64(A)
    pairs[:-1] += hashes[1:]
    mixed = pairs * np.uint64(B)
    mixed[:-2] += pairs[2:]
    mixed *= np.uint64(C)
    mixed[: max(0, size - 4)] += hashes[4:]
    mixed ^= mixed >> np.uint64(32)
    return finish(mixed)


def _short(hashes: Hashes, offsets: Places, lengths: Places, short: Places) -> Hashes:
    """Hash the one shingle of documents of one to four tokens."""
    column = np.arange(SHINGLE)
    there = column < lengths[short, None]
    tokens = np.where(there, hashes.take(np.where(there, offsets[short, None] + column, 0)), np.uint64(0))
    return _hash_all(tokens.reshape(-1))[::SHINGLE]


def _places(offsets: Places, lengths: Places, documents: Places) -> Places:
    """Return the token offsets of some documents, one after the other."""
    sizes = lengths[documents]
    places: Places = np.repeat(offsets[documents] - sizes.cumsum() + sizes, sizes)
    places += np.arange(places.size)
    return places
