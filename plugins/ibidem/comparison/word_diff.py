"""Word diff of a lead and its duplicate, on one line and at limited cost.

What both texts begin and end with is set aside first, character by character; of what is left at most `EXAMINED` words
a side are aligned (`difflib`, longest common runs first), and no more are cut than that, so the cost does not grow with
the length of the documents.
"""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import islice
from typing import Literal

from ibidem.comparison.word_places import chunks

EXAMINED = 400
READ = 200_000
WORD = 20  # characters of which a word, with what is around it, has hardly more

# Words of each text that are cut at first; where they do not show how a difference ends, all are.
FIRST = EXAMINED + 100

MAX_RUN = 6
MAX_WORD = 24

Kind = Literal["same", "gap", "lead", "duplicate"]
Place = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of words in a difference."""

    kind: Kind  # in both texts (`same`), only in one of them, or a run of common words that is left out (`gap`)
    words: tuple[str, ...] = ()  # the words as in the text; empty for a gap


@dataclass(frozen=True, slots=True)
class DiffSide:
    """The beginning of a text, prepared for alignment: the words to compare, and the words to show."""

    keys: list[tuple[str, ...]]  # the tokens of each chunk, so that case and punctuation are no difference
    words: list[str]  # each chunk, as in the text

    @classmethod
    def cut(cls, text: str, limit: int | None = None) -> "DiffSide":
        """Take the first words of a text.

        >>> DiffSide.cut("Profit rose -- to 12.3 mln").words
        ['Profit', 'rose', 'to', '12.3', 'mln']
        """
        cut = list(islice(chunks(text), limit))
        return cls([chunk.tokens for chunk in cut], [text[chunk.start : chunk.end] for chunk in cut])


def set_aside(a: str, b: str, around: int = 3 * WORD) -> tuple[str, str]:
    """Remove the common beginning and end of two texts, except for the words around the difference.

    >>> [part[-24:] for part in set_aside("The same. " * 20 + "Rent is due.", "The same. " * 20 + "Rent is not due.")]
    ['. The same. Rent is due.', 'e same. Rent is not due.']
    """
    begin = word_border(a, common_length(a, b) - around)
    left, right = a[begin:], b[begin:]
    mirrored = common_length(left[::-1], right[::-1])
    behind = max(0, mirrored - around)
    end = behind - next((at for at, character in enumerate(left[len(left) - behind :]) if character.isspace()), behind)
    return left[: len(left) - end], right[: len(right) - end]


def common_length(a: str, b: str) -> int:
    """Return the length of the common prefix of two texts, in characters.

    >>> common_length("grain", "grant")
    3
    """
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if a[low:middle] == b[low:middle] else (low, middle - 1)
    return low


def word_border(text: str, reached: int) -> int:
    """Return the last word boundary up to `reached` that is not inside a hyphenated word; else 0."""
    borders = (at for at in range(reached, 0, -1) if text[at - 1].isspace())
    return next((at for at in borders if text[:at].rstrip()[-1:].isalnum()), 0)


def common_start(a: Sequence[Hashable], b: Sequence[Hashable]) -> int:
    """Return how many words two texts have in common at their beginning.

    >>> common_start("abcx", "abd")
    2
    """
    return next((i for i, (left, right) in enumerate(zip(a, b, strict=False)) if left != right), min(len(a), len(b)))


def common_end(a: Sequence[Hashable], b: Sequence[Hashable], start: int) -> int:
    """Return how many words two texts have in common at their end, not counting the first `start`."""
    limit = min(len(a), len(b)) - start
    return next((i for i in range(limit) if a[-1 - i] != b[-1 - i]), limit)


def places(a: Sequence[Hashable], b: Sequence[Hashable]) -> Iterator[Place]:
    """Yield the ranges where two word sequences differ, within the examined words.

    A place that reaches beyond is yielded when it is the only one, and then with all that follows it.

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


def is_open(differing: Sequence[Place]) -> bool:
    """Return whether the first words of two texts are too few to show the whole first difference."""
    return not differing or max(differing[0][1] - differing[0][0], differing[0][3] - differing[0][2]) > FIRST // 2


def common_words(run: Sequence[str], context: int, *, first: bool) -> Iterator[Piece]:
    """Yield the words between two differences: all of a short run, else the first and last ones with a gap."""
    if len(run) <= (context if first else 2 * context):
        yield Piece("same", tuple(run))
        return
    if not first:
        yield Piece("same", tuple(run[:context]))
    yield Piece("gap")
    yield Piece("same", tuple(run[-context:]))


def word_diff(lead: str, duplicate: str, limit: int = 4, context: int = 2) -> list[Piece]:
    """Return the words of a duplicate that differ from the lead's, ignoring case and punctuation.

    >>> [(piece.kind, *piece.words) for piece in word_diff("Profit rose to 12", "Profit fell to 12")]
    [('same', 'Profit'), ('lead', 'rose'), ('duplicate', 'fell'), ('same', 'to', '12')]
    """
    parts = set_aside(lead[:READ], duplicate[:READ], WORD * (context + 1))
    lead_side, duplicate_side = (DiffSide.cut(part, FIRST) for part in parts)
    differing = list(islice(places(lead_side.keys, duplicate_side.keys), limit))
    if FIRST in (len(lead_side.words), len(duplicate_side.words)) and is_open(differing):
        lead_side, duplicate_side = (DiffSide.cut(part) for part in parts)
        differing = list(islice(places(lead_side.keys, duplicate_side.keys), limit))
    a, b = lead_side.words, duplicate_side.words
    pieces: list[Piece] = []
    reached = 0
    for i, j, k, m in differing:
        pieces += common_words(a[reached:i], context, first=not pieces)
        pieces += [Piece("lead", tuple(a[i:j])), Piece("duplicate", tuple(b[k:m]))]
        reached = j
    if pieces:
        pieces.append(Piece("same", tuple(a[reached : reached + context])))
        pieces += [Piece("gap")] * (len(a) > reached + context)
    return [piece for piece in pieces if piece.words or piece.kind == "gap"]


def shorten(run: Sequence[str]) -> str:
    """Join words; a long run is shortened to its first and last words and a count.

    >>> shorten("a b c d e f g h i j k l".split())
    'a b c … l (12 words)'
    """
    run = [word if len(word) <= MAX_WORD else f"{word[:MAX_WORD]}…" for word in run]
    if len(run) <= MAX_RUN:
        return " ".join(run)
    return f"{' '.join(run[:3])} … {run[-1]} ({len(run):,} words)"
