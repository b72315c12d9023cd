"""Bloom filter of look-up values: whether any settled lead may have a value (Bloom 1970).

A count-min sketch also says whether more than one document does, and takes eight times the memory.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64_intdigest

Marks = NDArray[np.uint32]

# Bits for each value at least; two of them are set, so that one value in sixty is taken for another's at most.
BITS = 16

_MIN_BITS, _MAX_BITS = 19, 28
_ODD = np.uint32(0x9E3779B1)
_SEVEN = np.uint32(7)


def marks(values: Sequence[str]) -> Marks:
    """Hash look-up values to 32 bits each, the lower half of xxh3-64.

    >>> marks(["tp1:00112233445566aa"]).tolist() == marks(["tp1:00112233445566aa"]).tolist()
    True
    """
    return np.fromiter(map(xxh3_64_intdigest, map(str.encode, values)), np.uint64, len(values)).astype(np.uint32)


class BloomFilter:
    """Bloom filter of look-up values, with the methods of SQLite's `CountMinSketch`."""

    def __init__(self, capacity: int) -> None:
        bits = min(max((BITS * capacity).bit_length(), _MIN_BITS), _MAX_BITS)
        self.learned = 0
        self._octets = np.zeros(1 << (bits - 3), np.uint8)
        self._shift = np.uint32(32 - bits)

    def holds(self, additions: int) -> bool:
        """Return whether `additions` more values fit, or the filter already has its maximum size."""
        size = 8 * self._octets.size
        return size == 1 << _MAX_BITS or BITS * (self.learned + additions) <= size

    def learn(self, marks: Marks) -> None:
        """Add values."""
        self.learned += marks.size
        for octet, bit in self._bits(marks):
            np.bitwise_or.at(self._octets, octet, bit)

    def counts(self, marks: Marks) -> NDArray[np.uint8]:
        """Return 1 for each value that may have been added, else 0; false positives occur, false negatives do not.

        >>> seen = BloomFilter(100)
        >>> seen.learn(marks(["a", "b", "b"]))
        >>> seen.counts(marks(["a", "b", "c"])).tolist()
        [1, 1, 0]
        """
        first, second = (self._octets[octet] & bit for octet, bit in self._bits(marks))
        result: NDArray[np.uint8] = ((first != 0) & (second != 0)).astype(np.uint8)
        return result

    def _bits(self, marks: Marks) -> list[tuple[Marks, NDArray[np.uint8]]]:
        """Return the two bits of each value, each as a byte and the bit within it."""
        places = marks >> self._shift, (marks * _ODD) >> self._shift
        return [(each >> np.uint32(3), (1 << (each & _SEVEN)).astype(np.uint8)) for each in places]
