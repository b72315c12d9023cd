"""Shared text of two documents: runs of words that both have, and the alignment of the rest.

Every run of at least eight words counts, as in the labels of exact overlap (`jac5`, `cov_a`); a passage may be in
another order, and twice. Found by looking up each run of eight in the other text and extending it as far as it goes, so
the cost grows with the lengths and not with their product.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import islice, pairwise
from typing import NamedTuple

import numpy as np

from ibidem.comparison.word_places import Words
from ibidem_ingest.signatures.unique_words import longest

MIN_PASSAGE = 8
PLACES = 16  # the most places in the other text that one run is tried at; a form's empty lines would have thousands


@dataclass(frozen=True, slots=True)
class Run:
    """A run of words in both texts."""

    a: int  # number of its first word in the first text
    b: int  # number of its first word in the second text
    words: int  # how many words it has


@dataclass(frozen=True, slots=True)
class Region:
    """A run of words in both texts, as characters."""

    a: tuple[int, int]  # offsets in the first text: from, to
    b: tuple[int, int]  # offsets in the second text: from, to
    words: int  # how many words it has


def grams(tokens: Sequence[str], size: int) -> dict[tuple[str, ...], list[int]]:
    """Return the positions of each run of `size` words, at most `PLACES` for each."""
    positions: dict[tuple[str, ...], list[int]] = {}
    for place, gram in enumerate(zip(*(islice(tokens, i, None) for i in range(size)), strict=False)):
        places = positions.setdefault(gram, [])
        if len(places) < PLACES:
            places.append(place)
    return positions


def run_length(a: Sequence[str], b: Sequence[str], i: int, j: int) -> int:
    """Return how many words are equal from `a[i]` and `b[j]` on."""
    limit = min(len(a) - i, len(b) - j)
    return next((n for n in range(limit) if a[i + n] != b[j + n]), limit)


def runs(a: Sequence[str], b: Sequence[str], min_length: int = MIN_PASSAGE) -> list[Run]:
    """Find the runs of words that both texts have: the longest at each position of `a`, without overlaps there.

    >>> runs("to be or not to be".split(), "whether or not to be".split(), min_length=3)
    [Run(a=2, b=1, words=4)]
    """
    size = min(min_length, len(a), len(b))
    if size == 0:
        return []
    places_by_gram = grams(b, size)
    matches: list[Run] = []
    i = reached = 0
    while i <= len(a) - size:
        places = places_by_gram.get(tuple(a[i : i + size]), ())
        # Of equally long runs, the one nearest to the end of the last run: texts are mostly in the same order.
        words, _, j = max(((run_length(a, b, i, j), -abs(j - reached), j) for j in places), default=(0, 0, 0))
        if words:
            matches.append(Run(i, j, words))
            reached = j + words
        i += words or 1
    return matches


def to_region(run: Run, a: Words, b: Words) -> Region:
    """Return the positions of a run in the two texts."""
    return Region(
        (a.starts[run.a], a.ends[run.a + run.words - 1]),
        (b.starts[run.b], b.ends[run.b + run.words - 1]),
        run.words,
    )


def count_covered(spans: Iterable[tuple[int, int]]) -> int:
    """Return the number of positions that at least one of the spans covers.

    >>> count_covered([(0, 4), (2, 6), (9, 10)])
    7
    """
    total = reached = 0
    for start, end in sorted(spans):
        total += max(0, end - max(start, reached))
        reached = max(reached, end)
    return total


GAP = 40  # the most words between two runs of one passage, in each text: two or three lines of a book

OPEN = 4  # passages that a run may go on with, the latest first: a phrase that is elsewhere too cuts none in two


MIN_WORDS = 8  # words of runs and anchors that make a passage; fewer are chance

# Share of a passage's words that is in runs and anchors, at least; so far do other words part those of chance.
DENSE = 0.15


class Block(NamedTuple):
    """Words of a passage that are the same in both texts, or that differ."""

    is_equal: bool  # whether both have them
    a: tuple[int, int]  # numbers of words in the first text: from, to
    b: tuple[int, int]  # the same in the second text


@dataclass(frozen=True, slots=True)
class Passage:
    """A shared range of text, with small differences."""

    runs: tuple[Run, ...]  # the runs of words that are the same, in the order of both texts

    @property
    def a(self) -> tuple[int, int]:
        """Range of the passage's words in the first text."""
        return self.runs[0].a, self.runs[-1].a + self.runs[-1].words

    @property
    def b(self) -> tuple[int, int]:
        """Range of the passage's words in the second text."""
        return self.runs[0].b, self.runs[-1].b + self.runs[-1].words

    @property
    def words(self) -> int:
        """Number of words in the passage's runs."""
        return sum(run.words for run in self.runs)


def passages(runs: Iterable[Run], gap: int = GAP) -> list[Passage]:
    """Join runs into passages.

    >>> [(one.a, one.b) for one in passages([Run(0, 5, 9), Run(10, 14, 8), Run(30, 90, 8)])]
    [((0, 18), (5, 22)), ((30, 38), (90, 98))]
    """
    chains: list[list[Run]] = []
    for run in runs:
        for chain in reversed(chains[-OPEN:]):
            if continues(chain[-1], run, gap):
                chain.append(run)
                break
        else:
            chains.append([run])
    return [Passage(tuple(chain)) for chain in chains]


def align(a: Sequence[str], b: Sequence[str], runs: Sequence[Run]) -> list[Passage]:
    """Find the passages of two texts, including those of badly recognised text."""
    inside = np.zeros(len(a), bool)
    for run in runs:
        inside[run.a : run.a + run.words] = True
    matches = sorted([*runs, *(each for each in anchors(a, b) if not inside[each.a])], key=lambda run: run.a)
    certain = frozenset(runs)
    anchored = (drop_chance_anchors(passage, certain) for passage in passages(matches))
    return [passage for passage in anchored if passage is not None]


def anchors(a: Sequence[str], b: Sequence[str]) -> list[Run]:
    """Return the words that occur once in each text, in the same order in both.

    >>> anchors("the king of the north".split(), "the old king went north".split())
    [Run(a=1, b=2, words=1), Run(a=4, b=4, words=1)]
    """
    place = unique_places(b)
    pairs = [(at, place[word]) for word, at in unique_places(a).items() if word in place]
    if not pairs:
        return []
    left, right = np.array(pairs, np.int64).T
    return [Run(i, j, 1) for i, j in zip(*(each.tolist() for each in longest(left, right)), strict=True)]


def unique_places(tokens: Sequence[str]) -> dict[str, int]:
    """Return the positions of the words that occur once, in order."""
    counts = Counter(tokens)
    return {word: at for at, word in enumerate(tokens) if counts[word] == 1}


def drop_chance_anchors(passage: Passage, runs: AbstractSet[Run]) -> Passage | None:
    """Remove passages with too few words for their length; None if nothing is left."""
    length = max(passage.a[1] - passage.a[0], passage.b[1] - passage.b[0])
    if passage.words >= MIN_WORDS and passage.words >= DENSE * length:
        return passage
    exact_runs = tuple(run for run in passage.runs if run in runs)
    return Passage(exact_runs) if exact_runs else None


def continues(run: Run, next_run: Run, gap: int) -> bool:
    """Return whether a run follows another in both texts, with few words between."""
    return 0 <= next_run.a - run.a - run.words <= gap and 0 <= next_run.b - run.b - run.words <= gap


def blocks(passage: Passage, a: Sequence[str], b: Sequence[str]) -> Iterator[Block]:
    """Yield the words of a passage as alternating equal and different blocks."""
    for run, next_run in pairwise(passage.runs):
        yield to_block(run)
        yield from align_between((run.a + run.words, next_run.a), (run.b + run.words, next_run.b), a, b)
    yield to_block(passage.runs[-1])


def to_block(run: Run) -> Block:
    """Convert a run into a block."""
    return Block(is_equal=True, a=(run.a, run.a + run.words), b=(run.b, run.b + run.words))


def align_between(in_a: tuple[int, int], in_b: tuple[int, int], a: Sequence[str], b: Sequence[str]) -> Iterator[Block]:
    """Align the words between two runs.

    >>> words = "so help me god", "so aid me god"
    >>> [block.is_equal for block in align_between((0, 4), (0, 4), words[0].split(), words[1].split())]
    [True, False, True]
    """
    matcher = SequenceMatcher(None, a[slice(*in_a)], b[slice(*in_b)], autojunk=False)
    for tag, i, j, k, m in matcher.get_opcodes():
        yield Block(tag == "equal", (in_a[0] + i, in_a[0] + j), (in_b[0] + k, in_b[0] + m))
