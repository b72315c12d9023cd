"""Places of the words of a text: the character offsets and the page of each token of `tok3`.

Signing needs no places; showing two texts side by side does. A text is cut at white space into chunks, and a chunk runs
on over the end of a line or page after a hyphen, where a broken word may be joined; so no token crosses two chunks.
"""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ibidem.grouped_search.explanations import page_range
from ibidem_ingest.document import PAGE_BREAK
from ibidem_ingest.text import signs
from ibidem_ingest.text.folding import fold
from ibidem_ingest.text.tokens import code_points, find_signs, shapes, tokens

_BREAK = r"[ \t]*\r?\n[ \t]*|[ \t]*(?:\r?\n[ \t]*)?\f[ \t]*(?:\r?\n[ \t]*)?"


_CHUNK = re.compile(rf"\S+(?:(?<=[-\u2010\u2011\u00ac\u00ad\u2223])(?:{_BREAK})\S+)*")


@dataclass(frozen=True, slots=True)
class Chunk:
    """A run of text without white space, or a word broken at the end of a line."""

    start: int  # offset of its first character in the text
    end: int  # offset behind its last character
    tokens: tuple[str, ...]
    signs: str = ""  # those that carry meaning, such as a minus


@dataclass(frozen=True, slots=True)
class Words:
    """The tokens of a text and the characters that each of them covers."""

    tokens: list[str]  # as `tok3` cuts them
    starts: list[int]  # offset of each token's first character
    ends: list[int]  # offset behind each token's last character


def chunks(text: str) -> Iterator[Chunk]:
    r"""Yield the chunks that hold a token, in text order.

    >>> [(chunk.start, chunk.end, chunk.tokens) for chunk in chunks("-- The defen-\ndant's plea")]
    [(3, 6, ('the',)), (7, 20, ('defendant', 's')), (21, 25, ('plea',))]
    """
    for match in _CHUNK.finditer(text):
        if inside := _tokens(match[0]):
            yield Chunk(match.start(), match.end(), inside)


def token_offsets(text: str) -> Words:
    """Return all tokens of a text with their offsets; a token with an unclear offset covers its whole chunk.

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


def chunks_with_signs(text: str, limit: int | None = None) -> list[Chunk]:
    """Return the first chunks that hold a token or a sign that carries meaning.

    >>> [(chunk.tokens, chunk.signs) for chunk in chunks_with_signs("-5.2 % -- or 5")]
    [(('5', '2'), '-.'), ((), '%'), (('or',), ''), (('5',), '')]
    """
    points = code_points(text)
    outlines = shapes().take(points)
    outlines[[match.start() for match in signs.SUPERSCRIPT.finditer(text)]] = signs.OF_SUPERSCRIPT
    positions = find_signs(outlines.tobytes())
    found: list[Chunk] = []
    at = 0
    for match in _CHUNK.finditer(text):
        if len(found) == limit:
            break
        end = bisect_left(positions, match.end(), at)
        written = signs.name(unicodedata.normalize("NFKC", "".join(text[each] for each in positions[at:end])))
        at = end
        if (inside := _tokens(match[0])) or written:
            found.append(Chunk(match.start(), match.end(), inside, written))
    return found


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


PART = 400  # words of a part, which is about what a page of a book holds


@dataclass(frozen=True, eq=False, slots=True)
class PageNumbers:
    """The page of each word."""

    count: int  # how many pages, or parts
    of_word: NDArray[np.int64]  # (n,) for each word the number of its page, from 0
    paged: bool  # whether the text has page breaks

    @classmethod
    def read(cls, text: str, words: Words) -> "PageNumbers":
        """Number the pages of a text."""
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
        """Name the pages of a range of words; empty for a text of one part."""
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
