"""Chunks: where a text without pages is cut, so that an insertion moves no later cut (content-defined chunking).

A cut stands before a token whose shingle hash is the smallest among those of 200 tokens on either side, so that two
cuts are never closer. Where the next one is more than 600 tokens away, the smallest hash between 200 and 600 tokens
behind the last cut makes one.
"""

import numpy as np
from numpy.typing import NDArray

from ibidem_ingest.wordhash import Hashes

LEAST, MOST = 200, 600

Places = NDArray[np.int64]


def cuts(hashes: Hashes) -> Places:
    """Return where the chunks of a text begin, and its end.

    Args:
        hashes: (n,) hash of the shingle that begins at each token.

    >>> cuts(np.zeros(0, np.uint64)).tolist(), cuts(np.arange(150, dtype=np.uint64)).tolist()
    ([0, 0], [0, 150])
    """
    places = [0]
    for cut in [*lowest(hashes).tolist(), hashes.size]:
        while cut - places[-1] > MOST:
            start = places[-1] + LEAST
            places.append(start + int(np.argmin(hashes[start : min(places[-1] + MOST, hashes.size - LEAST) + 1])))
        if cut == hashes.size or min(cut - places[-1], hashes.size - cut) >= LEAST:
            places.append(cut)
    return np.array(places, np.int64)


def lowest(hashes: Hashes) -> Places:
    """Return the places, from the 200th on, whose hash is below all of the 200 before and above none of those behind.

    Minima of a sliding window from the minima of blocks, going up and going down (van Herk 1992).
    """
    if hashes.size <= LEAST:
        return np.zeros(0, np.int64)
    highest = np.iinfo(np.uint64).max
    blocks = -(-hashes.size // LEAST) + 1
    padded = np.full(blocks * LEAST, highest, np.uint64)
    padded[: hashes.size] = hashes
    rows = padded.reshape(blocks, LEAST)
    upward = np.minimum.accumulate(rows, axis=1).ravel()
    downward = np.minimum.accumulate(rows[:, ::-1], axis=1)[:, ::-1].ravel()
    window = np.minimum(downward[: -LEAST + 1], upward[LEAST - 1 :])  # of LEAST hashes from each place on
    ahead = window[1 : hashes.size + 1]
    behind = window[: hashes.size - LEAST]
    return LEAST + np.flatnonzero((hashes[LEAST:] <= ahead[LEAST : hashes.size]) & (hashes[LEAST:] < behind))
