"""Which look-up values are carried by no other document: counted in memory, so that they need not be looked up.

A count-min sketch (Cormode & Muthukrishnan 2005, doi:10.1016/j.jalgor.2003.12.001) with two rows in one array, whose
counters stop at 2: a value's count is never too low, and too high only when both its counters are shared with others.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64_intdigest

Marks = NDArray[np.uint32]

COUNTERS = 8
_LEAST_BITS, _MOST_BITS = 16, 26
_ODD = np.uint32(0x9E3779B1)


def marks(values: Sequence[str]) -> Marks:
    """Hash look-up values to 32 bits each, the lower half of xxh3-64.

    >>> marks(["tp1:00112233445566aa"]).tolist() == marks(["tp1:00112233445566aa"]).tolist()
    True
    """
    return np.fromiter(map(xxh3_64_intdigest, map(str.encode, values)), np.uint64, len(values)).astype(np.uint32)


class Seen:
    """How often values were seen: never, once, or more often.

    Args:
        expected: Number of values to make room for: eight counters for each, at least 64 KB, at most 64 MB in all.
    """

    def __init__(self, expected: int) -> None:
        bits = min(max((COUNTERS * expected).bit_length(), _LEAST_BITS), _MOST_BITS)
        self.learned = 0
        self._counts = np.zeros(1 << bits, np.uint8)
        self._shift = np.uint32(32 - bits)

    def holds(self, more: int) -> bool:
        """Tell whether so many further values fit, or a larger one may not be made."""
        size = self._counts.size
        return size == 1 << _MOST_BITS or COUNTERS * (self.learned + more) <= size

    def learn(self, marks: Marks) -> None:
        """Count values, one entry for each document that carries one."""
        self.learned += marks.size
        for places in self._places(marks):
            there = self._counts[places] > 0
            self._counts[places] = 1
            self._counts[places[there]] = 2
            ordered = np.sort(places)
            self._counts[ordered[1:][ordered[1:] == ordered[:-1]]] = 2

    def counts(self, marks: Marks) -> NDArray[np.uint8]:
        """Tell for each value how often it was seen: 0, 1, or 2 for more often; perhaps more than in truth, never less.

        >>> seen = Seen(100)
        >>> seen.learn(marks(["a", "b", "b"]))
        >>> seen.counts(marks(["a", "b", "c"])).tolist()
        [1, 2, 0]
        """
        first, second = (self._counts[places] for places in self._places(marks))
        return np.minimum(first, second)

    def _places(self, marks: Marks) -> tuple[Marks, Marks]:
        return marks >> self._shift, (marks * _ODD) >> self._shift
