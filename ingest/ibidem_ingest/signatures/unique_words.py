"""Unique words: the terms that occur once in a text, in text order (Yalniz, Can and Manmatha 2011, DUPNIQ).

Two editions of a book have most of them in common and in the same order, however their pages break and however many
letters were misread. With L the length of the longest common subsequence of two sequences X and Y:

    its = log L / log(|X| + |Y| - L)        cs = L / √(|X| · |Y|)

`its` decides from 0.72 on. `cs` serves parts of books, from 0.12 on with an L of at least 100. L is at most the number
of common words, so a pair with too few of these is never aligned: in the paper more than 99 % of all pairs stop there.

A sequence that is for the most part in alphabetical order (a dictionary, a directory) is set aside: any two of them
would be in the same order by nature. Under 100 unique words there is no signature.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import log, sqrt

import numpy as np
from numpy.typing import NDArray

from ibidem_ingest.text.tokens import TermGroups, TokenBatch, is_term
from ibidem_ingest.text.word_hash import C2, Hashes, Places, wh1

ITS = 0.72
CS = 0.12
MIN_ALIGNED = 100  # the shortest common subsequence for which `cs` counts

MIN_WORDS = 100
MAX_ALPHABETICAL = 0.9  # share of neighbours in alphabetical order from which a sequence is set aside

SAMPLE_PAIRS = 64  # neighbouring pairs that are kept for look-up, about

STEPS = 6  # of a fixed-point iteration whose error falls to a tenth at each

Words = NDArray[np.uint32]


@dataclass(frozen=True, eq=False)
class UniqueWords:
    words: Words  # (n,) upper 32 bits of each word's `wh1`, in the order of the text
    alphabetical: bool = False  # whether they are in alphabetical order, so that they are compared with nothing

    @cached_property
    def order(self) -> Places:
        """The positions of the words, ordered by hash."""
        return np.argsort(self.words, kind="stable")

    @cached_property
    def sorted_hashes(self) -> Words:
        """The hashes in ascending order."""
        return self.words[self.order]

    @property
    def comparable(self) -> bool:
        """Whether the text has enough unique words to be compared."""
        return self.words.size >= MIN_WORDS and not self.alphabetical

    def sample_keys(self) -> Hashes:
        """Return keys of about 64 neighbouring pairs: the keys that are multiples of a power of two.

        A multiple of 32 is one of 4 as well, so that a chapter and its book share keys.
        """
        if not self.comparable:
            return np.zeros(0, np.uint64)
        pairs = self.words[:-1].astype(np.uint64) << np.uint64(32) | self.words[1:]
        pairs *= np.uint64(C2)
        pairs ^= pairs >> np.uint64(32)
        step = 1 << max(0, (self.words.size // SAMPLE_PAIRS).bit_length() - 1)
        return np.unique(pairs[pairs & np.uint64(step - 1) == 0])


NONE = UniqueWords(np.zeros(0, np.uint32))


@dataclass(frozen=True, eq=False, slots=True)
class Alignment:
    """The longest common subsequence of two sequences of unique words."""

    a: Places  # (L,) places in the one, ascending
    b: Places  # (L,) places in the other, ascending
    its: float  # log L / log(|X| + |Y| - L)
    cs: float  # L / √(|X| · |Y|)

    def __len__(self) -> int:
        """Return the length of the subsequence."""
        return self.a.size

    @property
    def counts(self) -> bool:
        """Whether the two texts share enough words to be considered similar."""
        return self.its >= ITS or (self.cs >= CS and len(self) >= MIN_ALIGNED)


def sign(tokens: Sequence[str]) -> UniqueWords:
    words = [tokens[place] for place in places(tokens).tolist()]
    if len(words) < MIN_WORDS:
        return NONE
    leading = [token.encode()[:8] for token in words]
    rising = sum(a <= b for a, b in pairwise(leading))
    return UniqueWords(
        np.array([wh1(each) >> 32 for each in words], np.uint32), rising >= MAX_ALPHABETICAL * len(words)
    )


def places(tokens: Sequence[str]) -> Places:
    """Return the positions of the terms that occur once."""
    counts = Counter(tokens)
    return np.array([at for at, token in enumerate(tokens) if counts[token] == 1 and is_term(token)], np.int64)


def sign_batch(batch: TokenBatch, groups: TermGroups) -> tuple[list[UniqueWords], list[Places]]:
    """Sign several texts, as `sign` does."""
    vocabulary = groups.vocabulary
    positions = np.flatnonzero((groups.count == 1) & vocabulary.shapes.is_term.take(groups.word))
    positions = positions.take(np.argsort(groups.first.take(positions)))
    first, word = groups.first.take(positions), groups.word.take(positions)
    words = (vocabulary.hashes.take(word) >> np.uint64(32)).astype(np.uint32)
    leading = vocabulary.leading.take(word).byteswap()
    rising = np.concatenate(([False], leading[1:] >= leading[:-1]))
    bounds = np.searchsorted(first, batch.offsets).tolist()
    results, places = [], []
    for start, end in pairwise(bounds):
        if end - start < MIN_WORDS:
            results.append(NONE)
            places.append(np.zeros(0, np.int64))
            continue
        is_alphabetical = np.count_nonzero(rising[start + 1 : end]) >= MAX_ALPHABETICAL * (end - start)
        results.append(UniqueWords(words[start:end], bool(is_alphabetical)))
        places.append(first[start:end])
    return results, places


def compare(a: UniqueWords, b: UniqueWords) -> Alignment | None:
    """Align the unique words of two texts."""
    if not (a.comparable and b.comparable):
        return None
    left, right = common_places(a, b, least_common_length(a.words.size, b.words.size))
    if not left.size:
        return None
    alignment = longest(left, right)
    length = alignment[0].size
    if length < 2:
        return None
    sizes = a.words.size, b.words.size
    return Alignment(*alignment, sequence_similarity(length, *sizes), length / sqrt(sizes[0] * sizes[1]))


def sequence_similarity(length: int, a: int, b: int) -> float:
    """Return log L / log(|X| + |Y| - L); 1 for equal sequences."""
    return log(length) / log(a + b - length)


def least_common_length(a: int, b: int) -> int:
    """Return the minimum length of a common subsequence at which two sequences reach a threshold.

    >>> least_common_length(8_000, 8_000), least_common_length(300, 8_000), least_common_length(100, 100)
    (960, 185, 38)
    """
    by_cs = max(MIN_ALIGNED, int(CS * sqrt(a * b)))
    by_its = 1.0
    for _ in range(STEPS):
        by_its = (a + b - by_its) ** ITS
    return max(2, min(by_cs, int(by_its), a, b))


NO_PLACES: Places = np.zeros(0, np.int64)


def common_places(a: UniqueWords, b: UniqueWords, minimum: int = 0) -> tuple[Places, Places]:
    """Return the positions of the common words, in the order of the first text; empty if fewer than `minimum`.

    A hash that a text holds twice (two words of one hash) counts where it occurs first.
    """
    if a.words.size > b.words.size:
        right, left = common_places(b, a, minimum)
        order = np.argsort(left)
        return left[order], right[order]
    position = b.sorted_hashes.searchsorted(a.sorted_hashes)
    position[position == b.sorted_hashes.size] = 0
    positions = (b.sorted_hashes[position] == a.sorted_hashes).nonzero()[0]
    if positions.size < minimum:
        return NO_PLACES, NO_PLACES
    left, right = a.order[positions], b.order[position[positions]]
    order = np.argsort(left)
    return left[order], right[order]


def longest(left: Places, right: Places) -> tuple[Places, Places]:
    """Return the longest increasing subsequence of the second positions (patience, O(n log n))."""
    values = right.tolist()
    tails: list[int] = []
    holders: list[int] = []
    predecessors = [-1] * len(values)
    for number, value in enumerate(values):
        if not tails or value > tails[-1]:
            place = len(tails)
            tails.append(value)
            holders.append(number)
        else:
            place = bisect_left(tails, value)
            tails[place] = value
            holders[place] = number
        if place:
            predecessors[number] = holders[place - 1]
    chain = []
    last = holders[-1] if holders else -1
    while last >= 0:
        chain.append(last)
        last = predecessors[last]
    rows = np.array(chain[::-1], np.int64)
    return left[rows], right[rows]
