"""Word diff of a lead and its duplicate: short enough for one line, bounded in cost.

The words that both texts begin and end with are set aside first; of what is left at most `EXAMINED` words a side are
aligned (`difflib`, longest common runs first), so the cost does not grow with the length of the documents.
"""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import islice
from typing import Literal

from ibidem.comparison.offsets import chunks

EXAMINED = 400
READ = 200_000
LONGEST_RUN = 6
LONGEST_WORD = 24

Kind = Literal["same", "gap", "lead", "duplicate"]
Place = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of words in a difference.

    Args:
        kind: In both texts (`same`), only in one of them, or a run of common words that is left out (`gap`).
        words: The words as they are in the text; none for a gap.
    """

    kind: Kind
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DiffSide:
    """The beginning of a text, cut for aligning: what is compared, and what is shown of it.

    Args:
        keys: The tokens of each chunk, so that case and punctuation are no difference.
        shown: Each chunk as it is in the text.
    """

    keys: list[tuple[str, ...]]
    shown: list[str]

    @classmethod
    def of(cls, text: str) -> "DiffSide":
        """Cut a text.

        >>> DiffSide.of("Profit rose -- to 12.3 mln").shown
        ['Profit', 'rose', 'to', '12.3', 'mln']
        """
        beginning = text[:READ]
        cut = list(chunks(beginning))
        return cls([chunk.tokens for chunk in cut], [beginning[chunk.start : chunk.end] for chunk in cut])


def common_start(a: Sequence[Hashable], b: Sequence[Hashable]) -> int:
    """Return how many words both begin with.

    >>> common_start("abcx", "abd")
    2
    """
    return next((i for i, (left, right) in enumerate(zip(a, b, strict=False)) if left != right), min(len(a), len(b)))


def common_end(a: Sequence[Hashable], b: Sequence[Hashable], start: int) -> int:
    """Return how many words both end with, beyond the first `start`."""
    rest = min(len(a), len(b)) - start
    return next((i for i in range(rest) if a[-1 - i] != b[-1 - i]), rest)


def places(a: Sequence[Hashable], b: Sequence[Hashable]) -> Iterator[Place]:
    """Yield the places where two word sequences differ, as ranges in each, as far as they are examined.

    A place that reaches beyond is told when it is the only one, and then with all that follows it.

    Args:
        a: The lead's words.
        b: The duplicate's words.

    >>> list(places("the first annual report".split(), "the second annual report".split()))
    [(1, 2, 1, 2)]
    """
    start = common_start(a, b)
    end = common_end(a, b, start)
    left, right = a[start : len(a) - end], b[start : len(b) - end]
    seen_left, seen_right = left[:EXAMINED], right[:EXAMINED]
    cut = len(left) > EXAMINED or len(right) > EXAMINED
    first = True
    for tag, i, j, k, m in SequenceMatcher(None, seen_left, seen_right, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        at_the_edge = cut and (j == len(seen_left) or m == len(seen_right))
        if at_the_edge and not first:
            return
        to_left, to_right = (len(left), len(right)) if at_the_edge else (j, m)
        yield start + i, start + to_left, start + k, start + to_right
        first = False


def common_words(run: Sequence[str], context: int, *, first: bool) -> Iterator[Piece]:
    """Yield the words between two places: all of a short run, else the first and last ones with a gap.

    Args:
        run: The words that both texts have there.
        context: Words kept on each side of a place.
        first: Whether it is the first run, so that its beginning is left out too.
    """
    if len(run) <= (context if first else 2 * context):
        yield Piece("same", tuple(run))
        return
    if not first:
        yield Piece("same", tuple(run[:context]))
    yield Piece("gap")
    yield Piece("same", tuple(run[-context:]))


def word_diff(lead: str, duplicate: str, most: int = 4, context: int = 2) -> list[Piece]:
    """Tell where a duplicate's words differ from the lead's; case and punctuation aside.

    Args:
        lead: The lead's text.
        duplicate: The duplicate's text.
        most: The most places to tell of; a gap at the end says that there is more.
        context: Words that both have, given before and after each place.

    Returns:
        The pieces in text order; empty when no word differs.

    >>> [(piece.kind, *piece.words) for piece in word_diff("Profit rose to 12", "Profit fell to 12")]
    [('same', 'Profit'), ('lead', 'rose'), ('duplicate', 'fell'), ('same', 'to', '12')]
    """
    ours, others = DiffSide.of(lead), DiffSide.of(duplicate)
    a, b = ours.shown, others.shown
    pieces: list[Piece] = []
    reached = 0
    for i, j, k, m in islice(places(ours.keys, others.keys), most):
        pieces += common_words(a[reached:i], context, first=not pieces)
        pieces += [Piece("lead", tuple(a[i:j])), Piece("duplicate", tuple(b[k:m]))]
        reached = j
    if pieces:
        pieces.append(Piece("same", tuple(a[reached : reached + context])))
        pieces += [Piece("gap")] * (len(a) > reached + context)
    return [piece for piece in pieces if piece.words or piece.kind == "gap"]


def shorten(run: Sequence[str]) -> str:
    """Join words; of a long run only its first and last ones, and how many there are.

    >>> shorten("a b c d e f g h i j k l".split())
    'a b c … l (12 words)'
    """
    run = [word if len(word) <= LONGEST_WORD else f"{word[:LONGEST_WORD]}…" for word in run]
    if len(run) <= LONGEST_RUN:
        return " ".join(run)
    return f"{' '.join(run[:3])} … {run[-1]} ({len(run):,} words)"
