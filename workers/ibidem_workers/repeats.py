"""Which ids come twice in one run, with eight bytes of memory an id."""

from collections.abc import Sequence

import numpy as np
import xxhash
from numpy.typing import NDArray

SHOWN = 20
GROWTH = 4

Hashes = NDArray[np.uint64]


class Repeats:
    """The ids of a run so far, as sorted runs of 64-bit hashes; each run is at least four times the next.

    Two of a million ids share a hash by chance with a probability of 3 in 100 million (birthday bound n²/2⁶⁵).

    >>> repeats = Repeats()
    >>> repeats.add(["a", "b", "a"]), repeats.add(["b", "c"]), repeats.count, repeats.ids
    (None, None, 2, ['a', 'b'])
    """

    def __init__(self) -> None:
        self.count = 0
        self.ids: list[str] = []
        self._runs: list[Hashes] = []

    def add(self, ids: Sequence[str]) -> None:
        """Take the next ids in and count those that were there; the first twenty are kept to be shown."""
        hashes = np.fromiter((xxhash.xxh3_64_intdigest(one.encode()) for one in ids), np.uint64, len(ids))
        again = self._known(hashes) | _seen_within(hashes)
        self.count += int(again.sum())
        self.ids += [ids[at] for at in np.flatnonzero(again)[: max(0, SHOWN - len(self.ids))]]
        self._keep(np.unique(hashes[~again]))

    def _known(self, hashes: Hashes) -> NDArray[np.bool_]:
        known = np.zeros(len(hashes), np.bool_)
        for run in self._runs:
            at = np.searchsorted(run, hashes)
            known |= run[np.minimum(at, len(run) - 1)] == hashes
        return known

    def _keep(self, run: Hashes) -> None:
        while self._runs and len(self._runs[-1]) < GROWTH * len(run):
            run = np.sort(np.concatenate((self._runs.pop(), run)), kind="stable")
        if len(run):
            self._runs.append(run)


def _seen_within(hashes: Hashes) -> NDArray[np.bool_]:
    seen = np.ones(len(hashes), np.bool_)
    seen[np.unique(hashes, return_index=True)[1]] = False
    return seen
