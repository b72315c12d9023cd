"""The distinct tokens of each document, with first places and counts: what idf signatures and profiles start from."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from ibidem_ingest.tokens import TokenBatch
from ibidem_ingest.tokenshapes import TokenShapes
from ibidem_ingest.wordhash import Hashes, Places


@dataclass(frozen=True, eq=False)
class TermGroups:
    """The distinct (document, token) pairs of a batch, document by document; within one, in no meaningful order.

    Args:
        first: Place of the token's first occurrence, counted in tokens of the batch: an index into `TokenBatch.hashes`.
        count: How often the token occurs in the document.
        document: Number of the document.
        offsets: Where each document's groups begin, and the end; documents + 1.
        starts: Byte offset of the token in `TokenBatch.buffer`.
        ends: Byte offset behind it.
        leading: Its first eight bytes, as in `TokenBatch`.
        buffer: The batch's.
    """

    first: Places
    count: Places
    document: Places
    offsets: Places
    starts: Places
    ends: Places
    leading: Hashes
    buffer: bytes

    @classmethod
    def of(cls, batch: TokenBatch) -> "TermGroups":
        """Group the tokens of a batch.

        >>> batch = TokenBatch.of(["no means no", "no"])
        >>> groups = TermGroups.of(batch)
        >>> sorted((d, batch.token(f), c) for f, c, d in zip(groups.first, groups.count, groups.document.tolist()))
        [(0, 'means', np.int64(1)), (0, 'no', np.int64(2)), (1, 'no', np.int64(1))]
        """
        place = _sorted_places(batch.hashes, batch.offsets, batch.lengths)
        ordered = batch.hashes.take(place)
        begins = np.ones(place.size, bool)
        np.not_equal(ordered[1:], ordered[:-1], out=begins[1:])
        begins[batch.offsets[:-1][batch.lengths > 0]] = True
        edges = np.flatnonzero(begins)
        offsets = np.searchsorted(edges, batch.offsets)
        document = np.repeat(np.arange(len(batch)), np.diff(offsets))
        first = place.take(edges)
        return cls(
            first=first,
            count=np.diff(edges, append=place.size),
            document=document,
            offsets=offsets,
            starts=batch.starts.take(first),
            ends=batch.ends.take(first),
            leading=batch.leading.take(first),
            buffer=batch.buffer,
        )

    def token(self, group: int) -> bytes:
        """Return the UTF-8 of one group's token."""
        return self.buffer[self.starts[group] : self.ends[group]]

    @cached_property
    def shapes(self) -> TokenShapes:
        """What the tokens are made of."""
        return TokenShapes.of(self.buffer, self.starts, self.ends, self.leading)


def first_and_count(tokens: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Return first place and count of each distinct token of one document, in the order of the first places.

    >>> first_and_count(["no", "means", "no"])
    {'no': (0, 2), 'means': (1, 1)}
    """
    found: dict[str, tuple[int, int]] = {}
    for place, token in enumerate(tokens):
        first, count = found.get(token, (place, 0))
        found[token] = (first, count + 1)
    return found


def _sorted_places(hashes: Hashes, offsets: Places, lengths: Places) -> Places:
    """Order the tokens of each document by hash, then by place.

    One sort of 64-bit keys does it: the top bits of the hash, then the place in the document. Where two hashes share
    these top bits, which is rare, the document is sorted again by the whole.
    """
    bits = np.uint64(max(1, int(lengths.max(initial=1) - 1).bit_length()))
    low = (np.uint64(1) << bits) - np.uint64(1)
    origin = np.repeat(offsets[:-1], lengths)
    keys = hashes & ~low
    keys |= (np.arange(hashes.size) - origin).view(np.uint64)
    bounds = list(pairwise(offsets.tolist()))
    for start, end in bounds:
        keys[start:end].sort()
    keys &= low
    places = keys.view(np.int64)
    places += origin
    ordered = hashes.take(places)
    falls = ordered[1:] < ordered[:-1]
    falls[offsets[1:-1][(offsets[1:-1] > 0) & (offsets[1:-1] < hashes.size)] - 1] = False
    if falls.any():
        for start, end in bounds:
            if falls[start : max(start, end - 1)].any():
                places[start:end] = start + np.argsort(hashes[start:end], kind="stable")
    return places
