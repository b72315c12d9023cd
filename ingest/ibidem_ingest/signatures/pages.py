"""Page signatures: a min-hash sketch and a text profile for each page or chunk (Spasojevic and Poncin 2011).

A page's sketch has 34 slots of 16 bits over the shingles that lie within the page, its profile is that of its tokens
(`text_profile`), of which eight bytes are kept. A page of fewer than 10 tokens has neither: blank leaves, plate numbers
and running titles would all match each other.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from ibidem_ingest.signatures import minhash, text_profile
from ibidem_ingest.text.terms import TermGroups
from ibidem_ingest.text.tokens import TokenBatch
from ibidem_ingest.text.word_hash import Hashes, Places, Shingles

SLOTS = 34
MIN_TOKENS = 10
MAX_TOKENS = 1 << 20  # tokens that are signed at once, or one page: bounds the memory for long texts

MIN_EQUAL_SLOTS = 4  # equal slots, of 34, from which two pages match

Sketches = NDArray[np.uint16]
Profiles = NDArray[np.uint64]


def sign_batch(batch: TokenBatch) -> tuple[Sketches, Profiles]:
    """Sign pages."""
    cut = list(runs(batch.offsets))
    if len(cut) <= 1:
        return _sign(batch)
    sketches, profiles = np.zeros((len(batch), SLOTS), np.uint16), np.zeros(len(batch), np.uint64)
    for first, end in cut:
        part = batch.slice(first, end)
        if (part.lengths >= MIN_TOKENS).any():  # untouched pages of zeros take no memory
            sketches[first:end], profiles[first:end] = _sign(part)
    return sketches, profiles


def runs(offsets: Places) -> Iterator[tuple[int, int]]:
    """Split pages into runs with a maximum number of tokens and pages; a longer page is a run by itself."""
    first, pages = 0, offsets.size - 1
    while first < pages:
        end = int(np.searchsorted(offsets, offsets[first] + MAX_TOKENS, side="right")) - 1
        end = min(max(end, first + 1), first + MAX_TOKENS // MIN_TOKENS + 1)
        yield first, end
        first = end


def _sign(batch: TokenBatch) -> tuple[Sketches, Profiles]:
    mask = batch.lengths >= MIN_TOKENS
    sketches = minhash.sign_batch(Shingles.hash(batch.hashes, batch.offsets), SLOTS) * mask[:, None]
    profiles = text_profile.sign_batch(batch, TermGroups.group(batch))
    return sketches.astype(np.uint16), np.array([int.from_bytes(each[:8]) for each in profiles], np.uint64) * mask


def sign(pages: Sequence[Sequence[str]]) -> list[tuple[tuple[int, ...], int]]:
    """Sign pages one by one, as `sign_batch` does."""
    zeros = (0,) * SLOTS, 0
    return [
        (minhash.sign(tokens, SLOTS), int(text_profile.sign(tokens).partition(":")[2][:16] or "0", 16))
        if len(tokens) >= MIN_TOKENS
        else zeros
        for tokens in pages
    ]


MIN_CHUNK, MAX_CHUNK = 200, 600


def chunk_starts(hashes: Hashes) -> Places:
    """Return the starts of the chunks of a text, and its end."""
    places = [0]
    for cut in [*local_minima(hashes).tolist(), hashes.size]:
        while cut - places[-1] > MAX_CHUNK:
            start = places[-1] + MIN_CHUNK
            places.append(
                start + int(np.argmin(hashes[start : min(places[-1] + MAX_CHUNK, hashes.size - MIN_CHUNK) + 1]))
            )
        if cut == hashes.size or min(cut - places[-1], hashes.size - cut) >= MIN_CHUNK:
            places.append(cut)
    return np.array(places, np.int64)


def local_minima(hashes: Hashes) -> Places:
    """Return the positions, from the 200th on, whose hash is below the 200 before it and not above the 200 after it.

    Minima of a sliding window from the minima of blocks, going up and going down (van Herk 1992).
    """
    if hashes.size <= MIN_CHUNK:
        return np.zeros(0, np.int64)
    highest = np.iinfo(np.uint64).max
    blocks = -(-hashes.size // MIN_CHUNK) + 1
    block_hashes = np.full(blocks * MIN_CHUNK, highest, np.uint64)
    block_hashes[: hashes.size] = hashes
    rows = block_hashes.reshape(blocks, MIN_CHUNK)
    upward = np.minimum.accumulate(rows, axis=1).ravel()
    downward = np.minimum.accumulate(rows[:, ::-1], axis=1)[:, ::-1].ravel()
    window = np.minimum(downward[: -MIN_CHUNK + 1], upward[MIN_CHUNK - 1 :])  # of MIN_CHUNK hashes from each place on
    ahead = window[1 : hashes.size + 1]
    behind = window[: hashes.size - MIN_CHUNK]
    return MIN_CHUNK + np.flatnonzero(
        (hashes[MIN_CHUNK:] <= ahead[MIN_CHUNK : hashes.size]) & (hashes[MIN_CHUNK:] < behind)
    )
