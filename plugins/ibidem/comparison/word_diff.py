"""Words of two texts: their offsets, and which differ.

Offsets: the tokens of `tok2` and the page breaks with their character offsets in the text.
Signing needs no places; showing two texts side by side does. A text is cut at white space into chunks, and a chunk runs
on over the end of a line or page after a hyphen, where a broken word may be joined; so no token crosses two chunks.

Word diff of a lead and its duplicate: short enough for one line, bounded in cost.
What both texts begin and end with is set aside first, character by character; of what is left at most `EXAMINED` words
a side are aligned (`difflib`, longest common runs first), and no more are cut than that, so the cost does not grow with
the length of the documents.
"""

import re
import unicodedata
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import islice
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ibidem.grouped_search.explanations import page_range
from ibidem_ingest.document import PAGE_BREAK
from ibidem_ingest.text.folding import fold
from ibidem_ingest.text.tokens import tokens

_BREAK = r"[ \t]*\r?\n[ \t]*|[ \t]*(?:\r?\n[ \t]*)?\f[ \t]*(?:\r?\n[ \t]*)?"
_CHUNK = re.compile(rf"\S(?:\S|(?<=[-\u2010\u2011\u00ac\u00ad\u2223])(?:{_BREAK})(?=\S))*")


@dataclass(frozen=True, slots=True)
class Chunk:
    """A run of text without white space, or a word broken at the end of a line.

    Args:
        start: Offset of its first character in the text.
        end: Offset behind its last character.
        tokens: The tokens in it.
    """

    start: int
    end: int
    tokens: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Words:
    """The tokens of a text and the characters that each of them covers.

    Args:
        tokens: As `tok2` cuts them.
        starts: Offset of each token's first character.
        ends: Offset behind each token's last character.
    """

    tokens: list[str]
    starts: list[int]
    ends: list[int]


def chunks(text: str) -> Iterator[Chunk]:
    r"""Yield the chunks that hold a token, in text order.

    >>> [(chunk.start, chunk.end, chunk.tokens) for chunk in chunks("-- The defen-\ndant's plea")]
    [(3, 6, ('the',)), (7, 20, ('defendant', 's')), (21, 25, ('plea',))]
    """
    for match in _CHUNK.finditer(text):
        if inside := _tokens(match[0]):
            yield Chunk(match.start(), match.end(), inside)


def token_offsets(text: str) -> Words:
    """Return all tokens of a text with their places; a token whose place is unclear covers its whole chunk.

    >>> token_offsets("Held: (No. 12)")
    Words(tokens=['held', 'no', '12'], starts=[0, 7, 11], ends=[4, 9, 13])
    """
    result = Words([], [], [])
    for chunk in chunks(text):
        for token, (start, end) in zip(chunk.tokens, _places(text[chunk.start : chunk.end], chunk.tokens), strict=True):
            result.tokens.append(token)
            result.starts.append(chunk.start + start)
            result.ends.append(chunk.start + end)
    return result


@lru_cache(maxsize=100_000)
def _tokens(chunk: str) -> tuple[str, ...]:
    return tuple(tokens(chunk))


def _places(chunk: str, inside: tuple[str, ...]) -> list[tuple[int, int]]:
    text_form = chunk.lower() if chunk.isascii() else fold(unicodedata.normalize("NFKC", chunk).lower())
    places: list[tuple[int, int]] = []
    reached = 0
    for token in inside:
        start = text_form.find(token, reached) if len(text_form) == len(chunk) else -1
        if start < 0:
            return [(0, len(chunk))] * len(inside)
        reached = start + len(token)
        places.append((start, reached))
    return places


PART = 400
"""Words of a part, which is about what a page of a book holds."""


@dataclass(frozen=True, eq=False, slots=True)
class PageNumbers:
    """The page of each word.

    Args:
        count: How many pages, or parts.
        of_word: (n,) for each word the number of its page, from 0.
        paged: Whether the text has page breaks.
    """

    count: int
    of_word: NDArray[np.int64]
    paged: bool

    @classmethod
    def read(cls, text: str, words: Words) -> "PageNumbers":
        """Number the pages of a text.

        Args:
            text: The text.
            words: Its words.
        """
        breaks = page_breaks(text)
        if not len(breaks):
            parts = max(1, -(-len(words.tokens) // PART))
            return cls(parts, np.arange(len(words.tokens)) // PART, paged=False)
        of_word = np.searchsorted(breaks, np.array(words.starts, np.int64))
        return cls(len(breaks) + 1, of_word, paged=True)

    @property
    def name(self) -> str:
        """Kind of part that is numbered: `page` or `part`."""
        return "page" if self.paged else "part"

    def label(self, first: int, last: int) -> str:
        """Name the pages of a stretch of words; empty for a text that is one part.

        Args:
            first: Number of its first word.
            last: Number of its last word.
        """
        if self.count < 2:
            return ""
        first_page, last_page = int(self.of_word[first]) + 1, int(self.of_word[last]) + 1
        return page_range(self.name, first_page, last_page)


def page_breaks(text: str) -> NDArray[np.int64]:
    r"""Return the offsets of the page breaks in a text.

    >>> page_breaks("one\ftwo\fthree").tolist()
    [3, 7]
    """
    return np.fromiter((at for at, character in enumerate(text) if character == PAGE_BREAK), np.int64)


EXAMINED = 400
READ = 200_000
WORD = 20
"""Characters of which a word, with what is around it, has hardly more."""

FIRST = EXAMINED + 100
"""Words of each text that are cut at first; where they do not show how a difference ends, all are."""

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
        words: Each chunk as it is in the text.
    """

    keys: list[tuple[str, ...]]
    words: list[str]

    @classmethod
    def cut(cls, text: str, most: int | None = None) -> "DiffSide":
        """Cut a text.

        Args:
            text: The text.
            most: How many words to cut at most; None: all.

        >>> DiffSide.cut("Profit rose -- to 12.3 mln").words
        ['Profit', 'rose', 'to', '12.3', 'mln']
        """
        cut = list(islice(chunks(text), most))
        return cls([chunk.tokens for chunk in cut], [text[chunk.start : chunk.end] for chunk in cut])


def set_aside(a: str, b: str, around: int = 3 * WORD) -> tuple[str, str]:
    """Take off what two texts begin and end with alike, but for the words around the difference.

    Args:
        a: The one text.
        b: The other.
        around: Characters that are kept of what is alike, at both ends.

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
    """Return how many characters two texts begin with alike.

    >>> common_length("grain", "grant")
    3
    """
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if a[low:middle] == b[low:middle] else (low, middle - 1)
    return low


def word_border(text: str, reached: int) -> int:
    """Return the last place up to `reached` where a word begins that is no part of one broken at a hyphen; else 0."""
    borders = (at for at in range(reached, 0, -1) if text[at - 1].isspace())
    return next((at for at in borders if text[:at].rstrip()[-1:].isalnum()), 0)


def common_start(a: Sequence[Hashable], b: Sequence[Hashable]) -> int:
    """Return how many words both begin with.

    >>> common_start("abcx", "abd")
    2
    """
    return next((i for i, (left, right) in enumerate(zip(a, b, strict=False)) if left != right), min(len(a), len(b)))


def common_end(a: Sequence[Hashable], b: Sequence[Hashable], start: int) -> int:
    """Return how many words both end with, beyond the first `start`."""
    limit = min(len(a), len(b)) - start
    return next((i for i in range(limit) if a[-1 - i] != b[-1 - i]), limit)


def places(a: Sequence[Hashable], b: Sequence[Hashable]) -> Iterator[Place]:
    """Yield the places where two word sequences differ, as ranges in each, as far as they are examined.

    A place that reaches beyond is yielded when it is the only one, and then with all that follows it.

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


def is_open(differing: Sequence[Place]) -> bool:
    """Return whether the first words of two texts do not show where they differ, or where the first difference ends."""
    return not differing or max(differing[0][1] - differing[0][0], differing[0][3] - differing[0][2]) > FIRST // 2


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


def word_diff(lead: str, duplicate: str, limit: int = 4, context: int = 2) -> list[Piece]:
    """Return where a duplicate's words differ from the lead's; case and punctuation aside.

    Args:
        lead: The lead's text.
        duplicate: The duplicate's text.
        limit: The most places to return; a gap at the end means that there are more.
        context: Words that both have, given before and after each place.

    Returns:
        The pieces in text order; empty when no word differs.

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
    """Join words; of a long run only its first and last ones, and how many there are.

    >>> shorten("a b c d e f g h i j k l".split())
    'a b c … l (12 words)'
    """
    run = [word if len(word) <= LONGEST_WORD else f"{word[:LONGEST_WORD]}…" for word in run]
    if len(run) <= LONGEST_RUN:
        return " ".join(run)
    return f"{' '.join(run[:3])} … {run[-1]} ({len(run):,} words)"
