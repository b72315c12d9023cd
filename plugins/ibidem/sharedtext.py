"""The text that two documents share: runs of words that both have, wherever they stand.

Every run of at least eight words counts, as in the labels of exact overlap (`jac5`, `cov_a`); a passage may stand in
another order, and twice. Found by looking up each run of eight in the other text and extending it as far as it goes, so
the cost grows with the lengths and not with their product.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from ibidem.wordplaces import Words

LEAST = 8
PLACES = 16
"""The most places in the other text that one run is tried at; a form's empty lines would have thousands."""


@dataclass(frozen=True, slots=True)
class Run:
    """A run of words in both texts.

    Args:
        a: Number of its first word in the first text.
        b: Number of its first word in the second text.
        words: How many words it has.
    """

    a: int
    b: int
    words: int


@dataclass(frozen=True, slots=True)
class Region:
    """A run of words in both texts, as characters.

    Args:
        a: Offsets in the first text: from, to.
        b: Offsets in the second text: from, to.
        words: How many words it has.
    """

    a: tuple[int, int]
    b: tuple[int, int]
    words: int


def grams(tokens: Sequence[str], size: int) -> dict[tuple[str, ...], list[int]]:
    """Return where each run of `size` words stands, at most `PLACES` for each."""
    found: dict[tuple[str, ...], list[int]] = {}
    for place, gram in enumerate(zip(*(islice(tokens, i, None) for i in range(size)), strict=False)):
        places = found.setdefault(gram, [])
        if len(places) < PLACES:
            places.append(place)
    return found


def run_length(a: Sequence[str], b: Sequence[str], i: int, j: int) -> int:
    """Return how many words are the same from `a[i]` and `b[j]` on."""
    most = min(len(a) - i, len(b) - j)
    return next((n for n in range(most) if a[i + n] != b[j + n]), most)


def runs(a: Sequence[str], b: Sequence[str], least: int = LEAST) -> list[Run]:
    """Find the runs of words that both have, the longest at each place of `a`, without overlap there.

    Args:
        a: Tokens of the first text.
        b: Tokens of the second text.
        least: Words that a run must have; fewer when a whole text has fewer.

    >>> runs("to be or not to be".split(), "whether or not to be".split(), least=3)
    [Run(a=2, b=1, words=4)]
    """
    size = min(least, len(a), len(b))
    if size == 0:
        return []
    where = grams(b, size)
    found: list[Run] = []
    i = reached = 0
    while i <= len(a) - size:
        places = where.get(tuple(a[i : i + size]), ())
        # Of places that are equally long the one nearest to where the last run ended: texts mostly go on in order.
        words, _, j = max(((run_length(a, b, i, j), -abs(j - reached), j) for j in places), default=(0, 0, 0))
        if words:
            found.append(Run(i, j, words))
            reached = j + words
        i += words or 1
    return found


def regions(a: Words, b: Words, least: int = LEAST) -> list[Region]:
    """Find the text that two documents share, as characters of each.

    Args:
        a: The first text's words.
        b: The second text's words.
        least: Words that a run must have.
    """
    return [in_characters(run, a, b) for run in runs(a.tokens, b.tokens, least)]


def in_characters(run: Run, a: Words, b: Words) -> Region:
    """Return where a run stands in the two texts."""
    return Region(
        (a.starts[run.a], a.ends[run.a + run.words - 1]),
        (b.starts[run.b], b.ends[run.b + run.words - 1]),
        run.words,
    )


def covered(spans: Iterable[tuple[int, int]]) -> int:
    """Return how many places at least one of the spans covers.

    >>> covered([(0, 4), (2, 6), (9, 10)])
    7
    """
    total = reached = 0
    for start, end in sorted(spans):
        total += max(0, end - max(start, reached))
        reached = max(reached, end)
    return total
