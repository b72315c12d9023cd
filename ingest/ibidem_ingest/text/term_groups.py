"""The distinct tokens of each document, with first places and counts: what idf signatures and profiles start from."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ibidem_ingest.text.token_classes import Flags, TokenShapes
from ibidem_ingest.text.tokens import TokenBatch
from ibidem_ingest.text.word_hash import Hashes, Places, eight_bytes, further_words

_STEP, _LONG = 8, 64


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The distinct tokens of a batch, of whatever document, in no meaningful order; one may be there twice.

    Args:
        hashes: `wh1` of each word.
        leading: Its first eight bytes, as in `TokenBatch`.
        starts: Byte offset of one of its occurrences in the buffer.
        ends: Byte offset behind it.
        buffer: The batch's.
    """

    hashes: Hashes
    leading: Hashes
    starts: Places
    ends: Places
    buffer: bytes

    def word(self, number: int) -> bytes:
        """Return the UTF-8 of one word."""
        return self.buffer[self.starts[number] : self.ends[number]]

    @cached_property
    def shapes(self) -> TokenShapes:
        """What the words are made of."""
        return TokenShapes.of(self.buffer, self.starts, self.ends, self.leading)


@dataclass(frozen=True, eq=False, slots=True)
class TermGroups:
    """The distinct (word, document) pairs of a batch: word by word, and for each word by document.

    Args:
        word: Number of the word in the vocabulary; ascending.
        document: Number of the document; ascending within a word.
        first: Place of the word's first occurrence in the document, counted in tokens of the batch.
        count: How often it occurs in the document.
        vocabulary: The words.
    """

    word: Places
    document: Places
    first: Places
    count: Places
    vocabulary: Vocabulary

    @classmethod
    def of(cls, batch: TokenBatch, place: Places | None = None) -> "TermGroups":
        """Group the tokens of a batch.

        Args:
            batch: The tokens.
            place: What `sorted_places` gives for them, where that is known: it does not depend on the documents.

        >>> groups = TermGroups.of(TokenBatch.of(["no means no", "no"]))
        >>> words = [groups.vocabulary.word(number).decode() for number in groups.word]
        >>> sorted(zip(words, groups.document.tolist(), groups.first.tolist(), groups.count.tolist()))
        [('means', 0, 1, 1), ('no', 0, 0, 2), ('no', 1, 3, 1)]
        """
        place = sorted_places(batch.hashes) if place is None else place
        ordered, owner = batch.hashes.take(place), batch.documents.take(place)
        new_word = np.ones(place.size, bool)
        np.not_equal(ordered[1:], ordered[:-1], out=new_word[1:])
        new = new_word.copy()
        new[1:] |= owner[1:] != owner[:-1]
        begins = np.flatnonzero(new)
        differ = ~new_word.take(begins)
        differ[differ] = _unlike_the_one_before(batch, place.take(begins), np.flatnonzero(differ))
        new_word[begins.take(np.flatnonzero(differ))] = True
        words = np.flatnonzero(new_word)
        one, sizes = place.take(words), np.diff(np.flatnonzero(new_word.take(begins)), append=begins.size)
        vocabulary = Vocabulary(
            hashes=ordered.take(words),
            leading=batch.leading.take(one),
            starts=batch.starts.take(one),
            ends=batch.ends.take(one),
            buffer=batch.buffer,
        )
        return cls(
            word=np.repeat(np.arange(words.size), sizes),
            document=owner.take(begins),
            first=place.take(begins),
            count=np.diff(begins, append=place.size),
            vocabulary=vocabulary,
        )


def _unlike_the_one_before(batch: TokenBatch, place: Places, which: Places) -> Flags:
    """Tell which tokens are not the one before them, though their hashes are equal: `wh1` is no cryptographic hash.

    One document's words say nothing of another's so, though both are signed in one batch.

    Args:
        batch: The tokens.
        place: Their places.
        which: Numbers of those to be looked at, from 1 on.
    """
    here, before = place.take(which), place.take(which - 1)
    starts, others = batch.starts.take(here), batch.starts.take(before)
    sizes = batch.ends.take(here) - starts
    unlike: Flags = sizes != batch.ends.take(before) - others
    unlike |= batch.leading.take(here) != batch.leading.take(before)
    open_ = np.flatnonzero(~unlike & (sizes > _STEP))
    starts, others, sizes = starts.take(open_), others.take(open_), sizes.take(open_)
    words = eight_bytes(batch.buffer)
    both = (further_words(words, first, sizes, _LONG) for first in (starts, others))
    for (tokens, one), (_, other) in zip(*both, strict=True):
        unlike[open_.take(tokens)] |= one != other
    for at in np.flatnonzero(sizes > _LONG).tolist():
        one, other = (batch.buffer[first : first + sizes[at]] for first in (starts[at], others[at]))
        unlike[open_[at]] = one != other
    return unlike


def first_and_count(tokens: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Return first place and count of each distinct token of one document, in the order of the first places.

    >>> first_and_count(["no", "means", "no"])
    {'no': (0, 2), 'means': (1, 1)}
    """
    terms: dict[str, tuple[int, int]] = {}
    for place, token in enumerate(tokens):
        first, count = terms.get(token, (place, 0))
        terms[token] = (first, count + 1)
    return terms


def sorted_places(hashes: Hashes) -> Places:
    """Order tokens by hash, then by place.

    The top 16 bits are sorted by radix, which takes a quarter of the time of a comparison sort; then those tokens alone
    whose hashes share these bits with another.
    """
    if hashes.size < _RADIX_FROM:
        return _sorted_keys(hashes)
    top = (hashes >> np.uint64(48)).astype(np.uint16)
    places: Places = np.argsort(top, kind="stable")
    ordered, top = hashes.take(places), top.take(places)
    differ = (ordered[1:] != ordered[:-1]) & (top[1:] == top[:-1])
    if differ.any():
        mixed = np.zeros(1 << 16, bool)
        mixed[top[1:][differ]] = True
        here = np.flatnonzero(mixed.take(top))
        places[here] = places.take(here).take(np.argsort(ordered.take(here), kind="stable"))
    return places


_RADIX_FROM = 4_096
"""Tokens from which on the radix sort is faster."""


def _sorted_keys(hashes: Hashes) -> Places:
    """Order tokens in one sort of 64-bit keys: the top bits of the hash, then the place.

    Where two hashes share these top bits and their tokens alternate, which is rare, all is sorted again by the whole
    hash.
    """
    low = np.uint64((1 << max(1, (hashes.size - 1).bit_length())) - 1)
    keys = hashes & ~low
    keys |= np.arange(hashes.size, dtype=np.uint64)
    keys.sort()
    keys &= low
    places: Places = keys.view(np.int64)
    ordered = hashes.take(places)
    if (ordered[1:] < ordered[:-1]).any():
        return np.argsort(hashes, kind="stable")
    return places
